//! The run asks for a resource snapshot that is no longer kept.

use super::snapshot_not_found::{existing, pruned_below};
use crate::diagnose::failing;
use crate::diagnose::rules::prelude::*;

/// Indexes count from 0 and are never used again, so one below the lowest that exists did exist.
/// Source: updaterun/initialization.go:getResourceSnapshotObjs; placement `revisionHistoryLimit`.
pub const RULE: Rule = Rule::error("FS116", "snapshot-pruned", Check::Cause(check))
    .reads(&[Concept::ResourceSnapshot, Concept::Placement]);

fn check(cx: &Context<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    match cause {
        Cause::SnapshotNotFound { index, .. } => {
            pruned_below(cx, index).map(|lowest| pruned(cx, rule, index, lowest))
        }
        _ => None,
    }
}

fn pruned(cx: &Context<'_>, rule: &Rule, index: &str, lowest: u64) -> Finding {
    let run = cx.run_object();
    let object = cx.placement_object();
    let placement = cx.inventory.placement.present();
    let keeps = placement.map_or_else(String::new, |placement| {
        format!(" (it keeps {})", placement.history_limit())
    });
    let mut finding = failing::finding(
        cx,
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
        cx.run().map(|run| &run.spec.snapshot_index),
    );
    finding = existing(cx, finding);
    if let Some(placement) = placement {
        let limit = placement.spec.revision_history_limit;
        finding = finding.evidence(&object, "spec.revisionHistoryLimit", limit);
    }
    finding
        .look_with(
            "List the remaining snapshots, and the runs that rolled them out.",
            cx.command("snapshots").arg(&object.name),
        )
        .fix_with(
            format!(
                "Roll back to the oldest remaining one, if it is good: {} has failed for good, \
                 and its index is immutable.",
                run.name
            ),
            cx.new_run_command()
                .map(|command| command.flag("--snapshot", lowest.to_string())),
        )
        .fix_with(
            "Or restore the old content on the hub and roll it out with a new run.",
            cx.new_run_command(),
        )
        .fix_with(
            "Raise `spec.revisionHistoryLimit` to keep more snapshots in the future.",
            object.kubectl("edit"),
        )
}
