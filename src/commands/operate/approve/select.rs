//! Which approvals a command means, and why some cannot be given.

use crate::commands::gather::names;
use crate::commands::gather::reading::SourceReading;
use crate::commands::operate::operation::to_continue;
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::source::HubQuery;
use crate::inventory::{Inventory, Sight};
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Concept, ObjectRef};
use crate::rollout::approvals::{Approval, of_request, of_run};
use crate::rollout::{GateState, Phase, Rollout, StageState, TaskTime};
use crate::words::{Hint, enumerate, existing_names, said_if};

pub(super) struct ApprovalChoice<'c> {
    pub request: Option<&'c str>,
    pub stage: Option<&'c str>,
    pub task: Option<TaskTime>,
    pub all: bool,
}

/// The approvals that are meant, by what is to be done about them.
#[derive(Debug, Default)]
pub(super) struct ApprovalSelection {
    pub write: Vec<Approval>,
    /// Given, and not taken by KubeFleet yet.
    pub given: Vec<Approval>,
    pub taken: Vec<Approval>,
}

/// A request that a run names in its status without having made it, and that run.
pub(super) fn of_a_run(word: &str, reading: &mut SourceReading) -> Option<(ObjectRef, ObjectRef)> {
    let scope = reading.scope();
    let request = names::of_one(word, Concept::ApprovalRequest, &scope).ok()?;
    let runs = HubQuery::all(scope.kind(Concept::UpdateRun), scope.namespace());
    let runs = reading.ask(&runs);
    let run = runs.all::<UpdateRun>().find(|run| {
        let mut tasks = run.tasks();
        tasks.any(|task| task.approval_request == request.name)
    })?;
    let run = run.object();
    Some((request, run))
}

/// Finds what is meant. Fails where nothing can be approved.
pub(super) fn select(
    rollout: &Rollout<'_>,
    choice: &ApprovalChoice<'_>,
) -> Result<ApprovalSelection, Error> {
    let mut approvals = of_run(rollout);
    if let Some(request) = choice.request {
        approvals.retain(|approval| approval.request() == request);
        // Stages of one name share it: what waits for it is meant.
        if approvals.iter().any(|it| it.gate.state.needs_a_person()) {
            approvals.retain(|it| it.gate.state != GateState::NotReached);
        }
        return sort(approvals, rollout, request);
    }
    let all: Vec<_> = approvals.iter().map(place).collect();
    if let Some(stage) = choice.stage {
        known(rollout, stage)?;
        approvals.retain(|approval| approval.gate.stage == stage);
    }
    if let Some(task) = choice.task {
        approvals.retain(|approval| approval.gate.when == Some(task));
    }
    if approvals.is_empty() {
        return Err(no_such_gate(rollout, choice, &all));
    }
    let mut open: Vec<_> = approvals
        .iter()
        .filter(|approval| approval.gate.state.needs_a_person())
        .cloned()
        .collect();
    if choice.all {
        // What removes workloads is approved by its name, never among others.
        if let (Some(removal), true) = (removal(&open), open.iter().all(removes)) {
            return Err(removal_by_name(removal));
        }
        open.retain(|approval| !removes(approval));
    }
    if open.len() > 1 && !choice.all {
        return Err(several(&open, rollout));
    }
    if open.is_empty() {
        open = approvals
            .iter()
            .filter(|approval| approval.gate.state == GateState::Approved)
            .cloned()
            .collect();
    }
    if !open.is_empty() {
        return sort(open, rollout, "");
    }
    // What stands in the way of the first that is not done says why nothing can be approved.
    let mut rest = approvals.iter();
    match rest.find(|one| one.gate.state != GateState::Accepted) {
        Some(next) => Err(refused(next, rollout)),
        None => sort(approvals, rollout, ""),
    }
}

fn removes(approval: &Approval) -> bool {
    !approval.removes.is_empty()
}

fn removal(open: &[Approval]) -> Option<&Approval> {
    open.iter().find(|approval| removes(approval))
}

fn removal_by_name(removal: &Approval) -> Error {
    Error::failed(format!(
        "--all does not approve {}: it removes the placement from {}",
        removal.request(),
        enumerate(&removal.removes)
    ))
    .hint("approve it by its name, if those workloads may be deleted")
}

/// Sorts what is meant by what is to be done about it.
fn sort(
    approvals: Vec<Approval>,
    rollout: &Rollout<'_>,
    request: &str,
) -> Result<ApprovalSelection, Error> {
    let mut selection = ApprovalSelection::default();
    if approvals.is_empty() {
        // No gate of the run has this name: the request is of an earlier run, or hand-made.
        return Err(Error::failed(format!(
            "{} has no gate with the request {request}",
            rollout.run.object()
        ))
        .hint(Hint::new("list its gates:").command(rollout.run.object().fleet("approvals"))));
    }
    for approval in approvals {
        match approval.gate.state {
            GateState::Pending | GateState::Ignored | GateState::Withheld => {
                selection.write.push(approval);
            }
            GateState::Approved => selection.given.push(approval),
            GateState::Accepted => selection.taken.push(approval),
            _ => return Err(refused(&approval, rollout)),
        }
    }
    if rollout.phase == Phase::Deleting && !(selection.write.is_empty()) {
        return Err(Error::failed(format!(
            "{} is being deleted, so its gates cannot be approved",
            rollout.run.object()
        )));
    }
    Ok(selection)
}

fn refused(approval: &Approval, rollout: &Rollout<'_>) -> Error {
    let run = rollout.run.object();
    let request = approval.request();
    let diagnose = Hint::new("find out what is wrong:").command(run.fleet("diagnose"));
    match approval.gate.state {
        GateState::NotReached if rollout.is_live() => Error::failed(format!(
            "{run} has not requested {} yet: {}",
            gate(approval),
            waits_for(approval, rollout)
        ))
        .hint(match rollout.phase {
            Phase::Idle => Hint::new("start the run:").command(run.fleet("run")),
            _ if rollout.phase.is_halted() => to_continue(rollout.inventory, &run),
            _ => Hint::new("wait for it:").command(
                run.fleet("wait")
                    .joined("--for", format!("approval={}", place(approval))),
            ),
        }),
        GateState::NotReached | GateState::RunOver => Error::failed(format!(
            "{run} has ended ({}): approving {request} would change nothing",
            match rollout.phase {
                Phase::Succeeded => "it succeeded",
                Phase::Deleting => "it is being deleted",
                Phase::InitializationFailed => "it could not be initialized",
                _ => "it failed",
            }
        ))
        .hint(status(rollout)),
        GateState::Missing => Error::failed(format!(
            "{request} was deleted: KubeFleet creates it again, and then it can be approved"
        ))
        .hint(diagnose),
        GateState::Foreign => Error::failed(format!(
            "{request} belongs to another run or stage: approving it would not open {} of {run}",
            gate(approval)
        ))
        .hint(diagnose),
        _ => Error::new(
            Exit::Incomplete,
            format!(
                "{request} cannot be read{}, so it is not approved",
                unread(approval, rollout)
            ),
        )
        .hint(diagnose),
    }
}

/// Why a request could not be read, in parentheses.
fn unread(approval: &Approval, rollout: &Rollout<'_>) -> String {
    let mut gates = rollout.gates();
    let gate = gates.find(|gate| gate.task.approval_request == approval.request());
    match gate.and_then(|gate| gate.request.as_ref()) {
        Some(Sight::Unknown(why)) => format!(" ({why})"),
        _ => String::new(),
    }
}

/// What has to happen before a gate opens.
fn waits_for(approval: &Approval, rollout: &Rollout<'_>) -> String {
    let at = rollout
        .stages
        .iter()
        .position(|stage| stage.status.name == approval.gate.stage);
    let Some(stage) = at.and_then(|at| rollout.stages.get(at)) else {
        return "its stage is unknown".to_owned();
    };
    if matches!(rollout.phase, Phase::Idle | Phase::Initializing) {
        return "the run was not started".to_owned();
    }
    let stopped = said_if(rollout.phase.is_halted(), " (the run is stopped)");
    let earlier = rollout
        .stages
        .iter()
        .take(at.unwrap_or_default())
        .find(|stage| !stage.state.is_completed());
    if let Some(earlier) = earlier {
        return format!(
            "stage {} comes before it and is {}{stopped}",
            earlier.status.name,
            earlier.state.describe()
        );
    }
    if approval.gate.when == Some(TaskTime::Before) {
        return format!("the controller is about to start the stage{stopped}");
    }
    format!(
        "{} of {} clusters of stage {} are done{stopped}",
        stage.done(),
        stage.clusters.len(),
        stage.status.name
    )
}

pub(super) fn gate(approval: &Approval) -> String {
    if approval.gate.stage == crate::kubefleet::names::DELETE_STAGE {
        return "the approval before the removal".to_owned();
    }
    match approval.gate.when {
        Some(TaskTime::Before) => format!("the approval before stage {}", approval.gate.stage),
        Some(TaskTime::After) => format!("the approval after stage {}", approval.gate.stage),
        None => format!("the approval of stage {}", approval.gate.stage),
    }
}

/// A gate as flags name it: `canary/after`.
fn place(approval: &Approval) -> String {
    match approval.gate.when {
        Some(time) => format!("{}/{}", approval.gate.stage, time.as_str()),
        None => approval.gate.stage.clone(),
    }
}

fn known(rollout: &Rollout<'_>, name: &str) -> Result<(), Error> {
    let names: Vec<_> = rollout
        .stages
        .iter()
        .filter(|stage| !stage.deletes)
        .map(|stage| stage.status.name.as_str())
        .collect();
    if names.contains(&name) {
        return Ok(());
    }
    let run = rollout.run.object();
    if names.is_empty() {
        return Err(Error::failed(format!("{run} has no stages yet")).hint(status(rollout)));
    }
    Err(Error::not_found(format!("{run} has no stage {name:?}"))
        .hint(existing_names("stages", name, &names)))
}

fn no_such_gate(rollout: &Rollout<'_>, choice: &ApprovalChoice<'_>, all: &[String]) -> Error {
    let run = rollout.run.object();
    let which = match (choice.stage, choice.task) {
        (Some(stage), Some(task)) => format!(" {} stage {stage}", task.as_str()),
        (Some(stage), None) => format!(" at stage {stage}"),
        (None, Some(task)) => format!(" {} any stage", task.as_str()),
        (None, None) => String::new(),
    };
    let mut stages = rollout.stages.iter();
    let is_skipped = stages.any(|stage| {
        choice.stage == Some(&stage.status.name) && stage.state == StageState::Skipped
    });
    let why = if is_skipped {
        ": the stage has no clusters, so it was skipped with its gates"
    } else {
        ""
    };
    let error = Error::failed(format!("{run} has no approval gate{which}{why}"));
    if all.is_empty() {
        error.hint(status(rollout))
    } else {
        error.hint(format!("existing gates: {}", all.join(", ")))
    }
}

fn several(open: &[Approval], rollout: &Rollout<'_>) -> Error {
    let run = rollout.run.object();
    let approve = |approval: &Approval| run.scope().fleet("approve").arg(approval.request());
    Error::failed(format!("{run} has {} pending gates", open.len()))
        .hint(Hint::new("select one, or use --all:").commands(open.iter().map(approve)))
}

fn status(rollout: &Rollout<'_>) -> Hint {
    let run = rollout.run.object();
    Hint::new("see its status:").command(run.fleet("status"))
}

/// A request whose run cannot be seen is not approved: nobody could say what that opens.
pub(super) fn without_run(target: &ObjectRef, run: &ObjectRef, inventory: &Inventory) -> Error {
    if let Sight::Unknown(why) = &inventory.run {
        return Error::new(
            Exit::Incomplete,
            format!("{run} cannot be read ({why}), so {target} is not approved"),
        );
    }
    let request = inventory.approval(&target.name);
    let accepted = request
        .present()
        .is_some_and(|request| of_request(request, None).gate.state == GateState::Accepted);
    let was = if accepted { " (it was accepted)" } else { "" };
    Error::failed(format!(
        "{run} does not exist, so approving {target} would change nothing{was}"
    ))
}

#[cfg(test)]
mod tests;
