//! The placement is scheduled, to no cluster at all.

use crate::diagnose::case::Case;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::diagnose::steps;
use crate::diagnose::{failing, scheduling};
use crate::kubefleet::messages::Cause;
use crate::kubefleet::{Concept, Conditions, reasons};

/// With PickAll a policy that finds nothing counts as fulfilled.
/// Source: updaterun/initialization.go:collectScheduledClusters.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS106",
    name: "no-cluster-selected",
    severity: Severity::Error,
    reads: &[
        Concept::Binding,
        Concept::PolicySnapshot,
        Concept::MemberCluster,
    ],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    case.causes()
        .filter_map(|cause| match cause {
            Cause::NoBindings { policy_snapshot } => {
                Some(nothing(case, rule, &policy_snapshot.name))
            }
            _ => None,
        })
        .collect()
}

fn nothing(case: &Case<'_>, rule: &Rule, policy: &str) -> Finding {
    let object = case.placement_object();
    let inventory = case.inventory;
    let lead = format!("{object} selected no cluster {}", failing::when(case));
    let selected = inventory
        .bindings
        .iter()
        .filter(|binding| !binding.is_unscheduled() && !binding.meta.is_deleting())
        .count();
    if selected > 0 {
        let message = format!("{lead}, but it selects {selected} now.");
        let mut finding = failing::finding(case, rule, &object, message);
        for binding in inventory.bindings.iter().take(3) {
            finding = finding.evidence(
                binding.object(),
                "spec.targetCluster",
                binding.spec.cluster.clone(),
            );
        }
        return failing::just_new_run(case, finding);
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
    let mut finding = failing::finding(case, rule, &object, format!("{lead}{tail}."));
    if let Some(policy) = policy {
        if let Some(condition) = policy.status.conditions.condition(reasons::SCHEDULED) {
            finding = finding.condition(&policy.object(), "status", condition);
        }
        let left_out = scheduling::names_left_out(policy);
        finding = scheduling::evidence(policy, inventory, finding.clusters(left_out));
    }
    finding = finding.fix(
        "Fix the policy's affinity or tolerations, or the labels, taints, and agents of the \
         member clusters, until the policy selects clusters.",
        Some(steps::show_labels()),
    );
    failing::then_new_run(case, finding)
}
