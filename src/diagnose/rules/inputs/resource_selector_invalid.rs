//! The placement selects what it may not, so no snapshot of its content can be made.

use crate::diagnose::failing;
use crate::diagnose::rules::prelude::*;
use crate::kubefleet::binding::describe_object;
use crate::kubefleet::messages::SelectorProblem;
use crate::kubefleet::reasons;

/// Since KubeFleet 0.3.0 a run without an index makes the snapshot itself, and fails with the
/// placement's selectors. Source: utils/controller/resource_selector_resolver.go.
pub const RULE: Rule = Rule::error("FS119", "resource-selector-invalid", Check::Cause(check))
    .reads(&[Concept::Placement]);

fn check(cx: &Context<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    match cause {
        Cause::ResourceSelectorInvalid { problem, .. } => Some(invalid(cx, rule, problem)),
        _ => None,
    }
}

fn invalid(cx: &Context<'_>, rule: &Rule, problem: &SelectorProblem) -> Finding {
    let object = cx.placement_object();
    let (what, repair) = describe(problem);
    let mut finding = failing::finding(
        cx,
        rule,
        &object,
        format!("{object} {what} {}.", failing::when(cx)),
    );
    if let Some(placement) = cx.inventory.placement.present() {
        let selectors = placement.spec.selectors.iter().enumerate();
        for (at, selector) in selectors.take(6) {
            finding = finding.evidence(&object, format!("spec.resourceSelectors[{at}]"), selector);
        }
        if let Some(condition) = placement
            .condition(reasons::SCHEDULED)
            .filter(|condition| condition.reason == "InvalidResourceSelectors")
        {
            finding = finding.condition(&object, condition);
        }
    }
    finding = finding.fix_with(format!("{repair}."), object.kubectl("edit"));
    failing::then_new_run(cx, finding)
}

fn describe(problem: &SelectorProblem) -> (String, &'static str) {
    match problem {
        SelectorProblem::NamespaceNotAllowed { namespace } => (
            format!("selected the namespace {namespace}, which is reserved,"),
            "Remove the reserved namespace from `spec.resourceSelectors` (reserved: kube-*, \
             fleet-*, and those that the hub agent skips)",
        ),
        SelectorProblem::KindUnknown { error } => (
            format!("selected a kind that the hub does not serve ({error})"),
            "Fix the group, version, and kind of the selector, or install the kind's \
             CustomResourceDefinition on the hub",
        ),
        SelectorProblem::NamespacedKindInClusterPlacement { resource } => (
            format!("selected the namespaced {resource}, which a cluster placement cannot do,"),
            "Select the namespace that holds the objects, or use a ResourcePlacement in it",
        ),
        SelectorProblem::ClusterKindInNamespacedPlacement { resource } => (
            format!("selected the cluster-scoped {resource}, which a ResourcePlacement cannot do,"),
            "Remove the cluster-scoped kind, and place it with a ClusterResourcePlacement",
        ),
        SelectorProblem::NamespaceInNamespacedPlacement => (
            "selected a Namespace, which a ResourcePlacement cannot do,".to_owned(),
            "Remove the Namespace, and place it with a ClusterResourcePlacement",
        ),
        SelectorProblem::Duplicate { resource } => (
            format!("selected {} twice", object(resource)),
            "Make the selectors exclude each other",
        ),
        SelectorProblem::NoNamespaceSelected => (
            "selected objects of one namespace but no namespace".to_owned(),
            "Add a selector for exactly one Namespace, which NamespaceWithResourceSelectors needs",
        ),
    }
}

/// `Deployment shop/web` of `{Group:apps Version:v1 Kind:Deployment Name:web Namespace:shop …}`;
/// the text itself where it is something else.
fn object(printed: &str) -> String {
    let field = |name: &str| {
        printed
            .trim_matches(['{', '}'])
            .split(' ')
            .find_map(|part| part.strip_prefix(name))
            .unwrap_or_default()
    };
    match (field("Kind:"), field("Namespace:"), field("Name:")) {
        ("", _, _) | (_, _, "") => printed.to_owned(),
        (kind, namespace, name) => describe_object(kind, namespace, name),
    }
}
