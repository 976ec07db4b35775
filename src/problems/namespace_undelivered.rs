//! Nothing brings a namespaced placement's namespace to clusters, where its objects cannot be applied then.

use super::{Problem, steps};
use crate::inventory::{Inventory, carrying, was_applied};
use crate::kubefleet::{Concept, Kind};
use crate::report::ComposeText;
use crate::rollout::overrides::origin;
use crate::rollout::{DeliveryProgress, DeliveryState, NamespaceDelivery, Rollout};
use crate::words::{CommandLine, count, enumerate, together};

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
    let mut problem = Problem::new(placement, message).clusters(without.iter().copied());
    for carrier in carriers {
        if let Some((at, selector)) = carrying(carrier, namespace) {
            let path = format!("spec.resourceSelectors[{at}].kind");
            problem = problem.evidence(carrier.object(), path, &selector.kind);
        }
    }
    if !names.is_empty() {
        let tail = " first; or create the namespace there.";
        return Some(with_delivery_steps(problem, delivery, &without, tail));
    }
    let look = format!(
        "Check whether {} have namespace {namespace}.",
        enumerate(&without)
    );
    Some(problem.look(look).fix(format!(
        "Create a {kind} that selects the Namespace {namespace} with `selectionScope: NamespaceOnly` for the same \
         clusters, or create the namespace there. {SCOPE_VERSION}"
    )))
}

/// Adds what brings a namespace to clusters that its carriers have not brought it to: first what to check, then what
/// is to be done, with the words that end each of these.
pub fn with_delivery_steps<T: ComposeText>(
    text: T,
    delivery: NamespaceDelivery<'_>,
    clusters: &[&str],
    tail: &str,
) -> T {
    let groups = together(clusters.iter().map(|it| (delivery.state(it), *it)));
    let steps = groups
        .iter()
        .map(|(state, on)| steps_for(delivery, *state, &enumerate(on)));
    let (looks, fixes): (Vec<_>, Vec<_>) = steps.flatten().unzip();
    let text = looks
        .into_iter()
        .fold(text, |text, (look, command)| text.look_with(look, command));
    let fixes = fixes.into_iter().flatten();
    fixes.fold(text, |text, fix| text.fix(format!("{fix}{tail}")))
}

/// What to check where the carriers of a namespace are in one state, and what is to be done, without its end.
fn steps_for(
    delivery: NamespaceDelivery<'_>,
    state: DeliveryState<'_>,
    on: &str,
) -> Option<((String, CommandLine), Option<String>)> {
    let Some(carrier) = state.carrier else {
        let names = delivery.placements().iter().map(|it| &it.meta.name);
        let names = enumerate(names);
        let kind = Kind::ClusterResourcePlacement;
        let look = format!("Check why none of the {kind}s {names} has picked {on}.");
        let fix = format!("Let one of {names} pick {on}, and roll it out there");
        let command = CommandLine::kubectl("get").arg(kind.for_kubectl());
        return Some(((look, command), Some(fix)));
    };
    let (object, name) = (carrier.object(), &carrier.meta.name);
    let roll = || Some(format!("Roll {name} out on {on}"));
    let pick = || Some(format!("Let {name} pick {on}, and roll it out there"));
    let (look, command, fix) = match state.progress {
        DeliveryProgress::Applied => return None,
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
        DeliveryProgress::Older => (
            format!("Check {object}: its snapshot on {on} does not have the namespace."),
            steps::clusters(&object),
            roll(),
        ),
        DeliveryProgress::Picked => (
            format!(
                "Check why {object}, which has picked {on}, has not brought the namespace there."
            ),
            steps::diagnose(&object),
            roll(),
        ),
        DeliveryProgress::Leaving => (
            format!("Check why {object} is being removed from {on}."),
            steps::clusters(&object),
            pick(),
        ),
        DeliveryProgress::Going => (
            format!(
                "Check {object}: it is being deleted, and takes the namespace from its clusters."
            ),
            object.kubectl("get").flag("-o", "yaml"),
            Some(format!(
                "Let another {} bring the namespace to {on}, once {name} is gone",
                object.kind
            )),
        ),
        DeliveryProgress::Elsewhere => (
            format!("Check why {object} has not picked {on}."),
            steps::clusters(&object),
            pick(),
        ),
    };
    Some(((look, command), fix))
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
