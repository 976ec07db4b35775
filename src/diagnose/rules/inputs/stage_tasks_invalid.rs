//! The strategy gives a stage tasks that the controller refuses.

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::strategy::Stage;
use crate::problems::{Problem, stage_tasks};

/// Before a stage one Approval may stand, after it one Approval and one TimedWait. The schema
/// refuses most of the rest. Source: updaterun/initialization.go:validateBeforeStageTask,
/// validateAfterStageTask.
pub const RULE: Rule = Rule::refusal("FS109", "stage-tasks-invalid", check)
    .reads(&[Concept::Strategy])
    .person();

fn check(cx: &DiagnosisContext<'_>, cause: &Cause) -> Option<(Problem, bool)> {
    let Cause::StageTasksInvalid {
        before,
        strategy,
        stage,
        problem,
    } = cause
    else {
        return None;
    };

    let (before, object) = (*before, cx.object(Concept::Strategy, &strategy.name));
    let (recorded, now) = both(cx, stage);
    let fixed = now.is_some_and(|stage| is_valid(before, stage));
    let past = cx.past(if fixed { ", but no longer" } else { "" });
    let mut problem = stage_tasks(&object, stage, before, problem, past);
    if let Some(recorded) = recorded {
        let (field, tasks) = recorded.tasks(before);
        let path = format!("status.stagedUpdateStrategySnapshot.stages[name={stage}].{field}");
        problem = problem.evidence(cx.run_object(), path, tasks);
    }
    if let Some(now) = now {
        let (field, tasks) = now.tasks(before);
        let path = format!("spec.stages[name={stage}].{field}");
        problem = problem.evidence(&object, path, tasks);
    }
    Some((problem, fixed))
}

/// A stage as the run recorded it, and as it is now.
pub fn both<'i>(cx: &DiagnosisContext<'i>, stage: &str) -> (Option<&'i Stage>, Option<&'i Stage>) {
    let find = |stages: &'i [Stage]| stages.iter().find(|it| it.name == stage);
    let recorded = cx.run().and_then(|run| run.status.strategy.as_deref());
    let now = cx.inventory.strategy.present();
    (
        recorded.and_then(|strategy| find(&strategy.stages)),
        now.and_then(|strategy| find(&strategy.spec.stages)),
    )
}

/// Whether every controller takes the tasks: an older one may refuse an Approval with a time, which
/// the newest takes from it.
fn is_valid(before: bool, stage: &Stage) -> bool {
    let problems = stage.task_problems();
    let timeless = || stage.before.iter().all(|task| task.wait.is_empty());
    problems.iter().all(|(at, _)| *at != before) && (!before || timeless())
}
