//! Nothing brings a namespaced placement's namespace to clusters, where its objects cannot be applied then.

use super::{Problem, steps};
use crate::inventory::{Inventory, carrying, was_applied};
use crate::kubefleet::{Concept, Kind};
use crate::report::ComposeText;
use crate::rollout::Rollout;
use crate::words::{count, enumerate};

/// Of these clusters, those that have nothing of the placement yet, and to which no cluster placement has
/// brought the namespace. `None` where that was not read, or where the namespace comes in another way.
pub fn namespace_undelivered<'c>(
    inventory: &Inventory,
    clusters: impl Iterator<Item = &'c str>,
) -> Option<Problem> {
    let carriers = inventory.carriers.as_ref()?;
    let namespace = inventory.scope.namespace();
    let mut applied = inventory.bindings.iter().filter(|it| was_applied(it));
    if applied.any(|it| !carriers.reach(&it.spec.cluster)) {
        return None;
    }
    let without: Vec<_> = clusters
        .filter(|name| !carriers.reach(name) && !inventory.shows_namespace(name))
        .collect();
    if without.is_empty() {
        return None;
    }
    let kind = Kind::ClusterResourcePlacement;
    let names = carriers.placements.iter();
    let names: Vec<_> = names.map(|it| it.meta.name.as_str()).collect();
    let who = match names.as_slice() {
        [] => format!("No {kind} selects namespace {namespace}, so it may be missing on"),
        [one] => format!("{kind} {one}, which may deliver namespace {namespace}, has not reached"),
        several => format!(
            "The {kind}s {}, which may deliver namespace {namespace}, have not reached",
            enumerate(several)
        ),
    };
    let consequence = if names.is_empty() {
        "Without it nothing can be applied there"
    } else {
        "Where the namespace is missing, nothing can be applied"
    };
    let message = format!(
        "{who} {} ({}). {consequence}.",
        count(without.len(), "cluster"),
        enumerate(&without)
    );
    let placement = inventory
        .scope
        .object(Concept::Placement, &inventory.placement_name);
    let mut problem = Problem::new(placement, message).clusters(without);
    for carrier in &carriers.placements {
        if let Some((at, selector)) = carrying(carrier, namespace) {
            let path = format!("spec.resourceSelectors[{at}].kind");
            problem = problem.evidence(carrier.object(), path, &selector.kind);
        }
    }
    let there = enumerate(&problem.clusters);
    problem = match names.as_slice() {
        [one] => {
            let carrier = carriers.placements.first();
            let reached = carrier.map(|it| steps::clusters(&it.object()));
            problem.look_with(format!("Check why {one} has not reached {there}."), reached)
        }
        _ => problem.look(format!("Check whether {there} have namespace {namespace}.")),
    };
    // A second placement of the namespace would not own it.
    Some(problem.fix(if names.is_empty() {
        format!(
            "Create a {kind} that selects the Namespace {namespace} with `selectionScope: NamespaceOnly` \
             for the same clusters, or create the namespace there. {SCOPE_VERSION}"
        )
    } else {
        format!(
            "Let {} pick these clusters, and roll it out there first; or create the namespace there.",
            enumerate(&names)
        )
    }))
}

/// Without the field, the placement would bring all that the namespace holds.
pub const SCOPE_VERSION: &str =
    "Write it in v1beta1: up to KubeFleet 0.2, v1 does not have this field.";

/// The same of the clusters that a run has still to reach, where there is a placement that brings the
/// namespace: without one, it may come in another way.
pub fn namespace_undelivered_ahead(rollout: &Rollout<'_>) -> Option<Problem> {
    let carriers = rollout.inventory.carriers.as_ref()?;
    if carriers.placements.is_empty() {
        return None;
    }
    let ahead = rollout.still_to_reach().map(|it| it.name);
    namespace_undelivered(rollout.inventory, ahead)
}
