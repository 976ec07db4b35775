//! The placement has no resource snapshot of the index that the run asks for.

use super::snapshot_index_invalid::other_index;
use crate::diagnose::rules::prelude::*;
use crate::diagnose::run_failure;
use crate::problems::{otherwise_written, pruned_below, snapshot_missing};

/// A typing error, the index of another placement, or one that was never made: since KubeFleet
/// 0.3.0 a placement of strategy External makes no snapshots by itself.
/// Source: updaterun/initialization.go:getResourceSnapshotObjs.
pub const RULE: Rule = Rule::error("FS115", "snapshot-not-found", Search::Cause(check))
    .reads(&[Concept::ResourceSnapshot])
    .person();

fn check(cx: &Context<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    let Cause::SnapshotNotFound { index, .. } = cause else {
        return None;
    };

    let inventory = cx.inventory;
    pruned_below(inventory, index)
        .is_none()
        .then(|| missing(cx, rule, index))
}

fn missing(cx: &Context<'_>, rule: &Rule, index: &str) -> Finding {
    let run = cx.run_object();
    let inventory = cx.inventory;
    let found = inventory.snapshot(index);
    let since = found.map_or("", |_| ", but it has one now");
    let object = cx.placement_object();
    let problem = snapshot_missing(inventory, &run, &object, index, cx.past(since));
    let list = problem.remedies.clone();
    let mut finding = run_failure::asked(cx, rule, problem);
    finding.remedies.clear();
    let with = |meant: &str| cx.new_run_with(meant);
    let over = format!("{} has failed for good.", run.name);
    if let Some(found) = found {
        return finding
            .evidence(found.object(), "metadata.name", &found.meta.name)
            .fix_with(
                format!("Start a new run with this index: {over}"),
                with(index),
            );
    }
    if let Some(meant) = otherwise_written(index, &inventory.snapshot_indexes()) {
        finding = finding.fix_with(
            format!("Start a new run with the index written as {meant}: {over}"),
            with(&meant.to_string()),
        );
    }
    finding.remedies.extend(list);
    finding.fix_with(other_index(&run.name), cx.new_run_with("INDEX"))
}
