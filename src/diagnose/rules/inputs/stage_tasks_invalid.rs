//! The strategy gives a stage tasks that the controller refuses.

use crate::diagnose::case::Case;
use crate::diagnose::failing;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::Concept;
use crate::kubefleet::messages::{Cause, TaskProblem};
use crate::kubefleet::strategy::{Stage, Task};

/// Before a stage one Approval may stand, after it one Approval and one TimedWait. The schema
/// refuses most of the rest. Source: updaterun/initialization.go:validateBeforeStageTask,
/// validateAfterStageTask.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS109",
    name: "stage-tasks-invalid",
    severity: Severity::Error,
    reads: &[Concept::Strategy],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    case.causes()
        .filter_map(|cause| match cause {
            Cause::StageTasksInvalid {
                before,
                strategy,
                stage,
                problem,
            } => Some(invalid(case, rule, *before, &strategy.name, stage, problem)),
            _ => None,
        })
        .collect()
}

fn invalid(
    case: &Case<'_>,
    rule: &Rule,
    before: bool,
    strategy: &str,
    stage: &str,
    problem: &TaskProblem,
) -> Finding {
    let object = case.object(Concept::Strategy, strategy);
    let field = if before {
        "beforeStageTasks"
    } else {
        "afterStageTasks"
    };
    let (what, repair) = describe(before, field, problem);
    let lead = format!("Stage {stage} of {object} {what} {}", failing::when(case));
    let now = case
        .inventory
        .strategy
        .present()
        .and_then(|strategy| strategy.spec.stages.iter().find(|it| it.name == stage));
    let mended = now.is_some_and(|stage| is_valid(before, stage));
    let tail = if mended { ", but no longer" } else { "" };
    let mut finding = failing::finding(case, rule, &object, format!("{lead}{tail}.")).stage(stage);
    let recorded = case
        .run()
        .and_then(|run| run.status.strategy.as_deref())
        .and_then(|strategy| strategy.stages.iter().find(|it| it.name == stage));
    if let Some(recorded) = recorded {
        finding = finding.evidence(
            case.run_object(),
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
        return failing::just_new_run(case, finding);
    }
    failing::then_new_run(case, finding.fix(repair, None))
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
