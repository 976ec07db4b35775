//! The snapshot that KubeFleet makes of what a placement selects now, where that has changed.
//!
//! Source: utils/controller/resource_snapshot_resolver.go:GetOrCreateResourceSnapshot, and
//! snapshot_builder.go:SplitSelectedResources.

use jiff::Timestamp;
use serde::de::DeserializeSeed;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::{SelectedObjects, trim};
use crate::contents::{self, Manifest, ManifestKey, text};
use crate::inventory::Inventory;
use crate::inventory::source::ObjectTexts;
use crate::kubefleet::snapshot::{ResourceSnapshot, is_of_hub};
use crate::kubefleet::tolerant::LenientSeed;
use crate::kubefleet::{Concept, names};
use crate::manifests::{WorkGenerator, texts_of};
use crate::rollout::versions::{Version, versions};

/// How many bytes of objects one part of a snapshot holds.
const PART: usize = 800 * 1024;

pub type SnapshotPart = (ResourceSnapshot, Box<RawValue>);

/// What a run without an index would be given.
#[derive(Debug, Default)]
pub struct NextSnapshot {
    /// The parts of a snapshot that is still to be made; none where the latest has the same content. `None` where
    /// what the latest has is not known in full.
    pub parts: Option<Vec<SnapshotPart>>,
    /// KubeFleet's own objects in the namespaces, of which nothing tells whether they are placed.
    pub unclear: Vec<ManifestKey>,
}

impl NextSnapshot {
    /// Compares what a placement selects with its latest snapshot.
    pub fn of(inventory: &Inventory, texts: &ObjectTexts, selected: SelectedObjects) -> Self {
        Self::compare(inventory, texts, selected).unwrap_or_default()
    }

    fn compare(
        inventory: &Inventory,
        texts: &ObjectTexts,
        mut selected: SelectedObjects,
    ) -> Option<Self> {
        // What is in a namespace is not asked for without it.
        let namespace = (String::new(), "Namespace".to_owned());
        if selected.unread.contains(&namespace) {
            return None;
        }
        let all = versions(inventory);
        let mut marked = all.iter().filter(|it| it.is_latest());
        let latest = marked.next().filter(|it| it.is_complete());
        let (has, index) = match latest {
            // KubeFleet takes any of several.
            Some(_) if marked.next().is_some() => return None,
            Some(latest) => {
                let index = latest.index.parse::<u64>().ok()?.checked_add(1)?;
                (contents::manifests(texts_of(latest, texts)?), index)
            }
            None if inventory.snapshots.is_known_empty() => (Vec::new(), 0),
            None => return None,
        };
        // What could not be read is taken to be as it was.
        let unread = |it: &&Manifest| {
            let kind = (it.identity.group.clone(), it.identity.kind.clone());
            let mut read = selected.manifests.iter();
            selected.unread.contains(&kind) && !read.any(|read| read.identity == it.identity)
        };
        let unread: Vec<_> = has.iter().filter(unread).cloned().collect();
        selected.manifests.extend(unread);
        let own = std::mem::take(&mut selected.of_hub);
        let mut unclear = Vec::new();
        match places_own(inventory, (&has, latest), &own) {
            Some(true) => selected.manifests.extend(own.iter().map(trim::manifest)),
            Some(false) => {}
            None => unclear = own.iter().map(ManifestKey::of).collect(),
        }
        selected.manifests.sort_by_cached_key(trim::place);
        let mut next: Vec<_> = selected.manifests.iter().collect();
        next.sort_by(|a, b| a.identity.cmp(&b.identity));
        let is_next = |has: &[Manifest]| {
            let values = has.iter().map(|it| &it.value);
            values.eq(next.iter().map(|it| &it.value))
        };
        let parts = if latest.is_some() && is_next(&has) {
            Some(Vec::new())
        } else {
            // Few have as many objects: only those are read.
            let number = next.len();
            let mut others = all
                .iter()
                .filter(|it| it.is_complete() && !it.is_latest() && it.objects().count() == number);
            let same = others.find(|it| {
                texts_of(it, texts).is_some_and(|parts| is_next(&contents::manifests(parts)))
            });
            let hash = same.and_then(Version::hash).unwrap_or_default();
            parts(inventory, (&index.to_string(), hash), selected.manifests)
        };
        Some(Self { parts, unclear })
    }
}

/// Whether the hub agent places KubeFleet's own objects with their namespace, as it did up to 0.3; `None` where
/// neither its version nor the latest snapshot tells.
fn places_own(
    inventory: &Inventory,
    (has, latest): (&[Manifest], Option<&Version<'_>>),
    own: &[Value],
) -> Option<bool> {
    let is_own = |it: &Manifest| is_of_hub(&it.identity.group, &it.identity.kind);
    if own.is_empty() {
        return Some(false);
    }
    if let Some(generator) = WorkGenerator::of_hub(inventory) {
        return Some(generator != WorkGenerator::Newest);
    }
    if has.iter().any(is_own) {
        return Some(true);
    }
    let made = latest?.created()?;
    let was_there = |it: &Value| {
        let created = text(it, &["metadata", "creationTimestamp"]);
        created.parse::<Timestamp>().is_ok_and(|it| it < made)
    };
    own.iter().any(was_there).then_some(false)
}

/// The objects that make up a snapshot of an index and a hash.
fn parts(
    inventory: &Inventory,
    named: (&str, &str),
    content: Vec<Manifest>,
) -> Option<Vec<SnapshotPart>> {
    let parts = split(content);
    let number = parts.len();
    let parts = parts.into_iter().enumerate();
    parts
        .map(|(at, manifests)| {
            let text = to_raw_value(&part(inventory, named, (at, number), manifests)).ok()?;
            let mut reader = serde_json::Deserializer::from_str(text.get());
            let snapshot = LenientSeed::default().deserialize(&mut reader).ok()?;
            Some((snapshot, text))
        })
        .collect()
}

/// One part of a snapshot, of so many.
fn part(
    inventory: &Inventory,
    (index, hash): (&str, &str),
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
            let annotations =
                json!({names::RESOURCE_HASH: hash, names::NUMBER_OF_SNAPSHOTS: number});
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
    use crate::rollout::life::tests::{OWN, SINCE, at, inventory, placement, snapshot};

    fn config(name: &str, value: &str) -> Value {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "shop"}, "data": {"v": value},
        })
    }

    fn selected(objects: &[Value]) -> SelectedObjects {
        let manifest = |it: &Value| Manifest::of(it.clone(), it.to_string().len());
        SelectedObjects {
            manifests: objects.iter().map(manifest).collect(),
            ..SelectedObjects::default()
        }
    }

    fn next_snapshot(
        inventory: &Inventory,
        texts: &ObjectTexts,
        selected: SelectedObjects,
    ) -> Option<Vec<SnapshotPart>> {
        NextSnapshot::of(inventory, texts, selected).parts
    }

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
            let values = contents::in_order(text).into_iter().map(|it| it.value);
            assert_eq!(values.collect::<Vec<_>>(), other);
        }
        let parts = next(&[a]);
        known.put_latest_snapshot(parts.into_iter().map(|(part, _)| part));
        let latest = known.latest_snapshot().and_then(|it| it.index());
        assert_eq!(latest, Some("10"));
        let survive: Vec<_> = versions(&known).iter().map(|it| it.survives).collect();
        assert_eq!(survive, [Some(9), None]);
    }

    #[test]
    fn content_that_was_there_before_has_its_hash_again() {
        let mut older = latest("0", &[config("a", "1")]);
        older["metadata"]["labels"][names::IS_LATEST] = "false".into();
        older["metadata"]["annotations"][names::RESOURCE_HASH] = "first".into();
        let (known, texts) = hub(&[older, latest("1", &[config("a", "2")])]);
        let hash = |value: &str| {
            let parts = next_snapshot(&known, &texts, selected(&[config("a", value)])).unwrap();
            let meta = &parts[0].0.meta;
            meta.annotation(names::RESOURCE_HASH).unwrap().to_owned()
        };
        assert_eq!(hash("1"), "first");
        assert_eq!(hash("3"), "");
    }

    #[test]
    fn what_could_not_be_read_is_as_it_was() {
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key", "namespace": "shop"},
        });
        let (known, texts) = hub(&[latest("0", &[secret.clone(), config("a", "1")])]);
        let next = |objects: &[Value]| {
            let mut selected = selected(objects);
            selected.unread.insert((String::new(), "Secret".to_owned()));
            let parts = next_snapshot(&known, &texts, selected).unwrap();
            let objects = parts.iter().flat_map(|(_, text)| contents::in_order(text));
            objects.map(|it| it.value).collect::<Vec<_>>()
        };
        assert_eq!(next(&[config("a", "1")]), [Value::Null; 0]);
        let both = [secret.clone(), config("a", "2")];
        assert_eq!(next(&both[1..]), both);
        let mut nowhere = selected(&[]);
        let namespace = (String::new(), "Namespace".to_owned());
        nowhere.unread.insert(namespace);
        assert!(next_snapshot(&known, &texts, nowhere).is_none());
        // One of them was read.
        let mut other = secret;
        other["data"] = json!({"a": "b"});
        let both = [other, config("a", "1")];
        assert_eq!(next(&both), both);
    }

    #[test]
    fn the_latest_snapshot_tells_whether_what_belongs_on_the_hub_is_placed() {
        let own = |created: i64| {
            let mut own = config("all", "1");
            own["apiVersion"] = "placement.kubernetes-fleet.io/v1beta1".into();
            own["kind"] = "StagedUpdateStrategy".into();
            own["metadata"]["creationTimestamp"] = at(created).to_string().into();
            own
        };
        let (a, b) = (config("a", "1"), config("b", "1"));
        let placed = trim::manifest(&own(SINCE)).value;
        let next = |snapshots: &[Value], objects: &[Value], created: i64| {
            let (known, texts) = hub(snapshots);
            let mut selected = selected(objects);
            selected.of_hub = vec![own(created)];
            let next = NextSnapshot::of(&known, &texts, selected);
            let parts = next.parts.unwrap();
            let objects = parts.iter().flat_map(|(_, text)| contents::in_order(text));
            let kinds: Vec<_> = objects.map(|it| it.identity.kind).collect();
            (kinds.join(" "), next.unclear.len())
        };
        let with = [latest("0", &[a.clone(), placed])];
        let without = [latest("0", std::slice::from_ref(&a))];
        let both = [a, b];
        let (only_a, only_b) = (&both[..1], &both[1..]);
        let all = "ConfigMap ConfigMap StagedUpdateStrategy";
        for (snapshots, objects, created, kinds, unclear) in [
            // It was placed before.
            (&with[..], only_a, SINCE, "", 0),
            (&with, &both, SINCE, all, 0),
            // It was there, and was not placed.
            (&without, only_a, SINCE - 1, "", 0),
            (&without, only_b, SINCE - 1, "ConfigMap", 0),
            // It came later, or there is no snapshot.
            (&without, only_a, SINCE, "", 1),
            (&[], only_a, SINCE, "ConfigMap", 1),
        ] {
            let found = next(snapshots, objects, created);
            assert_eq!(found, (kinds.to_owned(), unclear));
        }
    }

    #[test]
    fn the_first_snapshot_is_made_of_anything_and_an_unread_one_says_nothing() {
        let objects = [config("a", "1")];
        let (none, texts) = hub(&[]);
        let first = next_snapshot(&none, &texts, selected(&objects)).unwrap();
        assert_eq!(first[0].0.meta.name, "shop-0-snapshot");
        let empty = next_snapshot(&none, &texts, selected(&[])).unwrap();
        assert_eq!(empty.len(), 1);
        let (some, _) = hub(&[latest("0", &objects)]);
        assert!(next_snapshot(&some, &ObjectTexts::new(), selected(&objects)).is_none());
        let (both, texts) = hub(&[latest("0", &objects), latest("1", &objects)]);
        assert!(next_snapshot(&both, &texts, selected(&[])).is_none());
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
        let name =
            |(part, _): &SnapshotPart| (part.meta.name.clone(), part.is_latest(), part.parts());
        let parts: Vec<_> = parts.iter().map(name).collect();
        let (first, second) = ("shop-0-snapshot".to_owned(), "shop-0-0".to_owned());
        assert_eq!(parts, [(first, true, Some(2)), (second, false, None)]);
    }
}
