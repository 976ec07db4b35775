//! The fields of Kubernetes' own objects that tell why a workload does not become available.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::kubefleet::Condition;
use crate::kubefleet::selector::LabelSelector;
use crate::kubefleet::tolerant::{Lenient, Prose, model};

model! {
    /// The part of `metadata` that is read.
    pub struct Meta {
        /// `name`.
        pub name: String = "name",
        /// `namespace`.
        pub namespace: String = "namespace",
        /// `uid`.
        pub uid: String = "uid",
        /// `generation`.
        pub generation: Option<i64> = "generation",
        /// `creationTimestamp`.
        pub created: Option<Timestamp> = "creationTimestamp",
        /// `deletionTimestamp`.
        pub deleted: Option<Timestamp> = "deletionTimestamp",
        /// `labels`.
        pub labels: BTreeMap<String, String> = "labels",
        /// `annotations`.
        pub annotations: BTreeMap<String, String> = "annotations",
        /// `ownerReferences`.
        pub owners: Vec<Owner> = "ownerReferences",
    }

    /// An entry of `ownerReferences`.
    pub struct Owner {
        /// `uid`.
        pub uid: String = "uid",
        /// `controller`.
        pub controller: bool = "controller",
    }

    /// A Deployment, StatefulSet, DaemonSet or ReplicaSet.
    pub struct Workload {
        /// `metadata`.
        pub meta: Meta = "metadata",
        /// `spec`.
        pub spec: WorkloadSpec = "spec",
        /// `status`.
        pub status: WorkloadStatus = "status",
    }

    /// `spec` of a workload; each kind has some of the fields.
    pub struct WorkloadSpec {
        /// `replicas`; 1 where it is absent.
        pub replicas: Option<i64> = "replicas",
        /// `selector`.
        pub selector: LabelSelector = "selector",
        /// `paused`: of a Deployment.
        pub paused: bool = "paused",
        /// `podManagementPolicy`: of a StatefulSet.
        pub pod_management: String = "podManagementPolicy",
        /// `updateStrategy`: of a StatefulSet or DaemonSet.
        pub update: UpdateStrategy = "updateStrategy",
    }

    /// How pods are replaced.
    pub struct UpdateStrategy {
        /// `RollingUpdate` or `OnDelete`.
        pub kind: String = "type",
        /// `rollingUpdate`.
        pub rolling: RollingUpdate = "rollingUpdate",
    }

    /// `rollingUpdate`.
    pub struct RollingUpdate {
        /// `partition`: pods below it keep their revision.
        pub partition: Option<i64> = "partition",
    }

    /// `status` of a workload; each kind has some of the fields.
    pub struct WorkloadStatus {
        /// `observedGeneration`.
        pub observed: Option<i64> = "observedGeneration",
        /// `replicas`.
        pub replicas: Option<i64> = "replicas",
        /// `updatedReplicas`.
        pub updated: Option<i64> = "updatedReplicas",
        /// `availableReplicas`.
        pub available: Option<i64> = "availableReplicas",
        /// `unavailableReplicas`.
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
        /// `conditions`.
        pub conditions: Vec<Condition> = "conditions",
    }

    /// A Service.
    pub struct Service {
        /// `metadata`.
        pub meta: Meta = "metadata",
        /// `spec`.
        pub spec: ServiceSpec = "spec",
        /// `status`.
        pub status: ServiceStatus = "status",
    }

    /// `spec` of a Service.
    pub struct ServiceSpec {
        /// `ClusterIP` (also where it is absent), `NodePort`, `LoadBalancer` or `ExternalName`.
        pub kind: String = "type",
        /// `clusterIPs`.
        pub addresses: Vec<String> = "clusterIPs",
        /// `loadBalancerClass`.
        pub class: String = "loadBalancerClass",
    }

    /// `status` of a Service.
    pub struct ServiceStatus {
        /// `loadBalancer`.
        pub balancer: Balancer = "loadBalancer",
    }

    /// `status.loadBalancer`.
    pub struct Balancer {
        /// `ingress`.
        pub ingress: Vec<Ingress> = "ingress",
    }

    /// An address of a load balancer.
    pub struct Ingress {
        /// `ip`.
        pub ip: String = "ip",
        /// `hostname`.
        pub hostname: String = "hostname",
    }

    /// A CustomResourceDefinition.
    pub struct Definition {
        /// `metadata`.
        pub meta: Meta = "metadata",
        /// `status`.
        pub status: ConditionsOnly = "status",
    }

    /// A status of which the conditions are read.
    pub struct ConditionsOnly {
        /// `conditions`.
        pub conditions: Vec<Condition> = "conditions",
    }

    /// A PodDisruptionBudget.
    pub struct Budget {
        /// `metadata`.
        pub meta: Meta = "metadata",
        /// `status`.
        pub status: BudgetStatus = "status",
    }

    /// `status` of a PodDisruptionBudget.
    pub struct BudgetStatus {
        /// `observedGeneration`.
        pub observed: Option<i64> = "observedGeneration",
        /// `disruptionsAllowed`.
        pub allowed: Option<i64> = "disruptionsAllowed",
        /// `conditions`.
        pub conditions: Vec<Condition> = "conditions",
    }

    /// An AppliedWork: the member agent's own record of a Work of the hub.
    pub struct Applied {
        /// `metadata`.
        pub meta: Meta = "metadata",
        /// `spec`.
        pub spec: AppliedSpec = "spec",
    }

    /// `spec` of an AppliedWork.
    pub struct AppliedSpec {
        /// `workNamespace`: the namespace of the Work on the hub, which is the member's own.
        pub namespace: String = "workNamespace",
    }

    /// A PersistentVolumeClaim.
    pub struct Claim {
        /// `metadata`.
        pub meta: Meta = "metadata",
        /// `spec`.
        pub spec: ClaimSpec = "spec",
        /// `status`.
        pub status: Phase = "status",
    }

    /// `spec` of a PersistentVolumeClaim.
    pub struct ClaimSpec {
        /// `storageClassName`; absent for the cluster's default.
        pub class: Option<String> = "storageClassName",
    }

    /// A status of which the phase is read.
    pub struct Phase {
        /// `phase`.
        pub phase: String = "phase",
    }

    /// A ResourceQuota.
    pub struct Quota {
        /// `metadata`.
        pub meta: Meta = "metadata",
        /// `status`.
        pub status: QuotaStatus = "status",
    }

    /// `status` of a ResourceQuota.
    pub struct QuotaStatus {
        /// `hard`: what there may be.
        pub hard: BTreeMap<String, String> = "hard",
        /// `used`: what there is.
        pub used: BTreeMap<String, String> = "used",
    }

    /// An Event of the core group.
    pub struct Event {
        /// `metadata`.
        pub meta: Meta = "metadata",
        /// `involvedObject`.
        pub about: About = "involvedObject",
        /// `type`: `Normal` or `Warning`.
        pub kind: String = "type",
        /// `reason`.
        pub reason: String = "reason",
        /// `message`.
        pub message: String = "message" as Prose,
        /// `count`.
        pub count: Option<i64> = "count",
        /// `lastTimestamp`.
        pub last: Option<Timestamp> = "lastTimestamp",
        /// `eventTime`.
        pub time: Option<Timestamp> = "eventTime",
        /// `series`: of events that were counted.
        pub series: Series = "series",
    }

    /// `series` of an Event.
    pub struct Series {
        /// `count`.
        pub count: Option<i64> = "count",
        /// `lastObservedTime`.
        pub last: Option<Timestamp> = "lastObservedTime",
    }

    /// `involvedObject` of an Event.
    pub struct About {
        /// `kind`.
        pub kind: String = "kind",
        /// `name`.
        pub name: String = "name",
        /// `uid`.
        pub uid: String = "uid",
        /// `fieldPath`: `spec.containers{NAME}` for a container.
        pub path: String = "fieldPath",
    }
}

impl Meta {
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
    pub fn is_about(&self, kind: &str, meta: &Meta) -> bool {
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
pub struct Given(pub bool);

impl Lenient for Given {
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
