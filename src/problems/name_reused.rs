//! FS510: a snapshot whose name clusters have already, of one that was deleted.

use super::Problem;
use crate::inventory::Inventory;
use crate::kubefleet::reasons;
use crate::kubefleet::run::{ClusterStatus, UpdateRun};
use crate::kubefleet::snapshot::ResourceSnapshot;
use crate::report::ComposeText;
use crate::rollout::is_written;
use crate::rollout::sent::sent_namesake;
use crate::words::{by_number, enumerate};

/// The clusters of a run that it has sent nothing, or will send nothing, for that reason.
pub fn name_reused_by(inventory: &Inventory, run: &UpdateRun) -> Option<Problem> {
    let snapshot = inventory.snapshot(&run.status.snapshot_index)?;
    let is_kept = |it: &&ClusterStatus| {
        let binding = inventory.binding(&it.name);
        binding.is_some_and(|binding| is_written(binding, run, it))
    };
    let clusters = run.updated_clusters().filter(is_kept);
    let clusters: Vec<_> = clusters.map(|it| it.name.as_str()).collect();
    name_reused(inventory, snapshot, &clusters)
}

/// Those of the clusters that were sent another snapshot of this name.
pub fn name_reused(
    inventory: &Inventory,
    snapshot: &ResourceSnapshot,
    clusters: &[&str],
) -> Option<Problem> {
    let bindings = clusters.iter().filter_map(|name| inventory.binding(name));
    let of: Vec<_> = bindings
        .filter(|binding| binding.spec.snapshot == snapshot.meta.name)
        .filter_map(|binding| Some((binding, sent_namesake(inventory, binding)?)))
        .collect();
    let (first, run) = of.first()?;
    let kept: Vec<_> = of.iter().map(|(it, _)| it.spec.cluster.as_str()).collect();
    let name = &snapshot.meta.name;
    let (have, their) = by_number(
        kept.len(),
        ("keeps", "its binding names"),
        ("keep", "their bindings name"),
    );
    let message = format!(
        "{} {have} what {} brought: {their} {name} already, which was deleted and created again since, so \
         a run with it sends nothing there.",
        enumerate(&kept),
        run.meta.name,
    );
    let mut problem = Problem::new(snapshot.object(), message)
        .clusters(kept)
        .known(
            snapshot.object(),
            "metadata.creationTimestamp",
            snapshot.meta.created,
        )
        .evidence(first.object(), "spec.resourceSnapshotName", name);
    if let Some(initialized) = run.condition(reasons::INITIALIZED) {
        problem = problem.condition(&run.object(), initialized);
    }
    Some(problem.fix(
        "Change the content on the hub, if it is not as it was, and start a new run: the next snapshot gets another \
         name, and reaches all clusters.",
    ))
}
