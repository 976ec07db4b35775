//! Where an object was lost that a cluster does not get.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::WantedObject;
use super::overrides::NamedOverrides;
use crate::commands::gather::placement_objects::NeighborQueries;
use crate::commands::gather::reading::SourceReading;
use crate::commands::gather::runs;
use crate::inventory::Inventory;
use crate::inventory::source::{HubFacts, HubQuery, ObjectSource, ObjectTexts, all_of};
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::object::ObjectBody;
use crate::kubefleet::{Concept, Kind, ObjectRef, Scope, names};
use crate::manifests::{
    Override, PlacedOverrides, RenderedClusters, SnapshotContent, WorkGenerator,
};
use crate::problems::scheduling::not_picked;
use crate::report::{NotChecked, Subject};

/// A placement that includes the object, and why the cluster does not get it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LostAt {
    /// The placement.
    pub placement: Subject,
    /// Why the cluster does not get the object.
    pub message: String,
}

/// The placements of which a snapshot includes the object, and where it was lost on the way to a cluster,
/// whose Works were all seen or not.
pub(super) fn find(
    reading: &mut SourceReading,
    wanted: &WantedObject,
    (cluster, sees_works): (&str, bool),
    gaps: &mut Vec<NotChecked>,
) -> Vec<LostAt> {
    let namespace = wanted.namespace.as_deref().unwrap_or_default();
    let queries = [
        HubQuery::all(Kind::ClusterResourceSnapshot, ""),
        HubQuery::all(Kind::ResourceSnapshot, namespace),
    ];
    let mut placements: BTreeMap<ObjectRef, BTreeSet<String>> = BTreeMap::new();
    let (answers, texts) = reading.answer_with_texts(&queries);
    gaps.extend(runs::gaps(&queries, &answers));
    for answer in answers {
        for object in answer.objects.iter() {
            let (ObjectBody::ResourceSnapshot(snapshot), Some(text)) =
                (&object.body, texts.get(&object.reference()))
            else {
                continue;
            };
            // What envelopes hold is looked at too.
            let content = SnapshotContent::new([text.as_ref()], WorkGenerator::Newest);
            let has = content.items.iter().any(|item| wanted.is(&item.identity));
            let placement = snapshot.meta.label(names::PARENT_PLACEMENT);
            if let (true, Some(name), Some(index)) = (has, placement, snapshot.index()) {
                let scope = Scope::of_namespace(&snapshot.meta.namespace);
                let with = placements.entry(scope.object(Concept::Placement, name));
                with.or_default().insert(index.to_owned());
            }
        }
    }
    let labelled = |placement: &ObjectRef, concept| {
        HubQuery::of_placement(placement.scope().kind(concept), placement)
    };
    // One request for each kind, however many placements there are.
    let bindings: Vec<_> = placements
        .keys()
        .map(|placement| labelled(placement, Concept::Binding))
        .collect();
    reading.answer(&bindings);
    let mut neighbors: Vec<_> = placements.keys().map(NeighborQueries::new).collect();
    let mut policies = Vec::new();
    for (around, query) in neighbors.iter_mut().zip(bindings) {
        around.ask(reading, [query]);
        if around
            .inventory(reading, HubFacts::default())
            .binding(cluster)
            .is_none()
        {
            policies.push(labelled(around.placement(), Concept::PolicySnapshot));
        }
    }
    reading.answer(&policies);
    let mut lost = Vec::new();
    for (mut around, with) in neighbors.into_iter().zip(placements.values()) {
        let policy = labelled(around.placement(), Concept::PolicySnapshot);
        if policies.contains(&policy) {
            around.ask(reading, [policy]);
        }
        gaps.extend(around.gaps());
        let inventory = around.inventory(reading, HubFacts::default());
        let by_override = overridden(reading, &inventory, (wanted, cluster), &texts);
        lost.push(LostAt {
            message: by_override
                .unwrap_or_else(|| describe_loss(&inventory, with, (cluster, sees_works))),
            placement: Subject::from(around.placement()),
        });
    }
    lost
}

/// What the names of a version's objects begin with: `shop-1` of `shop-1-snapshot` and `shop-1-0`.
fn snapshot_version(name: &str) -> &str {
    name.rsplit_once('-').map_or(name, |(version, _)| version)
}

/// What the overrides of a cluster do to an object that its snapshot has: one deletes it, or one
/// cannot be applied. Reads the overrides where the binding names some.
fn overridden(
    reading: &mut SourceReading,
    inventory: &Inventory,
    (wanted, cluster): (&WantedObject, &str),
    texts: &ObjectTexts,
) -> Option<String> {
    let binding = inventory.binding(cluster)?;
    let index = binding.snapshot_index()?;
    let named = NamedOverrides::of(binding, cluster);
    if named.is_empty() {
        return None;
    }
    let own = |object: &&ObjectRef| {
        let meta = (object.namespace.as_str(), snapshot_version(&object.name));
        meta == (
            binding.meta.namespace.as_str(),
            snapshot_version(&binding.spec.snapshot),
        )
    };
    let parts = texts.iter().filter(|(object, _)| own(object));
    let content = SnapshotContent::new(parts.map(|(_, text)| text.as_ref()), WorkGenerator::Newest);
    let (answers, texts) = reading.answer_with_texts(&named.queries());
    let overrides: Option<Vec<_>> = named
        .among(&answers)
        .map(|(_, object)| Override::of(object?, &texts))
        .collect();
    let overrides = overrides?;
    let placed = [PlacedOverrides::bound(
        all_of::<MemberCluster>(&answers).next()?,
        binding,
        &overrides,
    )];
    let rendering = RenderedClusters::new(&content, &overrides, &placed);
    if let Some(fault) = rendering.faults.first() {
        return Some(format!(
            "{cluster} should get snapshot {index}, but {}",
            fault.describe()
        ));
    }
    let group = rendering.groups.first()?;
    let effects = rendering.effects(group).into_iter();
    let mut deletions = effects.filter(|it| it.operation.is_none() && wanted.names(&it.object));
    let deletion = deletions.next()?;
    Some(format!(
        "{cluster} has snapshot {index}, and override {} deletes the object (rule {})",
        deletion.over, deletion.rule
    ))
}

fn describe_loss(
    inventory: &Inventory,
    with: &BTreeSet<String>,
    (cluster, sees_works): (&str, bool),
) -> String {
    let mut indexes: Vec<_> = with.iter().map(String::as_str).collect();
    indexes.sort_by_key(|index| (index.len(), *index));
    let of = match indexes.as_slice() {
        [one] => format!("snapshot {one} has it"),
        several => format!("snapshots {} have it", several.join(", ")),
    };
    let Some(binding) = inventory.binding(cluster) else {
        if inventory.bindings.gap.is_some() {
            return format!("{of}; whether the placement selects {cluster} is unknown");
        }
        let reason = inventory.latest_policy().and_then(|policy| {
            let groups = not_picked(policy, inventory);
            let mut groups = groups.into_iter();
            groups.find_map(|(why, clusters)| clusters.contains(&cluster).then_some(why))
        });
        let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
        return format!("{of}; the placement does not select {cluster}{reason}");
    };
    if binding.meta.is_deleting() {
        return format!("{of}; the placement is being removed from {cluster}");
    }
    if binding.is_unscheduled() {
        return format!("{of}; the placement no longer selects {cluster}: a run removes it there");
    }
    match binding.snapshot_index() {
        None => format!("{of}; no run has reached {cluster} yet"),
        Some(index) if !with.contains(index) => {
            format!("{of}; {cluster} has snapshot {index}, which does not")
        }
        Some(index) if sees_works => {
            format!("{cluster} should get snapshot {index}, but its Works do not have it yet")
        }
        Some(index) => {
            format!("{cluster} should get snapshot {index}; whether its Works have it is unknown")
        }
    }
}
