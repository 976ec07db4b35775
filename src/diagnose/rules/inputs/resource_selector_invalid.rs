//! The placement selects what it may not, so no snapshot of its content can be made.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::run_failure;
use crate::problems::{resource_selectors, selectors_refused_now};

/// Since KubeFleet 0.3.0 a run without an index makes the snapshot itself, and fails with the
/// placement's selectors. Source: utils/controller/resource_selector_resolver.go.
pub const RULE: Rule = Rule::error("FS119", "resource-selector-invalid", Whole(check))
    .reads(&[Concept::Placement])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let causes = cx.causes().chain(&cx.foreseen);
    let named: Vec<_> = causes
        .filter_map(|cause| match cause {
            Cause::ResourceSelectorInvalid { problem } => Some(problem),
            _ => None,
        })
        .map(|problem| {
            let object = cx.placement_object();
            let problem = resource_selectors(cx.inventory, &object, Some(problem), cx.past(""));
            run_failure::refused(cx, rule, problem, false)
        })
        .collect();
    found_or(named, || without_a_run(cx, rule))
}

/// The placement controller makes no snapshot at all then, not even of the policy.
fn without_a_run(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let lacks_policy = |it: &Cause| matches!(it, Cause::PolicySnapshotNotFound);
    let placement = cx.inventory.placement.present()?;
    if !placement.is_external() || placement.meta.is_deleting() {
        return None;
    }
    let problem = selectors_refused_now(cx.inventory)?;
    if cx.causes().any(lacks_policy) {
        return Some(run_failure::refused(cx, rule, problem, false));
    }
    let is_first = cx.run().is_none();
    let is_asked = cx.target().kind.concept() == Concept::Placement;
    is_asked.then(|| {
        let finding = rule.told(problem).root_if(is_first);
        finding.severity(Severity::error_if(is_first))
    })
}
