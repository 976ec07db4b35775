//! The scheduler has not found all the clusters that the placement asks for.

use super::prelude::*;
use super::scheduling;
use super::steps::wait_until_scheduled;
use crate::kubefleet::snapshot::PolicySnapshot;
use crate::kubefleet::{Conditions, reasons};
use crate::report::ABSENT;

/// The controller does not wait for the scheduler, it fails: also when only a moment is missing.
pub fn not_scheduled(
    inventory: &Inventory,
    object: &ObjectRef,
    policy: Option<&PolicySnapshot>,
    tense: RefusalTense<'_>,
) -> Problem {
    let lead = match tense {
        RefusalTense::Now => {
            format!("{object} is not fully scheduled, so an update run of it would fail")
        }
        RefusalTense::Past { .. } => format!("{object} was not fully scheduled{}", tense.when()),
    };
    let reasons = policy.map_or_else(String::new, |policy| shortfall(inventory, policy));
    let message = format!("{lead}{reasons}{}.", tense.since());
    let mut problem = Problem::new(object, message);
    if let Some(policy) = policy {
        problem = problem.clusters(scheduling::names_left_out(policy));
        problem = scheduled_evidence(policy, problem);
        problem = scheduling::evidence(policy, inventory, problem);
    }
    if has_dot(&object.name) {
        problem.message = format!(
            "{} KubeFleet's scheduler makes no bindings for a name with a dot.",
            problem.message
        );
        return problem.fix(
            "Create the placement again under a name without dots: the scheduler never schedules this one.",
        );
    }
    let wait = "Wait until the placement is scheduled.";
    let is_decided = |policy: &PolicySnapshot| {
        let scheduled = policy.status.conditions.condition(reasons::SCHEDULED);
        scheduled.is_some_and(|it| it.observes(policy.meta.generation))
    };
    if inventory.policies.is_complete() && !policy.is_some_and(is_decided) {
        return problem
            .look_with(wait, wait_until_scheduled(object))
            .look("Check whether the hub agent runs, if this takes more than a minute.");
    }
    let again: Vec<_> = policy
        .into_iter()
        .flat_map(|policy| scheduling::heard_again(policy, inventory))
        .collect();
    if let Some(cluster) = again.first() {
        problem = problem.fix(format!(
            "Add a label to {cluster} that nothing selects by: its agent reports again, and KubeFleet \
             schedules again only when something changes there."
        ));
    }
    let fixed = policy.map_or(&[][..], PolicySnapshot::named_clusters);
    let absent = fixed.iter().filter(|name| inventory.member_is_absent(name));
    let absent: Vec<_> = absent.collect();
    if !absent.is_empty() {
        let names = enumerate(&absent);
        problem = problem.fix(format!(
            "Correct `spec.policy.clusterNames` of the placement: the fleet has no {names}."
        ));
    }
    let others = policy.map(|policy| scheduling::names_left_out(policy).count());
    let told = again.len() + absent.len();
    if told == 0 || others.is_none_or(|others| others > told) {
        problem = problem.fix(
            "Fix the labels, taints, or agents of the clusters that were not picked, join more \
             clusters, or ask for fewer.",
        );
    }
    problem.look_with(wait, wait_until_scheduled(object))
}

/// Whether a placement's name has a dot in what becomes a part of its bindings' names, which have none.
/// Source: scheduler/framework/uniquename/uniquename.go:NewBindingName.
fn has_dot(placement: &str) -> bool {
    /// How much of the placement's name a binding's begins with.
    const KEPT: usize = 26;
    placement.chars().take(KEPT).any(|it| it == '.')
}

/// How many clusters are picked, and why the others are not.
pub fn shortfall(inventory: &Inventory, policy: &PolicySnapshot) -> String {
    let groups = scheduling::not_picked(policy, inventory);
    let behind = policy.status.conditions.condition(reasons::SCHEDULED);
    let behind = behind
        .filter(|scheduled| !scheduled.observes(policy.meta.generation))
        .map(|scheduled| {
            format!(
                "; the scheduler has processed generation {} of {}, which is at {}",
                scheduled.observed_generation.unwrap_or(0),
                policy.meta.name,
                policy.meta.generation.unwrap_or(0)
            )
        })
        .unwrap_or_default();
    let reasons = scheduling::explain(&groups);
    let reasons = reasons.map_or_else(String::new, |reasons| format!(" ({reasons})"));
    let picked = policy.status.decisions.iter().filter(|it| it.selected);
    let picked = policy.wanted_clusters().map_or_else(String::new, |wanted| {
        format!(": {} of {wanted} clusters are picked now", picked.count())
    });
    format!("{picked}{reasons}{behind}")
}

/// The snapshot's own condition, and what it speaks of.
pub fn scheduled_evidence<B: ComposeText>(policy: &PolicySnapshot, build: B) -> B {
    let object = policy.object();
    let Some(condition) = policy.status.conditions.condition(reasons::SCHEDULED) else {
        return build.evidence(&object, "status.conditions[type=Scheduled]", ABSENT);
    };
    let build = build.condition(&object, condition);
    if condition.observes(policy.meta.generation) {
        return build;
    }
    build.observed(&object, condition).evidence(
        &object,
        "metadata.generation",
        policy.meta.generation,
    )
}
