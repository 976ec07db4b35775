//! Why a workload does not become available in its cluster.

use super::kind::MemberKind;
use super::model::{Meta, Quota};
use super::pods::Pod;
use super::states::{self, PodTrouble};
use super::view::View;
use crate::kubefleet::{Condition, Conditions};

/// Pods that the API server did not let a controller create.
#[derive(Debug, Clone, Copy)]
pub struct PodRefusal<'l> {
    /// The object that tells.
    pub object: (MemberKind, &'l Meta),
    pub path: &'static str,
    /// The API server's words.
    pub message: &'l str,
}

impl<'l> PodRefusal<'l> {
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
    pub fn refusal(&self) -> Option<PodRefusal<'l>> {
        if !self.workload.is_observed() {
            return None;
        }
        if self.kind == MemberKind::Deployment {
            let set = self.newest_set()?;
            let failure = set.status.conditions.condition("ReplicaFailure")?;
            return (failure.is_true() && failure.reason == "FailedCreate").then_some(PodRefusal {
                object: (MemberKind::ReplicaSet, &set.meta),
                path: "status.conditions[type=ReplicaFailure].message",
                message: &failure.message,
            });
        }
        if self.workload.existing(self.kind) >= self.workload.wanted(self.kind) {
            return None;
        }
        let event = self
            .events(self.kind, &self.workload.meta)
            .into_iter()
            .find(|event| event.reason == "FailedCreate")?;
        Some(PodRefusal {
            object: (MemberKind::Event, &event.meta),
            path: "message",
            message: &event.message,
        })
    }

    /// The quota that keeps pods from being created, when it was read.
    pub fn quota(&self, name: &str) -> Option<&'l Quota> {
        let namespace = &self.workload.meta.namespace;
        self.look
            .quotas(MemberKind::ResourceQuota)
            .find(|quota| quota.meta.name == name && quota.meta.namespace == *namespace)
    }

    /// Why its own settings keep its pods from being replaced.
    pub fn held(&self) -> Option<Held> {
        let workload = self.workload;
        let behind = match self.kind {
            MemberKind::StatefulSet => {
                workload.status.current_revision != workload.status.update_revision
            }
            _ => workload.up_to_date(self.kind) < workload.wanted(self.kind),
        };
        if !workload.is_observed() || !behind {
            return None;
        }
        let update = &workload.spec.update;
        match self.kind {
            MemberKind::Deployment => workload.spec.paused.then_some(Held::Paused),
            MemberKind::StatefulSet | MemberKind::DaemonSet if update.kind == "OnDelete" => {
                Some(Held::OnDelete)
            }
            MemberKind::StatefulSet => update
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
        let in_order = self.kind == MemberKind::StatefulSet
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
}
