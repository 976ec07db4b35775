//! What brings a namespaced placement's namespace to member clusters: cluster placements, which are read
//! where clusters are to get its content for the first time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::source::{HubQuery, QueryAnswer};
use crate::kubefleet::binding::Binding;
use crate::kubefleet::placement::{Placement, ResourceSelector};
use crate::kubefleet::{Conditions, Kind, names, reasons};

const PLACEMENTS: Kind = Kind::ClusterResourcePlacement;
const BINDINGS: Kind = Kind::ClusterResourceBinding;

/// The cluster placements that may bring a namespace, and their bindings; only where all of them were read, with
/// the overrides that these name.
#[derive(Debug, Clone, Default)]
pub struct NamespaceCarriers {
    /// Those that select the namespace, or may: one that selects by labels tells in its status.
    pub placements: Vec<Arc<Placement>>,
    pub bindings: Vec<Arc<Binding>>,
}

impl NamespaceCarriers {
    /// The questions for them, given what is known.
    pub fn queries(namespace: &str, known: &BTreeMap<HubQuery, QueryAnswer>) -> Vec<HubQuery> {
        let all = HubQuery::all(PLACEMENTS, "");
        let placements = known.get(&all).into_iter();
        let placements = placements.flat_map(|answer| may_carry(answer, namespace));
        let bindings: Vec<_> = placements.map(|it| bindings_of(&it)).collect();
        let read = bindings.iter().filter_map(|it| known.get(it));
        let overrides = read
            .flat_map(QueryAnswer::all)
            .flat_map(|it| overrides_of(it));
        let overrides: BTreeSet<_> = overrides.collect();
        std::iter::once(all)
            .chain(bindings)
            .chain(overrides)
            .collect()
    }

    /// What the answers say; `None` where one of them is missing.
    pub fn of(namespace: &str, known: &BTreeMap<HubQuery, QueryAnswer>) -> Option<Self> {
        let complete = |query: &HubQuery| {
            let answer = known.get(query);
            answer.filter(|answer| answer.outcome.gap().is_none())
        };
        let all = complete(&HubQuery::all(PLACEMENTS, ""))?;
        let mut carriers = Self::default();
        for placement in may_carry(all, namespace) {
            let bindings = complete(&bindings_of(&placement))?.all::<Binding>();
            let mut overrides = bindings.clone().flat_map(|it| overrides_of(it));
            if overrides.any(|it| complete(&it).is_none()) {
                return None;
            }
            carriers.bindings.extend(bindings.cloned());
            carriers.placements.push(placement);
        }
        Some(carriers)
    }
}

/// What was applied on a cluster found its namespace, whatever has changed since.
pub fn was_applied(binding: &Binding) -> bool {
    binding.status.conditions.is_true(reasons::APPLIED)
}

fn bindings_of(placement: &Placement) -> HubQuery {
    HubQuery::labelled(BINDINGS, "", names::PARENT_PLACEMENT, &placement.meta.name)
}

/// The overrides that may delete the namespace from the binding's cluster.
fn overrides_of(binding: &Binding) -> impl Iterator<Item = HubQuery> {
    binding
        .spec
        .override_names()
        .map(|it| HubQuery::object(&it))
}

/// What of a placement selects a namespace, or may, and its place.
pub fn carrying<'p>(
    placement: &'p Placement,
    namespace: &str,
) -> Option<(usize, &'p ResourceSelector)> {
    let selected = placement.status.namespaces.0.as_ref();
    let is_selected = selected.is_none_or(|all| all.iter().any(|it| it == namespace));
    let mut selectors = placement.spec.selectors.iter().enumerate();
    selectors.find(|(_, it)| {
        let is_meant = it.name == namespace || it.name.is_empty() && is_selected;
        it.group.is_empty() && it.kind == "Namespace" && is_meant
    })
}

fn may_carry(answer: &QueryAnswer, namespace: &str) -> Vec<Arc<Placement>> {
    let all = answer.all::<Placement>();
    let all = all.filter(|placement| carrying(placement, namespace).is_some());
    all.cloned().collect()
}
