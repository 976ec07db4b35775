//! Works: what the hub tells a member agent to apply, and what the agent reported.

use super::apply::ApplyStrategy;
use super::binding::{Envelope, FieldDifference};
use super::kind::Concept;
use super::meta::{Condition, ObjectMeta};
use super::names;
use super::scope::{ObjectRef, Scope};
use super::snapshot::ManifestIdentity;
use super::tolerant::model;

model! {
    /// A Work in the namespace of its member cluster.
    pub struct Work {
        pub meta: ObjectMeta = "metadata",
        pub spec: WorkSpec = "spec",
        pub status: WorkStatus = "status",
    }

    pub struct WorkSpec {
        /// What to apply.
        pub workload: WorkloadTemplate = "workload",
        pub apply_strategy: Option<Box<ApplyStrategy>> = "applyStrategy",
    }

    /// `spec.workload`.
    pub struct WorkloadTemplate {
        /// The identities of the manifests, by ordinal.
        pub manifests: Vec<ManifestIdentity> = "manifests",
    }

    pub struct WorkStatus {
        /// Applied, Available, DiffReported, StatusTrimmed.
        pub conditions: Vec<Condition> = "conditions",
        /// What became of each manifest.
        pub manifests: Vec<ManifestStatus> = "manifestConditions",
    }

    pub struct ManifestStatus {
        pub id: ManifestId = "identifier",
        /// Applied, Available, DiffReported.
        pub conditions: Vec<Condition> = "conditions",
        /// The drift, when one was found.
        pub drift: Option<Box<FieldComparison>> = "driftDetails",
        /// The difference, when one was found.
        pub diff: Option<Box<FieldComparison>> = "diffDetails",
    }

    pub struct ManifestId {
        /// Its place in the list.
        pub ordinal: Option<i64> = "ordinal",
        pub group: String = "group",
        pub version: String = "version",
        pub kind: String = "kind",
        /// `resource`; empty when the member does not serve the kind.
        pub resource: String = "resource",
        pub namespace: String = "namespace",
        pub name: String = "name",
    }

    /// A drift or a difference.
    pub struct FieldComparison {
        pub drifts: Vec<FieldDifference> = "observedDrifts",
        /// The differing fields.
        pub diffs: Vec<FieldDifference> = "observedDiffs",
    }
}

impl Work {
    pub fn cluster(&self) -> Option<&str> {
        self.meta
            .namespace
            .strip_prefix(names::MEMBER_NAMESPACE_PREFIX)
    }

    /// Whether it is for a cluster, and is being deleted.
    pub fn is_going_from(&self, cluster: &str) -> bool {
        self.cluster() == Some(cluster) && self.meta.is_deleting()
    }

    /// The namespace, which is empty for a cluster-scoped one, and the name of the placement that it belongs to.
    pub fn parent(&self) -> Option<(&str, &str)> {
        let namespace = self.meta.label(names::PARENT_NAMESPACE).unwrap_or_default();
        Some((namespace, self.meta.label(names::PARENT_PLACEMENT)?))
    }

    pub fn placement(&self) -> Option<ObjectRef> {
        let (namespace, name) = self.parent()?;
        Some(Scope::of_namespace(namespace).object(Concept::Placement, name))
    }

    pub fn binding(&self) -> Option<&str> {
        self.meta.label(names::PARENT_BINDING)
    }

    /// What the member agent reported of a manifest, by its place.
    pub fn status_of(&self, at: usize) -> Option<&ManifestStatus> {
        let at = i64::try_from(at).ok();
        let mut statuses = self.status.manifests.iter();
        statuses.find(|it| it.id.ordinal == at)
    }

    /// The envelope whose content it carries, when it does.
    pub fn envelope(&self) -> Option<Envelope> {
        Some(Envelope {
            kind: self.meta.label(names::ENVELOPE_TYPE)?.to_owned(),
            namespace: self
                .meta
                .label(names::ENVELOPE_NAMESPACE)
                .unwrap_or_default()
                .to_owned(),
            name: self
                .meta
                .label(names::ENVELOPE_NAME)
                .unwrap_or_default()
                .to_owned(),
        })
    }
}
