//! The placement has no resource snapshot of the index that a run asks for.

use super::placement_named;
use super::prelude::*;
use crate::words::existing_indexes;

/// The lowest index that exists, when the one asked for is below it: then it was pruned. Indexes
/// count from 0 and are never used again.
pub fn pruned_below(inventory: &Inventory, index: &str) -> Option<u64> {
    let index: u64 = index.parse().ok()?;
    if !inventory.snapshots.is_complete() {
        return None;
    }
    let lowest = *inventory.snapshot_indexes().first()?;
    (index < lowest).then_some(lowest)
}

/// Adds the indexes that exist, the highest ones where there are many.
pub fn existing_snapshots<B: ComposeText>(
    inventory: &Inventory,
    object: &ObjectRef,
    mut build: B,
) -> B {
    const SHOWN: usize = 10;
    if inventory.snapshots.is_known_empty() {
        let (place, path) = placement_named(inventory, object);
        return build.computed(place, &[path], format!("{object} has no resource snapshot"));
    }
    let indexes = inventory.snapshot_indexes();
    let skipped = indexes.len().saturating_sub(SHOWN);
    for index in indexes.iter().skip(skipped) {
        if let Some(snapshot) = inventory.snapshot(&index.to_string()) {
            build = build.index_of(snapshot);
        }
    }
    build
}

/// A typing error, the index of another placement, or one that was never made: since KubeFleet
/// 0.3.0 a placement of strategy External makes no snapshots by itself.
pub fn snapshot_missing(
    inventory: &Inventory,
    subject: impl Into<Subject>,
    object: &ObjectRef,
    index: &str,
    tense: RefusalTense<'_>,
) -> Problem {
    let indexes = inventory.snapshot_indexes();
    let tail = if !tense.since().is_empty() {
        String::new()
    } else if let Some(meant) = otherwise_written(index, &indexes) {
        format!("; index {meant} exists, but KubeFleet compares an index as text")
    } else if !inventory.snapshots.is_complete() {
        String::new()
    } else if indexes.is_empty() {
        ", and it has no resource snapshot at all".to_owned()
    } else {
        let all = indexes.iter().map(ToString::to_string);
        format!("; {}", existing_indexes(all))
    };
    let message = format!(
        "{object} {} no resource snapshot with index {index}{tense}{tail}.",
        tense.has()
    );
    let problem = Problem::new(subject, message);
    let problem = existing_snapshots(inventory, object, problem);
    // A list of none, or of a placement that is gone, tells nothing.
    if inventory.placement.is_absent() || inventory.snapshots.is_known_empty() {
        return problem;
    }
    let action = "List the existing snapshots.";
    problem.look_with(action, object.scope().fleet("snapshots").arg(&object.name))
}

/// The snapshot that a run asks for is no longer kept.
pub fn snapshot_pruned(
    inventory: &Inventory,
    subject: impl Into<Subject>,
    object: &ObjectRef,
    (index, lowest): (&str, u64),
    tense: RefusalTense<'_>,
) -> Problem {
    let subject = subject.into();
    let past = subject.to_string();
    let run = tense.pick("The run", &past);
    let placement = inventory.placement.present();
    let keeps = placement.map_or_else(String::new, |placement| {
        format!(" (it keeps {})", placement.history_limit())
    });
    let message = format!(
        "{run} asks for resource snapshot {index} of {object}, which was pruned: the oldest \
         remaining one is {lowest}{keeps}."
    );
    let mut problem = Problem::new(subject, message);
    problem = existing_snapshots(inventory, object, problem);
    if let Some(placement) = placement {
        let limit = placement.spec.revision_history_limit;
        problem = problem.evidence(object, "spec.revisionHistoryLimit", limit);
    }
    let action = "List the remaining snapshots, and the runs that rolled them out.";
    problem.look_with(action, object.scope().fleet("snapshots").arg(&object.name))
}

/// The index that exists and is the same number as the one asked for, written otherwise: `01` for 1.
/// Snapshots are looked up by their label. Source: updaterun/initialization.go:getResourceSnapshotObjs.
pub fn otherwise_written(index: &str, existing: &[u64]) -> Option<u64> {
    let number: i64 = index.trim().trim_start_matches('+').parse().ok()?;
    let number = u64::try_from(number).ok()?;
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
            ("-0", Some(0)),
            ("-1", None),
            ("1", None),
            ("02", None),
            ("x", None),
        ] {
            assert_eq!(otherwise_written(index, &existing), meant, "{index:?}");
        }
    }
}
