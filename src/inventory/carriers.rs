//! What brings a namespaced placement's namespace to member clusters: cluster placements, which are read
//! where clusters are to get its content for the first time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::source::{HubQuery, QueryAnswer};
use crate::kubefleet::binding::Binding;
use crate::kubefleet::placement::{Placement, ResourceSelector};
use crate::kubefleet::snapshot::ResourceSnapshot;
use crate::kubefleet::{Conditions, Kind, ObjectRef, names, reasons};

const PLACEMENTS: Kind = Kind::ClusterResourcePlacement;
const BINDINGS: Kind = Kind::ClusterResourceBinding;

/// The cluster placements that may bring a namespace, and their bindings; only where all of them were read.
#[derive(Debug, Clone, Default)]
pub struct NamespaceCarriers {
    /// Those that select the namespace, or may: one that selects by labels tells in its status.
    pub placements: Vec<Arc<Placement>>,
    pub bindings: Vec<Arc<Binding>>,
    /// The parts of the snapshots that clusters were sent, by the name of the first; only of those that exist whole.
    pub content: BTreeMap<String, Vec<Arc<ResourceSnapshot>>>,
}

impl NamespaceCarriers {
    /// The questions for them, given what is known.
    pub fn queries(namespace: &str, known: &BTreeMap<HubQuery, QueryAnswer>) -> Vec<HubQuery> {
        let all = HubQuery::all(PLACEMENTS, "");
        let placements = known.get(&all).into_iter();
        let placements = placements.flat_map(|answer| may_carry(answer, namespace));
        let bindings: Vec<_> = placements.map(|it| bindings_of(&it)).collect();
        let read = bindings.iter().filter_map(|it| known.get(it));
        let named = read
            .flat_map(QueryAnswer::all)
            .flat_map(|it| named_by(it, known));
        let named: BTreeSet<_> = named.collect();
        std::iter::once(all).chain(bindings).chain(named).collect()
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
            for snapshot in bindings.clone().filter_map(|it| snapshot_of(it)) {
                let parts = snapshot_parts(&snapshot, known).into_iter();
                let parts: Option<Vec<_>> = parts
                    .map(|it| known.get(&it)?.all::<ResourceSnapshot>().next().cloned())
                    .collect();
                carriers
                    .content
                    .extend(parts.map(|parts| (snapshot.name, parts)));
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

/// What tells whether a binding brings the namespace: its overrides, and its snapshot.
fn named_by(
    binding: &Binding,
    known: &BTreeMap<HubQuery, QueryAnswer>,
) -> impl Iterator<Item = HubQuery> {
    let overrides = binding.spec.override_names();
    let overrides = overrides.map(|it| HubQuery::object(&it));
    let parts = snapshot_of(binding).map(|it| snapshot_parts(&it, known));
    overrides.chain(parts.into_iter().flatten())
}

/// The snapshot of a binding, where it names one.
fn snapshot_of(binding: &Binding) -> Option<ObjectRef> {
    let name = binding.spec.snapshot.as_str();
    let snapshot = || ObjectRef::new(Kind::ClusterResourceSnapshot, "", name);
    (!name.is_empty()).then(snapshot)
}

/// The questions for the parts of a snapshot, of which this is the first: it tells how many there are, and the names
/// of the others end with their numbers.
pub(super) fn snapshot_parts(
    first: &ObjectRef,
    known: &BTreeMap<HubQuery, QueryAnswer>,
) -> Vec<HubQuery> {
    /// What a hub can hold of one placement is less.
    const MOST: usize = 64;
    let query = HubQuery::object(first);
    let read = known
        .get(&query)
        .and_then(|it| it.all::<ResourceSnapshot>().next());
    let parts = read.and_then(|it| it.parts()).unwrap_or(1);
    let stem = first.name.strip_suffix("-snapshot").unwrap_or(&first.name);
    let further = (0..parts.min(MOST).saturating_sub(1))
        .map(|part| HubQuery::named(first.kind, &first.namespace, &format!("{stem}-{part}")));
    further.chain([query.clone()]).collect()
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
