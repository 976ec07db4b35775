//! The placement is scheduled, to no cluster at all.

use crate::diagnose::failing;
use crate::diagnose::rules::prelude::*;
use crate::kubefleet::{Conditions, reasons};
use crate::problems::{scheduling, steps};

/// With PickAll a policy that finds nothing counts as fulfilled.
/// Source: updaterun/initialization.go:collectScheduledClusters.
pub const RULE: Rule = Rule::error("FS106", "no-cluster-selected", Check::Cause(check)).reads(&[
    Concept::Binding,
    Concept::PolicySnapshot,
    Concept::MemberCluster,
]);

fn check(cx: &Context<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    match cause {
        Cause::NoBindings { policy_snapshot } => Some(nothing(cx, rule, &policy_snapshot.name)),
        _ => None,
    }
}

fn nothing(cx: &Context<'_>, rule: &Rule, policy: &str) -> Finding {
    let object = cx.placement_object();
    let inventory = cx.inventory;
    let lead = format!("{object} selected no cluster {}", failing::when(cx));
    let selected = inventory
        .bindings
        .iter()
        .filter(|binding| !binding.is_unscheduled() && !binding.meta.is_deleting())
        .count();
    if selected > 0 {
        let message = format!("{lead}, but it selects {selected} now.");
        let mut finding = failing::finding(cx, rule, &object, message);
        for binding in inventory.bindings.iter().take(3) {
            finding = finding.evidence(
                binding.object(),
                "spec.targetCluster",
                binding.spec.cluster.clone(),
            );
        }
        return failing::just_new_run(cx, finding);
    }
    let policy = inventory
        .policies
        .iter()
        .find(|snapshot| snapshot.meta.name == policy);
    let reasons_given =
        policy.and_then(|policy| scheduling::explain(&scheduling::not_picked(policy, inventory)));
    let tail = if let Some(reasons_given) = reasons_given {
        format!(" ({reasons_given})")
    } else if inventory.members.is_known_empty() {
        ", and the fleet has no member cluster".to_owned()
    } else {
        String::new()
    };
    let mut finding = failing::finding(cx, rule, &object, format!("{lead}{tail}."));
    if let Some(policy) = policy {
        if let Some(condition) = policy.status.conditions.condition(reasons::SCHEDULED) {
            finding = finding.condition(&policy.object(), condition);
        }
        let left_out = scheduling::names_left_out(policy);
        finding = scheduling::evidence(policy, inventory, finding.clusters(left_out));
    }
    finding = finding.fix_with(
        "Fix the policy's affinity or tolerations, or the labels, taints, and agents of the \
         member clusters, until the policy selects clusters.",
        steps::show_labels(),
    );
    failing::then_new_run(cx, finding)
}
