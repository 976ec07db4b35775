//! Metadata and conditions, as every Kubernetes object has them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::names;
use super::tolerant::{LenientRead, MaskedProse, Scalar, model};
use crate::words::worded;

model! {
    /// The part of `metadata` that the walk reads.
    pub struct ObjectMeta {
        pub name: String = "name",
        /// `namespace`; empty for cluster-scoped objects.
        pub namespace: String = "namespace",
        /// `uid`; empty when it was stripped.
        pub uid: String = "uid",
        /// `resourceVersion`; empty when it was stripped.
        pub resource_version: String = "resourceVersion",
        /// `generation`: raised by the server with every change of the spec.
        pub generation: Option<i64> = "generation",
        pub created: Option<Timestamp> = "creationTimestamp",
        /// `deletionTimestamp`: set while finalizers keep a deleted object alive.
        pub deleted: Option<Timestamp> = "deletionTimestamp",
        pub finalizers: Vec<String> = "finalizers",
        pub labels: BTreeMap<String, String> = "labels",
        pub annotations: BTreeMap<String, String> = "annotations",
        pub owners: Vec<OwnerReference> = "ownerReferences",
        /// `managedFields`: kubectl leaves them out unless asked.
        pub managed: Vec<ManagedFields> = "managedFields",
    }

    /// An object that another belongs to.
    pub struct OwnerReference {
        pub kind: String = "kind",
        pub uid: String = "uid",
    }

    /// Who wrote fields of an object, and when.
    pub struct ManagedFields {
        pub manager: String = "manager",
        /// `subresource`; empty for the object itself.
        pub subresource: String = "subresource",
        pub time: Option<Timestamp> = "time",
    }

    /// One entry of `status.conditions`.
    pub struct Condition {
        pub kind: String = "type",
        pub status: ConditionStatus = "status",
        pub reason: String = "reason",
        pub message: String = "message" as MaskedProse,
        /// `observedGeneration`; absent where the writer left it out.
        pub observed_generation: Option<i64> = "observedGeneration",
        pub since: Option<Timestamp> = "lastTransitionTime",
    }
}

impl ObjectMeta {
    /// The finalizers that are not KubeFleet's.
    pub fn foreign_finalizers(&self) -> impl Iterator<Item = &str> {
        let all = self.finalizers.iter().map(String::as_str);
        all.filter(|finalizer| !finalizer.starts_with(names::PREFIX))
    }

    /// The label's value, when it is there.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.labels.get(key).map(String::as_str)
    }

    /// The annotation's value, when it is there.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations.get(key).map(String::as_str)
    }

    /// When the object itself, not its status, was last written, where it tells.
    pub fn spec_edited(&self) -> Option<Timestamp> {
        self.last_edit().and_then(|(_, write)| write.time)
    }

    /// That write, with its place among the managed fields.
    pub fn last_edit(&self) -> Option<(usize, &ManagedFields)> {
        let writes = self.managed.iter().enumerate();
        let writes = writes.filter(|(_, it)| it.subresource.is_empty() && it.time.is_some());
        writes.max_by_key(|(_, it)| it.time)
    }

    /// The tool that keeps the object as its source has it: what somebody else changes, it sets back, and what
    /// somebody deletes, it creates again.
    pub fn keeper(&self) -> Option<&'static str> {
        let is_marked = |mark: &str| {
            self.labels.contains_key(mark)
                || self.annotations.contains_key(mark)
                || self.managed.iter().any(|it| it.manager == mark)
        };
        let mut keepers = KEEPERS.iter();
        keepers.find_map(|(tool, marks)| marks.iter().any(|it| is_marked(it)).then_some(*tool))
    }

    /// Whether the object is being deleted.
    pub const fn is_deleting(&self) -> bool {
        self.deleted.is_some()
    }
}

/// Tools that keep objects as their source has them, with their labels, annotations, and field managers.
const KEEPERS: [(&str, &[&str]); 3] = [
    (
        "Argo CD",
        &[
            "argocd.argoproj.io/tracking-id",
            "argocd.argoproj.io/instance",
            "argocd-controller",
            "argocd-application-controller",
        ],
    ),
    (
        "Flux",
        &[
            "kustomize.toolkit.fluxcd.io/name",
            "helm.toolkit.fluxcd.io/name",
            "kustomize-controller",
        ],
    ),
    (
        "Config Sync",
        &["configsync.gke.io/resource-id", "configsync"],
    ),
];

worded! {
    /// The status of a condition.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
    #[schemars(rename = "ConditionTruth")]
    pub enum ConditionStatus {
        /// True.
        True = "True",
        /// False.
        False = "False",
        /// Unknown.
        #[default]
        Unknown = "Unknown",
    }
}

impl LenientRead for ConditionStatus {
    fn from_scalar(scalar: Scalar<'_>) -> Self {
        match scalar {
            Scalar::Str("True" | "true") | Scalar::Bool(true) => Self::True,
            Scalar::Str("False" | "false") | Scalar::Bool(false) => Self::False,
            _ => Self::Unknown,
        }
    }
}

impl Condition {
    /// Whether its status is `True`.
    pub fn is_true(&self) -> bool {
        self.status == ConditionStatus::True
    }

    /// Whether its status is `False`.
    pub fn is_false(&self) -> bool {
        self.status == ConditionStatus::False
    }

    /// Whether its status is `Unknown`.
    pub fn is_unknown(&self) -> bool {
        self.status == ConditionStatus::Unknown
    }

    /// Whether it speaks of this generation. A condition without `observedGeneration` counts as
    /// generation 0, as the controllers read it.
    pub fn observes(&self, generation: Option<i64>) -> bool {
        self.observed_generation.unwrap_or(0) == generation.unwrap_or(0)
    }
}

/// The look-ups that a list of conditions needs.
pub trait Conditions {
    /// The condition of that type. Their order in the list means nothing.
    fn condition(&self, kind: &str) -> Option<&Condition>;

    /// Since when the condition of that type is as it is.
    fn since(&self, kind: &str) -> Option<Timestamp> {
        self.condition(kind)?.since
    }

    /// Whether the condition of that type is there and `True`.
    fn is_true(&self, kind: &str) -> bool {
        self.condition(kind).is_some_and(Condition::is_true)
    }

    /// Whether the condition of that type is there and `False`.
    fn is_false(&self, kind: &str) -> bool {
        self.condition(kind).is_some_and(Condition::is_false)
    }
}

impl Conditions for [Condition] {
    fn condition(&self, kind: &str) -> Option<&Condition> {
        self.iter().find(|condition| condition.kind == kind)
    }
}
