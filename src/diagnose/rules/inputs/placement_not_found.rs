//! The placement that the run names does not exist.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::run_failure;
use crate::inventory::Sight;
use crate::problems::{MAKE_PLACEMENT, Problem, placement_missing};

/// A run finds a placement only in its own scope, and in a namespace only in its own one.
/// Source: updaterun/initialization.go:validatePlacement.
pub const RULE: Rule = Rule::refusal("FS101", "placement-not-found", check)
    .reads(&[Concept::Placement])
    .caused_by(&["FS206"])
    .person();

fn check(cx: &DiagnosisContext<'_>, cause: &Cause) -> Option<(Problem, bool)> {
    let Cause::PlacementNotFound = cause else {
        return None;
    };

    let run = cx.run_object().name;
    let object = cx.placement_object();
    let initializing = run_failure::initializing(cx);
    let lead = if initializing {
        format!("{object} did not exist when {run} was initialized")
    } else {
        format!("{object} was deleted while {run} was under way")
    };
    let mut fixed = false;
    let problem = match &cx.inventory.placement {
        Sight::Present(placement) => {
            let again = if initializing {
                "exists now"
            } else {
                "exists again"
            };
            fixed = placement.is_external();
            Problem::new(&object, format!("{lead}, but {again}."))
                .evidence(
                    &object,
                    "metadata.creationTimestamp",
                    placement.meta.created,
                )
                .fix(format!(
                    "Set its `spec.strategy.type` to External, which is {} now.",
                    placement.rollout_type()
                ))
        }
        Sight::Unknown(_) => Problem::new(&object, format!("{lead}.")).fix(MAKE_PLACEMENT),
        Sight::Absent if initializing => {
            let strategy = cx.run().map_or("", |run| run.spec.strategy.as_str());
            placement_missing(cx.inventory, &object, strategy, cx.past(""))
        }
        Sight::Absent => Problem::new(&object, format!("{lead}{}.", with_content(cx)))
            .absent(&object)
            .fix(
            "Create the placement again with `spec.strategy.type: External` and wait until it is \
             scheduled, if the deletion was a mistake. Otherwise delete the run: there is nothing \
             to roll out.",
        ),
    };
    Some((problem, fixed))
}

/// Works keep a binding, and what they brought keeps a Work: where no binding is left, nothing is.
/// Source: workgenerator/controller.go:handleDelete.
fn with_content(cx: &DiagnosisContext<'_>) -> &'static str {
    if cx.inventory.bindings.is_known_empty() {
        ", and its content was removed from its member clusters with it"
    } else {
        ""
    }
}
