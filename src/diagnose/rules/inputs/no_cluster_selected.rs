//! The placement is scheduled, to no cluster at all.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::run_failure;
use crate::problems::{RefusalTense, no_cluster};
use crate::rollout::placing::selected_bindings;

/// With PickAll a policy that finds nothing counts as fulfilled.
/// Source: updaterun/initialization.go:collectScheduledClusters.
pub const RULE: Rule = Rule::error("FS106", "no-cluster-selected", Whole(check))
    .reads(&[
        Concept::Binding,
        Concept::PolicySnapshot,
        Concept::MemberCluster,
    ])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let found = cx.causes().filter_map(|cause| failed(cx, rule, cause));
    found.chain(before_a_run(cx, rule)).collect()
}

/// A placement that no run has touched yet: the first one would fail.
fn before_a_run(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let inventory = cx.inventory;
    let placement = inventory.placement.present()?;
    let policy = inventory.latest_policies().next()?;
    let is_waiting = cx.target().kind.concept() == Concept::Placement
        && cx.run().is_none()
        && placement.is_external()
        && !placement.meta.is_deleting();
    if !is_waiting || !policy.is_scheduled() || !inventory.bindings.is_known_empty() {
        return None;
    }
    let (object, now) = (placement.object(), RefusalTense::Now);
    let finding = rule.told(no_cluster(inventory, &object, Some(policy), now));
    Some(finding.root_if(true))
}

fn failed(cx: &DiagnosisContext<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    let Cause::NoBindings { policy_snapshot } = cause else {
        return None;
    };
    let object = cx.placement_object();
    let inventory = cx.inventory;
    let selected = selected_bindings(inventory).count();
    if selected > 0 {
        let since = format!(", but it selects {selected} now");
        let mut problem = no_cluster(inventory, &object, None, cx.past(&since));
        for binding in inventory.bindings.iter().take(3) {
            let path = "spec.targetCluster";
            problem = problem.evidence(binding.object(), path, &binding.spec.cluster);
        }
        return Some(run_failure::refused(cx, rule, problem, true));
    }
    let mut policies = inventory.policies.iter();
    let policy = policies.find(|snapshot| snapshot.meta.name == policy_snapshot.name);
    let problem = no_cluster(inventory, &object, policy, cx.past(""));
    Some(run_failure::refused(cx, rule, problem, false))
}
