//! What brings a namespaced placement's namespace to member clusters: cluster placements, which are read
//! where clusters are to get its content for the first time.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::source::{HubQuery, QueryAnswer};
use crate::kubefleet::binding::Binding;
use crate::kubefleet::placement::{Placement, ResourceSelector};
use crate::kubefleet::{Condition, Conditions, Kind, names, reasons};

const PLACEMENTS: Kind = Kind::ClusterResourcePlacement;
const BINDINGS: Kind = Kind::ClusterResourceBinding;

/// The cluster placements that may bring a namespace, and their bindings; only where all of them
/// were read.
#[derive(Debug, Clone, Default)]
pub struct NamespaceCarriers {
    /// Those that select the namespace, or may: one that selects by labels tells in its status.
    pub placements: Vec<Arc<Placement>>,
    bindings: Vec<Arc<Binding>>,
}

impl NamespaceCarriers {
    /// The questions for them, given what is known.
    pub fn queries(namespace: &str, known: &BTreeMap<HubQuery, QueryAnswer>) -> Vec<HubQuery> {
        let all = HubQuery::all(PLACEMENTS, "");
        let bindings = known.get(&all).into_iter();
        let bindings = bindings.flat_map(|answer| may_carry(answer, namespace));
        let bindings: Vec<_> = bindings.map(|it| bindings_of(&it)).collect();
        std::iter::once(all).chain(bindings).collect()
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
            let answer = complete(&bindings_of(&placement))?;
            carriers.bindings.extend(answer.all().cloned());
            carriers.placements.push(placement);
        }
        Some(carriers)
    }

    /// Whether one of them has brought the namespace to a cluster: until its content was rolled out there,
    /// nothing has come.
    pub fn reach(&self, cluster: &str) -> bool {
        self.bound(cluster).next().is_some()
    }

    fn bound(&self, cluster: &str) -> impl Iterator<Item = &Arc<Binding>> {
        self.bindings.iter().filter(move |binding| {
            binding.spec.cluster == cluster
                && !binding.is_leaving()
                && binding.spec.state == "Bound"
        })
    }

    /// How far they are on a cluster: what is missing where it was applied was deleted there.
    pub fn progress(&self, cluster: &str) -> CarrierProgress {
        let mut own = self.bindings.iter().filter(|it| it.spec.cluster == cluster);
        let bound: Vec<_> = self.bound(cluster).collect();
        let says = |is: fn(&Condition) -> bool| {
            let mut applied = bound.iter().filter_map(|it| it.current(reasons::APPLIED));
            applied.any(is)
        };
        if says(Condition::is_true) {
            CarrierProgress::Applied
        } else if says(|it| it.is_false() && it.reason != reasons::APPLY_IN_PROGRESS) {
            CarrierProgress::Failing
        } else if own.clone().any(|it| !it.is_leaving()) {
            CarrierProgress::Picked
        } else if own.any(|it| it.is_leaving()) {
            CarrierProgress::Leaving
        } else {
            CarrierProgress::Elsewhere
        }
    }
}

/// How far the placements of a namespace are on a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CarrierProgress {
    Applied,
    Failing,
    /// Its content is still to be rolled out there, or on its way.
    Picked,
    /// Its content is being removed from there.
    Leaving,
    /// None of them has picked it.
    Elsewhere,
}

/// What was applied on a cluster found its namespace, whatever has changed since.
pub fn was_applied(binding: &Binding) -> bool {
    binding.status.conditions.is_true(reasons::APPLIED)
}

fn bindings_of(placement: &Placement) -> HubQuery {
    HubQuery::labelled(BINDINGS, "", names::PARENT_PLACEMENT, &placement.meta.name)
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
