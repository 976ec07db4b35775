//! Override snapshots.

use super::meta::ObjectMeta;
use super::names;
use super::override_names::override_snapshot;
use super::placement::ResourceSelector;
use super::scope::ObjectRef;
use super::selector::{ClusterSelector, LabelSelector};
use super::tolerant::model;

model! {
    /// A ClusterResourceOverrideSnapshot or ResourceOverrideSnapshot.
    pub struct OverrideSnapshot {
        pub meta: ObjectMeta = "metadata",
        pub spec: OverrideSnapshotSpec = "spec",
    }

    pub struct OverrideSnapshotSpec {
        pub content: OverrideSpec = "overrideSpec",
    }

    pub struct OverrideSpec {
        /// The placement that it is for; all of them where it is absent.
        pub placement: Option<Box<OverridePlacement>> = "placement",
        /// What a cluster override selects.
        pub cluster_selectors: Vec<ResourceSelector> = "clusterResourceSelectors",
        /// What an override of a namespace selects.
        pub selectors: Vec<ResourceSelector> = "resourceSelectors",
        /// The rules; absent makes every run that selects the override fail.
        pub policy: Option<Box<OverridePolicy>> = "policy",
    }

    /// `spec.overrideSpec.placement`.
    pub struct OverridePlacement {
        pub name: String = "name",
        /// `Cluster` (default) or `Namespaced`.
        pub scope: String = "scope",
    }

    pub struct OverridePolicy {
        /// One entry for each rule.
        pub rules: Vec<OverrideRule> = "overrideRules",
    }

    pub struct OverrideRule {
        /// Which clusters are meant: absent means none.
        pub clusters: Option<Box<ClusterSelector>> = "clusterSelector",
        /// `JSONPatch` (default) or `Delete`.
        pub kind: String = "overrideType",
        pub patches: Vec<JsonPatch> = "jsonPatchOverrides",
    }

    pub struct JsonPatch {
        /// `add`, `remove` or `replace`.
        pub operator: String = "op",
        /// A JSON pointer.
        pub path: String = "path",
    }
}

impl OverrideSnapshot {
    pub fn object(&self) -> ObjectRef {
        override_snapshot(&self.meta.namespace, &self.meta.name)
    }

    /// The label selectors of its rules, in order.
    pub fn cluster_labels(&self) -> impl Iterator<Item = &LabelSelector> {
        let policy = self.spec.content.policy.iter();
        policy
            .flat_map(|policy| &policy.rules)
            .filter_map(|rule| rule.clusters.as_deref())
            .flat_map(|selector| &selector.terms)
            .filter_map(|term| term.labels.as_deref())
    }

    /// Whether it is in force.
    pub fn is_latest(&self) -> bool {
        self.meta.label(names::IS_LATEST) == Some("true")
    }
}
