//! Whether a placement's namespace is brought to its clusters. A namespaced placement does not bring
//! it: its objects cannot be applied where it is missing.

use crate::report::ComposeText;
use std::sync::Arc;

use super::draft::PlanDraft;
use super::stages::ComputedStages;
use super::{Warning, WarningKind};
use crate::kubefleet::binding::Binding;
use crate::kubefleet::placement::Placement;
use crate::kubefleet::reasons::APPLIED;
use crate::kubefleet::{Conditions, Kind, ObjectRef};
use crate::words::{count, enumerate};

/// The cluster placements that may bring the namespace, and their bindings; only where all of them
/// were read.
#[derive(Debug, Clone, Default)]
pub struct NamespaceCarriers {
    /// Those that select the namespace, or may.
    pub placements: Vec<Arc<Placement>>,
    pub bindings: Vec<Arc<Binding>>,
}

/// Whether a cluster placement selects a namespace, or may: the labels of namespaces are not read.
pub fn may_carry(placement: &Placement, namespace: &str) -> bool {
    placement.meta.namespace.is_empty()
        && placement.spec.selectors.iter().any(|selector| {
            selector.group.is_empty()
                && selector.kind == "Namespace"
                && (selector.name.is_empty() || selector.name == namespace)
        })
}

/// Warns of clusters to which nothing brings the namespace.
pub(super) fn check(
    draft: &mut PlanDraft<'_>,
    computed: &ComputedStages,
    carriers: &NamespaceCarriers,
) {
    let namespace = draft.inventory.scope.namespace().to_owned();
    if namespace.is_empty() {
        return;
    }
    let brings = |cluster: &str| {
        carriers.bindings.iter().any(|binding| {
            binding.spec.cluster == cluster
                && !binding.is_unscheduled()
                && !binding.meta.is_deleting()
                // Until its content was rolled out there, nothing has come.
                && binding.spec.state == "Bound"
        })
    };
    let without: Vec<_> = computed
        .stages
        .iter()
        .flat_map(|stage| &stage.clusters)
        .map(|cluster| cluster.name.as_str())
        .filter(|name| !brings(name))
        .filter(|name| {
            // What was applied there found its namespace, whatever has changed since.
            let binding = draft.inventory.binding(name);
            let conditions = binding.map(|it| &it.status.conditions);
            !conditions.is_some_and(|it| it.is_true(APPLIED))
        })
        .filter(|name| {
            // Some agents say which namespaces there are.
            let member = draft.inventory.member(name);
            !member.is_some_and(|member| member.status.namespaces.contains_key(&namespace))
        })
        .collect();
    if without.is_empty() {
        return;
    }
    let object = ObjectRef {
        kind: Kind::ClusterResourcePlacement,
        namespace: String::new(),
        name: String::new(),
    };
    let carriers: Vec<_> = carriers
        .placements
        .iter()
        .map(|it| it.meta.name.as_str())
        .collect();
    let who = match carriers.as_slice() {
        [] => format!("No {} selects namespace {namespace}", object.kind),
        [one] => format!(
            "{} {one}, which may deliver namespace {namespace}, has not reached",
            object.kind
        ),
        several => format!(
            "The {}s {}, which may deliver namespace {namespace}, have not reached",
            object.kind,
            enumerate(several)
        ),
    };
    let where_ = count(without.len(), "cluster");
    let message = if carriers.is_empty() {
        format!(
            "{who}, so it may be missing on {where_} ({}). Without it nothing can be applied there.",
            enumerate(&without)
        )
    } else {
        format!(
            "{who} {where_} ({}). Where the namespace is missing, nothing can be applied.",
            enumerate(&without)
        )
    };
    let mut warning = Warning::new(
        WarningKind::NamespaceNotDelivered,
        draft.placement(),
        message,
    )
    .clusters(without);
    for carrier in &carriers {
        let carrier = ObjectRef {
            name: (*carrier).to_owned(),
            ..object.clone()
        };
        warning = warning.evidence(
            carrier,
            "spec.resourceSelectors",
            format!("Namespace {namespace}"),
        );
    }
    // A second placement of the namespace would not own it.
    draft.warnings.push(warning.fix(if carriers.is_empty() {
        format!(
            "Create a {} that selects the Namespace {namespace} with `selectionScope: NamespaceOnly` \
             for the same clusters, or create the namespace there.",
            object.kind
        )
    } else {
        format!(
            "Let {} pick these clusters, and roll it out there first; or create the namespace there.",
            enumerate(&carriers)
        )
    }));
}
