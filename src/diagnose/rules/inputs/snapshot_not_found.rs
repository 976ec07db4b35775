//! The placement has no resource snapshot of the index that the run asks for.

use super::snapshot_index_invalid::other_content;
use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::run_failure;
use crate::problems::{otherwise_written, pruned_below, snapshot_missing};

/// A typing error, the index of another placement, or one that was never made: since KubeFleet
/// 0.3.0 a placement of strategy External makes no snapshots by itself.
/// Source: updaterun/initialization.go:getResourceSnapshotObjs.
pub const RULE: Rule = Rule::error("FS115", "snapshot-not-found", NamedCause(check))
    .reads(&[Concept::ResourceSnapshot])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    let Cause::SnapshotNotFound { index } = cause else {
        return None;
    };

    let index = asked_index(cx, index);
    pruned_below(cx.inventory, index)
        .is_none()
        .then(|| missing(cx, rule, index))
}

/// The index as the run has it. The controller's text has the number, `7` of `07`, but the snapshots
/// are looked up by the run's own word. Source: updaterun/initialization.go:getResourceSnapshotObjs.
pub fn asked_index<'c>(cx: &DiagnosisContext<'c>, told: &'c str) -> &'c str {
    let asked = cx.run().map(|run| run.spec.snapshot_index.as_str());
    asked.filter(|asked| !asked.is_empty()).unwrap_or(told)
}

fn missing(cx: &DiagnosisContext<'_>, rule: &Rule, index: &str) -> Finding {
    let run = cx.run_object();
    let inventory = cx.inventory;
    let found = inventory.snapshot(index);
    let since = found.map_or("", |_| ", but it has one now");
    let object = cx.placement_object();
    let problem = snapshot_missing(inventory, &run, &object, index, cx.past(since));
    let list = problem.remedies.clone();
    let mut finding = run_failure::asked(cx, rule, problem);
    finding.remedies.clear();
    let with = |meant: &str| cx.fresh_run_command(Some(meant));
    let over = format!("{} has failed for good.", run.name);
    if let Some(found) = found {
        return finding
            .evidence(found.object(), "metadata.name", &found.meta.name)
            .fix_with(
                format!("Start a new run with this index: {over}"),
                with(index),
            );
    }
    let meant = otherwise_written(index, &inventory.snapshot_indexes());
    let meant = meant.map(|meant| meant.to_string());
    if let Some(meant) = &meant {
        let action = format!("Start a new run with the index written as {meant}: {over}");
        finding = finding.fix_with(action, with(meant));
    }
    finding.remedies.extend(list);
    other_content(cx, finding, meant.as_deref())
}
