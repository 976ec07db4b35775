//! The lives of a placement, and which snapshot an index of a run means.
//!
//! Runs outlive their placement. One that is deleted and created again under the same name counts
//! its snapshots from 0 again, and KubeFleet finds them by name: the index that a run recorded may
//! name another snapshot now. What is the same object is told by uids and times. Kubernetes keeps
//! whole seconds, and conditions have the controller's clock: where they do not decide, it is
//! unknown.

use std::cmp::Ordering;
use std::time::Duration;

use jiff::Timestamp;

use crate::inventory::Inventory;
use crate::kubefleet::run::{ClusterStatus, UpdateRun};
use crate::kubefleet::snapshot::ResourceSnapshot;
use crate::kubefleet::{Concept, Conditions, reasons};

/// How far the controller's clock may be from the API server's.
const CLOCKS: Duration = Duration::from_secs(5);

/// To which life of its placement something belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlacementLife {
    /// To the placement that exists now.
    Present,
    /// To an earlier placement of the same name.
    Earlier,
    /// The placement or a time is not known, or the times do not decide.
    Unknown,
}

/// Whether the snapshot that has an index now is the one that a run was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotMatch {
    Same,
    /// The run was given another one, which had the same index or name before.
    Another,
    /// The times do not decide.
    Unknown,
}

/// When the controller computed a run from its placement, or refused to.
fn taken_up(run: &UpdateRun) -> Option<Timestamp> {
    run.status.conditions.since(reasons::INITIALIZED)
}

pub fn of_run(inventory: &Inventory, run: &UpdateRun) -> PlacementLife {
    let placement = inventory.placement.present();
    let since = placement.and_then(|placement| placement.meta.created);
    since.map_or(PlacementLife::Unknown, |since| {
        run_life(since, run.meta.created, taken_up(run), has_updated(run))
    })
}

/// Whether a run is known to be of an earlier placement of the same name.
pub fn is_of_earlier(inventory: &Inventory, run: &UpdateRun) -> bool {
    of_run(inventory, run) == PlacementLife::Earlier
}

/// Whether a run has brought its snapshot to a cluster.
fn has_updated(run: &UpdateRun) -> bool {
    let mut clusters = run.updated_clusters();
    clusters.any(ClusterStatus::is_done)
}

/// The same from the times: since when the placement exists, when the run was created, when the
/// controller took it up, and whether it has updated a cluster.
fn run_life(
    since: Timestamp,
    created: Option<Timestamp>,
    taken_up: Option<Timestamp>,
    has_updated: bool,
) -> PlacementLife {
    use Ordering::{Equal, Greater, Less};
    let created = created.map(|created| created.cmp(&since));
    let taken_up = taken_up.map(|taken_up| taken_up.cmp(&since));
    match (created, taken_up) {
        (Some(Less) | None, Some(Less)) => PlacementLife::Earlier,
        // A run may be created first, and taken up when its placement is there.
        (_, Some(Greater)) | (Some(Greater), Some(Equal) | None) => PlacementLife::Present,
        // Between the creation of a run and its first cluster no placement is deleted and created
        // again within one second. And what it did after that, it did with the snapshots of today:
        // KubeFleet finds them by name.
        (Some(Equal), _) if has_updated => PlacementLife::Present,
        // The seconds do not decide. Or it was taken up before it was created: by another clock, or
        // restored from a backup.
        _ => PlacementLife::Unknown,
    }
}

pub fn of_snapshot(inventory: &Inventory, snapshot: &ResourceSnapshot) -> PlacementLife {
    let Some(placement) = inventory.placement.present() else {
        return PlacementLife::Unknown;
    };
    // Source: utils/controller/resource_snapshot_resolver.go sets the placement as its controller.
    let kind = inventory.scope.kind(Concept::Placement).name();
    let owner = snapshot.meta.owners.iter();
    let owner = owner.filter(|owner| owner.kind == kind).map(|o| &o.uid);
    let mut owner = owner.filter(|uid| !uid.is_empty());
    if let Some(uid) = owner.next()
        && !placement.meta.uid.is_empty()
    {
        return if *uid == placement.meta.uid {
            PlacementLife::Present
        } else {
            PlacementLife::Earlier
        };
    }
    match (snapshot.meta.created, placement.meta.created) {
        (Some(created), Some(since)) if created < since => PlacementLife::Earlier,
        (Some(created), Some(since)) if created > since => PlacementLife::Present,
        _ => PlacementLife::Unknown,
    }
}

/// Whether the snapshot that the run's index names now is the one that the run was given: the index
/// named it when the run was taken up, if it existed then.
pub fn used(inventory: &Inventory, run: &UpdateRun, snapshot: &ResourceSnapshot) -> SnapshotMatch {
    let index = run.status.snapshot_index.as_str();
    if index.is_empty() || snapshot.index() != Some(index) {
        return SnapshotMatch::Another;
    }
    let run_life = of_run(inventory, run);
    if run_life == PlacementLife::Earlier
        && of_snapshot(inventory, snapshot) == PlacementLife::Present
    {
        return SnapshotMatch::Another;
    }
    match (snapshot.meta.created, taken_up(run)) {
        (Some(created), Some(taken_up)) => existed(created, taken_up, run_life),
        _ => SnapshotMatch::Unknown,
    }
}

/// Whether a run of the present placement was given another snapshot of the name that this one has now.
pub fn used_namesake(inventory: &Inventory, run: &UpdateRun, snapshot: &ResourceSnapshot) -> bool {
    snapshot.index() == Some(run.status.snapshot_index.as_str())
        && came_after(inventory, run, snapshot.meta.created)
}

/// Whether an object was created only after a run of the present placement was taken up: what the run was given
/// under its name was another.
pub fn came_after(inventory: &Inventory, run: &UpdateRun, created: Option<Timestamp>) -> bool {
    !is_of_earlier(inventory, run) && is_clearly_after(created, taken_up(run))
}

/// Whether one time is later than another, whatever clocks were read.
pub fn is_clearly_after(time: Option<Timestamp>, than: Option<Timestamp>) -> bool {
    let times = time.zip(than);
    times.is_some_and(|(time, than)| {
        existed(time, than, PlacementLife::Unknown) == SnapshotMatch::Another
    })
}

/// Whether a snapshot that was created then is the one that had its index when a run was taken up.
/// Within one life an index is given once, unless someone deletes the latest snapshot by hand.
fn existed(created: Timestamp, taken_up: Timestamp, run: PlacementLife) -> SnapshotMatch {
    let before = taken_up.duration_since(created);
    let clear = before.unsigned_abs() > CLOCKS;
    match before.is_negative() {
        true if clear => SnapshotMatch::Another,
        false if clear || run == PlacementLife::Present => SnapshotMatch::Same,
        _ => SnapshotMatch::Unknown,
    }
}

/// Whether a run's index is known to mean nothing among the snapshots of today: the run was computed
/// from an earlier placement, or the snapshot that has its index now is another.
pub fn is_foreign(inventory: &Inventory, run: &UpdateRun) -> bool {
    is_of_earlier(inventory, run)
        || inventory
            .snapshot(&run.status.snapshot_index)
            .is_some_and(|snapshot| used(inventory, run, snapshot) == SnapshotMatch::Another)
}

#[cfg(test)]
pub(crate) mod tests;
