//! A run was edited after it was over.

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::{Conditions, reasons};
use crate::rollout::Phase;

/// The server takes a change of `spec.state` of a run that is over, and the controller does
/// nothing about it; its conditions keep the generation at which the run ended.
/// Source: updaterun/controller.go:Reconcile.
pub const RULE: Rule = Rule::info("FS606", "finished-run-edited", One(check));

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let rollout = cx.rollout.as_ref().filter(|it| it.is_finished())?;
    let run = rollout.run;
    let conditions = &run.status.conditions;
    let terminal = (if rollout.phase == Phase::InitializationFailed {
        conditions.condition(reasons::INITIALIZED)
    } else {
        conditions.condition(reasons::SUCCEEDED)
    })?;
    let (Some(observed), Some(generation)) = (terminal.observed_generation, run.meta.generation)
    else {
        return None;
    };
    if generation <= observed {
        return None;
    }
    let how = if rollout.phase == Phase::Succeeded {
        "succeeded"
    } else {
        "failed"
    };
    let state = run.spec.state.as_deref().unwrap_or("absent");
    let message = format!(
        "{} was edited after it had {how} (state is now {state}). The controller ignores \
         changes to a finished run.",
        run.object()
    );
    let finding = rule
        .finding(run.object(), message)
        .evidence(run.object(), "metadata.generation", generation)
        .observed(run.object(), terminal)
        .evidence(run.object(), "spec.state", state)
        .fix_with(
            "Start a new run, if the edit was to roll out content again.",
            cx.new_run_command(),
        );
    Some(finding)
}
