//! The run asks for a resource snapshot that is no longer kept.

use super::snapshot_not_found::{existing, pruned_below};
use crate::diagnose::case::Case;
use crate::diagnose::failing;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::Concept;
use crate::kubefleet::messages::Cause;

/// Indexes count from 0 and are never used again, so one below the lowest that exists did exist.
/// Source: updaterun/initialization.go:getResourceSnapshotObjs; placement `revisionHistoryLimit`.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS116",
    name: "snapshot-pruned",
    severity: Severity::Error,
    reads: &[Concept::ResourceSnapshot, Concept::Placement],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    case.causes()
        .filter_map(|cause| match cause {
            Cause::SnapshotNotFound { index, .. } => {
                pruned_below(case, index).map(|lowest| pruned(case, rule, index, lowest))
            }
            _ => None,
        })
        .collect()
}

fn pruned(case: &Case<'_>, rule: &Rule, index: &str, lowest: u64) -> Finding {
    let run = case.run_object();
    let object = case.placement_object();
    let placement = case.inventory.placement.present();
    let keeps = placement.map_or_else(String::new, |placement| {
        format!(" (it keeps {})", placement.history_limit())
    });
    let mut finding = failing::finding(
        case,
        rule,
        &run,
        format!(
            "{run} asks for resource snapshot {index} of {object}, which was pruned: the oldest \
             remaining one is {lowest}{keeps}."
        ),
    )
    .evidence(
        &run,
        "spec.resourceSnapshotIndex",
        case.run().map(|run| &run.spec.snapshot_index),
    );
    finding = existing(case, finding);
    if let Some(placement) = placement {
        let limit = placement.spec.revision_history_limit;
        finding = finding.evidence(&object, "spec.revisionHistoryLimit", limit);
    }
    finding
        .look(
            "List the remaining snapshots, and the runs that rolled them out.",
            Some(case.command("snapshots").arg(&object.name)),
        )
        .fix(
            format!(
                "Roll back to the oldest remaining one, if it is good: {} has failed for good, \
                 and its index is immutable.",
                run.name
            ),
            case.new_run_command()
                .map(|command| command.flag("--snapshot", lowest.to_string())),
        )
        .fix(
            "Or restore the old content on the hub and roll it out with a new run.",
            case.new_run_command(),
        )
        .fix(
            "Raise `spec.revisionHistoryLimit` to keep more snapshots in the future.",
            Some(object.kubectl("edit")),
        )
}
