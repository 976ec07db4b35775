//! The fields of Kubernetes' own objects that tell why a workload does not become available.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::kubefleet::Condition;
use crate::kubefleet::selector::LabelSelector;
use crate::kubefleet::snapshot::UpdateStrategy;
use crate::kubefleet::tolerant::{LenientRead, MaskedProse, model};

model! {
    /// The part of `metadata` that is read.
    pub struct MemberMeta {
        pub name: String = "name",
        pub namespace: String = "namespace",
        pub uid: String = "uid",
        pub generation: Option<i64> = "generation",
        pub created: Option<Timestamp> = "creationTimestamp",
        pub deleted: Option<Timestamp> = "deletionTimestamp",
        pub labels: BTreeMap<String, String> = "labels",
        pub annotations: BTreeMap<String, String> = "annotations",
        pub owners: Vec<Owner> = "ownerReferences",
        pub managers: Vec<FieldManager> = "managedFields",
    }

    /// An entry of `managedFields`.
    pub struct FieldManager {
        pub manager: String = "manager",
    }

    /// An entry of `ownerReferences`.
    pub struct Owner {
        pub api_version: String = "apiVersion",
        pub kind: String = "kind",
        pub name: String = "name",
        pub uid: String = "uid",
    }

    /// A Deployment, StatefulSet, DaemonSet or ReplicaSet.
    pub struct Workload {
        pub meta: MemberMeta = "metadata",
        pub spec: WorkloadSpec = "spec",
        pub status: WorkloadStatus = "status",
    }

    /// `spec` of a workload; each kind has some of the fields.
    pub struct WorkloadSpec {
        /// `replicas`; 1 where it is absent.
        pub replicas: Option<i64> = "replicas",
        pub selector: LabelSelector = "selector",
        /// `paused`: of a Deployment.
        pub paused: bool = "paused",
        /// `podManagementPolicy`: of a StatefulSet.
        pub pod_management: String = "podManagementPolicy",
        /// `updateStrategy`: of a StatefulSet or DaemonSet.
        pub update: UpdateStrategy = "updateStrategy",
        /// `strategy`: of a Deployment.
        pub strategy: UpdateStrategy = "strategy",
    }

    /// `status` of a workload; each kind has some of the fields.
    pub struct WorkloadStatus {
        pub observed: Option<i64> = "observedGeneration",
        pub replicas: Option<i64> = "replicas",
        pub updated: Option<i64> = "updatedReplicas",
        pub available: Option<i64> = "availableReplicas",
        pub unavailable: Option<i64> = "unavailableReplicas",
        /// `currentReplicas`: of a StatefulSet.
        pub current: Option<i64> = "currentReplicas",
        /// `currentRevision`: of a StatefulSet.
        pub current_revision: String = "currentRevision",
        /// `updateRevision`: of a StatefulSet.
        pub update_revision: String = "updateRevision",
        /// `desiredNumberScheduled`: of a DaemonSet.
        pub desired: Option<i64> = "desiredNumberScheduled",
        /// `currentNumberScheduled`: of a DaemonSet.
        pub scheduled: Option<i64> = "currentNumberScheduled",
        /// `updatedNumberScheduled`: of a DaemonSet.
        pub updated_scheduled: Option<i64> = "updatedNumberScheduled",
        /// `numberAvailable`: of a DaemonSet.
        pub number_available: Option<i64> = "numberAvailable",
        pub conditions: Vec<Condition> = "conditions",
    }

    pub struct Service {
        pub meta: MemberMeta = "metadata",
        pub spec: ServiceSpec = "spec",
        pub status: ServiceStatus = "status",
    }

    pub struct ServiceSpec {
        /// `ClusterIP` (also where it is absent), `NodePort`, `LoadBalancer` or `ExternalName`.
        pub kind: String = "type",
        pub addresses: Vec<String> = "clusterIPs",
        pub class: String = "loadBalancerClass",
    }

    pub struct ServiceStatus {
        pub balancer: LoadBalancerStatus = "loadBalancer",
    }

    /// `status.loadBalancer`.
    pub struct LoadBalancerStatus {
        pub ingress: Vec<Ingress> = "ingress",
    }

    /// An address of a load balancer.
    pub struct Ingress {
        pub ip: String = "ip",
        pub hostname: String = "hostname",
    }

    /// A CustomResourceDefinition.
    pub struct ResourceDefinition {
        pub meta: MemberMeta = "metadata",
        pub status: ConditionsOnly = "status",
    }

    pub struct Job {
        pub meta: MemberMeta = "metadata",
        pub status: ConditionsOnly = "status",
    }

    /// A status of which the conditions are read.
    pub struct ConditionsOnly {
        pub conditions: Vec<Condition> = "conditions",
    }

    /// A PodDisruptionBudget.
    pub struct DisruptionBudget {
        pub meta: MemberMeta = "metadata",
        pub status: BudgetStatus = "status",
    }

    /// `status` of a PodDisruptionBudget.
    pub struct BudgetStatus {
        pub observed: Option<i64> = "observedGeneration",
        pub allowed: Option<i64> = "disruptionsAllowed",
        pub conditions: Vec<Condition> = "conditions",
    }

    /// An AppliedWork: the member agent's own record of a Work of the hub.
    pub struct AppliedWork {
        pub meta: MemberMeta = "metadata",
        pub spec: AppliedSpec = "spec",
        pub status: AppliedStatus = "status",
    }

    /// `spec` of an AppliedWork.
    pub struct AppliedSpec {
        /// `workNamespace`: the namespace of the Work on the hub, which is the member's own.
        pub namespace: String = "workNamespace",
        /// `workName`: the Work on the hub.
        pub work: String = "workName",
    }

    /// `status` of an AppliedWork.
    pub struct AppliedStatus {
        /// `appliedResources`: what the agent applied.
        pub resources: Vec<AppliedResource> = "appliedResources",
    }

    /// An entry of `appliedResources`.
    pub struct AppliedResource {
        pub group: String = "group",
        pub version: String = "version",
        pub kind: String = "kind",
        /// `resource`: the plural.
        pub resource: String = "resource",
        pub namespace: String = "namespace",
        pub name: String = "name",
        pub uid: String = "uid",
    }

    /// An object of any kind.
    pub struct AnyObject {
        pub kind: String = "kind",
        pub meta: MemberMeta = "metadata",
    }

    /// A PersistentVolumeClaim.
    pub struct VolumeClaim {
        pub meta: MemberMeta = "metadata",
        pub spec: ClaimSpec = "spec",
        pub status: PhaseStatus = "status",
    }

    /// `spec` of a PersistentVolumeClaim.
    pub struct ClaimSpec {
        /// `storageClassName`; absent for the cluster's default.
        pub class: Option<String> = "storageClassName",
    }

    /// A status of which the phase is read.
    pub struct PhaseStatus {
        pub phase: String = "phase",
    }

    /// A ResourceQuota.
    pub struct Quota {
        pub meta: MemberMeta = "metadata",
        pub status: QuotaStatus = "status",
    }

    /// `status` of a ResourceQuota.
    pub struct QuotaStatus {
        /// `hard`: what there may be.
        pub hard: BTreeMap<String, String> = "hard",
        pub used: BTreeMap<String, String> = "used",
    }

    /// An Event of the core group.
    pub struct Event {
        pub meta: MemberMeta = "metadata",
        pub about: InvolvedObject = "involvedObject",
        /// `type`: `Normal` or `Warning`.
        pub kind: String = "type",
        pub reason: String = "reason",
        pub message: String = "message" as MaskedProse,
        pub count: Option<i64> = "count",
        pub last: Option<Timestamp> = "lastTimestamp",
        pub time: Option<Timestamp> = "eventTime",
        /// `series`: of events that were counted.
        pub series: EventSeries = "series",
    }

    /// `series` of an Event.
    pub struct EventSeries {
        pub count: Option<i64> = "count",
        pub last: Option<Timestamp> = "lastObservedTime",
    }

    /// `involvedObject` of an Event.
    pub struct InvolvedObject {
        pub kind: String = "kind",
        pub name: String = "name",
        pub uid: String = "uid",
        /// `fieldPath`: `spec.containers{NAME}` for a container.
        pub path: String = "fieldPath",
    }
}

impl MemberMeta {
    /// Whether an object of this uid is its owner.
    pub fn belongs_to(&self, uid: &str) -> bool {
        !uid.is_empty() && self.owners.iter().any(|owner| owner.uid == uid)
    }
}

impl Event {
    /// When it was last seen.
    pub fn seen(&self) -> Option<Timestamp> {
        let told = [self.series.last, self.last, self.time];
        told.into_iter().flatten().max().or(self.meta.created)
    }

    /// Whether it is about an object: the same one, not an earlier one of its name.
    pub fn is_about(&self, kind: &str, meta: &MemberMeta) -> bool {
        self.about.kind == kind
            && self.about.name == meta.name
            && (self.about.uid.is_empty() || meta.uid.is_empty() || self.about.uid == meta.uid)
    }

    /// The container that it is about; empty when it is about the whole pod.
    pub fn container(&self) -> &str {
        let path = &self.about.path;
        path.split_once('{')
            .and_then(|(_, rest)| rest.strip_suffix('}'))
            .unwrap_or_default()
    }
}

/// A field that is there, whatever its value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FieldPresence(pub bool);

impl LenientRead for FieldPresence {
    fn from_scalar(scalar: crate::kubefleet::tolerant::Scalar<'_>) -> Self {
        Self(!matches!(scalar, crate::kubefleet::tolerant::Scalar::Null))
    }

    fn from_map<'de, A: serde::de::MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        use serde::de::IgnoredAny;
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self(true))
    }
}

impl Service {
    /// Whether it waits for the address of a load balancer.
    pub fn is_balanced(&self) -> bool {
        self.spec.kind == "LoadBalancer"
    }
}
