//! The tasks before and after a stage: approvals and timed waits.

use std::time::Duration;

use super::conditions::{self, Conditions};
use super::halt::{Halt, abort, unexpected};
use super::initialize::approval_request;
use super::look::{Action, Look};
use super::marks::Small;
use super::object::Object;
use super::selector;

/// What the tasks after a stage say.
pub(crate) enum After {
    Passed,
    /// For this long, or until somebody approves.
    Waits(Option<Duration>),
}

/// Whether the tasks before a stage are done.
pub(crate) fn before(look: &mut Look<'_>, index: usize) -> Result<bool, Halt> {
    let kind = look.run.status.recorded_stages()[index]
        .items("/beforeStageTasks")
        .first()
        .map(|task| task.text("/type").to_owned());
    match kind.as_deref() {
        None => Ok(true),
        Some("Approval") => approval(look, index, When::Before, 0),
        Some(other) => Err(abort(&unexpected(&format!(
            "found unsupported task type in before stage tasks: {other}"
        )))),
    }
}

/// Whether the tasks after a stage are done, all at the same time.
pub(crate) fn after(look: &mut Look<'_>, index: usize) -> Result<After, Halt> {
    let tasks = look.run.status.recorded_stages()[index]
        .items("/afterStageTasks")
        .to_vec();
    let mut passed = true;
    let mut wait = None;
    for (position, task) in tasks.iter().enumerate() {
        match task.text("/type") {
            "TimedWait" => match remaining(look, index, task.text("/waitTime")) {
                Some(left) => {
                    passed = false;
                    wait = Some(left);
                }
                None => look.task(index, When::After, position).wait_elapsed(),
            },
            "Approval" => passed &= approval(look, index, When::After, position)?,
            _ => {}
        }
    }
    Ok(if passed {
        After::Passed
    } else {
        After::Waits(wait)
    })
}

/// What is left of a timed wait. It starts when the stage begins to wait, which is also when it
/// was stopped.
fn remaining(look: &Look<'_>, index: usize, declared: &str) -> Option<Duration> {
    let declared = selector::duration(declared).unwrap_or_default();
    let wait = declared / look.timing.timed_wait_divisor.max(1);
    let since = look.run.status.stages_status[index]
        .conditions
        .find("Progressing")
        .and_then(conditions::Condition::since)
        .unwrap_or(look.now);
    let waited = Duration::try_from(look.now.duration_since(since)).unwrap_or_default();
    wait.checked_sub(waited).filter(|left| !left.is_zero())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Before,
    After,
}

impl When {
    fn label(self) -> &'static str {
        match self {
            Self::Before => "beforeStage",
            Self::After => "afterStage",
        }
    }
}

/// Whether an approval was given. Asks for it when nobody did yet; accepts it when it is there.
fn approval(look: &mut Look<'_>, index: usize, when: When, position: usize) -> Result<bool, Halt> {
    let generation = look.run.generation;
    let task = look.task(index, when, position);
    if task
        .conditions
        .is_true("ApprovalRequestApproved", generation)
    {
        return Ok(true);
    }
    let stage = look.stage_name(index);
    let name = look.request_name(index, when, position);
    let scope = look.run.scope.clone();
    let found = look
        .world
        .get(scope.kinds().approval, scope.namespace(), &name);
    look.task(index, when, position).request_created();
    let Some(request) = found else {
        let request = approval_request(&scope, &look.run.name, &stage, &name, when.label());
        look.actions.push(Action::CreateApproval(request));
        return Ok(false);
    };
    let (run, target) = (
        request.text("/spec/parentStageRollout"),
        request.text("/spec/targetStage"),
    );
    if run != look.run.name || target != stage {
        return Err(abort(&unexpected(&format!(
            "the approval request task `{}` is targeting update run `{}` and stage `{target}`, \
             want target update run `{} and stage `{stage}`",
            scope.key(&name),
            scope.key(run),
            scope.key(&look.run.name),
        ))));
    }
    let given = conditions::of_status(request);
    let accepted = given.is_true("ApprovalAccepted", request.generation());
    // An approval for another generation is none: nobody is told so.
    let approved = given.is_true("Approved", request.generation());
    if !accepted && !approved {
        return Ok(false);
    }
    if !accepted {
        look.actions.push(Action::AcceptApproval(name));
    }
    look.task(index, when, position).request_approved();
    Ok(true)
}

impl Look<'_> {
    fn task(&mut self, index: usize, when: When, position: usize) -> Small<'_> {
        let stage = &mut self.run.status.stages_status[index];
        let tasks = match when {
            When::Before => &mut stage.before_stage_task_status,
            When::After => &mut stage.after_stage_task_status,
        };
        let conditions = &mut tasks[position].conditions;
        Small::new(conditions, self.run.generation, self.now)
    }

    fn request_name(&self, index: usize, when: When, position: usize) -> String {
        let stage = &self.run.status.stages_status[index];
        let tasks = match when {
            When::Before => &stage.before_stage_task_status,
            When::After => &stage.after_stage_task_status,
        };
        tasks[position].approval_request_name.clone()
    }
}
