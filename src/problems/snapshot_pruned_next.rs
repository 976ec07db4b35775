//! The next new snapshot may delete the one that a run needs: runs do not hold what they roll out.

use super::prelude::*;
use crate::kubefleet::placement::Placement;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::snapshot::ResourceSnapshot;
use crate::words::count;

/// `run` needs it already.
pub fn snapshot_pruned_next(
    placement: &Placement,
    snapshot: &ResourceSnapshot,
    run: Option<&UpdateRun>,
) -> Problem {
    let (object, name) = (placement.object(), &placement.meta.name);
    let index = snapshot.index().unwrap_or_default();
    let limit = usize::try_from(placement.history_limit()).unwrap_or_default();
    let limit = count(limit, "snapshot");
    let lead = match run {
        Some(run) => format!(
            "{} needs snapshot {index}, but {name} keeps only {limit}",
            run.meta.name
        ),
        None => format!("Snapshot {index} is the oldest of the {limit} that {name} keeps"),
    };
    let message = format!(
        "{lead}: the next new snapshot may delete it, and the remaining clusters can then never \
         receive it."
    );
    let mut problem = Problem::new(snapshot.object(), message);
    if let Some(run) = run {
        problem = problem.evidence(run.object(), run.snapshot_path(), index);
    }
    problem
        .evidence(
            &object,
            "spec.revisionHistoryLimit",
            placement.spec.revision_history_limit,
        )
        .index_of(snapshot)
        .fix("Raise `spec.revisionHistoryLimit` of the placement before it gets a new snapshot.")
        .look_with("List the existing versions.", object.fleet("snapshots"))
}
