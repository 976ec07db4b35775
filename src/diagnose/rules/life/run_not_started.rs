//! The run is initialized and waits to be started.

use crate::diagnose::case::Case;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::resting;
use crate::diagnose::rules::Rule;
use crate::kubefleet::{Conditions, reasons};
use crate::rollout::{ClusterState, Phase};

/// `Initialize` is the default of `spec.state`: a run that is created without it computes its
/// stages and then does nothing. Source: updaterun/controller.go:Reconcile.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS601",
    name: "run-not-started",
    severity: Severity::Info,
    reads: &[],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(rollout) = &case.rollout else {
        return Vec::new();
    };
    let begun = rollout.progressing().is_some()
        || rollout
            .clusters()
            .any(|cluster| cluster.state != ClusterState::Pending);
    if rollout.phase != Phase::Idle || (begun && case.inventory.hub.run_states.is_some()) {
        return Vec::new();
    }
    let run = rollout.run;
    let mut finding = rule
        .finding(
            run.object(),
            format!("{} {}", run.object(), resting::not_started(rollout)),
        )
        .root()
        .evidence(run.object(), "spec.state", run.spec.state.as_deref());
    if let Some(initialized) = run.status.conditions.condition(reasons::INITIALIZED) {
        finding = finding.condition(&run.object(), "status", initialized);
    }
    vec![
        finding
            .fix(
                "Start it when its stages are as you want them.",
                Some(case.command("run").arg(&run.meta.name)),
            )
            .look(
                "Check which clusters each stage would update.",
                Some(case.command("status").arg(&run.meta.name)),
            ),
    ]
}
