//! The states of a pod that a person would treat differently.
//!
//! The reasons are the kubelet's and the scheduler's own words. Source: kubernetes,
//! pkg/kubelet/images/types.go, pkg/kubelet/kuberuntime/kuberuntime_container.go,
//! pkg/kubelet/container/sync_result.go, pkg/kubelet/events/event.go.

use jiff::SignedDuration;

use super::kind::MemberKind;
use super::model::Event;
use super::pods::{Container, ContainerState, ContainerStatus, ContainerTerminated, Pod};
use super::view::WorkloadView;
use crate::kubefleet::{Condition, Conditions};

/// What is wrong with a pod, or with one of its containers.
#[derive(Debug, Clone, Copy)]
pub struct PodTrouble<'l> {
    pub pod: &'l Pod,
    /// The container; `None` when it is about the whole pod.
    pub container: Option<ContainerPlace<'l>>,
    /// What is wrong.
    pub state: PodState<'l>,
}

/// A container of a pod.
#[derive(Debug, Clone, Copy)]
pub struct ContainerPlace<'l> {
    pub name: &'l str,
    /// Whether it runs before the others.
    pub init: bool,
    /// What it is made from, as far as the pod tells.
    pub spec: Option<&'l Container>,
    /// What became of it.
    pub status: &'l ContainerStatus,
}

/// What is wrong.
#[derive(Debug, Clone, Copy)]
pub enum PodState<'l> {
    /// The image cannot be had.
    Image {
        /// The kubelet's reason.
        reason: &'l str,
        /// Its words, or those of the event that tells more.
        message: &'l str,
        /// The event, when it tells more.
        event: Option<&'l Event>,
    },
    /// It was killed for using more memory than its limit.
    OutOfMemory(&'l ContainerTerminated),
    /// It ends again and again.
    Crash(Option<&'l ContainerTerminated>),
    /// A ConfigMap, a Secret or a key in one is missing.
    ConfigMissing {
        /// The kubelet's words.
        message: &'l str,
        /// The event that has them, when they are not the container's.
        event: Option<&'l Event>,
    },
    /// The runtime cannot create or start it.
    NotStarted {
        /// The kubelet's reason.
        reason: &'l str,
        /// Its words.
        message: &'l str,
    },
    /// A probe fails.
    Probe {
        probe: Probe,
        /// The event, when it was read.
        event: Option<&'l Event>,
    },
    /// A container that runs before the others does not come to an end.
    InitRuns(Option<SignedDuration>),
    /// No node takes the pod.
    Unschedulable(&'l Condition),
    /// Somebody holds the pod back from the scheduler.
    Gated(&'l Condition),
    /// The pod waits for volumes.
    UnboundClaims(&'l Condition),
    /// Its node cannot prepare its volumes or its network.
    Setup(&'l Event),
    /// Somebody else has to say that it is ready.
    ReadinessGate(&'l str),
    /// Its node has stopped reporting.
    NodeSilent(&'l Condition),
}

/// Which probe fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Probe {
    /// It is not told to have traffic.
    Readiness,
    /// It is not told to have started, and is restarted in the end.
    Startup,
    /// It is restarted.
    Liveness,
}

impl Probe {
    /// As the kubelet names it in its events.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Readiness => "Readiness",
            Self::Startup => "Startup",
            Self::Liveness => "Liveness",
        }
    }
}

/// A container that has only just begun may well be unready.
const STARTING: SignedDuration = SignedDuration::from_secs(30);
/// A container that runs before the others and has only just begun may well be running.
const INIT: SignedDuration = SignedDuration::from_secs(60);

/// The reasons for which a container waits for its image.
const IMAGE: [&str; 7] = [
    "ImagePullBackOff",
    "ErrImagePull",
    "ErrImageNeverPull",
    "InvalidImageName",
    "ImageInspectError",
    "RegistryUnavailable",
    "SignatureValidationFailed",
];
/// The reasons for which a container could not be created or started.
const START: [&str; 6] = [
    "CreateContainerError",
    "CreateContainerConfigError",
    "RunContainerError",
    "PreCreateHookError",
    "PreStartHookError",
    "PostStartHookError",
];
/// The same, as the reason of an end.
const START_ENDED: [&str; 2] = ["StartError", "ContainerCannotRun"];
/// The events of a pod whose node cannot prepare it.
const SETUP: [&str; 6] = [
    "FailedMount",
    "FailedAttachVolume",
    "FailedMapVolume",
    "FailedCreatePodSandBox",
    "FailedPrepareDynamicResources",
    "NetworkNotReady",
];

/// A volume that only one node may have is on another one.
pub const MULTI_ATTACH: &str = "Multi-Attach error";

/// What is wrong with a pod; nothing when it is ready, or on its way.
pub(super) fn of_pod<'l>(view: &WorkloadView<'l>, pod: &'l Pod) -> Vec<PodTrouble<'l>> {
    let whole = |state| PodTrouble {
        pod,
        container: None,
        state,
    };
    let conditions = &pod.status.conditions;
    if conditions.is_true("Ready") {
        return Vec::new();
    }
    if pod.spec.node.is_empty() {
        return scheduling(conditions).map(whole).into_iter().collect();
    }
    let events = view.events(MemberKind::Pod, &pod.meta);
    let places = pod.status.init.iter();
    let places = places.map(|status| (true, status, &pod.spec.init)).chain(
        pod.status
            .containers
            .iter()
            .map(|status| (false, status, &pod.spec.containers)),
    );
    let mut found: Vec<_> = places
        .filter_map(|(init, status, specs)| {
            let place = ContainerPlace {
                name: &status.name,
                init,
                spec: specs.iter().find(|spec| spec.name == status.name),
                status,
            };
            Some(PodTrouble {
                pod,
                container: Some(place),
                state: of_container(view, &place, &events)?,
            })
        })
        .collect();
    if found.iter().any(|trouble| {
        !matches!(
            trouble.state,
            PodState::Probe { .. } | PodState::InitRuns(_)
        )
    }) {
        // A container that waits for its neighbour fails its probe too.
        found.retain(|trouble| !matches!(trouble.state, PodState::Probe { .. }));
    }
    if found.is_empty() {
        found.extend(setup(pod, &events).or_else(|| unready(pod)).map(whole));
    }
    found
}

fn scheduling(conditions: &[Condition]) -> Option<PodState<'_>> {
    let scheduled = conditions
        .condition("PodScheduled")
        .filter(|condition| condition.is_false())?;
    let text = &scheduled.message;
    match scheduled.reason.as_str() {
        "SchedulingGated" => Some(PodState::Gated(scheduled)),
        "Unschedulable"
            if text.contains("unbound immediate PersistentVolumeClaims")
                || text.contains("persistentvolumeclaim \"")
                || text.contains("available persistent volumes to bind") =>
        {
            Some(PodState::UnboundClaims(scheduled))
        }
        "Unschedulable" => Some(PodState::Unschedulable(scheduled)),
        _ => None,
    }
}

fn of_container<'l>(
    view: &WorkloadView<'l>,
    place: &ContainerPlace<'l>,
    events: &[&'l Event],
) -> Option<PodState<'l>> {
    let status = place.status;
    if status.ready {
        return None;
    }
    let about = |event: &&&Event| event.container() == place.name;
    if let Some(waiting) = status.state.waiting.as_deref() {
        let (reason, message) = (waiting.reason.as_str(), waiting.message.as_str());
        if IMAGE.contains(&reason) {
            let event = events.iter().filter(about).find(|event| {
                event.reason == "Failed" && event.message.starts_with("Failed to pull image")
            });
            // Before Kubernetes 1.30 the back-off did not repeat why.
            let event = event.copied().filter(|_| !message.contains(": "));
            return Some(PodState::Image {
                reason,
                message: event.map_or(message, |event| &event.message),
                event,
            });
        }
        if START.contains(&reason) {
            return Some(if names_missing_config(message) {
                PodState::ConfigMissing {
                    message,
                    event: None,
                }
            } else {
                PodState::NotStarted { reason, message }
            });
        }
        if reason == "CrashLoopBackOff" {
            return Some(ended(place, status.last.terminated.as_deref(), events));
        }
        return None;
    }
    if let Some(terminated) = status.state.terminated.as_deref() {
        let done = place.init && terminated.code == Some(0);
        return (!done).then(|| ended(place, Some(terminated), events));
    }
    let running = status.state.running.as_deref()?;
    let runs = view.ago(running.since);
    if place.init {
        let sidecar = place
            .spec
            .is_some_and(|spec| spec.restart_policy == "Always");
        let long = runs.is_none_or(|runs| runs >= INIT);
        return (!sidecar && long).then_some(PodState::InitRuns(runs));
    }
    if let Some(last) = recently_ended(view, &status.last)
        && status.restarts.unwrap_or(0) > 0
    {
        return Some(ended(place, Some(last), events));
    }
    let (probe, given) = if status.started == Some(false) {
        (
            Probe::Startup,
            place.spec.is_some_and(|spec| spec.startup.0),
        )
    } else {
        (
            Probe::Readiness,
            place.spec.is_some_and(|spec| spec.readiness.0),
        )
    };
    let event = failed_probe(place, probe, events);
    let long = runs.is_none_or(|runs| runs >= STARTING);
    (given && (long || event.is_some())).then_some(PodState::Probe { probe, event })
}

/// How a container ended, when that was while the rollout waited for it.
fn recently_ended<'l>(
    view: &WorkloadView<'_>,
    last: &'l ContainerState,
) -> Option<&'l ContainerTerminated> {
    let last = last.terminated.as_deref()?;
    view.since
        .is_none_or(|since| last.finished.is_none_or(|finished| finished >= since))
        .then_some(last)
}

fn ended<'l>(
    place: &ContainerPlace<'l>,
    last: Option<&'l ContainerTerminated>,
    events: &[&'l Event],
) -> PodState<'l> {
    if let Some(last) = last {
        if last.reason == "OOMKilled" {
            return PodState::OutOfMemory(last);
        }
        if START_ENDED.contains(&last.reason.as_str()) {
            return PodState::NotStarted {
                reason: &last.reason,
                message: &last.message,
            };
        }
    }
    // The kubelet ends a container whose probe fails by signal: 143 when it obeys, 137 when it is
    // killed, 0 when it takes the signal as a wish.
    let by_signal = last.is_none_or(|last| matches!(last.code, Some(0 | 137 | 143) | None));
    let probe = [Probe::Liveness, Probe::Startup]
        .into_iter()
        .find_map(|probe| failed_probe(place, probe, events).map(|event| (probe, event)));
    match probe {
        Some((probe, event)) if by_signal => PodState::Probe {
            probe,
            event: Some(event),
        },
        _ => PodState::Crash(last),
    }
}

fn failed_probe<'l>(
    place: &ContainerPlace<'_>,
    probe: Probe,
    events: &[&'l Event],
) -> Option<&'l Event> {
    let start = format!("{} probe ", probe.as_str());
    events
        .iter()
        .copied()
        .filter(|event| event.reason == "Unhealthy" && event.container() == place.name)
        .find(|event| event.message.starts_with(&start))
}

/// Whether a text says that a ConfigMap, a Secret or a key in one is missing.
fn names_missing_config(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let missing_object = ["secret \"", "configmap \"", "secrets \"", "configmaps \""]
        .iter()
        .any(|start| text.contains(start))
        && text.contains("not found");
    missing_object || text.contains("couldn't find key") || text.contains("references non-existent")
}

/// A pod none of whose containers could be begun.
fn setup<'l>(pod: &'l Pod, events: &[&'l Event]) -> Option<PodState<'l>> {
    let waits = |status: &ContainerStatus| {
        status.state.waiting.as_deref().is_some_and(|waiting| {
            matches!(
                waiting.reason.as_str(),
                "" | "ContainerCreating" | "PodInitializing"
            )
        })
    };
    let first = pod.status.init.first().or(pod.status.containers.first());
    if !first.is_none_or(waits) {
        return None;
    }
    let setup = events.iter().copied();
    let mut setup = setup.filter(|event| SETUP.contains(&event.reason.as_str()));
    // Beside it, the kubelet only says that it waits for the volume.
    let attach = setup.clone().find(|it| it.message.contains(MULTI_ATTACH));
    let event = attach.or_else(|| setup.next())?;
    Some(if names_missing_config(&event.message) {
        PodState::ConfigMissing {
            message: &event.message,
            event: Some(event),
        }
    } else {
        PodState::Setup(event)
    })
}

/// A pod whose containers are ready, and which is not.
fn unready(pod: &Pod) -> Option<PodState<'_>> {
    let containers = &pod.status.containers;
    if containers.is_empty() || !containers.iter().all(|status| status.ready) {
        return None;
    }
    let conditions = &pod.status.conditions;
    let ready = conditions.condition("Ready")?;
    let mut gates = pod.spec.gates.iter();
    let gate = gates.find(|gate| !conditions.is_true(&gate.condition));
    if let Some(gate) = gate {
        return Some(PodState::ReadinessGate(&gate.condition));
    }
    // The kubelet gives a reason whenever it is the one that says so.
    (!ready.is_true() && ready.reason.is_empty()).then_some(PodState::NodeSilent(ready))
}
