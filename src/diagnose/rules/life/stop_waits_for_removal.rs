//! A run that is to stop waits for a removal that it has not begun.

use crate::diagnose::rules::prelude::*;

/// A stop does not begin to remove the placement from clusters, and ends only when no binding is
/// left that is to be removed. Source: updaterun/stop.go:stopDeleteStage.
pub const RULE: Rule = Rule::error("FS612", "stop-waits-for-removal", One(check))
    .reads(&[Concept::Binding])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let rollout = cx.rollout.as_ref()?;
    let left = rollout.removals_under_stop();
    let first = left.first()?;
    let (run, name) = (rollout.run.object(), &rollout.run.meta.name);
    let clusters = enumerate(left.iter().map(|cluster| cluster.name));
    let message = format!(
        "{run} can never stop: it must still remove the placement from {clusters}, but a \
         stopping run starts no removal."
    );
    let mut finding = rule
        .finding(&run, message)
        .root()
        .stage(first.stage)
        .clusters(left.iter().map(|cluster| cluster.name))
        .evidence(&run, "spec.state", "Stop");
    finding = finding.condition(&run, rollout.progressing());
    for cluster in left.iter().take(3) {
        let path = format!(
            "status.deletionStageStatus.clusters[clusterName={}].conditions[type=Started]",
            cluster.name
        );
        finding = finding.evidence(&run, path, ABSENT);
        if let Some(binding) = cluster.binding {
            finding = finding.evidence(binding.object(), "spec.state", &binding.spec.state);
        }
    }
    Some(
        finding
            .look_with(
                format!("Check which content {clusters} would lose."),
                cx.command("status").arg(cx.placement_object().word()),
            )
            .disrupt_with(
                format!("Resume it: it removes the placement from {clusters} and then succeeds."),
                cx.command("resume").arg(name),
            )
            .disrupt_with(
                format!("Or delete the run: nothing changes on {clusters}."),
                cx.command("delete").arg(name),
            ),
    )
}
