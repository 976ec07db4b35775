//! A snapshot without objects: it takes away what clusters have of the placement.

use super::prelude::*;
use crate::kubefleet::names;
use crate::kubefleet::placement::Placement;
use crate::kubefleet::snapshot::ResourceSnapshot;

/// `to_lose` are the clusters that have other content; none is left where they have lost it.
pub fn snapshot_empty(
    placement: &Placement,
    snapshot: &ResourceSnapshot,
    to_lose: &[&str],
) -> Problem {
    let (object, name) = (placement.object(), &placement.meta.name);
    let index = snapshot.index().unwrap_or_default();
    let effect = if to_lose.is_empty() {
        format!("so {name} delivers nothing to its clusters")
    } else {
        format!(
            "so rolling it out deletes everything that {} {} from {name}",
            enumerate(to_lose),
            if to_lose.len() == 1 { "has" } else { "have" }
        )
    };
    let message = format!("Snapshot {index} has no objects, {effect}.");
    Problem::new(snapshot.object(), message)
        .clusters(to_lose.iter().copied())
        .index_of(snapshot)
        .evidence(
            snapshot.object(),
            format!("metadata.annotations[{}]", names::NUMBER_OF_SNAPSHOTS),
            "1",
        )
        .look_with(
            "Compare it with the versions before.",
            object.fleet("snapshots"),
        )
        .fix(format!(
            "Create again on the hub what {name} selects, if it is not to go, and start a new run."
        ))
}
