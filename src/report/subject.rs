//! Objects that a report names.

use schemars::JsonSchema;
use serde::Serialize;

use crate::contents::{ManifestKey, what_goes_with};
use crate::kubefleet::snapshot::ManifestIdentity;
use crate::kubefleet::{Kind, ObjectRef, describe_object};
use crate::member::model::MemberMeta;
use crate::member::{MemberKind, PodTrouble, WantedWorkload};
use crate::rollout::ManifestTrouble;

/// An object that a finding is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub struct Subject {
    /// Its kind.
    pub kind: String,
    /// Its namespace; empty for cluster-scoped kinds.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl Subject {
    /// An object of any kind, also one that the walk does not read.
    pub fn new(
        kind: impl Into<String>,
        namespace: impl Into<String>,
        name: impl Into<String>,
    ) -> Self {
        Self {
            kind: kind.into(),
            namespace: namespace.into(),
            name: name.into(),
        }
    }

    pub fn member(name: &str) -> Self {
        Self::new(Kind::MemberCluster.name(), "", name)
    }

    /// The object as it is deleted: with what goes with it, whoever put it there.
    pub fn with_what_goes(&self) -> String {
        match what_goes_with((&self.kind, &self.namespace)) {
            Some(with) => format!("{self} {}", with.trim_end_matches(',')),
            None => self.to_string(),
        }
    }

    /// The object, with its hub where several were asked.
    pub fn on_hub(&self, hub: Option<&str>) -> String {
        match hub {
            Some(hub) => format!("{hub}: {self}"),
            None => self.to_string(),
        }
    }
}

impl From<&ObjectRef> for Subject {
    fn from(object: &ObjectRef) -> Self {
        Self::new(object.kind.name(), &object.namespace, &object.name)
    }
}

impl From<ObjectRef> for Subject {
    fn from(object: ObjectRef) -> Self {
        Self::from(&object)
    }
}

impl From<&ManifestIdentity> for Subject {
    fn from(manifest: &ManifestIdentity) -> Self {
        let meta = &manifest.meta;
        Self::new(&manifest.kind, &meta.namespace, &meta.name)
    }
}

impl From<&ManifestKey> for Subject {
    fn from(object: &ManifestKey) -> Self {
        Self::new(&object.kind, &object.namespace, &object.name)
    }
}

impl From<&ManifestTrouble<'_>> for Subject {
    fn from(manifest: &ManifestTrouble<'_>) -> Self {
        Self::new(manifest.kind, manifest.namespace, manifest.name)
    }
}

impl From<(MemberKind, &MemberMeta)> for Subject {
    fn from((kind, meta): (MemberKind, &MemberMeta)) -> Self {
        Self::new(kind.name(), &meta.namespace, &meta.name)
    }
}

impl From<&WantedWorkload> for Subject {
    fn from(wanted: &WantedWorkload) -> Self {
        Self::new(wanted.kind.name(), &wanted.namespace, &wanted.name)
    }
}

impl From<&PodTrouble<'_>> for Subject {
    fn from(trouble: &PodTrouble<'_>) -> Self {
        (MemberKind::Pod, &trouble.pod.meta).into()
    }
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&describe_object(&self.kind, &self.namespace, &self.name))
    }
}
