//! The placement selects what it may not, so no snapshot of its content can be made.

use super::prelude::*;
use crate::kubefleet::messages::{Cause, SelectorProblem, parse_failure};
use crate::kubefleet::{describe_object, reasons};

/// The reason of `Scheduled` where the placement controller refuses the selectors.
const INVALID: &str = "InvalidResourceSelectors";

/// Since KubeFleet 0.3.0 a run without an index makes the snapshot itself, and fails with the
/// placement's selectors.
pub fn resource_selectors(
    inventory: &Inventory,
    object: &ObjectRef,
    problem: Option<&SelectorProblem>,
    tense: RefusalTense<'_>,
) -> Problem {
    let (what, repair) = describe(problem, tense);
    let mut problem = Problem::new(object, format!("{object} {what}{tense}."));
    if let Some(placement) = inventory.placement.present() {
        let selectors = placement.spec.selectors.iter().enumerate();
        for (at, selector) in selectors.take(6) {
            problem = problem.evidence(object, format!("spec.resourceSelectors[{at}]"), selector);
        }
        problem = problem.condition(
            object,
            placement
                .condition(reasons::SCHEDULED)
                .filter(|condition| condition.reason == INVALID),
        );
    }
    problem.fix_with(format!("{repair}."), object.kubectl("edit"))
}

/// The same where the placement controller refuses what the placement selects now, and says so: it makes no snapshot
/// of its content or policy then.
/// Source: utils/controller/resource_selector_resolver.go:SelectResourcesForPlacement.
pub fn selectors_refused_now(inventory: &Inventory) -> Option<Problem> {
    let placement = inventory.placement.present()?;
    let condition = placement
        .condition(reasons::SCHEDULED)
        .filter(|condition| {
            condition.is_false()
                && condition.reason == INVALID
                && condition.observes(placement.meta.generation)
        })?;
    let told = parse_failure(&condition.message);
    let problem = told.iter().find_map(|cause| match cause {
        Cause::ResourceSelectorInvalid { problem } => Some(problem),
        _ => None,
    });
    let object = placement.object();
    Some(resource_selectors(
        inventory,
        &object,
        problem,
        RefusalTense::Now,
    ))
}

/// Why KubeFleet would refuse what a placement selects, and what to do.
pub fn refused_selector(object: &ObjectRef, problem: &SelectorProblem) -> (String, &'static str) {
    let (what, repair) = describe(Some(problem), RefusalTense::Now);
    (format!("{object} {what}"), repair)
}

fn describe(problem: Option<&SelectorProblem>, tense: RefusalTense<'_>) -> (String, &'static str) {
    let Some(problem) = problem else {
        return (
            format!("{} resource selectors that are not valid", tense.has()),
            "Fix `spec.resourceSelectors`, or roll out an existing snapshot by its index",
        );
    };
    let (what, comma, repair) = match problem {
        SelectorProblem::NamespaceNotAllowed { namespace } => (
            format!("the namespace {namespace}, which is reserved"),
            true,
            "Remove the reserved namespace from `spec.resourceSelectors` (reserved: kube-*, \
             fleet-*, and those that the hub agent skips)",
        ),
        SelectorProblem::KindUnknown { error } => (
            format!("a kind that the hub does not serve ({error})"),
            false,
            "Fix the group, version, and kind of the selector, or install the kind's \
             CustomResourceDefinition on the hub",
        ),
        SelectorProblem::NamespacedKindInClusterPlacement { resource } => (
            format!("the namespaced {resource}, which a cluster placement cannot do"),
            true,
            "Select the namespace that holds the objects, or use a ResourcePlacement in it",
        ),
        SelectorProblem::ClusterKindInNamespacedPlacement { resource } => (
            format!("the cluster-scoped {resource}, which a ResourcePlacement cannot do"),
            true,
            "Remove the cluster-scoped kind, and place it with a ClusterResourcePlacement",
        ),
        SelectorProblem::NamespaceInNamespacedPlacement => (
            "a Namespace, which a ResourcePlacement cannot do".to_owned(),
            true,
            "Remove the Namespace, and place it with a ClusterResourcePlacement",
        ),
        SelectorProblem::Duplicate { resource } => (
            format!("{} twice", printed(resource)),
            false,
            "Make the selectors exclude each other",
        ),
        SelectorProblem::NoNamespaceSelected => (
            "objects of one namespace but no namespace".to_owned(),
            false,
            "Add a selector for exactly one Namespace, which NamespaceWithResourceSelectors needs",
        ),
    };
    let comma = if comma { tense.pick("", ",") } else { "" };
    let selects = tense.pick("selects", "selected");
    (format!("{selects} {what}{comma}"), repair)
}

/// `Deployment shop/web` of `{Group:apps Version:v1 Kind:Deployment Name:web Namespace:shop …}`;
/// the text itself where it is something else.
fn printed(object: &str) -> String {
    let field = |name: &str| {
        object
            .trim_matches(['{', '}'])
            .split(' ')
            .find_map(|part| part.strip_prefix(name))
            .unwrap_or_default()
    };
    match (field("Kind:"), field("Namespace:"), field("Name:")) {
        ("", _, _) | (_, _, "") => object.to_owned(),
        (kind, namespace, name) => describe_object(kind, namespace, name),
    }
}
