//! The state of a rollout: what the run's own conditions say, corrected by newer evidence.

use jiff::SignedDuration;

use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::diagnose::subjects::outlook::is_silent;
use crate::inventory::source::NOT_COLLECTED;
use crate::inventory::{Inventory, Sight};
use crate::kubefleet::messages::parse_waiting;
use crate::kubefleet::strategy::Task;
use crate::kubefleet::{Condition, duration, reasons};
use crate::report::Verdict;
use crate::rollout::{ClusterState, Gate, Phase, Rollout, STUCK_AFTER, StageState};
use crate::words::distinct;

/// The verdict about a run: a controller that does not write what it owes lets nothing continue.
pub fn of_run(rollout: &Rollout<'_>) -> Verdict {
    match of_status(rollout) {
        Verdict::Progressing | Verdict::Stopping | Verdict::WaitingForTimer
            if is_silent(rollout) =>
        {
            Verdict::Stuck
        }
        verdict => verdict,
    }
}

fn of_status(rollout: &Rollout<'_>) -> Verdict {
    match rollout.phase {
        Phase::Deleting if held_deletion(rollout).is_some() => Verdict::Stuck,
        Phase::Deleting => Verdict::Deleting,
        Phase::Succeeded => Verdict::Succeeded,
        Phase::Failed => Verdict::Failed,
        Phase::InitializationFailed => Verdict::InitializationFailed,
        Phase::Initializing => Verdict::Initializing,
        Phase::Idle => Verdict::NotStarted,
        Phase::Stopped => Verdict::Stopped,
        Phase::Stopping if is_stuck(rollout) || !rollout.removals_under_stop().is_empty() => {
            Verdict::Stuck
        }
        Phase::Stopping => Verdict::Stopping,
        Phase::Executing => executing(rollout),
    }
}

/// Deleting a run takes the controller seconds, whatever is in flight.
/// Source: updaterun/controller.go:handleDelete.
const DELETION: SignedDuration = SignedDuration::from_secs(120);

/// That a run is terminating for longer than its controller takes.
pub fn held_deletion(rollout: &Rollout<'_>) -> Option<String> {
    let deleted = rollout.run.meta.deleted;
    let deleted = deleted.filter(|_| rollout.phase == Phase::Deleting)?;
    let lasting = rollout.now.duration_since(deleted);
    (lasting > DELETION).then(|| {
        let lasting = duration::describe(lasting);
        format!("has been terminating for {lasting}, longer than normal")
    })
}

fn executing(rollout: &Rollout<'_>) -> Verdict {
    match rollout.reason() {
        reasons::RUN_WAITING => waiting(rollout),
        _ if is_stuck(rollout) => Verdict::Stuck,
        // The run's own condition may lag behind its stage by one look.
        _ if rollout.current_stage().is_some_and(|stage| {
            matches!(
                stage.state,
                StageState::WaitingBefore | StageState::WaitingAfter
            )
        }) =>
        {
            waiting(rollout)
        }
        _ => Verdict::Progressing,
    }
}

/// Whether clusters do not finish: the controller says so and nothing has changed since, or one
/// has been in flight for longer than the controller allows and is not done.
fn is_stuck(rollout: &Rollout<'_>) -> bool {
    if rollout.held_removals().next().is_some() {
        return true;
    }
    let mut in_flight = rollout.in_flight().peekable();
    if in_flight.peek().is_none() {
        return rollout.reason() == reasons::RUN_STUCK;
    }
    in_flight.any(|cluster| cluster.state == ClusterState::Stuck)
        || (rollout.reason() == reasons::RUN_STUCK
            && !rollout
                .in_flight()
                .any(|cluster| rollout.has_recovered(cluster))
            && rollout.in_flight().all(|cluster| cluster.since.is_none()))
}

fn waiting(rollout: &Rollout<'_>) -> Verdict {
    if rollout.open_approvals().any(needs_a_person) {
        return Verdict::WaitingForApproval;
    }
    if rollout
        .open_timers()
        .any(|gate| gate.until().is_none_or(|until| until > rollout.now))
    {
        return Verdict::WaitingForTimer;
    }
    if rollout.open_gates().next().is_some() {
        // Approved or waited for: the controller acts at its next look.
        return Verdict::Progressing;
    }
    if let Some(gate) = rollout.unrequested_approvals().next() {
        let since = rollout.asks_since(gate);
        let is_late = since.is_some_and(|it| rollout.now.duration_since(it) > STUCK_AFTER);
        return if is_late {
            Verdict::Stuck
        } else {
            Verdict::Progressing
        };
    }
    // The tasks' own status is missing; the run's text says what it waits for.
    let text = rollout
        .progressing()
        .and_then(|condition| parse_waiting(&condition.message));
    let Some(text) = text else {
        return Verdict::Progressing;
    };
    let mut stages = rollout.stages.iter();
    let stage = stages.find(|stage| stage.status.name == text.stage);
    let has_approval = stage.is_none_or(|stage| {
        stage
            .spec
            .is_none_or(|spec| spec.after.iter().any(Task::is_approval))
    });
    if text.before || has_approval {
        Verdict::WaitingForApproval
    } else {
        Verdict::WaitingForTimer
    }
}

/// Whether an open approval still needs a person. An approval that counts is taken at the next
/// look; one that is not seen counts as missing, as the run itself says.
pub fn needs_a_person(gate: &Gate<'_>) -> bool {
    !gate
        .own_request()
        .is_some_and(|request| request.counts() || request.is_accepted())
}

/// The verdict about a placement that no run has touched.
pub fn of_placement(inventory: &Inventory, troubles: &[FailingCluster<'_>]) -> Verdict {
    if inventory.target.kind.concept() == crate::kubefleet::Concept::UpdateRun {
        return Verdict::Unknown;
    }
    let Some(placement) = inventory.placement.present() else {
        return Verdict::Unknown;
    };
    if placement.meta.is_deleting() {
        return Verdict::Deleting;
    }
    if !placement.is_external() {
        return Verdict::NotStarted;
    }
    if !placement.is_scheduled() {
        return Verdict::NotStarted;
    }
    if !inventory.bindings.is_complete() && inventory.bindings.items.is_empty() {
        return Verdict::Unknown;
    }
    let snapshots = distinct(inventory.staying().map(|it| {
        if it.awaits_run() {
            ""
        } else {
            &*it.spec.snapshot
        }
    }));
    if snapshots.iter().all(|snapshot| snapshot.is_empty()) {
        return Verdict::NotStarted;
    }
    // Bindings that differ, or agree, mean one thing with a run under way and another without: where
    // runs could not be read, it is unknown.
    if matches!(&inventory.run, Sight::Unknown(why) if *why != NOT_COLLECTED) {
        return Verdict::Unknown;
    }
    if troubles
        .iter()
        .any(|failing| failing.blocking && failing.is_overdue())
    {
        return Verdict::Stuck;
    }
    if snapshots.len() > 1 {
        return Verdict::NotStarted;
    }
    let available = |kind: &str| {
        let mut bindings = inventory.staying();
        bindings.all(|it| it.current(kind).is_some_and(Condition::is_true))
    };
    if available(reasons::AVAILABLE) || available(reasons::DIFF_REPORTED) {
        Verdict::Succeeded
    } else {
        Verdict::Progressing
    }
}
