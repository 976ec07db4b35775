//! Why a workload does not become available in its cluster.
//!
//! Only what holds now counts: pods of the newest template that are neither finished nor on their
//! way out, and events that were seen since the rollout has waited for the cluster.

use jiff::{SignedDuration, Timestamp};

use super::kind::Kind;
use super::look::Look;
use super::model::{Event, Meta, Quota, Workload};
use super::pods::Pod;
use super::states::{self, PodTrouble, State};
use crate::kubefleet::{Condition, Conditions};

/// The annotation by which a Deployment and its newest ReplicaSet know each other.
const REVISION: &str = "deployment.kubernetes.io/revision";
/// The annotation of a DaemonSet, and the label of its pods, that count its templates.
const TEMPLATE: (&str, &str) = (
    "deprecated.daemonset.template.generation",
    "pod-template-generation",
);
/// The label of a StatefulSet's and a DaemonSet's pods: the revision they were made from.
const POD_REVISION: &str = "controller-revision-hash";

/// One workload in one member cluster.
#[derive(Debug, Clone, Copy)]
pub struct View<'l> {
    /// What was seen in the cluster.
    pub look: &'l Look,
    /// Its kind.
    pub kind: Kind,
    /// The workload.
    pub workload: &'l Workload,
    /// Since when the rollout has waited for the cluster: older events are no evidence.
    pub since: Option<Timestamp>,
    /// The moment for which everything is judged.
    pub now: Timestamp,
}

/// Pods that the API server did not let a controller create.
#[derive(Debug, Clone, Copy)]
pub struct Refusal<'l> {
    /// The kind and name of the object that tells.
    pub object: (&'static str, &'l Meta),
    /// Where in it.
    pub path: &'static str,
    /// The API server's words.
    pub message: &'l str,
}

impl<'l> Refusal<'l> {
    /// The quota that is used up, when that is the reason.
    pub fn quota(&self) -> Option<&'l str> {
        let (_, rest) = self.message.split_once("exceeded quota: ")?;
        let name = rest.split([',', ' ']).next().unwrap_or_default();
        (!name.is_empty()).then_some(name)
    }
}

/// Why the workload's own settings keep its pods from being replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Held {
    /// A Deployment that is paused.
    Paused,
    /// A StatefulSet that leaves the pods below a number alone.
    Partition(i64),
    /// Pods are replaced when somebody deletes them.
    OnDelete,
}

impl<'l> View<'l> {
    /// The events about an object that count, the newest first.
    pub fn events(&self, kind: &'static str, meta: &'l Meta) -> Vec<&'l Event> {
        events_since(self.look, kind, meta, self.since)
    }

    /// The ReplicaSet with a Deployment's newest template.
    pub fn newest_set(&self) -> Option<&'l Workload> {
        let revision = self.workload.meta.annotations.get(REVISION);
        self.sets()
            .find(|set| revision.is_some() && set.meta.annotations.get(REVISION) == revision)
    }

    fn sets(&self) -> impl Iterator<Item = &'l Workload> {
        let own = &self.workload.meta;
        self.look
            .workloads(Kind::ReplicaSet)
            .filter(|set| set.meta.namespace == own.namespace && set.meta.belongs_to(&own.uid))
    }

    /// The pods with the newest template that are there to stay.
    pub fn pods(&self) -> Vec<&'l Pod> {
        self.live()
            .filter(|pod| self.has_newest_template(pod))
            .collect()
    }

    /// The pods that are neither finished nor on their way out.
    fn live(&self) -> impl Iterator<Item = &'l Pod> {
        let namespace = &self.workload.meta.namespace;
        self.look
            .pods(Kind::Pod)
            .filter(move |pod| pod.meta.namespace == *namespace && pod.meta.deleted.is_none())
            .filter(|pod| !matches!(pod.status.phase.as_str(), "Succeeded" | "Failed"))
    }

    fn has_newest_template(&self, pod: &Pod) -> bool {
        let own = &self.workload.meta;
        match self.kind {
            Kind::Deployment => self
                .newest_set()
                .is_some_and(|set| pod.meta.belongs_to(&set.meta.uid)),
            Kind::StatefulSet => {
                let revision = &self.workload.status.update_revision;
                pod.meta.belongs_to(&own.uid)
                    && !revision.is_empty()
                    && pod.meta.labels.get(POD_REVISION) == Some(revision)
            }
            Kind::DaemonSet => {
                let template = own.annotations.get(TEMPLATE.0);
                pod.meta.belongs_to(&own.uid)
                    && template.is_some()
                    && pod.meta.labels.get(TEMPLATE.1) == template
            }
            _ => false,
        }
    }

    /// What is wrong with the pods that have the newest template.
    pub fn troubles(&self) -> Vec<PodTrouble<'l>> {
        if !self.workload.is_observed() {
            // What "newest" means is known when the controller has seen the change.
            return Vec::new();
        }
        self.pods()
            .into_iter()
            .flat_map(|pod| states::of_pod(self, pod))
            .collect()
    }

    /// Pods that the API server does not let the workload's controller create.
    pub fn refusal(&self) -> Option<Refusal<'l>> {
        if !self.workload.is_observed() {
            return None;
        }
        if self.kind == Kind::Deployment {
            let set = self.newest_set()?;
            let failure = set.status.conditions.condition("ReplicaFailure")?;
            return (failure.is_true() && failure.reason == "FailedCreate").then_some(Refusal {
                object: (Kind::ReplicaSet.name(), &set.meta),
                path: "status.conditions[type=ReplicaFailure].message",
                message: &failure.message,
            });
        }
        if self.workload.existing(self.kind) >= self.workload.wanted(self.kind) {
            return None;
        }
        let event = self
            .events(self.kind.name(), &self.workload.meta)
            .into_iter()
            .find(|event| event.reason == "FailedCreate")?;
        Some(Refusal {
            object: (Kind::Event.name(), &event.meta),
            path: "message",
            message: &event.message,
        })
    }

    /// The quota that keeps pods from being created, when it was read.
    pub fn quota(&self, name: &str) -> Option<&'l Quota> {
        let namespace = &self.workload.meta.namespace;
        self.look
            .quotas(Kind::ResourceQuota)
            .find(|quota| quota.meta.name == name && quota.meta.namespace == *namespace)
    }

    /// Why its own settings keep its pods from being replaced.
    pub fn held(&self) -> Option<Held> {
        let workload = self.workload;
        let behind = match self.kind {
            Kind::StatefulSet => {
                workload.status.current_revision != workload.status.update_revision
            }
            _ => workload.up_to_date(self.kind) < workload.wanted(self.kind),
        };
        if !workload.is_observed() || !behind {
            return None;
        }
        let update = &workload.spec.update;
        match self.kind {
            Kind::Deployment => workload.spec.paused.then_some(Held::Paused),
            Kind::StatefulSet | Kind::DaemonSet if update.kind == "OnDelete" => {
                Some(Held::OnDelete)
            }
            Kind::StatefulSet => update
                .rolling
                .partition
                .filter(|partition| *partition > 0)
                .map(Held::Partition),
            _ => None,
        }
    }

    /// A pod with an older template for which a StatefulSet waits before it replaces anything: in
    /// order, each pod must be ready before the next one is touched.
    pub fn blocking_old_pod(&self) -> Option<(&'l Pod, &'l Condition)> {
        let workload = self.workload;
        let in_order = self.kind == Kind::StatefulSet
            && workload.spec.pod_management != "Parallel"
            && workload.spec.update.kind != "OnDelete"
            && workload.is_observed()
            && !workload.status.update_revision.is_empty()
            && workload.status.current_revision != workload.status.update_revision;
        let ready = |pod: &&Pod| pod.status.conditions.is_true("Ready");
        if !in_order || !self.pods().iter().all(ready) {
            return None;
        }
        self.live()
            .filter(|pod| pod.meta.belongs_to(&workload.meta.uid))
            .find_map(|pod| {
                let ready = pod.status.conditions.condition("Ready")?;
                ready.is_false().then_some((pod, ready))
            })
    }

    /// How long ago something was, when it is known.
    pub fn ago(&self, time: Option<Timestamp>) -> Option<SignedDuration> {
        time.map(|time| self.now.duration_since(time))
    }
}

/// The warnings about an object that were seen since a moment, the newest first.
pub fn events_since<'l>(
    look: &'l Look,
    kind: &'static str,
    meta: &'l Meta,
    since: Option<Timestamp>,
) -> Vec<&'l Event> {
    let mut events: Vec<_> = look
        .events(Kind::Event)
        .filter(|event| event.kind == "Warning" && event.is_about(kind, meta))
        .filter(|event| event.meta.namespace == meta.namespace)
        .filter(|event| since.is_none_or(|since| event.seen() >= Some(since)))
        .collect();
    events.sort_by(|a, b| {
        (b.seen(), &a.reason, &a.message, &a.meta.name).cmp(&(
            a.seen(),
            &b.reason,
            &b.message,
            &b.meta.name,
        ))
    });
    events
}

/// A view that looks back without a limit: for what to ask next.
fn whole<'l>(look: &'l Look, kind: Kind, workload: &'l Workload) -> View<'l> {
    View {
        look,
        kind,
        workload,
        since: None,
        now: Timestamp::MAX,
    }
}

/// Whether pods wait for volumes, so that the claims are worth a look.
pub(super) fn waits_for_claims(look: &Look, kind: Kind, workload: &Workload) -> bool {
    whole(look, kind, workload)
        .troubles()
        .iter()
        .any(|trouble| matches!(trouble.state, State::UnboundClaims { .. }))
}

/// Whether a quota keeps pods from being created, so that the quotas are worth a look.
pub(super) fn meets_quota(look: &Look, kind: Kind, workload: &Workload) -> bool {
    whole(look, kind, workload)
        .refusal()
        .is_some_and(|refusal| refusal.quota().is_some())
}
