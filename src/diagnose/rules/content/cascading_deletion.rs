//! A run deletes an object with what is in it from clusters that keep the placement.

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::names;
use crate::rollout::content::cascading_losses;

/// The hub agent deletes from a cluster what the run's snapshot no longer has, and Kubernetes deletes what
/// is in a Namespace with it, whoever created that. Source: workgenerator/controller.go:syncAllWork.
pub const RULE: Rule = Rule::warning("FS711", "cascading-deletion", RuleSearch::Whole(check))
    .reads(&[Concept::ResourceSnapshot, Concept::Binding])
    .content();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(rollout) = &cx.rollout else {
        return Vec::new();
    };
    let run = rollout.run.object();
    let losses = cascading_losses(rollout).into_iter().map(|loss| {
        let name = loss.object.describe();
        let message = format!(
            "{} {}, although the placement stays.",
            run.name,
            loss.describe()
        );
        let had = loss.snapshot.object();
        let index = format!("metadata.labels[{}]", names::RESOURCE_INDEX);
        let finding = rule
            .finding(&run, message)
            .clusters(loss.clusters.iter().copied())
            .evidence(
                &run,
                rollout.run.snapshot_path(),
                &rollout.run.status.snapshot_index,
            )
            .known(&had, index, loss.snapshot.index())
            .look_with(
                format!("Check that {name} exists on the hub, and that the placement selects it."),
                cx.placement_object().kubectl("get").flag("-o", "yaml"),
            );
        let finding = if rollout.phase.is_halted() || cx.is_resting() {
            finding
        } else {
            finding.fix_with(
                "Stop the run, if it is to stay.",
                cx.command("stop").arg(&run.name),
            )
        };
        finding.new_run(
            cx,
            format!(
                "Select {name} again if it is to stay, then start a new run in this one's place."
            ),
        )
    });
    losses.collect()
}
