//! The placement has no resource snapshot of the index that the run asks for.

use crate::diagnose::failing;
use crate::diagnose::rules::prelude::*;
use crate::kubefleet::names;
use crate::words::existing_indexes;

/// A typing error, the index of another placement, or one that was never made: since KubeFleet
/// 0.3.0 a placement of strategy External makes no snapshots by itself.
/// Source: updaterun/initialization.go:getResourceSnapshotObjs.
pub const RULE: Rule = Rule::error("FS115", "snapshot-not-found", Check::Cause(check))
    .reads(&[Concept::ResourceSnapshot]);

fn check(cx: &Context<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    let Cause::SnapshotNotFound { index, .. } = cause else {
        return None;
    };
    pruned_below(cx, index)
        .is_none()
        .then(|| missing(cx, rule, index))
}

/// The lowest index that exists, when the one asked for is below it: then it was pruned.
pub fn pruned_below(cx: &Context<'_>, index: &str) -> Option<u64> {
    let index: u64 = index.parse().ok()?;
    if !cx.inventory.snapshots.is_complete() {
        return None;
    }
    let lowest = *cx.inventory.snapshot_indexes().first()?;
    (index < lowest).then_some(lowest)
}

/// Adds the indexes that exist, the highest ones where there are many.
pub fn existing(cx: &Context<'_>, mut finding: Finding) -> Finding {
    const SHOWN: usize = 10;
    let inventory = cx.inventory;
    if inventory.snapshots.is_known_empty() {
        let (object, path) = match cx.run() {
            Some(run) => (run.object(), "spec.placementName"),
            None => (cx.placement_object(), "metadata.name"),
        };
        let none = format!("{} has no resource snapshot", cx.placement_object());
        return finding.computed(object, &[path], none);
    }
    let indexes = inventory.snapshot_indexes();
    let skipped = indexes.len().saturating_sub(SHOWN);
    for index in indexes.iter().skip(skipped) {
        let index = index.to_string();
        if let Some(snapshot) = inventory.snapshot(&index) {
            finding = finding.evidence(
                snapshot.object(),
                format!("metadata.labels[{}]", names::RESOURCE_INDEX),
                index,
            );
        }
    }
    finding
}

fn missing(cx: &Context<'_>, rule: &Rule, index: &str) -> Finding {
    let run = cx.run_object();
    let object = cx.placement_object();
    let inventory = cx.inventory;
    let when = failing::when(cx);
    let indexes = inventory.snapshot_indexes();
    let lead = format!("{object} had no resource snapshot with index {index} {when}");
    let found = inventory.snapshot(index);
    let meant = otherwise_written(index, &indexes);
    let tail = if found.is_some() {
        ", but it has one now".to_owned()
    } else if let Some(meant) = meant {
        format!("; index {meant} exists, but KubeFleet compares an index as text")
    } else if !inventory.snapshots.is_complete() {
        String::new()
    } else if indexes.is_empty() {
        ", and it has no resource snapshot at all".to_owned()
    } else {
        format!(
            "; {}",
            existing_indexes(indexes.iter().map(ToString::to_string))
        )
    };
    let mut finding = failing::finding(cx, rule, &run, format!("{lead}{tail}.")).evidence(
        &run,
        "spec.resourceSnapshotIndex",
        cx.run().map(|run| &run.spec.snapshot_index),
    );
    finding = existing(cx, finding);
    if let Some(found) = found {
        finding = finding.evidence(found.object(), "metadata.name", found.meta.name.clone());
        return finding.fix_with(
            format!(
                "Start a new run with this index: {} has failed for good.",
                run.name
            ),
            cx.new_run_command()
                .map(|command| command.flag("--snapshot", index)),
        );
    }
    if let Some(meant) = meant {
        finding = finding.fix_with(
            format!(
                "Start a new run with the index written as {meant}: {} has failed for good.",
                run.name
            ),
            cx.new_run_command()
                .map(|command| command.flag("--snapshot", meant.to_string())),
        );
    }
    finding
        .look_with(
            "List the existing snapshots.",
            cx.command("snapshots").arg(&inventory.placement_name),
        )
        .fix_with(
            format!(
                "Start a new run with an existing index, or without one for the current content. \
                 {} has failed for good, and its index is immutable.",
                run.name
            ),
            cx.new_run_command(),
        )
}

/// The index that exists and is the same number as the one asked for, written otherwise: `01` for 1.
/// Snapshots are looked up by their label. Source: updaterun/initialization.go:getResourceSnapshotObjs.
fn otherwise_written(index: &str, existing: &[u64]) -> Option<u64> {
    let number: u64 = index.trim().trim_start_matches('+').parse().ok()?;
    (number.to_string() != index && existing.contains(&number)).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::otherwise_written;

    #[test]
    fn the_same_number_is_meant_however_it_is_written() {
        let existing = [0, 1, 12];
        for (index, meant) in [
            ("00", Some(0)),
            ("01", Some(1)),
            (" 1", Some(1)),
            ("+12", Some(12)),
            ("1", None),
            ("02", None),
            ("x", None),
        ] {
            assert_eq!(otherwise_written(index, &existing), meant, "{index:?}");
        }
    }
}
