//! Override snapshots.

use super::meta::ObjectMeta;
use super::tolerant::model;

model! {
    /// A ClusterResourceOverrideSnapshot or ResourceOverrideSnapshot.
    pub struct OverrideSnapshot {
        /// `metadata`.
        pub meta: ObjectMeta = "metadata",
        /// `spec`.
        pub spec: OverrideSnapshotSpec = "spec",
    }

    /// `spec` of an override snapshot.
    pub struct OverrideSnapshotSpec {
        /// The override as it was.
        pub content: OverrideSpec = "overrideSpec",
    }

    /// `spec.overrideSpec`.
    pub struct OverrideSpec {
        /// The rules; absent makes every run that selects the override fail.
        pub policy: Option<Box<OverridePolicy>> = "policy",
    }

    /// The rules of an override.
    pub struct OverridePolicy {
        /// One entry for each rule.
        pub rules: Vec<OverrideRule> = "overrideRules",
    }

    /// One rule of an override.
    pub struct OverrideRule {
        /// `JSONPatch` (default) or `Delete`.
        pub kind: String = "overrideType",
        /// The patches.
        pub patches: Vec<JsonPatch> = "jsonPatchOverrides",
    }

    /// One JSON patch.
    pub struct JsonPatch {
        /// `add`, `remove` or `replace`.
        pub operator: String = "op",
        /// A JSON pointer.
        pub path: String = "path",
    }
}
