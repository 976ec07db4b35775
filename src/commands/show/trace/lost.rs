//! Where an object was lost that a cluster does not get.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::WantedObject;
use crate::commands::open::around;
use crate::commands::open::reading::Reading;
use crate::commands::open::runs;
use crate::inventory::Inventory;
use crate::inventory::source::HubQuery;
use crate::kubefleet::object::Body;
use crate::kubefleet::{Concept, Kind, ObjectRef, Scope, names};
use crate::manifests::{Content, Generator};
use crate::problems::scheduling::not_picked;
use crate::report::{NotChecked, Subject};
use crate::rollout::placing::deciding_policy;

/// A placement that includes the object, and why the cluster does not get it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LostAt {
    /// The placement.
    pub placement: Subject,
    /// Why the cluster does not get the object.
    pub message: String,
}

/// The placements of which a snapshot includes the object, and where it was lost.
pub(super) fn find(
    reading: &mut Reading,
    wanted: &WantedObject,
    cluster: &str,
    gaps: &mut Vec<NotChecked>,
) -> Vec<LostAt> {
    let namespace = wanted.namespace.as_deref().unwrap_or_default();
    let queries = [
        HubQuery::all(Kind::ClusterResourceSnapshot, ""),
        HubQuery::all(Kind::ResourceSnapshot, namespace),
    ];
    let mut placements: BTreeMap<ObjectRef, BTreeSet<String>> = BTreeMap::new();
    for query in queries {
        let (answer, texts) = reading.ask_with_texts(&query);
        for object in answer.objects.iter() {
            let (Body::ResourceSnapshot(snapshot), Some(text)) =
                (&object.body, texts.get(&object.reference()))
            else {
                continue;
            };
            // What envelopes hold is looked at too.
            let content = Content::new([text.as_ref()], Generator::Newest);
            let has = content.items.iter().any(|item| wanted.is(&item.identity));
            let placement = snapshot.meta.label(names::PARENT_PLACEMENT);
            if let (true, Some(name), Some(index)) = (has, placement, snapshot.index()) {
                let scope = Scope::of_namespace(&snapshot.meta.namespace);
                let with = placements.entry(scope.object(Concept::Placement, name));
                with.or_default().insert(index.to_owned());
            }
        }
        gaps.extend(runs::gaps(
            std::slice::from_ref(&query),
            std::slice::from_ref(&answer),
        ));
    }
    let useful = [Concept::Binding, Concept::PolicySnapshot];
    let mut lost = Vec::new();
    for (placement, with) in placements {
        let Ok(around) = around::read(reading, &placement, &[], &useful) else {
            continue;
        };
        gaps.extend(around.gaps.iter().cloned());
        lost.push(LostAt {
            message: why(&around.inventory, &with, cluster),
            placement: Subject::from(&placement),
        });
    }
    lost
}

fn why(inventory: &Inventory, with: &BTreeSet<String>, cluster: &str) -> String {
    let mut indexes: Vec<_> = with.iter().map(String::as_str).collect();
    indexes.sort_by_key(|index| (index.len(), *index));
    let of = match indexes.as_slice() {
        [one] => format!("snapshot {one} has it"),
        several => format!("snapshots {} have it", several.join(", ")),
    };
    let Some(binding) = inventory.binding(cluster) else {
        let reason = deciding_policy(inventory).and_then(|policy| {
            let groups = not_picked(policy, inventory);
            let mut groups = groups.into_iter();
            groups.find_map(|(why, clusters)| clusters.contains(&cluster).then_some(why))
        });
        let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
        return format!("{of}; the placement does not select {cluster}{reason}");
    };
    if binding.is_unscheduled() {
        return format!("{of}; the placement is being removed from {cluster}");
    }
    match binding.snapshot_index() {
        None => format!("{of}; no run has reached {cluster} yet"),
        Some(index) if !with.contains(index) => {
            format!("{of}; {cluster} has snapshot {index}, which does not")
        }
        Some(index) => {
            let overridden =
                !binding.spec.overrides.is_empty() || !binding.spec.cluster_overrides.is_empty();
            if overridden {
                format!("{cluster} has snapshot {index} with overrides, of which one may delete it")
            } else {
                format!("{cluster} is to have snapshot {index}, and its Works do not have it yet")
            }
        }
    }
}
