//! The scheduler has not moved bindings to the latest policy snapshot: the controller waits for it.

use super::prelude::*;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::snapshot::PolicySnapshot;
use crate::words::{by_number, count};

pub fn bindings_outdated(
    subject: impl Into<Subject>,
    bindings: &[&Binding],
    policy: &PolicySnapshot,
) -> Problem {
    let clusters = bindings.iter().map(|it| it.spec.cluster.as_str());
    let (belong, them) = by_number(bindings.len(), ("belongs", "it"), ("belong", "them"));
    let message = format!(
        "{} ({}) {belong} to an older scheduling policy snapshot than {}. The controller \
         waits for the scheduler to update {them}.",
        count(bindings.len(), "binding"),
        enumerate(clusters.clone()),
        policy.meta.name
    );
    let mut problem = Problem::new(subject, message).clusters(clusters);
    for binding in bindings.iter().take(5) {
        let path = "spec.schedulingPolicySnapshotName";
        problem = problem.evidence(binding.object(), path, &binding.spec.policy_snapshot);
    }
    let action = "Check whether the scheduler makes progress: see the Scheduled condition.";
    problem.look_with(action, policy.object().kubectl("get").flag("-o", "yaml"))
}
