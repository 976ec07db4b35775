//! Parts of a resource snapshot are missing, or the controller does not find them.

use super::prelude::*;
use crate::kubefleet::names;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::snapshot::ResourceSnapshot;
use crate::rollout::versions::Version;

/// What to do where the controller does not find the parts of a snapshot in a namespace.
pub const ONE_OBJECT: &str = "Make the content small enough for one snapshot object (about 800 KB), \
    or remove all overrides on the hub. With any of them, also one for another placement, the controller \
    searches for the other parts outside the namespace and always fails.";

/// Adds how many parts there should be, as one of them says.
pub fn number_of_parts<B: ComposeText>(build: B, part: &ResourceSnapshot) -> B {
    let path = format!("metadata.annotations[{}]", names::NUMBER_OF_SNAPSHOTS);
    let value = part.meta.annotation(names::NUMBER_OF_SNAPSHOTS);
    build.evidence(part.object(), path, value)
}

/// Adds the step that shows which snapshots are whole.
pub fn see_complete<B: ComposeText>(build: B, placement: &ObjectRef) -> B {
    let action = "Check which snapshots are complete.";
    build.look_with(action, placement.fleet("snapshots"))
}

/// A run would be refused, or get a snapshot that lacks parts.
pub fn snapshot_incomplete(object: &ObjectRef, version: &Version<'_>, flaw: &str) -> Problem {
    let message = format!(
        "Resource snapshot {} of {object} cannot be rolled out: {flaw}.",
        version.index
    );
    let mut problem = Problem::new(object, message);
    for part in version.parts.iter().take(6) {
        problem = number_of_parts(problem, part);
    }
    see_complete(problem, object)
}

/// Where there are overrides, the controller looks for the further parts among the cluster-scoped
/// snapshots, also for a namespaced placement. Source:
/// updaterun/initialization.go:recordOverrideSnapshots (the placement's bare name),
/// utils/controller/resource_snapshot_resolver.go:FetchAllResourceSnapshotsAlongWithMaster.
pub fn snapshot_parts_not_found(
    object: &ObjectRef,
    version: &Version<'_>,
    any: &OverrideSnapshot,
) -> Problem {
    let message = format!(
        "Resource snapshot {} of {object} has {} parts, but the controller finds only the \
         first one while the hub has any override.",
        version.index,
        version.expected.unwrap_or_default()
    );
    let mut problem =
        Problem::new(object, message).evidence(any.object(), "metadata.name", &any.meta.name);
    if let Some(part) = version.parts.first() {
        problem = number_of_parts(problem, part);
    }
    problem.fix(ONE_OBJECT)
}
