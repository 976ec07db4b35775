//! Pods, as far as they tell why they do not become ready.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::model::{Given, Meta};
use crate::kubefleet::Condition;
use crate::kubefleet::tolerant::{Prose, model};

model! {
    /// A pod.
    pub struct Pod {
        /// `metadata`.
        pub meta: Meta = "metadata",
        /// `spec`.
        pub spec: PodSpec = "spec",
        /// `status`.
        pub status: PodStatus = "status",
    }

    /// `spec` of a pod.
    pub struct PodSpec {
        /// `nodeName`; empty until it is scheduled.
        pub node: String = "nodeName",
        /// `containers`.
        pub containers: Vec<Container> = "containers",
        /// `initContainers`.
        pub init: Vec<Container> = "initContainers",
        /// `readinessGates`.
        pub gates: Vec<ReadinessGate> = "readinessGates",
        /// `volumes`.
        pub volumes: Vec<Volume> = "volumes",
    }

    /// A container.
    pub struct Container {
        /// `name`.
        pub name: String = "name",
        /// `image`.
        pub image: String = "image",
        /// Whether there is a `readinessProbe`.
        pub readiness: Given = "readinessProbe",
        /// Whether there is a `startupProbe`.
        pub startup: Given = "startupProbe",
        /// `restartPolicy`: `Always` for a sidecar among the init containers.
        pub restart_policy: String = "restartPolicy",
        /// `resources`.
        pub resources: Resources = "resources",
    }

    /// `resources` of a container.
    pub struct Resources {
        /// `limits`.
        pub limits: BTreeMap<String, String> = "limits",
    }

    /// A condition that must hold before a pod counts as ready.
    pub struct ReadinessGate {
        /// `conditionType`.
        pub condition: String = "conditionType",
    }

    /// A volume.
    pub struct Volume {
        /// `persistentVolumeClaim`.
        pub claim: ClaimRef = "persistentVolumeClaim",
    }

    /// The claim of a volume.
    pub struct ClaimRef {
        /// `claimName`; empty for a volume of another kind.
        pub name: String = "claimName",
    }

    /// `status` of a pod.
    pub struct PodStatus {
        /// `phase`.
        pub phase: String = "phase",
        /// `conditions`.
        pub conditions: Vec<Condition> = "conditions",
        /// `containerStatuses`.
        pub containers: Vec<ContainerStatus> = "containerStatuses",
        /// `initContainerStatuses`.
        pub init: Vec<ContainerStatus> = "initContainerStatuses",
    }

    /// What became of a container.
    pub struct ContainerStatus {
        /// `name`.
        pub name: String = "name",
        /// `ready`.
        pub ready: bool = "ready",
        /// `started`.
        pub started: Option<bool> = "started",
        /// `restartCount`.
        pub restarts: Option<i64> = "restartCount",
        /// `state`.
        pub state: ContainerState = "state",
        /// `lastState`.
        pub last: ContainerState = "lastState",
    }

    /// One of three.
    pub struct ContainerState {
        /// `waiting`.
        pub waiting: Option<Box<Waiting>> = "waiting",
        /// `running`.
        pub running: Option<Box<Running>> = "running",
        /// `terminated`.
        pub terminated: Option<Box<Terminated>> = "terminated",
    }

    /// Why a container does not run yet.
    pub struct Waiting {
        /// `reason`.
        pub reason: String = "reason",
        /// `message`.
        pub message: String = "message" as Prose,
    }

    /// Since when a container runs.
    pub struct Running {
        /// `startedAt`.
        pub since: Option<Timestamp> = "startedAt",
    }

    /// How a container ended.
    pub struct Terminated {
        /// `exitCode`.
        pub code: Option<i64> = "exitCode",
        /// `signal`.
        pub signal: Option<i64> = "signal",
        /// `reason`.
        pub reason: String = "reason",
        /// `message`.
        pub message: String = "message" as Prose,
        /// `finishedAt`.
        pub finished: Option<Timestamp> = "finishedAt",
    }
}
