//! The run asks for a resource snapshot that is no longer kept.

use super::snapshot_not_found::asked_index;
use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::run_failure;
use crate::problems::{pruned_below, snapshot_pruned};

/// Indexes count from 0 and are never used again, so one below the lowest that exists did exist.
/// Source: updaterun/initialization.go:getResourceSnapshotObjs; placement `revisionHistoryLimit`.
pub const RULE: Rule = Rule::error("FS116", "snapshot-pruned", NamedCause(check))
    .reads(&[Concept::ResourceSnapshot, Concept::Placement])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    let Cause::SnapshotNotFound { index } = cause else {
        return None;
    };

    let index = asked_index(cx, index);
    let lowest = pruned_below(cx.inventory, index)?;
    let (run, object) = (cx.run_object(), cx.placement_object());
    let which = (index, lowest);
    let problem = snapshot_pruned(cx.inventory, &run, &object, which, cx.past(""));
    let lowest = cx.fresh_run_command(Some(&lowest.to_string()));
    let finding = run_failure::asked(cx, rule, problem)
        .fix_with(
            format!(
                "Roll back to the oldest remaining one, if it is good: {} has failed for good, and \
                 its index is immutable.",
                run.name
            ),
            lowest,
        )
        .fix_with(
            "Or restore the old content on the hub and roll it out with a new run.",
            cx.fresh_run_command(None),
        )
        .fix_with(
            "Raise `spec.revisionHistoryLimit` to keep more snapshots in the future.",
            object.kubectl("edit"),
        );
    Some(finding)
}
