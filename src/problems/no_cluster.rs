//! The placement is scheduled, to no cluster at all.

use super::prelude::*;
use super::scheduling;
use super::steps::see_members;
use crate::kubefleet::snapshot::PolicySnapshot;
use crate::kubefleet::{Conditions, reasons};

/// With PickAll a policy that finds nothing counts as fulfilled.
pub fn no_cluster(
    inventory: &Inventory,
    object: &ObjectRef,
    policy: Option<&PolicySnapshot>,
    tense: RefusalTense<'_>,
) -> Problem {
    let reasons_given =
        policy.and_then(|policy| scheduling::explain(&scheduling::not_picked(policy, inventory)));
    let tail = if let Some(reasons_given) = reasons_given {
        format!(" ({reasons_given})")
    } else if inventory.members.is_known_empty() {
        ", and the fleet has no member cluster".to_owned()
    } else {
        String::new()
    };
    let selects = tense.pick("selects", "selected");
    let message = format!("{object} {selects} no cluster{tense}{tail}.");
    let mut problem = Problem::new(object, message);
    if let Some(policy) = policy {
        problem = problem.condition(
            &policy.object(),
            policy.status.conditions.condition(reasons::SCHEDULED),
        );
        problem = problem.clusters(scheduling::names_left_out(policy));
        problem = scheduling::evidence(policy, inventory, problem);
    }
    let left_out = policy.into_iter().flat_map(scheduling::names_left_out);
    problem
        .look_with(
            "Compare the member clusters with the placement's policy.",
            see_members(left_out),
        )
        .fix(
            "Fix the policy's affinity or tolerations, or the labels, taints, and agents of the \
             member clusters, until the policy selects clusters.",
        )
}
