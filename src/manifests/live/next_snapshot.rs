//! The snapshot that KubeFleet makes of what a placement selects now, where that has changed.
//!
//! Source: utils/controller/resource_snapshot_resolver.go:GetOrCreateResourceSnapshot, and
//! snapshot_builder.go:SplitSelectedResources.

use serde::de::DeserializeSeed;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::contents::{self, Manifest};
use crate::inventory::Inventory;
use crate::inventory::source::ObjectTexts;
use crate::kubefleet::snapshot::{ResourceSnapshot, is_of_hub};
use crate::kubefleet::tolerant::LenientSeed;
use crate::kubefleet::{Concept, names};
use crate::rollout::versions::versions;

/// How many bytes of objects one part of a snapshot holds.
const PART: usize = 800 * 1024;

/// A part of a snapshot, and its text.
type Part = (ResourceSnapshot, Box<RawValue>);

/// The parts of the next snapshot; none where the latest has the same content. `None` where what the latest
/// has is not known in full.
pub fn next_snapshot(
    inventory: &Inventory,
    texts: &ObjectTexts,
    mut selected: Vec<Manifest>,
) -> Option<Vec<Part>> {
    let all = versions(inventory);
    let latest = all.iter().find(|it| it.is_latest() && it.is_complete());
    let (has, index, is_first) = match latest {
        Some(latest) => {
            let parts = latest.parts.iter();
            let parts = parts.map(|it| texts.get(&it.object()).map(AsRef::as_ref));
            let parts: Option<Vec<&RawValue>> = parts.collect();
            let index = latest.index.parse::<u64>().ok()?.checked_add(1)?;
            (contents::manifests(parts?), index, false)
        }
        None if inventory.snapshots.is_known_empty() => (Vec::new(), 0, true),
        None => return None,
    };
    let mut next: Vec<_> = selected.iter().collect();
    next.sort_by(|a, b| a.identity.cmp(&b.identity));
    let next = next.iter().map(|it| &it.value);
    // Whether KubeFleet's own are placed depends on its version: what it did before, it does again.
    let is_own = |it: &Manifest| is_of_hub(&it.identity.group, &it.identity.kind);
    let (own, has): (Vec<_>, Vec<_>) = has.into_iter().partition(is_own);
    if !is_first && has.iter().map(|it| &it.value).eq(next) {
        return Some(Vec::new());
    }
    selected.extend(own);
    let index = index.to_string();
    let parts = split(selected);
    let number = parts.len();
    let parts = parts.into_iter().enumerate();
    parts
        .map(|(at, manifests)| {
            let text = to_raw_value(&part(inventory, &index, (at, number), manifests)).ok()?;
            let mut reader = serde_json::Deserializer::from_str(text.get());
            let snapshot = LenientSeed::default().deserialize(&mut reader).ok()?;
            Some((snapshot, text))
        })
        .collect()
}

/// One part of a snapshot, of so many.
fn part(
    inventory: &Inventory,
    index: &str,
    (at, number): (usize, usize),
    manifests: Vec<Manifest>,
) -> Value {
    let placement = &inventory.placement_name;
    let kind = inventory.scope.kind(Concept::ResourceSnapshot);
    let resources: Vec<_> = manifests.into_iter().map(|it| it.value).collect();
    let mut labels = json!({names::PARENT_PLACEMENT: placement, names::RESOURCE_INDEX: index});
    let (name, annotations) = match at.checked_sub(1) {
        None => {
            labels[names::IS_LATEST] = "true".into();
            let number = number.to_string();
            let annotations = json!({names::RESOURCE_HASH: "", names::NUMBER_OF_SNAPSHOTS: number});
            (names::master_snapshot(placement, index), annotations)
        }
        Some(sub) => (
            format!("{placement}-{index}-{sub}"),
            json!({names::SUBINDEX: sub.to_string()}),
        ),
    };
    json!({
        "apiVersion": "placement.kubernetes-fleet.io/v1",
        "kind": kind.name(),
        "metadata": {
            "name": name, "namespace": inventory.scope.namespace(),
            "labels": labels, "annotations": annotations,
        },
        "spec": {"selectedResources": resources},
    })
}

/// Divides objects into parts; there is always one.
fn split(manifests: Vec<Manifest>) -> Vec<Vec<Manifest>> {
    let (mut parts, mut size) = (vec![Vec::new()], 0);
    for manifest in manifests {
        size += manifest.bytes;
        if size > PART && parts.last().is_some_and(|part| !part.is_empty()) {
            parts.push(Vec::new());
            size = manifest.bytes;
        }
        if let Some(part) = parts.last_mut() {
            part.push(manifest);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::life::tests::{OWN, SINCE, inventory, placement, snapshot};

    fn config(name: &str, value: &str) -> Value {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "shop"}, "data": {"v": value},
        })
    }

    fn selected(objects: &[Value]) -> Vec<Manifest> {
        let manifest = |it: &Value| Manifest::of(it.clone(), it.to_string().len());
        objects.iter().map(manifest).collect()
    }

    /// The hub's snapshots and their texts.
    fn hub(snapshots: &[Value]) -> (Inventory, ObjectTexts) {
        let all: Vec<_> = std::iter::once(placement())
            .chain(snapshots.iter().cloned())
            .collect();
        let inventory = inventory(&all);
        let mut texts = ObjectTexts::new();
        for (known, object) in inventory.snapshots.iter().zip(snapshots) {
            texts.insert(known.object(), to_raw_value(object).unwrap());
        }
        (inventory, texts)
    }

    fn latest(index: &str, objects: &[Value]) -> Value {
        let mut latest = snapshot(index, OWN, Some(SINCE));
        latest["metadata"]["labels"][names::IS_LATEST] = "true".into();
        latest["spec"] = json!({"selectedResources": objects});
        latest
    }

    #[test]
    fn the_same_content_makes_no_snapshot_and_another_one_makes_the_next() {
        let (a, b) = (config("a", "1"), config("b", "1"));
        let (mut known, texts) = hub(&[latest("9", &[a.clone(), b.clone()])]);
        let next = |objects: &[Value]| next_snapshot(&known, &texts, selected(objects)).unwrap();
        assert!(next(&[a.clone(), b.clone()]).is_empty());
        // In another order it is the same content.
        assert!(next(&[b.clone(), a.clone()]).is_empty());
        for other in [vec![a.clone()], vec![a.clone(), config("b", "2")], vec![]] {
            let parts = next(&other);
            let [(made, text)] = parts.as_slice() else {
                panic!("{} parts", parts.len());
            };
            assert_eq!(made.meta.name, "shop-10-snapshot");
            assert_eq!(made.index(), Some("10"));
            assert!(made.is_latest() && made.is_master() && !made.is_made());
            assert_eq!(made.spec.resources.len(), other.len());
            let values: Vec<_> = contents::in_order(text)
                .into_iter()
                .map(|it| it.value)
                .collect();
            assert_eq!(values, other);
        }
        let parts = next(&[a.clone()]);
        known.put_latest_snapshot(parts.into_iter().map(|(part, _)| part));
        assert_eq!(
            known.latest_snapshot().and_then(|it| it.index()),
            Some("10")
        );
        let survive: Vec<_> = versions(&known).iter().map(|it| it.survives).collect();
        assert_eq!(survive, [Some(9), None]);
    }

    #[test]
    fn what_clusters_do_not_serve_stays_in_the_content_that_has_it() {
        let mut own = config("all", "1");
        own["apiVersion"] = "placement.kubernetes-fleet.io/v1beta1".into();
        own["kind"] = "StagedUpdateStrategy".into();
        let a = config("a", "1");
        let (known, texts) = hub(&[latest("0", &[a.clone(), own.clone()])]);
        let next = |objects: &[Value]| next_snapshot(&known, &texts, selected(objects)).unwrap();
        assert!(next(&[a]).is_empty());
        let parts = next(&[config("a", "2")]);
        let values: Vec<_> = contents::in_order(&parts[0].1)
            .into_iter()
            .map(|it| it.value)
            .collect();
        assert_eq!(values, [config("a", "2"), own]);
    }

    #[test]
    fn the_first_snapshot_is_made_of_anything_and_an_unread_one_says_nothing() {
        let objects = [config("a", "1")];
        let (none, texts) = hub(&[]);
        let first = next_snapshot(&none, &texts, selected(&objects)).unwrap();
        assert_eq!(first[0].0.meta.name, "shop-0-snapshot");
        assert_eq!(next_snapshot(&none, &texts, Vec::new()).unwrap().len(), 1);
        let (some, _) = hub(&[latest("0", &objects)]);
        assert!(next_snapshot(&some, &ObjectTexts::new(), selected(&objects)).is_none());
        let mut half = latest("0", &objects);
        half["metadata"]["annotations"][names::NUMBER_OF_SNAPSHOTS] = "2".into();
        let (half, texts) = hub(&[half]);
        assert!(next_snapshot(&half, &texts, selected(&objects)).is_none());
    }

    #[test]
    fn content_is_divided_where_a_part_is_full() {
        let sizes = |bytes: &[usize]| {
            let all = bytes
                .iter()
                .map(|bytes| Manifest::of(config("a", "1"), *bytes));
            let parts = split(all.collect());
            parts.iter().map(Vec::len).collect::<Vec<_>>()
        };
        assert_eq!(sizes(&[]), [0]);
        assert_eq!(sizes(&[PART]), [1]);
        assert_eq!(sizes(&[PART, 1]), [1, 1]);
        assert_eq!(sizes(&[PART - 1, 1, 1]), [2, 1]);
        // What is larger than a part has one alone.
        assert_eq!(sizes(&[1, PART + 1, 1, 2]), [1, 1, 2]);
        let (known, texts) = hub(&[]);
        let large = "x".repeat(PART / 2);
        let objects = [config("a", &large), config("b", &large), config("c", "1")];
        let parts = next_snapshot(&known, &texts, selected(&objects)).unwrap();
        let name = |(part, _): &Part| (part.meta.name.clone(), part.is_latest(), part.parts());
        let parts: Vec<_> = parts.iter().map(name).collect();
        let (first, second) = ("shop-0-snapshot".to_owned(), "shop-0-0".to_owned());
        assert_eq!(parts, [(first, true, Some(2)), (second, false, None)]);
    }
}
