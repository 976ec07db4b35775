//! A run that is to stop waits for a removal that it has not begun.

use crate::diagnose::case::Case;
use crate::diagnose::finding::enumerate;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::Concept;

/// A stop does not begin to remove the placement from clusters, and ends only when no binding is
/// left that is to be removed. Source: updaterun/stop.go:stopDeleteStage.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS612",
    name: "stop-waits-for-removal",
    severity: Severity::Error,
    reads: &[Concept::Binding],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(rollout) = &case.rollout else {
        return Vec::new();
    };
    let left = rollout.removals_under_stop();
    let Some(first) = left.first() else {
        return Vec::new();
    };
    let (run, name) = (rollout.run.object(), &rollout.run.meta.name);
    let clusters = enumerate(left.iter().map(|cluster| cluster.name));
    let mut finding = rule
        .finding(
            &run,
            format!(
                "{run} can never stop: it must still remove the placement from {clusters}, but a \
                 stopping run starts no removal."
            ),
        )
        .root()
        .stage(first.stage)
        .clusters(left.iter().map(|cluster| cluster.name))
        .evidence(&run, "spec.state", "Stop");
    if let Some(progressing) = rollout.progressing() {
        finding = finding.condition(&run, "status", progressing);
    }
    for cluster in left.iter().take(3) {
        finding = finding.evidence(
            &run,
            format!(
                "status.deletionStageStatus.clusters[clusterName={}].conditions[type=Started]",
                cluster.name
            ),
            "absent",
        );
        if let Some(binding) = cluster.binding {
            finding = finding.evidence(binding.object(), "spec.state", binding.spec.state.clone());
        }
    }
    vec![
        finding
            .look(
                format!("Check what the run would remove from {clusters}."),
                Some(case.command("history").arg(&case.inventory.placement_name)),
            )
            .disrupt(
                format!("Resume it: it removes the placement from {clusters} and then succeeds."),
                Some(case.command("resume").arg(name)),
            )
            .disrupt(
                format!("Or delete the run: nothing changes on {clusters}."),
                Some(case.command("delete").arg(name)),
            ),
    ]
}
