//! A run that was under way stands still since the hub agent honours `spec.state`.

use crate::diagnose::case::Case;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::rollout::{ClusterState, Phase};

/// Up to KubeFleet 0.1.2 every run was executed, whatever its state said; from 0.2 on a run in
/// `Initialize`, which is the default, is not. Source: updaterun/controller.go:Reconcile.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS604",
    name: "run-frozen-by-upgrade",
    severity: Severity::Error,
    reads: &[],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let honours = case
        .inventory
        .hub
        .run_states
        .as_ref()
        .is_some_and(|states| states.iter().any(|state| state == "Run"));
    let Some(rollout) = case
        .rollout
        .as_ref()
        .filter(|rollout| honours && rollout.phase == Phase::Idle)
    else {
        return Vec::new();
    };
    let begun: Vec<_> = rollout
        .clusters()
        .filter(|cluster| cluster.state != ClusterState::Pending)
        .map(|cluster| cluster.name)
        .collect();
    if rollout.progressing().is_none() && begun.is_empty() {
        return Vec::new();
    }
    let run = rollout.run;
    let left = rollout
        .clusters()
        .filter(|cluster| cluster.state != ClusterState::Done)
        .map(|cluster| cluster.name);
    let mut finding = rule
        .finding(
            run.object(),
            format!(
                "{} stalls because its state is {}: the hub agent that ran it ignored spec.state, \
                 but the upgraded one honors it.",
                run.object(),
                run.spec.state.as_deref().unwrap_or("Initialize by default")
            ),
        )
        .root()
        .clusters(left)
        .evidence(run.object(), "spec.state", run.spec.state.as_deref());
    if let Some(progressing) = rollout.progressing() {
        finding = finding.condition(&run.object(), "status", progressing);
    }
    vec![finding.fix(
        "Start it: it continues from where it was.",
        Some(case.command("run").arg(&run.meta.name)),
    )]
}
