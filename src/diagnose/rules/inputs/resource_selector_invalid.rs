//! The placement selects what it may not, so no snapshot of its content can be made.

use crate::diagnose::case::Case;
use crate::diagnose::failing;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::binding::describe_object;
use crate::kubefleet::messages::{Cause, SelectorProblem};
use crate::kubefleet::{Concept, reasons};

/// Since KubeFleet 0.3.0 a run without an index makes the snapshot itself, and fails with the
/// placement's selectors. Source: utils/controller/resource_selector_resolver.go.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS119",
    name: "resource-selector-invalid",
    severity: Severity::Error,
    reads: &[Concept::Placement],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    case.causes()
        .filter_map(|cause| match cause {
            Cause::ResourceSelectorInvalid { problem, .. } => Some(invalid(case, rule, problem)),
            _ => None,
        })
        .collect()
}

fn invalid(case: &Case<'_>, rule: &Rule, problem: &SelectorProblem) -> Finding {
    let object = case.placement_object();
    let (what, repair) = describe(problem);
    let mut finding = failing::finding(
        case,
        rule,
        &object,
        format!("{object} {what} {}.", failing::when(case)),
    );
    if let Some(placement) = case.inventory.placement.present() {
        let selectors = placement.spec.selectors.iter().enumerate();
        for (at, selector) in selectors.take(6) {
            finding = finding.evidence(&object, format!("spec.resourceSelectors[{at}]"), selector);
        }
        if let Some(condition) = placement
            .condition(reasons::SCHEDULED)
            .filter(|condition| condition.reason == "InvalidResourceSelectors")
        {
            finding = finding.condition(&object, "status", condition);
        }
    }
    finding = finding.fix(format!("{repair}."), Some(object.kubectl("edit")));
    failing::then_new_run(case, finding)
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
