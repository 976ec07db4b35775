//! An executable model of KubeFleet's update run controller, cut and named like its source
//! (`pkg/controllers/updaterun`): `reconcile` is controller.go, and validation, initialization,
//! execution and stop have files of their own. Each function names the one that it mirrors, and what
//! differs between versions. The model is pure: it changes a copy of the objects ([`State`]).
//!
//! [`next`] says what the controller writes at its next look at a run, by when, and what it waits
//! for. Where the objects that were read do not decide, it says what is missing; it never guesses.

mod after;
mod due;
mod execution;
mod expected;
mod failure;
mod forecast;
mod initialization;
mod inputs;
mod look;
mod pace;
mod play;
mod reconcile;
mod state;
mod stop;
mod validation;
mod wait;

use jiff::{SignedDuration, Timestamp};

pub use after::{Intervention, PlayObstacle, after};
pub use due::SlowedLook;
pub use expected::{ExpectedCondition, ExpectedWrite, changes};
pub use failure::RunFailure;
pub use forecast::{ClusterTimes, forecast};
pub use inputs::{InputFault, InputFinding, MissingInput};
use look::{is_woken, look_at, pending_look, rests};
pub use play::{ClusterPace, PlayEnd, PlayLimits, PlayedRun, PlayedWrite, play};
pub use reconcile::ControllerStep;
use reconcile::{LookResult, Reconciler};
pub use state::State;
pub use wait::AwaitedEvent;

use crate::inventory::{Inventory, Sight};
use crate::kubefleet::duration::whole_seconds;
use crate::kubefleet::reasons;
use crate::kubefleet::run::{RunState, UnknownTerm, UpdateRun};
use crate::rollout::AgentVersion;
use pace::Requeue;

/// What the controller does next.
#[derive(Debug, Clone)]
pub struct Prediction {
    pub step: ControllerStep,
    /// By when it has written; `None` where it writes nothing.
    pub by: Option<Timestamp>,
    /// Since when it could have written, where that has passed.
    pub since: Option<Timestamp>,
    /// The time after which it is silent, and no more at its own pace.
    pub late: Option<Timestamp>,
    /// What its next write adds or changes.
    pub conditions: Vec<ExpectedCondition>,
    pub waits: Vec<AwaitedEvent>,
    /// Why the run fails: at the next look, or at the one that follows a start.
    pub failure: Option<RunFailure>,
    /// The objects as they stand then.
    pub after: State,
}

impl Prediction {
    /// Whether the controller should have written, and has not.
    pub fn is_overdue(&self) -> bool {
        self.is_missed(self.late)
    }

    /// Whether it should have written by now if nothing keeps failing: after errors it looks ever more
    /// rarely.
    pub fn is_delayed(&self) -> bool {
        let by = self.by.filter(|_| self.late.is_some());
        self.is_missed(by.and_then(|by| by.checked_add(pace::MISSED).ok()))
    }

    /// Whether a time has passed after which a write counts as missed.
    fn is_missed(&self, late: Option<Timestamp>) -> bool {
        // Which agents skip a stage is known of those that have skipped one, and a request that the
        // run has noted may be noted in other words.
        let skips = |it: &ExpectedCondition| it.reason == reasons::STAGE_SKIPPED;
        let is_noted = |it: &ExpectedCondition| it.kind == reasons::APPROVAL_REQUEST_CREATED;
        late.is_some_and(|late| late < self.after.now)
            && !self.conditions.iter().any(skips)
            && !self.conditions.iter().all(is_noted)
    }

    /// As documents have it.
    pub fn expected(&self) -> ExpectedWrite {
        let waits: Vec<_> = self.waits.iter().map(ToString::to_string).collect();
        ExpectedWrite {
            by: self.by.map(whole_seconds),
            step: self.step,
            conditions: self.conditions.clone(),
            waits_for: (!waits.is_empty()).then(|| waits.join(", ")),
            fails: self.failure.as_ref().map(|it| it.code.to_owned()),
        }
    }
}

/// What the controller does next about the run of an inventory, or what would have to be known.
pub fn predict_next(inventory: &Inventory) -> Result<Prediction, String> {
    match &inventory.run {
        Sight::Present(run) => predict(State::new(inventory, run)),
        Sight::Absent => Err("there is no run".to_owned()),
        Sight::Unknown(why) => Err(format!("the run: {why}")),
    }
}

/// By when the controller looks once more at a run that is stopped: it had arranged that before the
/// stop. What it notes then starts the timed wait of the stage again.
pub fn look_after_stop(inventory: &Inventory, run: &UpdateRun) -> Option<Timestamp> {
    pending_look(run, AgentVersion::of(inventory, run), inventory.now)
}

/// Whether errors of clusters that are done still keep the controller from looking at a run, for longer
/// than it takes to look at one that waits.
pub fn slowed_by_errors(inventory: &Inventory, run: &UpdateRun) -> Option<SlowedLook> {
    let now = inventory.now;
    let look = due::slowed(&State::new(inventory, run))?;
    let is_long = look.pace > pace::STAGE_EVERY;
    (is_long && now.duration_since(look.since) < look.pace).then_some(look)
}

/// The bindings that are being deleted and without which the run of an inventory does not fail: they
/// count until they are gone, which may be before the controller looks.
pub fn fails_until_gone(inventory: &Inventory) -> Vec<String> {
    let Sight::Present(run) = &inventory.run else {
        return Vec::new();
    };
    let mut state = State::new(inventory, run);
    let bindings = state
        .bindings
        .items
        .extract_if(.., |it| it.meta.is_deleting());
    let leaving: Vec<_> = bindings.map(|it| it.meta.name.clone()).collect();
    let passes = || predict(state).is_ok_and(|next| next.failure.is_none());
    if leaving.is_empty() || !passes() {
        return Vec::new();
    }
    leaving
}

/// What the controller does next about one of the runs on the inventory's placement, whatever its
/// checks of the other objects find: whether and by when it writes does not depend on them.
pub fn predict_unchecked(inventory: &Inventory, run: &UpdateRun) -> Result<Prediction, String> {
    predict(State {
        trusts: true,
        ..State::new(inventory, run)
    })
}

/// What the controller computes for a run that it has not initialized, and everything that is wrong
/// with its inputs, in the order of the checks.
pub fn initialize(state: State) -> (State, Vec<InputFinding>) {
    let mut reconciler = Reconciler::new(state);
    reconciler.compute();
    reconciler.check_concurrency();
    (reconciler.state, reconciler.findings)
}

/// What the controller does next about a run.
pub fn predict(state: State) -> Result<Prediction, String> {
    if let Some(term) = state.run.unknown_term() {
        return Err(match term {
            UnknownTerm::State(state) => format!("the state {state}"),
            UnknownTerm::Reason(halt) => format!("the reason {}", halt.reason),
            UnknownTerm::Task(_, task) => format!("tasks of type {}", task.kind),
        });
    }
    if rests(&state) && !is_woken(&state) {
        return match pending_look(&state.run, state.version, state.now) {
            Some(by) => last_look(state, by),
            None => resting(state),
        };
    }
    let now = state.now;
    let (look, after) = look_at(&state, now)?;
    let conditions = changes(&state.run.status, &after.state.run.status);
    if !conditions.is_empty() || look.failure.is_some() {
        let due = due::due(&state, look.failure.is_some());
        return Ok(Prediction {
            since: Some(due.since),
            late: due.late,
            ..prediction(look, conditions, after, Some(due.by))
        });
    }
    if rests(&state) {
        return resting(state);
    }
    // An error that the next look does not meet again.
    if look.requeue == Requeue::Backoff && !state.retried {
        return predict(State {
            retried: true,
            ..state
        });
    }
    // Nothing changes before a time has passed.
    let times = after.waits.iter().filter_map(AwaitedEvent::until);
    let later = times.filter(|time| *time > now).min();
    let later = later.and_then(|time| time.checked_add(SignedDuration::from_secs(1)).ok());
    if let Some(later) = later {
        let (then, then_after) = look_at(&state, later)?;
        let conditions = changes(&state.run.status, &then_after.state.run.status);
        if !conditions.is_empty() {
            let pace = due::after_a_time(look.requeue, state.run.last_write(), later);
            let by = later.checked_add(pace).unwrap_or(later);
            let mut found = prediction(then, conditions, then_after, Some(by));
            found.waits = after.waits;
            return Ok(found);
        }
    }
    Ok(prediction(look, Vec::new(), after, None))
}

fn prediction(
    look: LookResult,
    conditions: Vec<ExpectedCondition>,
    after: Reconciler,
    by: Option<Timestamp>,
) -> Prediction {
    // What a write begins to wait for is not what it waits for.
    let waits = if conditions.is_empty() {
        after.waits
    } else {
        Vec::new()
    };
    Prediction {
        step: look.step,
        by,
        since: None,
        late: None,
        conditions,
        waits,
        failure: look.failure,
        after: after.state,
    }
}

/// A run that rests is looked at once more by then, which ends it where a check fails.
fn last_look(state: State, by: Timestamp) -> Result<Prediction, String> {
    let (look, after) = look_at(&state, state.now)?;
    if look.failure.is_none() {
        return resting(state);
    }
    let conditions = changes(&state.run.status, &after.state.run.status);
    Ok(prediction(look, conditions, after, Some(by)))
}

/// A run that rests waits for somebody; what comes of a start is known already.
fn resting(state: State) -> Result<Prediction, String> {
    let start = Intervention::SetState(RunState::Run);
    let failure = match after(&state, &start) {
        Ok(started) => look_at(&started, state.now)?.0.failure,
        Err(_) => None,
    };
    Ok(Prediction {
        step: ControllerStep::None,
        by: None,
        since: None,
        late: None,
        conditions: Vec::new(),
        waits: vec![AwaitedEvent::Start],
        failure,
        after: state,
    })
}
