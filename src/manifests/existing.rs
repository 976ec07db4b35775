//! What a cluster's Works hold now, and what a rendering changes there.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::immutable;
use super::rendering::RenderedManifest;
use crate::contents::{self, ContentChange, Manifest, ManifestKey, SecretDisplay};

/// The manifests in a cluster's Works.
#[derive(Debug, Clone, Default)]
pub struct WorkManifests {
    pub manifests: Vec<Manifest>,
}

impl WorkManifests {
    /// What these Works hold.
    pub fn new<'t>(works: impl IntoIterator<Item = &'t RawValue>) -> Self {
        Self {
            manifests: works.into_iter().flat_map(contents::of_work).collect(),
        }
    }
}

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
}

/// Which objects a rendering changes in a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkDelta {
    pub counts: ChangeCounts,
    /// Those that the cluster is to lose.
    pub deleted: Vec<ManifestKey>,
    /// Those that Kubernetes refuses to change, with the field that must stay.
    pub refused: Vec<(ManifestKey, String)>,
}

impl WorkDelta {
    /// What a rendering changes.
    pub fn new<'m>(
        now: impl IntoIterator<Item = &'m Manifest>,
        then: &[RenderedManifest<'_>],
    ) -> Self {
        let mut before: BTreeMap<&ManifestKey, &Value> = BTreeMap::new();
        for manifest in now {
            before.insert(&manifest.identity, &manifest.value);
        }
        let mut delta = Self::default();
        for rendered in then {
            let Manifest {
                identity, value, ..
            } = rendered.manifest.as_ref();
            match before.remove(identity) {
                None => delta.counts.created += 1,
                Some(old) if old == value => {}
                Some(old) => {
                    delta.counts.changed += 1;
                    let field = immutable::changed(old, value);
                    let field = field.map(|field| (identity.clone(), field));
                    delta.refused.extend(field);
                }
            }
        }
        delta.counts.deleted = before.len();
        delta.counts.refused = delta.refused.len();
        delta.deleted = before.into_keys().cloned().collect();
        delta
    }
}

impl ChangeCounts {
    /// Whether nothing changes.
    pub const fn is_none(self) -> bool {
        self.created == 0 && self.changed == 0 && self.deleted == 0
    }
}

/// What changes in one object.
#[derive(Debug, Clone)]
pub struct ObjectDifference {
    pub change: ContentChange,
    /// The field that Kubernetes does not let change, so that the member refuses the object.
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
