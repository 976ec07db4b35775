//! No resource snapshot is marked as the latest: up to KubeFleet 0.2.2 a run without an index waits for one.

use super::placement_named;
use super::prelude::*;
use crate::rollout::versions::{Version, versions};

/// The placement controller makes the snapshots then, and only when the content changes.
/// Source: v0.2.2 updaterun/initialization.go:getResourceSnapshotObjs.
pub fn snapshot_awaited(
    inventory: &Inventory,
    subject: impl Into<Subject>,
    object: &ObjectRef,
) -> Problem {
    let all = versions(inventory);
    let existing = all.iter().rev().find(|it| it.is_complete());
    let lacks = match existing {
        Some(_) => format!("no resource snapshot of {object} is marked as the latest"),
        None => format!("{object} has no resource snapshot yet"),
    };
    let message = format!("{lacks}. Up to KubeFleet 0.2.2, a run without an index waits for one.");
    let (place, path) = placement_named(inventory, object);
    let problem = Problem::new(subject, message).computed(
        place,
        &[path],
        format!("no resource snapshot of {object} is marked as the latest"),
    );
    match existing {
        Some(Version { index, .. }) => problem.fix(format!(
            "Change the content on the hub, so that KubeFleet makes a snapshot. Or roll out one that exists: \
             `--snapshot {index}`."
        )),
        None => problem.look_with(
            "Check whether the placement selects anything, and its conditions.",
            object.fleet("diagnose").arg(object.word()),
        ),
    }
}
