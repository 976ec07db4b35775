//! The controller and the member clusters, step after step, while nobody does anything.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::expected::{ExpectedCondition, changes};
use super::failure::RunFailure;
use super::look::{is_woken, look_at, rests};
use super::pace::{LOOK_EVERY, Requeue};
use super::reconcile::{ControllerStep, LookResult};
use super::state::{State, set_condition};
use super::wait::AwaitedEvent;
use crate::kubefleet::apply::ApplyStrategy;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::{ConditionStatus, reasons};

/// How long a member cluster takes from what was written for it until its content is available, or
/// removed; `None` where it never is.
pub type ClusterPace<'f> = &'f dyn Fn(&str) -> Option<SignedDuration>;

/// How far it is played.
#[derive(Debug, Clone, Copy)]
pub struct PlayLimits {
    pub until: Timestamp,
    /// How often the controller looks at most.
    pub looks: usize,
    /// The longest pause between two looks; `None` means its own. Errors and what it watches shorten
    /// it.
    pub pause: Option<SignedDuration>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlayEnd {
    /// The run succeeded.
    Succeeded,
    /// The run failed; why, where this was played.
    Failed(Option<RunFailure>),
    /// The run is gone.
    Deleted,
    /// Nothing happens until one of these does.
    Waits(Vec<AwaitedEvent>),
    /// It goes on beyond the limits.
    Continues,
}

/// One write of the controller.
#[derive(Debug, Clone)]
pub struct PlayedWrite {
    pub at: Timestamp,
    pub conditions: Vec<ExpectedCondition>,
}

#[derive(Debug, Clone)]
pub struct PlayedRun {
    pub end: PlayEnd,
    pub writes: Vec<PlayedWrite>,
    /// The objects at the end.
    pub state: State,
}

/// Plays a run from where it stands. The other runs on its placement do nothing meanwhile.
pub fn play(
    mut state: State,
    pace: ClusterPace<'_>,
    limits: &PlayLimits,
) -> Result<PlayedRun, String> {
    let mut writes = Vec::new();
    let mut failure = None;
    for _ in 0..limits.looks {
        settle(&mut state, pace);
        if let Some(end) = ended(&state, &mut failure) {
            return Ok(PlayedRun { end, writes, state });
        }
        let now = state.now;
        let (look, after) = look_at(&state, now)?;
        let conditions = changes(&state.run.status, &after.state.run.status);
        let changed = !conditions.is_empty();
        let retried = state.retried;
        let waits = after.waits;
        state = after.state;
        state.retried = retried;
        if look.step == ControllerStep::Delete {
            delete(&mut state);
            let end = PlayEnd::Deleted;
            return Ok(PlayedRun { end, writes, state });
        }
        if changed {
            let at = now;
            writes.push(PlayedWrite { at, conditions });
        }
        // An error that the next look does not meet again.
        if !changed && look.requeue == Requeue::Backoff && !state.retried {
            state.retried = true;
            continue;
        }
        let next = next_look(&state, (&look, changed), &waits, (pace, limits.pause));
        failure = look.failure.or(failure);
        match next {
            None => {
                let rests = rests(&state);
                let end = if rests {
                    at_rest()
                } else {
                    PlayEnd::Waits(waits)
                };
                return Ok(PlayedRun { end, writes, state });
            }
            Some(next) if next > limits.until => break,
            Some(next) => state.now = next,
        }
    }
    let end = PlayEnd::Continues;
    Ok(PlayedRun { end, writes, state })
}

/// How it ended, where the controller does not look at the run again.
fn ended(state: &State, failure: &mut Option<RunFailure>) -> Option<PlayEnd> {
    if state.run.meta.is_deleting() {
        return None;
    }
    let of = |kind| {
        let condition = state.run.condition(kind);
        condition.map_or(ConditionStatus::Unknown, |it| it.status)
    };
    if of(reasons::SUCCEEDED) == ConditionStatus::True {
        return Some(PlayEnd::Succeeded);
    }
    let no = ConditionStatus::False;
    if of(reasons::SUCCEEDED) == no || of(reasons::INITIALIZED) == no {
        return Some(PlayEnd::Failed(failure.take()));
    }
    (rests(state) && !is_woken(state)).then(at_rest)
}

fn at_rest() -> PlayEnd {
    PlayEnd::Waits(vec![AwaitedEvent::Start])
}

/// When the controller looks next to some effect; `None` where nothing changes by itself any more.
fn next_look(
    state: &State,
    (look, changed): (&LookResult, bool),
    waits: &[AwaitedEvent],
    (pace, pause): (ClusterPace<'_>, Option<SignedDuration>),
) -> Option<Timestamp> {
    let now = state.now;
    let every = match look.requeue {
        Requeue::After(wait) => wait.max(SignedDuration::from_secs(1)),
        Requeue::Backoff if changed && waits.is_empty() => return Some(now),
        Requeue::Backoff => LOOK_EVERY,
        // What ended is seen at once.
        Requeue::Never => return changed.then_some(now),
    };
    let every = pause.map_or(every, |pause| every.min(pause));
    if changed {
        return now.checked_add(every).ok();
    }
    let times = waits.iter().filter_map(AwaitedEvent::until);
    let bindings = state.bindings.iter();
    let clusters = bindings.filter_map(|binding| due(binding, pace));
    let event = times.chain(clusters).filter(|time| *time >= now).min()?;
    let every = every.as_millis().max(1);
    let missing = event.duration_since(now).as_millis();
    let looks = missing
        .saturating_add(every.saturating_sub(1))
        .div_euclid(every)
        .max(1);
    let wait = i64::try_from(every.saturating_mul(looks)).ok()?;
    now.checked_add(SignedDuration::from_millis(wait)).ok()
}

/// When a member cluster is done with what was written for it; `None` where it is, or never will be.
fn due(binding: &Binding, pace: ClusterPace<'_>) -> Option<Timestamp> {
    let since = if binding.meta.is_deleting() {
        binding.meta.deleted
    } else {
        let started = binding.current(reasons::ROLLOUT_STARTED);
        if binding.fulfilled().is_some() {
            return None;
        }
        started.filter(|it| it.is_true())?.since
    };
    since?.checked_add(pace(&binding.spec.cluster)?).ok()
}

/// What the member clusters have done by now.
fn settle(state: &mut State, pace: ClusterPace<'_>) {
    let now = state.now;
    let done = |binding: &Binding| due(binding, pace).filter(|time| *time <= now);
    let gone = |binding: &Binding| binding.meta.is_deleting() && done(binding).is_some();
    state.bindings.items.retain(|binding| !gone(binding));
    for binding in &mut state.bindings.items {
        if let Some(at) = done(binding) {
            report(Arc::make_mut(binding), at);
        }
    }
}

/// What the work generator writes when all is well.
fn report(binding: &mut Binding, at: Timestamp) {
    let strategy = binding.spec.apply_strategy.as_deref();
    let kinds = if strategy.is_some_and(ApplyStrategy::is_report_diff) {
        &[
            reasons::OVERRIDDEN,
            reasons::WORK_SYNCHRONIZED,
            reasons::DIFF_REPORTED,
        ][..]
    } else {
        &[
            reasons::OVERRIDDEN,
            reasons::WORK_SYNCHRONIZED,
            reasons::APPLIED,
            reasons::AVAILABLE,
        ]
    };
    for kind in kinds.iter().copied() {
        let written = (kind, ConditionStatus::True, kind, "");
        let generation = binding.meta.generation;
        set_condition(&mut binding.status.conditions, written, generation, at);
    }
}

/// The answer to the deletion of a run. Source: updaterun/controller.go:handleDelete.
fn delete(state: &mut State) {
    let run = &state.run.meta.name;
    state.approvals.items.retain(|it| it.spec.run != *run);
}
