//! Nothing brings a namespaced placement's namespace to clusters, where its objects cannot be applied then.

use super::{Problem, steps};
use crate::inventory::{CarrierProgress, Inventory, NamespaceCarriers, carrying, was_applied};
use crate::kubefleet::placement::Placement;
use crate::kubefleet::{Concept, Kind};
use crate::report::ComposeText;
use crate::rollout::Rollout;
use crate::words::{CommandLine, count, enumerate};

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
        [one] => format!("{kind} {one}, which may deliver namespace {namespace}, is not on"),
        several => format!(
            "The {kind}s {}, which may deliver namespace {namespace}, are not on",
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
    problem = match carriers.placements.as_slice() {
        [carrier] => {
            let without: Vec<_> = problem.clusters.iter().map(String::as_str).collect();
            let steps = delivery_steps(carriers, carrier, &without);
            return Some(
                steps
                    .into_iter()
                    .fold(problem.clone(), |problem, step| match step {
                        (look, Some(command)) => problem.look_with(look, command),
                        (fix, None) => {
                            problem.fix(format!("{fix} first; or create the namespace there."))
                        }
                    }),
            );
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

/// What brings a namespace to clusters that its one carrier has not brought it to: looks with their commands, and
/// what is to be done, without the full stop.
pub fn delivery_steps(
    carriers: &NamespaceCarriers,
    carrier: &Placement,
    clusters: &[&str],
) -> Vec<(String, Option<CommandLine>)> {
    let (object, name) = (carrier.object(), &carrier.meta.name);
    let on = |wanted: &[CarrierProgress]| {
        let all = clusters.iter().copied();
        let all: Vec<_> = all
            .filter(|it| wanted.contains(&carriers.progress(it)))
            .collect();
        (!all.is_empty()).then(|| enumerate(all))
    };
    let mut steps = Vec::new();
    if let Some(picked) = on(&[CarrierProgress::Picked, CarrierProgress::Failing]) {
        let why = format!(
            "Check why {object}, which has picked {picked}, has not brought the namespace there."
        );
        steps.push((why, Some(steps::diagnose(&object))));
    }
    if let Some(leaving) = on(&[CarrierProgress::Leaving]) {
        let why = format!("Check why {object} is being removed from {leaving}.");
        steps.push((why, Some(steps::clusters(&object))));
    }
    if let Some(elsewhere) = on(&[CarrierProgress::Elsewhere]) {
        let why = format!("Check why {object} has not picked {elsewhere}.");
        steps.push((why, Some(steps::clusters(&object))));
    }
    if let Some(picked) = on(&[CarrierProgress::Picked]) {
        steps.push((format!("Roll {name} out on {picked}"), None));
    }
    if let Some(without) = on(&[CarrierProgress::Leaving, CarrierProgress::Elsewhere]) {
        let fix = format!("Let {name} pick {without}, and roll it out there");
        steps.push((fix, None));
    }
    steps
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
