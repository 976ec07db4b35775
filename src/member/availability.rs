//! Whether an object is available, as KubeFleet's member agent judges it.
//!
//! Source: workapplier/availability_tracker.go. The report speaks of what the rollout waits for, so
//! it is this judgement that counts, not Kubernetes' own conditions.

use super::kind::MemberKind;
use super::model::{DisruptionBudget, Service, Workload};
use super::object::{MemberBody, MemberObject};
use crate::kubefleet::{Condition, Conditions};

/// Whether the member agent would call the object available; `None` for a kind that it does not
/// wait for.
pub fn is_available(object: &MemberObject) -> Option<bool> {
    match &object.body {
        MemberBody::Workload(workload) => workload_is_available(object.kind, workload),
        MemberBody::Service(service) => service_is_available(service),
        MemberBody::Definition(definition) => {
            let conditions = &definition.status.conditions;
            Some(conditions.is_true("Established") && conditions.is_true("NamesAccepted"))
        }
        MemberBody::Budget(budget) => Some(budget_is_available(budget)),
        MemberBody::Pod(_)
        | MemberBody::Job(_)
        | MemberBody::Claim(_)
        | MemberBody::Quota(_)
        | MemberBody::Event(_)
        | MemberBody::Applied(_) => None,
    }
}

fn workload_is_available(kind: MemberKind, workload: &Workload) -> Option<bool> {
    let status = &workload.status;
    let number = |value: Option<i64>| value.unwrap_or(0);
    let wanted = workload.wanted(kind);
    let all = match kind {
        MemberKind::Deployment => {
            number(status.available) == wanted
                && number(status.updated) == wanted
                && number(status.unavailable) == 0
        }
        MemberKind::StatefulSet => {
            number(status.available) == wanted
                && number(status.current) == number(status.updated)
                && status.current_revision == status.update_revision
        }
        MemberKind::DaemonSet => {
            number(status.number_available) == wanted
                && number(status.scheduled) == number(status.updated_scheduled)
        }
        _ => return None,
    };
    Some(workload.is_observed() && all)
}

fn service_is_available(service: &Service) -> Option<bool> {
    match service.spec.kind.as_str() {
        "" | "ClusterIP" | "NodePort" => Some(
            service
                .spec
                .addresses
                .first()
                .is_some_and(|address| !address.is_empty()),
        ),
        "LoadBalancer" => Some(
            service
                .status
                .balancer
                .ingress
                .first()
                .is_some_and(|first| !first.ip.is_empty() || !first.hostname.is_empty()),
        ),
        _ => None,
    }
}

fn budget_is_available(budget: &DisruptionBudget) -> bool {
    let status = &budget.status;
    let Some(allowed) = status.conditions.condition("DisruptionAllowed") else {
        return false;
    };
    let fits = if status.allowed.unwrap_or(0) > 0 {
        Condition::is_true
    } else {
        Condition::is_false
    };
    status.observed == budget.meta.generation && fits(allowed)
}

impl Workload {
    /// How many pods there should be.
    pub fn wanted(&self, kind: MemberKind) -> i64 {
        match kind {
            MemberKind::DaemonSet => self.status.desired.unwrap_or(0),
            _ => self.spec.replicas.unwrap_or(1),
        }
    }

    /// How many pods there are.
    pub fn existing(&self, kind: MemberKind) -> i64 {
        match kind {
            MemberKind::DaemonSet => self.status.scheduled,
            _ => self.status.replicas,
        }
        .unwrap_or(0)
    }

    /// How many pods have the newest template.
    pub fn up_to_date(&self, kind: MemberKind) -> i64 {
        match kind {
            MemberKind::DaemonSet => self.status.updated_scheduled,
            _ => self.status.updated,
        }
        .unwrap_or(0)
    }

    /// How many pods are available.
    pub fn available(&self, kind: MemberKind) -> i64 {
        match kind {
            MemberKind::DaemonSet => self.status.number_available,
            _ => self.status.available,
        }
        .unwrap_or(0)
    }

    /// Whether its controller has seen it as it is now.
    pub fn is_observed(&self) -> bool {
        self.status.observed.unwrap_or(0) == self.meta.generation.unwrap_or(0)
    }
}
