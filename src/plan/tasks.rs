//! The tasks of a stage, as the controller takes them.

use super::draft::Draft;
use super::{Refusal, RefusalKind};
use crate::kubefleet::messages::TaskProblem;
use crate::kubefleet::strategy::{Stage, Task};
use crate::report::Build;

/// Says which tasks of a stage the controller would not take. What the schema refuses already is
/// not told twice.
pub(super) fn check(draft: &mut Draft<'_>, at: usize, stage: &Stage) {
    let object = draft.strategy_object();
    for (before, problem) in stage.task_problems() {
        let (field, tasks) = if before {
            ("beforeStageTasks", &stage.before)
        } else {
            ("afterStageTasks", &stage.after)
        };
        if draft.is_rejected(at, field) {
            continue;
        }
        let (path, message, repair) = describe(&problem, field, &stage.name);
        let one = place(&problem)
            .and_then(|at| tasks.get(at))
            .map(describe_task);
        let value = one.unwrap_or_else(|| {
            let all: Vec<_> = tasks.iter().map(describe_task).collect();
            all.join(", ")
        });
        let refusal = Refusal::new(RefusalKind::StageTasksInvalid, &object, message)
            .stage(&stage.name)
            .evidence(&object, format!("spec.stages[{at}].{path}"), value)
            .fix(repair);
        draft.refusals.push(refusal);
    }
}

/// The task that the problem is about.
fn place(problem: &TaskProblem) -> Option<usize> {
    match problem {
        TaskProblem::TypeNotAllowed { task, .. }
        | TaskProblem::WaitNotAllowed { task }
        | TaskProblem::WaitMissing { task }
        | TaskProblem::WaitNotPositive { task } => usize::try_from((*task)?).ok(),
        _ => None,
    }
}

fn describe_task(task: &Task) -> String {
    if task.wait.is_empty() {
        task.kind.clone()
    } else {
        format!("{} {}", task.kind, task.wait)
    }
}

fn describe(problem: &TaskProblem, field: &str, stage: &str) -> (String, String, String) {
    let at = |task: &Option<u32>| match task {
        Some(task) => format!("{field}[{task}]"),
        None => field.to_owned(),
    };
    match problem {
        TaskProblem::TooMany => (
            field.to_owned(),
            format!("Stage {stage} has more than one task in {field}."),
            "Keep one Approval.".to_owned(),
        ),
        TaskProblem::TypeNotAllowed { task, task_type } => (
            at(task),
            format!(
                "Stage {stage} has a {task_type} in {}, where only an Approval is allowed.",
                at(task)
            ),
            format!("Move the {task_type} to `afterStageTasks`, or remove it."),
        ),
        TaskProblem::WaitNotAllowed { task } => (
            at(task),
            format!(
                "Stage {stage} has an Approval with a waitTime in {}.",
                at(task)
            ),
            "Remove `waitTime` from the Approval, or use a TimedWait.".to_owned(),
        ),
        TaskProblem::DuplicateType { task_type } => (
            field.to_owned(),
            format!("Stage {stage} has two tasks of type {task_type} in {field}."),
            format!("Keep one task of type {task_type}."),
        ),
        TaskProblem::WaitMissing { task } => (
            at(task),
            format!(
                "Stage {stage} has a TimedWait without a waitTime in {}.",
                at(task)
            ),
            "Set the `waitTime` of the TimedWait, such as `1h`.".to_owned(),
        ),
        TaskProblem::WaitNotPositive { task } => (
            at(task),
            format!(
                "Stage {stage} has a TimedWait with a waitTime of zero or less in {}.",
                at(task)
            ),
            "Set a `waitTime` above zero, or remove the task.".to_owned(),
        ),
        TaskProblem::Other { text } => (
            field.to_owned(),
            format!("Stage {stage} has invalid tasks in {field}: {text}."),
            "Keep at most one Approval and one TimedWait with a positive `waitTime`.".to_owned(),
        ),
    }
}
