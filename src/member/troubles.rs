//! Why a workload does not become available in its cluster.

use super::kind::MemberKind;
use super::model::{MemberMeta, Quota};
use super::pods::Pod;
use super::states::{self, PodTrouble};
use super::view::{POD_REVISION, WorkloadView};
use crate::kubefleet::snapshot::UpdateStrategy;
use crate::kubefleet::{Condition, Conditions};

/// Pods that the API server did not let a controller create.
#[derive(Debug, Clone, Copy)]
pub struct PodRefusal<'l> {
    /// The object that tells.
    pub object: (MemberKind, &'l MemberMeta),
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
pub enum PodHold {
    /// A Deployment that is paused.
    Paused,
    /// A StatefulSet that leaves the pods below a number alone.
    Partition(i64),
    /// Pods are replaced when somebody deletes them.
    OnDelete,
    /// A StatefulSet of that kind, whose new revision never counts as the current one.
    /// Source: k8s.io/kubernetes/pkg/controller/statefulset/stateful_set_utils.go:completeRollingUpdate.
    NeverCurrent,
}

impl PodHold {
    /// What a manifest, or an object, says of itself.
    pub fn of_settings(kind: &str, paused: bool, update: &UpdateStrategy) -> Option<Self> {
        match kind {
            "Deployment" => paused.then_some(Self::Paused),
            "StatefulSet" if update.kind == "OnDelete" => Some(Self::NeverCurrent),
            "DaemonSet" if update.kind == "OnDelete" => Some(Self::OnDelete),
            "StatefulSet" => {
                let partition = update.rolling.partition;
                partition.filter(|it| *it > 0).map(Self::Partition)
            }
            _ => None,
        }
    }

    /// The field that says so.
    pub const fn field(self) -> &'static str {
        match self {
            Self::Paused => "spec.paused",
            Self::Partition(_) => "spec.updateStrategy.rollingUpdate.partition",
            Self::OnDelete | Self::NeverCurrent => "spec.updateStrategy.type",
        }
    }

    pub fn value(self) -> String {
        match self {
            Self::Paused => "true".to_owned(),
            Self::Partition(partition) => partition.to_string(),
            Self::OnDelete | Self::NeverCurrent => "OnDelete".to_owned(),
        }
    }

    /// What it means, as a clause.
    pub fn why(self) -> String {
        match self {
            Self::Paused => {
                "it is paused, but KubeFleet waits for pods with the newest template".to_owned()
            }
            Self::Partition(partition) => format!(
                "its partition is {partition}, so pods with a smaller number keep the old template, \
                 but KubeFleet waits for all of them"
            ),
            Self::OnDelete => {
                "its update strategy is OnDelete, so its pods keep the old template until they are \
                 deleted, and KubeFleet waits for that"
                    .to_owned()
            }
            Self::NeverCurrent => {
                "its update strategy is OnDelete: Kubernetes then never makes the new revision the \
                 current one, even when all pods have it, and KubeFleet waits for that"
                    .to_owned()
            }
        }
    }
}

impl<'l> WorkloadView<'l> {
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
    pub fn held(&self) -> Option<PodHold> {
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
        let spec = &workload.spec;
        PodHold::of_settings(self.kind.name(), spec.paused, &spec.update)
    }

    /// A pod with an older template.
    pub fn old_pod(&self) -> Option<&'l Pod> {
        let newest: Vec<_> = self.pods();
        let mut owners = self
            .sets()
            .map(|set| set.meta.uid.as_str())
            .collect::<Vec<_>>();
        owners.push(&self.workload.meta.uid);
        let mut live = self.live();
        live.find(|pod| {
            owners.iter().any(|uid| pod.meta.belongs_to(uid))
                && !newest.iter().any(|it| it.meta.name == pod.meta.name)
        })
    }

    /// Whether a rolling update may not take a pod away before its replacement is ready.
    /// Source: kubernetes, pkg/controller/deployment/util/deployment_util.go:ResolveFenceposts.
    pub fn keeps_all_pods(&self) -> bool {
        let spec = &self.workload.spec;
        let wanted = self.workload.wanted(self.kind);
        let given = spec.strategy.rolling.max_unavailable.as_str();
        let most = match given.strip_suffix('%') {
            Some(share) => share.parse::<i64>().map(|share| share * wanted / 100).ok(),
            None if given.is_empty() => Some(wanted / 4),
            None => given.parse().ok(),
        };
        self.kind == MemberKind::Deployment
            && matches!(spec.strategy.kind.as_str(), "" | "RollingUpdate")
            && most == Some(0)
    }

    /// A pod with an older template for which a StatefulSet waits before it replaces anything: in
    /// order, each pod must be ready before the next one is touched.
    pub fn blocking_old_pod(&self) -> Option<(&'l Pod, &'l Condition)> {
        let workload = self.workload;
        let in_order = self.kind == MemberKind::StatefulSet
            && workload.spec.pod_management != "Parallel"
            && workload.spec.update.kind != "OnDelete"
            && workload.is_observed()
            && !workload.status.update_revision.is_empty();
        let ready = |pod: &&Pod| pod.status.conditions.is_true("Ready");
        if !in_order || !self.pods().iter().all(ready) {
            return None;
        }
        // After a rollback, the current revision is the wanted one again, and the pod in the way is of neither.
        self.live()
            .filter(|pod| pod.meta.belongs_to(&workload.meta.uid))
            .filter(|pod| pod.meta.labels.contains_key(POD_REVISION))
            .filter(|pod| !self.has_newest_template(pod))
            .find_map(|pod| {
                let ready = pod.status.conditions.condition("Ready")?;
                ready.is_false().then_some((pod, ready))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::{PodHold, UpdateStrategy};

    #[test]
    fn on_delete_holds_a_stateful_set_for_ever() {
        let update = UpdateStrategy {
            kind: "OnDelete".to_owned(),
            ..UpdateStrategy::default()
        };
        let hold = |kind| PodHold::of_settings(kind, false, &update);
        assert_eq!(hold("StatefulSet"), Some(PodHold::NeverCurrent));
        assert_eq!(hold("DaemonSet"), Some(PodHold::OnDelete));
        assert_eq!(hold("Deployment"), None);
        let rolling = UpdateStrategy::default();
        assert_eq!(PodHold::of_settings("StatefulSet", false, &rolling), None);
    }
}
