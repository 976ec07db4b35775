//! The content of resource snapshots and Works: manifests, their sizes, and what differs between two.
//!
//! Snapshots are large and may hold secrets. They are looked at as text, one version at a time, and
//! what leaves this module is masked unless the caller asks for secrets in so many words.

mod compare;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

pub use compare::{ChangeKind, ContentChange, SecretChange, compare};

use crate::kubefleet::kind::group_of;
use crate::kubefleet::snapshot::ManifestIdentity;
use crate::mask;

/// Which object a manifest describes. Its version is not part of it: an object that is written in
/// another version is changed, not another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, JsonSchema)]
pub struct ManifestKey {
    /// Its kind.
    pub kind: String,
    #[serde(skip)]
    pub group: String,
    /// Its namespace; empty where it has none.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl ManifestKey {
    pub fn of(value: &Value) -> Self {
        Self {
            kind: text(value, &["kind"]).to_owned(),
            group: group_of(text(value, &["apiVersion"])).to_owned(),
            namespace: text(value, &["metadata", "namespace"]).to_owned(),
            name: text(value, &["metadata", "name"]).to_owned(),
        }
    }

    /// What a manifest of a snapshot or a Work is.
    pub fn of_manifest(manifest: &ManifestIdentity) -> Self {
        Self {
            kind: manifest.kind.clone(),
            group: group_of(&manifest.api_version).to_owned(),
            namespace: manifest.meta.namespace.clone(),
            name: manifest.meta.name.clone(),
        }
    }

    /// The object in the reader's short form: `Deployment shop/web`.
    pub fn describe(&self) -> String {
        crate::kubefleet::describe_object(&self.kind, &self.namespace, &self.name)
    }

    fn is_namespace(&self) -> bool {
        self.kind == "Namespace" && self.group.is_empty()
    }

    /// Whether this may be the definition of an object's kind.
    pub fn defines(&self, object: &Self) -> bool {
        is_definition((&self.kind, &self.name), (&object.group, &object.kind))
    }

    /// Whether an object can exist only where this one does: its definition, or its namespace.
    pub fn holds(&self, object: &Self) -> bool {
        let is_namespace = self.is_namespace() && self.name == object.namespace;
        is_namespace || self.defines(object)
    }
}

/// Whether an object may be the definition of a group and a kind, by its own kind and its name, which is
/// `PLURAL.GROUP`.
pub fn is_definition((own, name): (&str, &str), (group, kind): (&str, &str)) -> bool {
    let named = name.split_once('.');
    let Some((plural, of)) = named.filter(|_| own == "CustomResourceDefinition") else {
        return false;
    };
    let kind = kind.to_lowercase();
    let endings = [("", ""), ("", "s"), ("", "es"), ("y", "ies")];
    let mut plurals = endings
        .iter()
        .filter_map(|(from, to)| Some(format!("{}{to}", kind.strip_suffix(from)?)));
    of == group && plurals.any(|it| it == plural)
}

/// The name that the definition of a group and a kind has as a rule.
pub fn usual_definition(group: &str, kind: &str) -> String {
    let kind = kind.to_lowercase();
    let plural = match kind.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ if kind.ends_with(['s', 'x']) || kind.ends_with("ch") => format!("{kind}es"),
        _ => format!("{kind}s"),
    };
    format!("{plural}.{group}")
}

/// What is deleted with an object of that kind, or may be, in words after its name; `None` where nothing is.
pub fn what_goes_with((kind, namespace): (&str, &str)) -> Option<&'static str> {
    match kind {
        // Other groups have such a kind too, of objects that are in a namespace.
        "Namespace" if namespace.is_empty() => Some("with everything in it"),
        "CustomResourceDefinition" => Some("with all its objects"),
        "PersistentVolumeClaim" => Some("with its data, unless the volume is kept,"),
        _ => None,
    }
}

/// One manifest of a snapshot.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// Which object it describes.
    pub identity: ManifestKey,
    /// Its API version, with the group.
    pub api_version: String,
    /// Its length as JSON.
    pub bytes: usize,
    /// The manifest.
    pub value: Value,
}

/// A text in a value; empty where there is none.
pub fn text<'v>(value: &'v Value, path: &[&str]) -> &'v str {
    let found = path.iter().try_fold(value, |value, step| value.get(step));
    found.and_then(Value::as_str).unwrap_or_default()
}

impl Manifest {
    /// The manifest that is a value.
    pub fn of(value: Value, bytes: usize) -> Self {
        Self {
            identity: ManifestKey::of(&value),
            api_version: text(&value, &["apiVersion"]).to_owned(),
            bytes,
            value,
        }
    }

    /// Whether values in it were masked before it came here: what they were, nobody can say.
    pub fn was_masked(&self) -> bool {
        fn holds_mask(value: &Value) -> bool {
            match value {
                Value::String(text) => text.contains(mask::MASK),
                Value::Array(items) => items.iter().any(holds_mask),
                Value::Object(map) => map.values().any(holds_mask),
                _ => false,
            }
        }
        holds_mask(&self.value)
    }
}

/// Whether secrets are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretDisplay {
    /// Every secret is replaced by a mask.
    Masked,
    Shown,
}

impl SecretDisplay {
    /// As `--show-secrets` says.
    pub const fn of_flag(show: bool) -> Self {
        if show { Self::Shown } else { Self::Masked }
    }
}

/// How much a snapshot object holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SnapshotSize {
    /// The resources in it.
    pub resources: usize,
    /// Their length as JSON, in bytes.
    pub bytes: usize,
}

impl SnapshotSize {
    /// The size of several together.
    pub fn total(sizes: impl IntoIterator<Item = Self>) -> Self {
        sizes.into_iter().fold(Self::default(), |all, one| Self {
            resources: all.resources + one.resources,
            bytes: all.bytes + one.bytes,
        })
    }
}

/// The items of a list in an object's text, as texts; none where there is no such list.
fn items<'t>(object: &'t RawValue, path: &[&str]) -> Vec<&'t RawValue> {
    let list = path.iter().try_fold(object, |object, field| {
        let fields = serde_json::from_str(object.get());
        let mut fields: BTreeMap<String, &'t RawValue> = fields.ok()?;
        fields.remove(*field)
    });
    let items = list.and_then(|list| serde_json::from_str(list.get()).ok());
    items.unwrap_or_default()
}

/// The texts of the manifests in the text of a snapshot object; none in what is no snapshot.
fn selected(text: &RawValue) -> Vec<&RawValue> {
    items(text, &["spec", "selectedResources"])
}

/// How much a snapshot object holds.
pub fn size(text: &RawValue) -> SnapshotSize {
    let manifests = selected(text);
    SnapshotSize {
        resources: manifests.len(),
        bytes: manifests.iter().map(|manifest| manifest.get().len()).sum(),
    }
}

/// The manifests of a version, of which these are the parts, by kind, namespace and name.
pub fn manifests<'t>(parts: impl IntoIterator<Item = &'t RawValue>) -> Vec<Manifest> {
    let mut manifests: Vec<_> = parts.into_iter().flat_map(in_order).collect();
    manifests.sort_by(|a, b| a.identity.cmp(&b.identity));
    manifests
}

/// The manifests of one snapshot object, in its order.
pub fn in_order(part: &RawValue) -> Vec<Manifest> {
    read(selected(part))
}

/// The manifests of a Work, in its order.
pub fn of_work(work: &RawValue) -> Vec<Manifest> {
    read(items(work, &["spec", "workload", "manifests"]))
}

fn read(texts: Vec<&RawValue>) -> Vec<Manifest> {
    let manifest = |text: &RawValue| {
        let value = serde_json::from_str(text.get()).ok()?;
        Some(Manifest::of(value, text.get().len()))
    };
    texts.into_iter().filter_map(manifest).collect()
}

/// Masks manifests, and says where in which one: by its place.
pub fn mask(manifests: &mut [Manifest]) -> BTreeMap<usize, Vec<String>> {
    manifests
        .iter_mut()
        .enumerate()
        .map(|(at, manifest)| (at, mask::mask(&mut manifest.value)))
        .filter(|(_, masked)| !masked.is_empty())
        .collect()
}

#[cfg(test)]
mod tests;
