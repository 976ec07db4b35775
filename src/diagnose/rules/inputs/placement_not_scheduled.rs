//! The scheduler has not found all the clusters that the placement asks for.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::run_failure;
use crate::kubefleet::{Condition, reasons};
use crate::problems::{
    RefusalTense, not_scheduled, scheduled_evidence, selectors_refused_now, shortfall,
};

/// The controller does not wait for the scheduler, it fails: also when only a moment is
/// missing. Source: updaterun/initialization.go:determinePolicySnapshot.
pub const RULE: Rule = Rule::error("FS105", "placement-not-scheduled", Whole(check))
    .reads(&[Concept::Placement, Concept::PolicySnapshot])
    .caused_by(&["FS202"])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let named: Vec<_> = cx
        .causes()
        .filter_map(|cause| match cause {
            Cause::PolicyNotScheduled { snapshot } => Some(failed(cx, rule, &snapshot.name)),
            _ => None,
        })
        .collect();
    found_or(named, || {
        under_a_run(cx, rule).or_else(|| before_a_run(cx, rule))
    })
}

/// A run that has begun is checked before anything else of it is: what it would meet otherwise, as a
/// cluster that left, it does not come to. Source: updaterun/validation.go:validate.
fn under_a_run(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let run = run_failure::live_run(cx)?;
    cx.outlook.failure().filter(|it| it.code == rule.code)?;
    let object = cx.placement_object();
    let policy = cx.inventory.latest_policies().next();
    let mut problem = not_scheduled(cx.inventory, &object, policy, RefusalTense::Now);
    problem.message = format!(
        "{object} is no longer fully scheduled{}",
        policy.map_or_else(String::new, |policy| shortfall(cx.inventory, policy))
    );
    Some(run_failure::refused(cx, rule, problem, false).known(
        run.object(),
        "status.policySnapshotIndexUsed",
        Some(&run.status.policy_index),
    ))
}

fn failed(cx: &DiagnosisContext<'_>, rule: &Rule, name: &str) -> Finding {
    let object = cx.placement_object();
    let inventory = cx.inventory;
    let mut policies = inventory.policies.iter();
    let policy = policies.find(|policy| policy.meta.name == name);
    let newer = inventory
        .latest_policies()
        .find(|latest| latest.meta.name != name && latest.is_scheduled());
    let scheduled = newer.or_else(|| policy.filter(|policy| policy.is_scheduled()));
    let Some(scheduled) = scheduled else {
        let problem = not_scheduled(inventory, &object, policy, cx.past(""));
        return run_failure::refused(cx, rule, problem, false);
    };
    let past = cx.past(", but it is scheduled now");
    let problem = not_scheduled(inventory, &object, None, past);
    run_failure::refused(cx, rule, scheduled_evidence(scheduled, problem), true)
}

/// A placement that no run has touched yet, or whose last one has succeeded: the next run would fail.
fn before_a_run(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let placement = cx.inventory.placement.present()?;
    let scheduled = placement.condition(reasons::SCHEDULED);
    let is_first = cx.run().is_none();
    let is_lost = || {
        let of_now = |it: &&Condition| it.observes(placement.meta.generation);
        let told = scheduled.filter(of_now);
        cx.verdict == Verdict::Succeeded && told.is_some_and(Condition::is_false)
    };
    if cx.target().kind.concept() != Concept::Placement || !(is_first || is_lost()) {
        return None;
    }
    if !placement.is_external() || placement.meta.is_deleting() || placement.is_scheduled() {
        return None;
    }
    // Where the selectors are refused, nothing is scheduled anew.
    if selectors_refused_now(cx.inventory).is_some() {
        return None;
    }
    let object = placement.object();
    let policy = cx.inventory.latest_policies().next();
    let problem = not_scheduled(cx.inventory, &object, policy, RefusalTense::Now);
    let finding = rule
        .finding(&object, &problem.message)
        .root_if(is_first)
        .severity(Severity::error_if(is_first));
    let finding = if let Some(condition) = scheduled {
        finding.condition(&object, condition)
    } else {
        let path = format!("status.conditions[type={}Scheduled]", object.kind);
        finding.evidence(&object, path, ABSENT)
    };
    Some(problem.told_in(finding))
}
