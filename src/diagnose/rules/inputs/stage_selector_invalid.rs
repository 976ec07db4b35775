//! A stage selects clusters with a selector that is not valid.

use super::stage_tasks_invalid::both;
use crate::diagnose::rules::prelude::*;
use crate::problems::{Problem, stage_selector};
use crate::words::said_if;

/// The schema does not check operators and values.
/// Source: updaterun/initialization.go:computeRunStageStatus.
pub const RULE: Rule = Rule::refusal("FS110", "stage-selector-invalid", check)
    .reads(&[Concept::Strategy])
    .person();

fn check(cx: &DiagnosisContext<'_>, cause: &Cause) -> Option<(Problem, bool)> {
    let Cause::StageSelectorInvalid {
        strategy,
        stage,
        error,
    } = cause
    else {
        return None;
    };

    let object = cx.object(Concept::Strategy, &strategy.name);
    let (recorded, now) = both(cx, stage);
    let selectors = (
        recorded.map(|stage| &stage.selector),
        now.map(|stage| &stage.selector),
    );
    let changed = matches!(selectors, (Some(recorded), Some(now)) if recorded != now);
    let past = cx.past(said_if(changed, ", and it has been changed since"));
    let recorded = recorded.and_then(|stage| stage.selector.as_deref());
    let now = now.and_then(|stage| stage.selector.as_deref());
    let path = format!("stages[name={stage}].labelSelector");
    let of_run = format!("status.stagedUpdateStrategySnapshot.{path}");
    let mut problem = stage_selector(&object, stage, error, past)
        .known(cx.run_object(), of_run, recorded)
        .known(&object, format!("spec.{path}"), now);
    if changed {
        problem.remedies.clear();
        let check = "Check what the current strategy computes.";
        problem = problem.look_with(check, cx.plan_command());
    }
    Some((problem, false))
}
