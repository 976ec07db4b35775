//! The strategy gives a stage tasks that the controller refuses.

use crate::diagnose::failing;
use crate::diagnose::rules::prelude::*;
use crate::kubefleet::messages::TaskProblem;
use crate::kubefleet::strategy::{Stage, Task};

/// Before a stage one Approval may stand, after it one Approval and one TimedWait. The schema
/// refuses most of the rest. Source: updaterun/initialization.go:validateBeforeStageTask,
/// validateAfterStageTask.
pub const RULE: Rule =
    Rule::error("FS109", "stage-tasks-invalid", Check::Cause(check)).reads(&[Concept::Strategy]);

fn check(cx: &Context<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    match cause {
        Cause::StageTasksInvalid {
            before,
            strategy,
            stage,
            problem,
        } => Some(invalid(cx, rule, *before, &strategy.name, stage, problem)),
        _ => None,
    }
}

fn invalid(
    cx: &Context<'_>,
    rule: &Rule,
    before: bool,
    strategy: &str,
    stage: &str,
    problem: &TaskProblem,
) -> Finding {
    let object = cx.object(Concept::Strategy, strategy);
    let field = if before {
        "beforeStageTasks"
    } else {
        "afterStageTasks"
    };
    let (what, repair) = describe(before, field, problem);
    let lead = format!("Stage {stage} of {object} {what} {}", failing::when(cx));
    let now = cx
        .inventory
        .strategy
        .present()
        .and_then(|strategy| strategy.spec.stages.iter().find(|it| it.name == stage));
    let mended = now.is_some_and(|stage| is_valid(before, stage));
    let tail = if mended { ", but no longer" } else { "" };
    let mut finding = failing::finding(cx, rule, &object, format!("{lead}{tail}.")).stage(stage);
    let recorded = cx
        .run()
        .and_then(|run| run.status.strategy.as_deref())
        .and_then(|strategy| strategy.stages.iter().find(|it| it.name == stage));
    if let Some(recorded) = recorded {
        finding = finding.evidence(
            cx.run_object(),
            format!("status.stagedUpdateStrategySnapshot.stages[name={stage}].{field}"),
            tasks(before, recorded),
        );
    }
    if let Some(now) = now {
        finding = finding.evidence(
            &object,
            format!("spec.stages[name={stage}].{field}"),
            tasks(before, now),
        );
    }
    if mended {
        return failing::just_new_run(cx, finding);
    }
    failing::then_new_run(cx, finding.fix(repair))
}

fn describe(before: bool, field: &str, problem: &TaskProblem) -> (String, String) {
    let at = |task: &Option<u32>| match task {
        Some(task) => format!("{field}[{task}]"),
        None => field.to_owned(),
    };
    match problem {
        TaskProblem::TooMany => (
            format!("had more than one task in {field}"),
            "Leave one Approval in `beforeStageTasks`.".to_owned(),
        ),
        TaskProblem::TypeNotAllowed { task, task_type } => (
            format!(
                "had a {task_type} in {}, where only an Approval is allowed,",
                at(task)
            ),
            format!("Move the {task_type} to `afterStageTasks`, or remove it."),
        ),
        TaskProblem::WaitNotAllowed { task } => (
            format!("had an Approval with a waitTime in {}", at(task)),
            "Remove `waitTime` from the Approval: only a TimedWait has one.".to_owned(),
        ),
        TaskProblem::DuplicateType { task_type } => (
            format!("had two tasks of type {task_type} in {field}"),
            format!("Leave one task of type {task_type}."),
        ),
        TaskProblem::WaitMissing { task } => (
            format!("had a TimedWait without a waitTime in {}", at(task)),
            "Set the TimedWait's `waitTime`, such as `1h`.".to_owned(),
        ),
        TaskProblem::WaitNotPositive { task } => (
            format!(
                "had a TimedWait with a waitTime of zero or less in {}",
                at(task)
            ),
            "Set the TimedWait's `waitTime` above zero, or remove the task.".to_owned(),
        ),
        TaskProblem::Other { text } => (
            format!("had tasks in {field} that the controller refused (`{text}`)"),
            if before {
                "Leave at most one Approval, without `waitTime`.".to_owned()
            } else {
                "Leave at most one Approval and one TimedWait with a positive `waitTime`."
                    .to_owned()
            },
        ),
    }
}

/// Whether every controller takes the tasks: an older one may refuse an Approval with a time, which
/// the newest takes from it.
fn is_valid(before: bool, stage: &Stage) -> bool {
    let problems = stage.task_problems();
    let timeless = || stage.before.iter().all(|task| task.wait.is_empty());
    problems.iter().all(|(at, _)| *at != before) && (!before || timeless())
}

const fn tasks(before: bool, stage: &Stage) -> &Vec<Task> {
    if before { &stage.before } else { &stage.after }
}
