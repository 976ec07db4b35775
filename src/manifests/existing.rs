//! What a cluster's Works hold now, and what a rendering changes there.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::held::held;
use super::immutable;
use super::rendering::RenderedManifest;
use crate::contents::{self, ContentChange, Manifest, ManifestKey, SecretDisplay};
use crate::kubefleet::binding::Envelope;
use crate::kubefleet::describe_object;
use crate::member::PodHold;
use crate::words::distinct;

/// How many objects a rendering changes in a cluster.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct ChangeCounts {
    /// Objects that the cluster does not have yet.
    pub created: usize,
    /// Objects that it has with other content.
    pub changed: usize,
    /// Objects that it has and would lose.
    pub deleted: usize,
    /// Of those that are changed, how many have a change that Kubernetes refuses.
    pub refused: usize,
    /// Objects that it has and that move to another Work: KubeFleet may delete them and create them
    /// again.
    #[serde(skip_serializing_if = "is_zero")]
    pub moved: usize,
    /// Objects that it has in another API version: KubeFleet deletes them and creates them again.
    #[serde(skip_serializing_if = "is_zero")]
    pub recreated: usize,
    /// Objects of the member cluster that KubeFleet has kept so far, and that the hub's content would
    /// overwrite.
    #[serde(skip_serializing_if = "is_zero")]
    pub overwritten: usize,
}

// The type is serde's.
#[allow(clippy::trivially_copy_pass_by_ref)]
const fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The Work of an object: that of its envelope, or of a part of the version.
#[derive(Debug, Clone, Copy, PartialEq)]
enum WorkSlot<'m> {
    Envelope(&'m Envelope),
    Part(usize),
}

impl RenderedManifest<'_> {
    /// The Work that carries it. Source: workgenerator/controller.go:syncAllWork.
    fn slot(&self) -> WorkSlot<'_> {
        match &self.envelope {
            Some(envelope) => WorkSlot::Envelope(envelope),
            None => WorkSlot::Part(self.part),
        }
    }
}

/// Why a cluster would not take an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectRefusal {
    /// Kubernetes does not let this field change.
    Field(String),
    /// It comes twice, at least once in this envelope.
    /// Source: workapplier/drift_detection_takeover.go:takeOverPreExistingObject.
    Twice(String),
    /// What it cannot exist without is deleted: its definition, or its namespace.
    Without(ManifestKey),
    /// It is taken, but its own settings keep its pods as they are.
    Held(PodHold),
}

/// Which objects a rendering changes in a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkDelta {
    pub counts: ChangeCounts,
    /// Those that are new to the cluster.
    pub created: Vec<ManifestKey>,
    /// Those that the cluster is to lose.
    pub deleted: Vec<ManifestKey>,
    /// Those that the cluster would not take, and why.
    pub refused: Vec<(ManifestKey, ObjectRefusal)>,
    /// Those that look the same, and have values that were masked before they came here.
    pub masked: Vec<ManifestKey>,
    /// Those that move to another Work.
    pub moved: Vec<ManifestKey>,
    /// Those that are written in another API version than before: the agent tells them from others by that too.
    /// Source: workapplier/preprocess.go:findLeftOverManifests.
    pub recreated: Vec<ManifestKey>,
    /// Those of the member cluster that KubeFleet has kept so far, and that are overwritten.
    pub overwritten: Vec<ManifestKey>,
    /// Those whose Work goes: with it, all that it owns, also where it only compares.
    /// Source: workgenerator/controller.go:syncAllWork; workapplier/controller.go:garbageCollectAppliedWork.
    pub with_work: Vec<ManifestKey>,
}

/// Whether nothing that is rendered is in a Work. The first one stays also without objects.
fn goes(slot: WorkSlot<'_>, then: &[RenderedManifest<'_>]) -> bool {
    slot != WorkSlot::Part(0) && !then.iter().any(|it| it.slot() == slot)
}

impl WorkDelta {
    /// What a rendering changes, where the cluster has the manifests of another one. The agent removes what a Work
    /// no longer has, also where another Work has it then.
    /// Source: workapplier/preprocess.go:removeLeftOverManifests.
    pub fn between(now: &[RenderedManifest<'_>], then: &[RenderedManifest<'_>]) -> Self {
        let now = now.iter();
        let now = now.map(|it| (it.manifest.as_ref(), Some(it.slot())));
        Self::new(now, then)
    }

    /// The same where it is left open to which Work each object belongs.
    pub fn of(now: &[Manifest], then: &[RenderedManifest<'_>]) -> Self {
        Self::new(now.iter().map(|it| (it, None)), then)
    }

    fn new<'m>(
        now: impl IntoIterator<Item = (&'m Manifest, Option<WorkSlot<'m>>)>,
        then: &[RenderedManifest<'_>],
    ) -> Self {
        let mut before: BTreeMap<&ManifestKey, (&Value, Option<WorkSlot<'_>>)> = BTreeMap::new();
        let mut versions = BTreeSet::new();
        for (manifest, slot) in now {
            versions.insert((&manifest.identity, manifest.api_version.as_str()));
            let first = before.entry(&manifest.identity);
            first.or_insert((&manifest.value, slot));
        }
        let mut delta = Self::default();
        let mut slots: BTreeMap<&ManifestKey, &RenderedManifest<'_>> = BTreeMap::new();
        for rendered in then {
            let Manifest {
                identity, value, ..
            } = rendered.manifest.as_ref();
            if let Some(first) = slots.insert(identity, rendered) {
                // In one Work, another version of it is another object to the agent.
                let is_twice = first.slot() != rendered.slot()
                    || first.manifest.api_version == rendered.manifest.api_version;
                let envelope = rendered.envelope.as_ref().or(first.envelope.as_ref());
                let envelope = envelope.filter(|_| is_twice);
                let named = envelope.map(|it| describe_object(&it.kind, &it.namespace, &it.name));
                let twice = named.map(|it| (identity.clone(), ObjectRefusal::Twice(it)));
                delta.refused.extend(twice);
                continue;
            }
            let old = before.remove(identity);
            let slot = old.and_then(|(_, slot)| slot);
            if slot.is_some_and(|it| it != rendered.slot()) {
                delta.moved.push(identity.clone());
                let goes = slot.is_some_and(|it| goes(it, then));
                delta.with_work.extend(goes.then(|| identity.clone()));
            }
            match old {
                None => delta.created.push(identity.clone()),
                Some((old, _)) if old == value => {
                    let is_masked = rendered.manifest.was_masked();
                    delta.masked.extend(is_masked.then(|| identity.clone()));
                }
                Some((old, _)) => {
                    delta.counts.changed += 1;
                    let field = immutable::changed(old, value);
                    let field = field.map(|it| (identity.clone(), ObjectRefusal::Field(it)));
                    delta.refused.extend(field);
                    let held = held(old, value).map(ObjectRefusal::Held);
                    delta.refused.extend(held.map(|it| (identity.clone(), it)));
                }
            }
        }
        for sent in then.iter().map(|it| it.manifest.as_ref()) {
            versions.remove(&(&sent.identity, sent.api_version.as_str()));
        }
        let left = versions.into_iter().map(|(object, _)| object);
        let left = left.filter(|object| slots.contains_key(object));
        delta.recreated = distinct(left.cloned());
        for (lost, (_, slot)) in &before {
            let goes = slot.is_some_and(|it| goes(it, then));
            delta
                .with_work
                .extend(goes.then(|| ManifestKey::clone(lost)));
            let first = slots.keys().find(|it| lost.holds(it));
            let gone = || ObjectRefusal::Without(ManifestKey::clone(lost));
            let without = first.map(|it| (ManifestKey::clone(it), gone()));
            delta.refused.extend(without);
        }
        // What is created again may be as it likes.
        let again = [&delta.moved[..], &delta.recreated].concat();
        delta.refused.retain(|(object, why)| match why {
            ObjectRefusal::Field(_) | ObjectRefusal::Held(_) => !again.contains(object),
            ObjectRefusal::Twice(_) | ObjectRefusal::Without(_) => true,
        });
        delta.counts.created = delta.created.len();
        delta.counts.deleted = before.len();
        delta.count_refused();
        delta.counts.moved = delta.moved.len();
        delta.counts.recreated = delta.recreated.len();
        delta.deleted = before.into_keys().cloned().collect();
        delta
    }

    /// Counts again what Kubernetes refuses to change.
    pub fn count_refused(&mut self) {
        let all = self.refused.iter();
        let fields = all.filter(|(_, why)| matches!(why, ObjectRefusal::Field(_)));
        self.counts.refused = fields.count();
    }
}

impl ChangeCounts {
    /// Whether nothing changes.
    pub const fn is_none(self) -> bool {
        let touched = self.moved + self.recreated + self.overwritten;
        self.created + self.changed + self.deleted + touched == 0
    }
}

/// What changes in one object.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "DifferenceItem")]
pub struct ObjectDifference {
    #[serde(flatten)]
    pub change: ContentChange,
    /// The field that cannot change; the member cluster refuses the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub immutable: Option<String>,
}

/// What differs between two lists of manifests, by kind, namespace, and name.
pub fn differences(
    before: Vec<Manifest>,
    after: Vec<Manifest>,
    secrets: SecretDisplay,
) -> Vec<ObjectDifference> {
    let mut fields: BTreeMap<ManifestKey, String> = BTreeMap::new();
    let known: BTreeMap<_, _> = before.iter().map(|it| (&it.identity, &it.value)).collect();
    for manifest in &after {
        let old = known.get(&manifest.identity);
        if let Some(field) = old.and_then(|old| immutable::changed(old, &manifest.value)) {
            fields.insert(manifest.identity.clone(), field);
        }
    }
    contents::compare(before, after, secrets)
        .into_iter()
        .map(|change| ObjectDifference {
            immutable: fields.remove(&change.identity),
            change,
        })
        .collect()
}
