//! One sentence about a state, from the run's own status alone, and the command that comes next.

use jiff::Timestamp;

use crate::diagnose::context::Context;
use crate::diagnose::{back, gate, resting, state};
use crate::kubefleet::messages::essence;
use crate::kubefleet::{Concept, Condition, duration};
use crate::report::Verdict;
use crate::rollout::approvals::{ApprovalStep, step_at};
use crate::rollout::{ClusterState, Gate, Rollout, StageState, StageView, TaskTime};
use crate::words::{CommandLine, enumerate};

pub(super) fn summary(cx: &Context<'_>) -> String {
    let because = match &cx.rollout {
        Some(rollout) => overtaken(cx).or_else(|| of_run(cx, rollout)),
        None => of_placement(cx),
    };
    state::sentence(cx, because.as_deref())
}

/// What another run has done to the clusters of a run that rests.
fn overtaken(cx: &Context<'_>) -> Option<String> {
    let rollout = cx.rollout.as_ref().filter(|_| cx.is_resting())?;
    back::sentence(rollout)
}

fn of_run(cx: &Context<'_>, rollout: &Rollout<'_>) -> Option<String> {
    match cx.verdict {
        Verdict::WaitingForApproval => approvals(cx, rollout),
        Verdict::WaitingForTimer => timers(rollout),
        Verdict::Stuck => stuck(rollout),
        Verdict::Stopped => Some(resting::stopped(rollout)),
        Verdict::Progressing => progressing(rollout),
        Verdict::Stopping => {
            let names = rollout.in_flight().map(|cluster| cluster.name);
            let names: Vec<_> = names.collect();
            (!names.is_empty()).then(|| format!("it waits for {} to finish.", enumerate(names)))
        }
        Verdict::Failed | Verdict::InitializationFailed => {
            let condition: &Condition = cx.failure.as_ref()?.condition;
            (!condition.message.is_empty()).then(|| essence(&condition.message).to_owned())
        }
        Verdict::NotStarted => Some(format!("it {}", resting::not_started(rollout))),
        _ => None,
    }
}

/// The gate of which the sentence tells what it opens.
pub(in crate::diagnose) fn told<'r, 'i>(
    cx: &Context<'_>,
    rollout: &'r Rollout<'i>,
) -> Option<&'r Gate<'i>> {
    let speaks = cx.verdict == Verdict::WaitingForApproval && overtaken(cx).is_none();
    let mut open = rollout.open_approvals();
    open.find(|gate| speaks && crate::diagnose::verdict::needs_a_person(gate))
}

fn approvals(cx: &Context<'_>, rollout: &Rollout<'_>) -> Option<String> {
    let gate = told(cx, rollout)?;
    if gate.foreign {
        return Some(format!(
            "stage {} waits for {}, but the request of that name belongs to another run or stage.",
            gate.stage, gate.task.approval_request
        ));
    }
    let (when, what) = (side(gate), gate::opens(cx, gate));
    Some(format!(
        "stage {} waits {when}for {}; approving lets {what}.",
        gate.stage, gate.task.approval_request
    ))
}

/// Which of a stage's two gates it is.
fn side(gate: &Gate<'_>) -> &'static str {
    match gate.time {
        TaskTime::Before => "before its first cluster ",
        TaskTime::After => "after its last cluster ",
    }
}

fn timers(rollout: &Rollout<'_>) -> Option<String> {
    let last = |gate: &&Gate<'_>| gate.until();
    let gate = rollout.open_timers().max_by_key(last)?;
    let until = gate.until()?;
    Some(format!(
        "stage {} waits for another {}, until {until}.",
        gate.stage,
        remaining(until, rollout.now)
    ))
}

/// How long it is until a moment.
fn remaining(until: Timestamp, now: Timestamp) -> String {
    duration::describe(until.duration_since(now))
}

fn stuck(rollout: &Rollout<'_>) -> Option<String> {
    if let Some(deleted) = rollout.run.meta.deleted {
        let lasting = duration::describe(rollout.now.duration_since(deleted));
        return Some(format!("it has been terminating for {lasting}."));
    }
    let removals = rollout.removals_under_stop();
    if !removals.is_empty() {
        return Some(format!(
            "it can never stop, because it must still remove the placement from {}.",
            enumerate(removals.iter().map(|cluster| cluster.name))
        ));
    }
    let held: Vec<_> = rollout.held_removals().collect();
    if !held.is_empty() {
        return Some(format!(
            "the placement cannot be removed from {}: a finalizer that is not KubeFleet's blocks \
             the binding.",
            enumerate(held.iter().map(|cluster| cluster.name))
        ));
    }
    let late: Vec<_> = rollout
        .in_flight()
        .filter(|cluster| cluster.state == ClusterState::Stuck && !rollout.has_recovered(cluster))
        .collect();
    let Some(first) = late.first() else {
        // Clusters that failed before they were noted as started have no state of their own.
        let stage = rollout.current_stage()?;
        return Some(format!("stage {} makes no progress.", stage.name()));
    };
    let longest = late
        .iter()
        .filter_map(|cluster| cluster.in_flight_for(rollout.now))
        .max();
    let lasting = duration::lasting(longest);
    let names = enumerate(late.iter().map(|cluster| cluster.name));
    let verb = if late.len() == 1 { "has" } else { "have" };
    Some(format!(
        "{names} of stage {} {verb} not finished{lasting}.",
        first.stage
    ))
}

fn progressing(rollout: &Rollout<'_>) -> Option<String> {
    let names = |clusters: Vec<&str>| (!clusters.is_empty()).then(|| enumerate(clusters));
    let in_flight = || rollout.in_flight();
    if let Some(late) = names(
        in_flight()
            .filter(|cluster| cluster.state == ClusterState::Stuck)
            .map(|cluster| cluster.name)
            .collect(),
    ) {
        return Some(format!(
            "{late} recovered after being stuck; the controller notices that at its next check."
        ));
    }
    let stage = rollout.current_stage()?;
    if let Some(gate) = rollout.open_approvals().next() {
        return Some(format!(
            "{} is approved; the controller accepts it at its next check.",
            gate.task.approval_request
        ));
    }
    let here: Vec<_> = in_flight().map(|cluster| cluster.name).collect();
    Some(match names(here) {
        Some(names) => format!("stage {} updates {names}.", stage.name()),
        None if stage.deletes => removal(stage),
        None => format!("stage {} is {}.", stage.name(), doing(stage.state)),
    })
}

fn removal(stage: &StageView<'_>) -> String {
    let left = stage
        .clusters
        .iter()
        .filter(|cluster| cluster.state != ClusterState::Done);
    let left: Vec<_> = left.map(|cluster| cluster.name).collect();
    if left.is_empty() {
        return "the placement is removed from all clusters that must lose it; the controller ends \
                the run at its next check."
            .to_owned();
    }
    format!("the placement is being removed from {}.", enumerate(left))
}

const fn doing(state: StageState) -> &'static str {
    match state {
        StageState::WaitingBefore => "about to start",
        StageState::WaitingAfter => "about to finish",
        other => other.describe(),
    }
}

fn of_placement(cx: &Context<'_>) -> Option<String> {
    let inventory = cx.inventory;
    if inventory.target.kind.concept() != Concept::Placement {
        return None;
    }
    let placement = inventory.placement.present()?;
    let text = match cx.verdict {
        Verdict::Stuck => {
            let late = cx.troubles.iter().filter(|failing| failing.is_overdue());
            let names = enumerate(late.map(|failing| failing.cluster));
            format!("{names} cannot apply its content.")
        }
        Verdict::NotStarted if !placement.is_external() => {
            "it rolls out by itself, and update runs do not apply to it.".to_owned()
        }
        Verdict::NotStarted => "it waits for an update run.".to_owned(),
        _ => return None,
    };
    Some(text)
}

/// The command that comes next: what a person has to do, or how to see why.
pub(super) fn next(cx: &Context<'_>) -> Option<CommandLine> {
    let object = cx.run_object();
    let name = &object.name;
    let word = match object.kind.concept() {
        Concept::UpdateRun => name.clone(),
        _ => object.word(),
    };
    let about = |verb, name: &str| Some(cx.command(verb).arg(name));
    if overtaken(cx).is_some() {
        return about("diagnose", &word);
    }
    match cx.verdict {
        Verdict::WaitingForApproval => {
            let mut open = cx.rollout.as_ref()?.open_approvals();
            match (open.next(), open.next()) {
                (Some(gate), None) => match step_at(cx.rollout.as_ref()?, gate) {
                    ApprovalStep::Approve => about("approve", &gate.task.approval_request),
                    ApprovalStep::Look | ApprovalStep::Wait => about("diagnose", &word),
                },
                _ => about("approvals", name),
            }
        }
        Verdict::Stuck | Verdict::Failed | Verdict::InitializationFailed | Verdict::Unknown => {
            about("diagnose", &word)
        }
        // The controller checks neither before it is to go on, and may abort it then: what has
        // changed meanwhile takes more than the run's own status to see.
        Verdict::Stopped | Verdict::NotStarted => about("diagnose", &word),
        _ => None,
    }
}
