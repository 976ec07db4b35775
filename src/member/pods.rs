//! Pods, as far as they tell why they do not become ready.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::model::{FieldPresence, MemberMeta};
use crate::kubefleet::Condition;
use crate::kubefleet::tolerant::{MaskedProse, model};

model! {
    pub struct Pod {
        pub meta: MemberMeta = "metadata",
        pub spec: PodSpec = "spec",
        pub status: PodStatus = "status",
    }

    pub struct PodSpec {
        /// `nodeName`; empty until it is scheduled.
        pub node: String = "nodeName",
        pub containers: Vec<Container> = "containers",
        pub init: Vec<Container> = "initContainers",
        pub gates: Vec<ReadinessGate> = "readinessGates",
        pub volumes: Vec<Volume> = "volumes",
    }

    pub struct Container {
        pub name: String = "name",
        pub image: String = "image",
        pub readiness: FieldPresence = "readinessProbe",
        pub startup: FieldPresence = "startupProbe",
        /// `restartPolicy`: `Always` for a sidecar among the init containers.
        pub restart_policy: String = "restartPolicy",
        pub resources: ContainerResources = "resources",
    }

    /// `resources` of a container.
    pub struct ContainerResources {
        pub limits: BTreeMap<String, String> = "limits",
    }

    /// A condition that must hold before a pod counts as ready.
    pub struct ReadinessGate {
        pub condition: String = "conditionType",
    }

    pub struct Volume {
        pub claim: ClaimRef = "persistentVolumeClaim",
    }

    /// The claim of a volume.
    pub struct ClaimRef {
        /// `claimName`; empty for a volume of another kind.
        pub name: String = "claimName",
    }

    pub struct PodStatus {
        pub phase: String = "phase",
        pub conditions: Vec<Condition> = "conditions",
        pub containers: Vec<ContainerStatus> = "containerStatuses",
        pub init: Vec<ContainerStatus> = "initContainerStatuses",
    }

    /// What became of a container.
    pub struct ContainerStatus {
        pub name: String = "name",
        pub ready: bool = "ready",
        pub started: Option<bool> = "started",
        pub restarts: Option<i64> = "restartCount",
        pub state: ContainerState = "state",
        pub last: ContainerState = "lastState",
    }

    /// One of three.
    pub struct ContainerState {
        pub waiting: Option<Box<ContainerWaiting>> = "waiting",
        pub running: Option<Box<ContainerRunning>> = "running",
        pub terminated: Option<Box<ContainerTerminated>> = "terminated",
    }

    /// Why a container does not run yet.
    pub struct ContainerWaiting {
        pub reason: String = "reason",
        pub message: String = "message" as MaskedProse,
    }

    /// Since when a container runs.
    pub struct ContainerRunning {
        pub since: Option<Timestamp> = "startedAt",
    }

    /// How a container ended.
    pub struct ContainerTerminated {
        pub code: Option<i64> = "exitCode",
        pub reason: String = "reason",
        pub message: String = "message" as MaskedProse,
        pub finished: Option<Timestamp> = "finishedAt",
    }
}
