//! The namespace of objects does not exist on a member cluster, or is being deleted there.

use crate::diagnose::affected::Affected;
use crate::diagnose::objects::per_subject;
use crate::diagnose::rules::prelude::*;
use crate::kubefleet::messages::ManifestProblem;
use crate::rollout::ManifestTrouble;

/// A placement in a namespace does not bring the namespace: it has to be on the member already.
/// Source: workapplier/apply.go:createManifestObject; seen on a real hub.
pub const RULE: Rule = Rule::error("FS503", "namespace-missing-on-member", Search::Whole(check))
    .reads(&[Concept::Binding, Concept::Work])
    .content();

fn check(cx: &Context<'_>, rule: &Rule) -> Vec<Finding> {
    per_subject(cx, rule, namespace, describe)
}

fn namespace(manifest: &ManifestTrouble<'_>) -> Option<Subject> {
    let name = match &manifest.problem {
        ManifestProblem::NamespaceNotFound { namespace } => Some(namespace.as_str()),
        ManifestProblem::NamespaceTerminating { namespace } => namespace.as_deref(),
        _ => return None,
    };
    let name = name.unwrap_or(manifest.namespace);
    Some(Subject::new("Namespace", "", name))
}

fn describe(affected: &Affected<'_, '_>, mut finding: Finding) -> Finding {
    let namespace = finding.subject.name.clone();
    let clusters = affected.clusters();
    let is_missing = |manifest: &ManifestTrouble<'_>| {
        matches!(manifest.problem, ManifestProblem::NamespaceNotFound { .. })
    };
    let missing = affected
        .all
        .iter()
        .any(|(_, manifest)| is_missing(manifest));
    let all_missing = affected
        .all
        .iter()
        .all(|(_, manifest)| is_missing(manifest));
    let state = match (missing, all_missing) {
        (_, true) => "does not exist",
        (true, false) => "does not exist or is being deleted",
        (false, false) => "is being deleted",
    };
    finding.message = format!(
        "The namespace {namespace} {state} on {clusters}, so {} could not be applied there.",
        affected.objects()
    );
    for member in affected
        .on
        .iter()
        .filter_map(|failing| failing.member)
        .take(3)
    {
        // Only agents that collect namespaces report any.
        if !member.status.namespaces.is_empty()
            && !member.status.namespaces.contains_key(&namespace)
        {
            finding = finding.evidence(
                member.object(),
                format!("status.namespaces[{namespace}]"),
                ABSENT,
            );
        }
    }
    if !all_missing {
        finding = finding.look_with(
            format!(
                "Check what delays its deletion on {clusters}: its status names the remaining \
                 objects and finalizers."
            ),
            affected
                .on_member("get")
                .arg("namespace")
                .arg(&namespace)
                .flag("-o", "yaml"),
        );
    }
    let namespaced = affected.cx.inventory.scope.namespace();
    if namespaced == namespace {
        finding = finding.fix(format!(
            "Place the namespace first, because a ResourcePlacement does not: let a \
             ClusterResourcePlacement select the Namespace {namespace} with selectionScope \
             NamespaceOnly."
        ));
    }
    finding
        .fix_with(
            format!("Create the namespace on {clusters}."),
            affected
                .on_member("create")
                .arg("namespace")
                .arg(&namespace),
        )
        .then_continues(affected.cx)
}
