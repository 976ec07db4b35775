//! Nothing brings a namespaced placement's namespace to clusters, where its objects cannot be applied then.

use super::{Problem, steps};
use crate::inventory::{Inventory, carrying, was_applied};
use crate::kubefleet::placement::Placement;
use crate::kubefleet::{Concept, Kind};
use crate::report::ComposeText;
use crate::rollout::overrides::origin;
use crate::rollout::{DeliveryProgress, NamespaceDelivery, Rollout};
use crate::words::{CommandLine, count, enumerate};

/// Of these clusters, those that have nothing of the placement yet, and to which no cluster placement has
/// brought the namespace. `None` where that was not read, or where the namespace comes in another way.
pub fn namespace_undelivered<'c>(
    inventory: &Inventory,
    clusters: impl Iterator<Item = &'c str>,
) -> Option<Problem> {
    let delivery = NamespaceDelivery::of(inventory)?;
    let namespace = inventory.scope.namespace();
    let mut applied = inventory.bindings.iter().filter(|it| was_applied(it));
    if applied.any(|it| !delivery.reaches(&it.spec.cluster)) {
        return None;
    }
    let without: Vec<_> = clusters
        .filter(|name| !delivery.reaches(name) && !inventory.shows_namespace(name))
        .collect();
    if without.is_empty() {
        return None;
    }
    let kind = Kind::ClusterResourcePlacement;
    let carriers = delivery.placements();
    let names = carriers.iter();
    let names: Vec<_> = names.map(|it| it.meta.name.as_str()).collect();
    let who = match names.as_slice() {
        [] => format!("No {kind} selects namespace {namespace}, so it may be missing on"),
        [one] => {
            format!("{kind} {one}, which may deliver namespace {namespace}, has not brought it to")
        }
        several => format!(
            "The {kind}s {}, which may deliver namespace {namespace}, have not brought it to",
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
    for carrier in carriers {
        if let Some((at, selector)) = carrying(carrier, namespace) {
            let path = format!("spec.resourceSelectors[{at}].kind");
            problem = problem.evidence(carrier.object(), path, &selector.kind);
        }
    }
    let there = enumerate(&problem.clusters);
    problem = match carriers {
        [carrier] => {
            let without: Vec<_> = problem.clusters.iter().map(String::as_str).collect();
            let steps = delivery_steps(delivery, carrier, &without);
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
    delivery: NamespaceDelivery<'_>,
    carrier: &Placement,
    clusters: &[&str],
) -> Vec<(String, Option<CommandLine>)> {
    let (object, name) = (carrier.object(), &carrier.meta.name);
    let mut groups: Vec<(DeliveryProgress<'_>, Vec<&str>)> = Vec::new();
    for cluster in clusters {
        let progress = delivery.progress(cluster);
        match groups.iter_mut().find(|(it, _)| *it == progress) {
            Some((_, on)) => on.push(cluster),
            None => groups.push((progress, vec![cluster])),
        }
    }
    let (mut looks, mut fixes) = (Vec::new(), Vec::new());
    for (progress, on) in groups {
        let on = enumerate(on);
        let (look, command, fix) = match progress {
            DeliveryProgress::Applied => continue,
            DeliveryProgress::Failing => (
                format!("Check why {object} fails on {on}."),
                steps::diagnose(&object),
                None,
            ),
            DeliveryProgress::Deleted(snapshot) => (
                format!(
                    "Check override {}, which deletes the namespace from what {object} sends to {on}.",
                    origin(snapshot)
                ),
                steps::see_override(snapshot),
                Some(format!(
                    "Correct override {}, and roll {name} out on {on}",
                    origin(snapshot)
                )),
            ),
            DeliveryProgress::Compared => (
                format!(
                    "Check why {object} only compares on {on}, where it misses the namespace: its applyStrategy is \
                     ReportDiff."
                ),
                steps::clusters(&object),
                Some(format!(
                    "Let {name} apply what it compares, and roll it out on {on}"
                )),
            ),
            DeliveryProgress::Picked => (
                format!(
                    "Check why {object}, which has picked {on}, has not brought the namespace there."
                ),
                steps::diagnose(&object),
                Some(format!("Roll {name} out on {on}")),
            ),
            DeliveryProgress::Leaving => (
                format!("Check why {object} is being removed from {on}."),
                steps::clusters(&object),
                Some(format!("Let {name} pick {on}, and roll it out there")),
            ),
            DeliveryProgress::Elsewhere => (
                format!("Check why {object} has not picked {on}."),
                steps::clusters(&object),
                Some(format!("Let {name} pick {on}, and roll it out there")),
            ),
        };
        looks.push((look, Some(command)));
        fixes.extend(fix.map(|it| (it, None)));
    }
    looks.into_iter().chain(fixes).collect()
}

/// Without the field, the placement would bring all that the namespace holds.
pub const SCOPE_VERSION: &str =
    "Write it in v1beta1: up to KubeFleet 0.2, v1 does not have this field.";

/// The same of the clusters that a run has still to reach, where there is a placement that brings the
/// namespace: without one, it may come in another way.
pub fn namespace_undelivered_ahead(rollout: &Rollout<'_>) -> Option<Problem> {
    let delivery = NamespaceDelivery::of(rollout.inventory)?;
    if delivery.placements().is_empty() {
        return None;
    }
    let ahead = rollout.still_to_reach().map(|it| it.name);
    namespace_undelivered(rollout.inventory, ahead)
}
