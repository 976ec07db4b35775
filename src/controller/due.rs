//! By when a look has come that would write something.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::execution::is_transient;
use super::expected::changes;
use super::look::look_at;
use super::pace::{self, Requeue};
use super::state::State;
use super::wait::AwaitedEvent;
use crate::kubefleet::approval::ApprovalRequest;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::run::{ClusterStatus, RunState, UpdateRun};
use crate::kubefleet::{Conditions, names, reasons};
use crate::rollout::AgentVersion;

/// How many times may have passed, one after the other, since something changed last.
const TIMES: usize = 8;

/// How many looks in a row may have been errors.
const LOOKS: usize = 64;

/// When a look is due that would write something.
pub(super) struct DueLook {
    pub since: Timestamp,
    pub by: Timestamp,
    /// The time after which it is missed; `None` where nothing tells since when it is due.
    pub late: Option<Timestamp>,
}

/// By when the controller has seen what it can see by now: the moment at which a look began to
/// lead to another result, and how long the controller takes to look.
pub(super) fn due(state: &State, fails: bool) -> DueLook {
    let (mut since, mut pace, watched) = last_change(state);
    // When a person edited what the run depends on is not known.
    if fails && !watched {
        since = state.now;
        pace = sleeps(state).unwrap_or(pace).max(in_error(state));
    }
    let run = &state.run;
    let is_dated = pace::is_observed(run) || run.meta.spec_edited().is_some();
    for _ in 0..TIMES {
        let Ok((look, after)) = look_at(state, since) else {
            break;
        };
        let changes = changes(&state.run.status, &after.state.run.status);
        if look.failure.is_some() || !changes.is_empty() {
            break;
        }
        let times = after.waits.iter().filter_map(AwaitedEvent::until);
        let passed = times.filter(|time| *time >= since && *time < state.now);
        let Some(time) = passed.min() else {
            break;
        };
        // However late it is now: the look before that time tells how far the next one is.
        let since_then = erring_since(state).map_or(since, |it| it.min(since));
        pace = after_a_time(look.requeue, Some(since_then), time);
        since = later(time, SignedDuration::from_secs(1));
    }
    let by = later(since, pace);
    let grace = pace::grace(pace, !watched && !waits(run));
    let late = is_dated.then(|| later(by, grace));
    // A binding that is gone does not tell since when.
    let gone = !watched && is_removed(state);
    DueLook {
        since,
        by: if gone {
            by.max(later(state.now, pace))
        } else {
            by
        },
        late,
    }
}

/// Whether the binding of a cluster is gone that the run takes the placement from and has not noted.
fn is_removed(state: &State) -> bool {
    let stage = state.run.status.deletion_stage.as_deref();
    let is_under_way = stage.is_some_and(|stage| stage.started.is_some() && !stage.is_done());
    let left = stage.into_iter().flat_map(|stage| &stage.clusters);
    let mut left = left.filter(|cluster| !cluster.is_done());
    is_under_way
        && left.any(|cluster| {
            let mut bindings = state.bindings.iter();
            !bindings.any(|it| it.spec.cluster == cluster.name && it.is_unscheduled())
        })
}

/// How long it may be until the next look at a cluster that is in error: as long as the error lasts, for
/// the waits double.
fn in_error(state: &State) -> SignedDuration {
    let lasts = erring_since(state).map(|since| state.now.duration_since(since));
    let wait = lasts.unwrap_or_default().min(pace::LONGEST);
    wait.saturating_add(pace::PROMPT)
}

/// Since when a cluster in flight is in error.
fn erring_since(state: &State) -> Option<Timestamp> {
    let clusters = state.run.status.stages.iter().flat_map(|it| &it.clusters);
    let in_flight: Vec<_> = clusters
        .filter(|it| it.conditions.is_true(reasons::STARTED) && !it.is_done())
        .map(|it| it.name.as_str())
        .collect();
    let bindings = state.bindings.iter();
    let failing = bindings
        .filter(|it| in_flight.contains(&it.spec.cluster.as_str()))
        .flat_map(|binding| &binding.status.conditions)
        .filter(|it| it.is_false() && !is_transient(it, state.version));
    failing.filter_map(|it| it.since).min()
}

/// How long it is until a look at a run that waits for the tasks of a stage, where a timed wait among
/// them says so: no check that fails was made when it was arranged.
fn sleeps(state: &State) -> Option<SignedDuration> {
    let trusting = State {
        trusts: true,
        ..state.clone()
    };
    let (look, _) = look_at(&trusting, state.now).ok()?;
    match look.requeue {
        Requeue::After(wait) if waits(&state.run) => Some(wait.saturating_add(pace::PROMPT)),
        _ => None,
    }
}

/// Whether the run says that it waits for the tasks of a stage.
fn waits(run: &UpdateRun) -> bool {
    let progressing = run.condition(reasons::PROGRESSING);
    progressing.is_some_and(|it| it.reason == reasons::RUN_WAITING)
}

/// How long after a time that it waited for the controller looks: it sleeps just as long where
/// that is known.
pub(super) fn after_a_time(
    requeue: Requeue,
    since: Option<Timestamp>,
    now: Timestamp,
) -> SignedDuration {
    match requeue {
        Requeue::After(wait) if wait > pace::STAGE_EVERY => pace::PROMPT,
        requeue => pace::within(requeue, since, now),
    }
}

/// The last change that the controller can have seen, how long it takes to see it, and whether it
/// watches for such a change.
fn last_change(state: &State) -> (Timestamp, SignedDuration, bool) {
    let run = &state.run;
    let conditions = &run.status.conditions;
    let wrote = run.last_write();
    let own = state
        .approvals
        .iter()
        .filter(|it| it.spec.run == run.meta.name && it.counts())
        .filter(|it| !pace::is_noted(run, &it.meta.name));
    let approved = own
        .filter_map(|it| {
            let accepted = it.status.conditions.condition(reasons::APPROVAL_ACCEPTED);
            match accepted.filter(|_| it.is_accepted()) {
                // What was accepted and is not noted is under way.
                Some(accepted) => accepted.since.filter(|since| Some(*since) > wrote),
                None => given(it),
            }
        })
        .max();
    let created = conditions.condition(reasons::INITIALIZED).is_none();
    let created = created.then_some(run.meta.created).flatten();
    // Who left out who wrote what leaves open when the state was set.
    let edited = (created.is_none() && !pace::is_observed(run))
        .then(|| run.meta.spec_edited().unwrap_or(state.now));
    let watched = [approved, edited, created].into_iter().flatten().max();
    if let Some(since) = watched.filter(|since| wrote.is_none_or(|wrote| wrote <= *since)) {
        return (since, pace::PROMPT, true);
    }
    let every = if waits(run) {
        pace::STAGE_EVERY
    } else {
        pace::LOOK_EVERY
    };
    let (changed, troubled) = bindings_changed(state, wrote);
    let troubled = slowed(state).map_or(troubled, |slowed| troubled.max(slowed.pace));
    let since = wrote.max(changed).unwrap_or(state.now);
    let pace = if troubled > every {
        troubled.min(pace::LONGEST)
    } else {
        every
    };
    (since, pace.saturating_add(pace::PROMPT), false)
}

/// When an approval was given. Its own time is the approver's word: the server's is meant where that
/// is later.
fn given(request: &ApprovalRequest) -> Option<Timestamp> {
    let said = request.approved()?.since.max(request.meta.created);
    let writes = request.meta.managed.iter();
    let writes = writes.filter(|write| write.subresource == "status");
    said.max(writes.filter_map(|write| write.time).max())
}

/// When the bindings of the stage's unfinished clusters changed last, as far as their conditions
/// tell, and for how long one of them may have been in error before: for so long the controller
/// looked ever more rarely.
fn bindings_changed(
    state: &State,
    wrote: Option<Timestamp>,
) -> (Option<Timestamp>, SignedDuration) {
    let (mut last, mut troubled) = (None, SignedDuration::ZERO);
    let mut stages = state.run.all_stages();
    let stage = stages.find(|stage| !stage.is_done());
    let bindings = state.bindings.iter();
    let bindings: BTreeMap<_, _> = bindings.map(|it| (it.spec.cluster.as_str(), it)).collect();
    for cluster in stage.into_iter().flat_map(|stage| &stage.clusters) {
        if cluster.is_done() {
            continue;
        }
        let started = cluster.conditions.since(reasons::STARTED).or(wrote);
        let Some(binding) = bindings.get(cluster.name.as_str()) else {
            continue;
        };
        let recovered = last_transition(binding);
        last = last.max(recovered);
        if let (Some(started), Some(recovered)) = (started, recovered) {
            troubled = troubled.max(recovered.duration_since(started));
        }
    }
    (last, troubled)
}

/// When one of a binding's conditions changed last.
fn last_transition(binding: &Binding) -> Option<Timestamp> {
    let conditions = binding.status.conditions.iter();
    conditions.filter_map(|it| it.since).max()
}

/// Whether a binding asks for the run's content and has not been released: that write met a conflict.
/// Source: updaterun/execution.go:executeUpdatingStage, updateBindingRolloutStarted.
fn is_unreleased(state: &State) -> bool {
    let index = &state.run.status.snapshot_index;
    let wanted = names::master_snapshot(&state.run.spec.placement, index);
    state
        .bindings
        .iter()
        .any(|binding| binding.spec.snapshot == wanted && !binding.is_released())
}

/// A look that comes late because of errors before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlowedLook {
    /// The clusters that were in error.
    pub clusters: Vec<String>,
    /// When the controller looked last.
    pub since: Timestamp,
    /// How long it is until the next look, at most.
    pub pace: SignedDuration,
}

/// Whether errors of clusters that are done still keep the controller from looking. A look that asks
/// for the next one at once does not end a row of errors: only one that asks for a time does, as where
/// a cluster is in flight or a task is outstanding. So the next stage, the end of the run, or a cluster
/// whose start met a conflict waits about as long as the errors lasted.
/// Source: updaterun/controller.go:Reconcile; controller-runtime/pkg/internal/controller/controller.go.
pub fn slowed(state: &State) -> Option<SlowedLook> {
    let run = &state.run;
    // A run whose spec was edited is looked at once, errors or not.
    let goes_on = state.version == AgentVersion::V01 || run.spec.wants() == RunState::Run;
    if waits(run) || !goes_on || !pace::is_observed(run) {
        return None;
    }
    let since = run.last_write()?;
    let all = || run.updated_clusters();
    let is_started = |cluster: &ClusterStatus| cluster.conditions.is_true(reasons::STARTED);
    if all().any(|cluster| is_started(cluster) && !cluster.is_done()) {
        return None;
    }
    let second = SignedDuration::from_secs(1);
    let (mut clusters, mut pace) = (Vec::new(), SignedDuration::ZERO);
    for cluster in all() {
        let time = |kind| cluster.conditions.since(kind);
        let (Some(started), Some(ended)) = (time(reasons::STARTED), time(reasons::SUCCEEDED))
        else {
            continue;
        };
        if !cluster.is_done() || since.duration_since(ended) > second {
            continue;
        }
        let mut bindings = state.bindings.iter();
        let Some(binding) = bindings.find(|it| it.spec.cluster == cluster.name) else {
            continue;
        };
        let Some(recovered) = last_transition(binding) else {
            continue;
        };
        // After a change of the policy it may be sent late, and before that there was no error.
        let during = started..=recovered;
        let mut policies = state.policies.iter();
        let is_late = policies.any(|it| it.meta.created.is_some_and(|at| during.contains(&at)));
        let sent = binding.status.conditions.since(reasons::OVERRIDDEN);
        let begun = sent.filter(|_| is_late).unwrap_or(started);
        if recovered.duration_since(begun) > pace::LOOK_EVERY {
            clusters.push(cluster.name.clone());
            pace = pace.max(since.duration_since(started)).min(pace::LONGEST);
        }
    }
    if clusters.is_empty() {
        return None;
    }
    // A look that could not release a cluster was an error as well.
    let (mut wait, is_unreleased) = (pace, is_unreleased(state));
    for _ in 0..LOOKS {
        if !is_unreleased || later(since, pace) >= state.now {
            break;
        }
        wait = wait.saturating_mul(2).min(pace::LONGEST);
        pace = pace.saturating_add(wait);
    }
    Some(SlowedLook {
        clusters,
        since,
        pace,
    })
}

fn later(time: Timestamp, by: SignedDuration) -> Timestamp {
    time.checked_add(by).unwrap_or(time)
}
