//! A run that was under way stands still since the hub agent honours `spec.state`.

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::names;
use crate::rollout::{ClusterState, Phase};
use crate::words::CommandLine;

/// Up to KubeFleet 0.1.2 every run was executed, whatever its state said; from 0.2 on a run in
/// `Initialize`, which is the default, is not. Source: updaterun/controller.go:Reconcile.
pub const RULE: Rule = Rule::error("FS604", "run-frozen-by-upgrade", One(check)).environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let honours = cx
        .inventory
        .hub
        .run_states
        .as_ref()
        .is_some_and(|states| states.iter().any(|state| state == "Run"));
    let rollout = cx
        .rollout
        .as_ref()
        .filter(|rollout| honours && rollout.phase == Phase::Idle)?;
    let begun: Vec<_> = rollout
        .clusters()
        .filter(|cluster| cluster.state != ClusterState::NotReached)
        .map(|cluster| cluster.name)
        .collect();
    if rollout.progressing().is_none() && begun.is_empty() {
        return None;
    }
    let run = rollout.run;
    let left = rollout
        .clusters()
        .filter(|cluster| cluster.state != ClusterState::Done)
        .map(|cluster| cluster.name);
    let message = format!(
        "The hub agent that ran {} ignored spec.state, which is {}. The hub now serves the states \
         that an upgraded agent honors: with that one, the run stalls.",
        run.object(),
        run.spec.state.as_deref().unwrap_or("Initialize by default")
    );
    let mut finding = rule
        .finding(run.object(), message)
        .root()
        .clusters(left)
        .evidence(run.object(), "spec.state", run.spec.state.as_deref());
    finding = finding.condition(&run.object(), rollout.progressing());
    let agent = CommandLine::kubectl("get")
        .arg("deployment")
        .arg("hub-agent");
    let agent = agent.namespace(names::AGENT_NAMESPACE).flag("-o", "wide");
    let action = "Check the version of the hub agent: 0.1 still works on the run, and would begin it again if you \
                  started it.";
    let finding = finding.look_with(action, agent);
    let step = "Start it, if the agent is 0.2 or later: it continues from where it was.";
    Some(finding.fix_with(step, cx.command("run").arg(&run.meta.name)))
}
