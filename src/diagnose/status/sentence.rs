//! One sentence about a state, from the run's own status alone, and the command that comes next.

use jiff::Timestamp;

use crate::controller;
use crate::diagnose::rules;
use crate::diagnose::subjects::context::DiagnosisContext;
use crate::diagnose::subjects::state::initialization_overdue;
use crate::diagnose::subjects::verdict::needs_a_person;
use crate::diagnose::subjects::{back, gate, resting, state};
use crate::inventory::source::Outcome;
use crate::kubefleet::approval::ApprovalRequest;
use crate::kubefleet::messages::{Cause, essence, parse_failure};
use crate::kubefleet::run::{UnknownTerm, UpdateRun};
use crate::kubefleet::{Concept, Condition, duration};
use crate::problems::members;
use crate::report::Verdict;
use crate::rollout::approvals::{ApprovalStep, step_at};
use crate::rollout::content::lost_for_now;
use crate::rollout::sent::awaited_since;
use crate::rollout::{
    ClusterState, ClusterView, Gate, Phase, Rollout, STUCK_AFTER, StageState, StageView, TaskTime,
};
use crate::words::{CommandLine, by_number, enumerate};

/// The findings that a controller does not write what it owes, and that it does not get on.
const CONTROLLER_SILENT: &str = "FS122";
const INITIALIZATION_RETRIED: &str = "FS121";

const CLUSTER_IN_NO_STAGE: &str = "FS113";
const MEMBER_CLUSTER_LEFT: &str = "FS518";

pub(super) fn summary(cx: &DiagnosisContext<'_>) -> String {
    let because = match &cx.rollout {
        Some(rollout) => fails(cx)
            .or_else(|| back::overtaken(cx))
            .or_else(|| gate::obstacle(cx))
            .or_else(|| of_run(cx, rollout)),
        None => of_placement(cx),
    };
    state::sentence(cx, because.as_deref())
}

/// The summary with the finding that explains it, where no findings are shown.
pub(super) fn with_cause(cx: &DiagnosisContext<'_>) -> String {
    let code = match &cx.outlook.silence {
        _ if let Some(code) = cx.outlook.aborts(cx.verdict) => match code {
            CLUSTER_IN_NO_STAGE if have_left(cx) => MEMBER_CLUSTER_LEFT,
            _ => code,
        },
        Some(_) if cx.verdict == Verdict::Stuck => CONTROLLER_SILENT,
        _ if initialization_overdue(cx).is_none() => return summary(cx),
        _ if cx.run().is_some_and(UpdateRun::is_seen) => INITIALIZATION_RETRIED,
        _ => CONTROLLER_SILENT,
    };
    let (state, cause) = (summary(cx), rules::named(code));
    format!("{}; cause: {cause}.", state.trim_end_matches('.'))
}

/// Whether the clusters that are in no stage have left the fleet: they have no labels any more.
fn have_left(cx: &DiagnosisContext<'_>) -> bool {
    let failure = cx.outlook.failure();
    let causes = failure.map_or_else(Vec::new, |it| parse_failure(&it.message));
    let has_left = |cause: &Cause| match cause {
        Cause::ClustersInNoStage { shown, .. } => {
            let mut shown = shown.iter().peekable();
            shown.peek().is_some() && shown.all(|it| cx.inventory.member_is_absent(it))
        }
        _ => false,
    };
    causes.iter().any(has_left)
}

/// That the run cannot pass its next check.
fn fails(cx: &DiagnosisContext<'_>) -> Option<String> {
    cx.outlook.aborts(cx.verdict)?;
    let clusters = cx.rollout.as_ref().filter(|_| cx.verdict == Verdict::Stuck);
    let stuck = clusters.and_then(|rollout| stuck(cx, rollout));
    let stuck = stuck.map_or_else(String::new, |stuck| {
        format!("{}; ", stuck.trim_end_matches('.'))
    });
    let when = cx.outlook.aborts_when(cx.verdict);
    Some(format!("{stuck}the controller aborts it {when}."))
}

fn of_run(cx: &DiagnosisContext<'_>, rollout: &Rollout<'_>) -> Option<String> {
    match cx.verdict {
        Verdict::WaitingForApproval => approvals(cx, rollout),
        Verdict::WaitingForTimer => timers(rollout),
        Verdict::Stuck => stuck(cx, rollout),
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
        Verdict::Succeeded => next_removes(cx),
        _ => None,
    }
}

/// From which clusters the next run removes the placement that is asked about.
fn next_removes(cx: &DiagnosisContext<'_>) -> Option<String> {
    let is_asked = cx.target().kind.concept() == Concept::Placement;
    let clusters = back::removed(cx.inventory).filter(|_| is_asked)?;
    Some(format!(
        "the next run removes it from {clusters}, no longer selected."
    ))
}

fn approvals(cx: &DiagnosisContext<'_>, rollout: &Rollout<'_>) -> Option<String> {
    let gate = gate::summarized_gate(cx, rollout)?;
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

fn stuck(cx: &DiagnosisContext<'_>, rollout: &Rollout<'_>) -> Option<String> {
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
        .filter(|cluster| cluster.state == ClusterState::Stuck)
        .collect();
    let Some(first) = late.first() else {
        if let Some(silence) = &cx.outlook.silence {
            return Some(format!(
                "the controller has been due to {} for {}.",
                silence.deed,
                duration::describe(silence.lasting(rollout.now))
            ));
        }
        if let Some(gate) = rollout.unrequested_approvals().next() {
            return Some(format!(
                "{} does not exist yet.",
                gate.task.approval_request
            ));
        }
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
    let verb = by_number(late.len(), "has", "have");
    let stops = match rollout.phase {
        Phase::Stopping => "it is to stop, and ",
        _ => "",
    };
    Some(format!(
        "{stops}{names} of stage {} {verb} not finished{lasting}.",
        first.stage
    ))
}

fn progressing(rollout: &Rollout<'_>) -> Option<String> {
    if let Some(term) = rollout.run.unknown_term() {
        return Some(match term {
            UnknownTerm::State(state) => format!("its state {state} is not known here."),
            UnknownTerm::Reason(halt) if halt.message.is_empty() => {
                "what it waits for is not known here.".to_owned()
            }
            UnknownTerm::Reason(halt) => essence(&halt.message).to_owned(),
            UnknownTerm::Task(stage, task) => {
                format!(
                    "stage {} waits for a task of type {}.",
                    stage.name, task.kind
                )
            }
        });
    }
    let names = |clusters: Vec<&str>| (!clusters.is_empty()).then(|| enumerate(clusters));
    let in_flight = || rollout.in_flight();
    if let Some(slowed) = controller::slowed_by_errors(rollout.inventory, rollout.run)
        && let Ok(next) = slowed.since.checked_add(slowed.pace)
    {
        return Some(format!(
            "after the errors on {}, the controller checks the run again at about {next}.",
            enumerate(&slowed.clusters)
        ));
    }
    let recovered = in_flight().filter(|cluster| {
        let late = cluster.in_flight_for(rollout.now);
        rollout.has_recovered(cluster) && late.is_none_or(|late| late > STUCK_AFTER)
    });
    if let Some(late) = names(recovered.map(|cluster| cluster.name).collect()) {
        return Some(format!(
            "{late} recovered after being stuck; the controller notices that at its next check."
        ));
    }
    let stage = rollout.current_stage()?;
    if let Some(gate) = rollout.unrequested_approvals().next() {
        let (name, request) = (stage.name(), &gate.task.approval_request);
        return Some(format!("stage {name} is about to ask for {request}."));
    }
    let mut approvals = rollout.open_approvals();
    if let Some(gate) = approvals.find(|gate| !needs_a_person(gate)) {
        let name = &gate.task.approval_request;
        let request = gate.own_request();
        return Some(if request.is_some_and(ApprovalRequest::is_accepted) {
            format!("{name} is accepted; the run continues at the controller's next check.")
        } else {
            format!("{name} is approved; the controller accepts it at its next check.")
        });
    }
    let here: Vec<_> = in_flight().map(|cluster| cluster.name).collect();
    if stage.state == StageState::Stopped && here.is_empty() {
        let name = if stage.deletes {
            "the deletion stage".to_owned()
        } else {
            format!("stage {}", stage.name())
        };
        return Some(format!("{name} is resumed at the controller's next check."));
    }
    Some(match names(here) {
        Some(names) => format!("stage {} updates {names}.", stage.name()),
        None if stage.deletes => removal(stage),
        None => format!("stage {} is {}.", stage.name(), doing(stage.state)),
    })
}

fn removal(stage: &StageView<'_>) -> String {
    let left = stage.clusters.iter();
    let left = left.filter(|cluster| cluster.state != ClusterState::Done);
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

fn of_placement(cx: &DiagnosisContext<'_>) -> Option<String> {
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
        Verdict::NotStarted if state::has_content_without_run(cx) => {
            "not all its clusters have the same content.".to_owned()
        }
        Verdict::NotStarted => "it waits for an update run.".to_owned(),
        _ => return None,
    };
    Some(text)
}

/// Whether letting a run continue does not help, or does more than it seems.
pub(super) fn is_hindered(cx: &DiagnosisContext<'_>) -> bool {
    cx.outlook.aborts(cx.verdict).is_some()
        || back::overtaken(cx).is_some()
        || gate::obstacle(cx).is_some()
}

/// Whether a cluster refuses what it is sent, its agent reports nothing good, or the hub agent sends late.
pub(super) fn is_delayed(cx: &DiagnosisContext<'_>, cluster: &ClusterView<'_>) -> bool {
    let stalls = |member| members::stalls(member, cx.now());
    let awaited = awaited_since(cx.inventory, cluster.name);
    let refuses = cluster.state.is_in_flight() && cluster.is_held();
    refuses || awaited.is_some() || cluster.member.is_some_and(stalls)
}

/// The command that comes next: what a person has to do, or how to see why.
pub(super) fn next_command(cx: &DiagnosisContext<'_>) -> Option<CommandLine> {
    let object = cx.run_object();
    let name = &object.name;
    let word = match object.kind.concept() {
        Concept::UpdateRun => name.clone(),
        _ => object.word(),
    };
    let looks = cx.command("diagnose").arg(word);
    if is_hindered(cx) {
        return Some(looks);
    }
    let outcome = cx.inventory.outcomes.get(&object.kind);
    let is_looked_into = match cx.verdict {
        Verdict::Unknown if matches!(outcome, Some(Outcome::Denied(_))) => {
            return Some(cx.command("doctor").flag("--rbac", "viewer"));
        }
        Verdict::WaitingForApproval => {
            let rollout = cx.rollout.as_ref()?;
            let mut open = rollout.open_approvals();
            let (Some(gate), None) = (open.next(), open.next()) else {
                return Some(cx.command("approvals").arg(name));
            };
            if step_at(rollout, gate) == ApprovalStep::Approve {
                return Some(cx.command("approve").arg(&gate.task.approval_request));
            }
            true
        }
        Verdict::Succeeded => {
            let rollout = cx.rollout.as_ref();
            rollout.is_some_and(|it| !lost_for_now(it).is_empty())
        }
        Verdict::Initializing => initialization_overdue(cx).is_some(),
        Verdict::Progressing | Verdict::Stopping => {
            let mut in_flight = cx.rollout.iter().flat_map(Rollout::in_flight);
            in_flight.any(|it| is_delayed(cx, it))
        }
        // The controller checks no run before it is to go on, and may abort it then: what has changed
        // meanwhile takes more than the run's own status to see.
        Verdict::Stopped
        | Verdict::NotStarted
        | Verdict::Stuck
        | Verdict::Failed
        | Verdict::InitializationFailed
        | Verdict::Unknown => true,
        _ => false,
    };
    is_looked_into.then_some(looks)
}
