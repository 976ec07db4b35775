//! The placement selects what it may not, so no snapshot of its content can be made.

use crate::diagnose::rules::prelude::*;
use crate::problems::{Problem, resource_selectors};

/// Since KubeFleet 0.3.0 a run without an index makes the snapshot itself, and fails with the
/// placement's selectors. Source: utils/controller/resource_selector_resolver.go.
pub const RULE: Rule = Rule::refusal("FS119", "resource-selector-invalid", check)
    .reads(&[Concept::Placement])
    .person();

fn check(cx: &DiagnosisContext<'_>, cause: &Cause) -> Option<(Problem, bool)> {
    let Cause::ResourceSelectorInvalid { problem, .. } = cause else {
        return None;
    };

    let object = cx.placement_object();
    let problem = resource_selectors(cx.inventory, &object, Some(problem), cx.past(""));
    Some((problem, false))
}
