//! One workload in one member cluster, and what belongs to it there.
//!
//! Only what holds now counts: pods of the newest template that are neither finished nor on their
//! way out, and events that were seen since the rollout has waited for the cluster.

use jiff::{SignedDuration, Timestamp};

use super::kind::MemberKind;
use super::look::MemberObservation;
use super::model::{Event, MemberMeta, Workload};
use super::pods::Pod;

/// The annotation by which a Deployment and its newest ReplicaSet know each other.
const REVISION: &str = "deployment.kubernetes.io/revision";
/// The annotation of a DaemonSet, and the label of its pods, that count its templates.
const TEMPLATE: (&str, &str) = (
    "deprecated.daemonset.template.generation",
    "pod-template-generation",
);
/// The label of a StatefulSet's and a DaemonSet's pods: the revision they were made from.
pub(super) const POD_REVISION: &str = "controller-revision-hash";

/// One workload in one member cluster.
#[derive(Debug, Clone, Copy)]
pub struct WorkloadView<'l> {
    /// What was seen in the cluster.
    pub look: &'l MemberObservation,
    pub kind: MemberKind,
    pub workload: &'l Workload,
    /// Since when the rollout has waited for the cluster: older events are no evidence.
    pub since: Option<Timestamp>,
    /// The moment for which everything is judged.
    pub now: Timestamp,
}

impl<'l> WorkloadView<'l> {
    /// The events about an object that count, the newest first.
    pub fn events(&self, kind: MemberKind, meta: &'l MemberMeta) -> Vec<&'l Event> {
        events_since(self.look, kind, meta, self.since)
    }

    /// The ReplicaSet with a Deployment's newest template.
    pub fn newest_set(&self) -> Option<&'l Workload> {
        let revision = self.workload.meta.annotations.get(REVISION);
        self.sets()
            .find(|set| revision.is_some() && set.meta.annotations.get(REVISION) == revision)
    }

    pub(super) fn sets(&self) -> impl Iterator<Item = &'l Workload> {
        let own = &self.workload.meta;
        self.look
            .workloads(MemberKind::ReplicaSet)
            .filter(|set| set.meta.namespace == own.namespace && set.meta.belongs_to(&own.uid))
    }

    /// The pods with the newest template that are there to stay.
    pub fn pods(&self) -> Vec<&'l Pod> {
        self.live()
            .filter(|pod| self.has_newest_template(pod))
            .collect()
    }

    /// The pods that are neither finished nor on their way out.
    pub(super) fn live(&self) -> impl Iterator<Item = &'l Pod> {
        let namespace = &self.workload.meta.namespace;
        self.look
            .pods(MemberKind::Pod)
            .filter(move |pod| pod.meta.namespace == *namespace && pod.meta.deleted.is_none())
            .filter(|pod| !matches!(pod.status.phase.as_str(), "Succeeded" | "Failed"))
    }

    pub(super) fn has_newest_template(&self, pod: &Pod) -> bool {
        let own = &self.workload.meta;
        match self.kind {
            MemberKind::Deployment => self
                .newest_set()
                .is_some_and(|set| pod.meta.belongs_to(&set.meta.uid)),
            MemberKind::StatefulSet => {
                let revision = &self.workload.status.update_revision;
                pod.meta.belongs_to(&own.uid)
                    && !revision.is_empty()
                    && pod.meta.labels.get(POD_REVISION) == Some(revision)
            }
            MemberKind::DaemonSet => {
                let template = own.annotations.get(TEMPLATE.0);
                pod.meta.belongs_to(&own.uid)
                    && template.is_some()
                    && pod.meta.labels.get(TEMPLATE.1) == template
            }
            _ => false,
        }
    }

    /// How long ago something was, when it is known.
    pub fn ago(&self, time: Option<Timestamp>) -> Option<SignedDuration> {
        time.map(|time| self.now.duration_since(time))
    }
}

/// The warnings about an object that were seen since a moment, the newest first.
pub fn events_since<'l>(
    look: &'l MemberObservation,
    kind: MemberKind,
    meta: &'l MemberMeta,
    since: Option<Timestamp>,
) -> Vec<&'l Event> {
    let mut events: Vec<_> = look
        .events(MemberKind::Event)
        .filter(|event| event.kind == "Warning" && event.is_about(kind.name(), meta))
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
