//! A stage has tasks that the controller refuses.

use super::prelude::*;
use crate::kubefleet::messages::TaskProblem;

/// Before a stage one Approval may stand, after it one Approval and one TimedWait.
pub fn stage_tasks(
    strategy: &ObjectRef,
    stage: &str,
    before: bool,
    problem: &TaskProblem,
    tense: RefusalTense<'_>,
) -> Problem {
    let field = if before {
        "beforeStageTasks"
    } else {
        "afterStageTasks"
    };
    let at = |task: &Option<u32>| match task {
        Some(task) => format!("{field}[{task}]"),
        None => field.to_owned(),
    };
    let comma = tense.pick("", ",");
    let (what, repair) = match problem {
        TaskProblem::TooMany => (
            format!("more than one task in {field}"),
            "Leave one Approval in `beforeStageTasks`.".to_owned(),
        ),
        TaskProblem::TypeNotAllowed { task, task_type } => (
            format!(
                "a {task_type} in {}, where only an Approval is allowed{comma}",
                at(task)
            ),
            format!("Move the {task_type} to `afterStageTasks`, or remove it."),
        ),
        TaskProblem::WaitNotAllowed { task } => (
            format!("an Approval with a waitTime in {}", at(task)),
            "Remove `waitTime` from the Approval: only a TimedWait has one.".to_owned(),
        ),
        TaskProblem::DuplicateType { task_type } => (
            format!("two tasks of type {task_type} in {field}"),
            format!("Leave one task of type {task_type}."),
        ),
        TaskProblem::WaitMissing { task } => (
            format!("a TimedWait without a waitTime in {}", at(task)),
            "Set the TimedWait's `waitTime`, such as `1h`.".to_owned(),
        ),
        TaskProblem::WaitNotPositive { task } => (
            format!(
                "a TimedWait with a waitTime of zero or less in {}",
                at(task)
            ),
            "Set the TimedWait's `waitTime` above zero, or remove the task.".to_owned(),
        ),
        TaskProblem::Other { text } => (
            format!("tasks in {field} that the controller refuses (`{text}`)"),
            if before {
                "Leave at most one Approval, without `waitTime`.".to_owned()
            } else {
                "Leave at most one Approval and one TimedWait with a positive `waitTime`."
                    .to_owned()
            },
        ),
    };
    let message = format!("Stage {stage} of {strategy} {} {what}{tense}.", tense.has());
    Problem::new(strategy, message).stage(stage).fix(repair)
}
