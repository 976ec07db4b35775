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
use crate::kubefleet::{Condition, Conditions, names, reasons};
use crate::rollout::{AgentVersion, is_written};

/// How many times may have passed, one after the other, since something changed last.
const TIMES: usize = 8;

/// As exactly as times are written.
const SECOND: SignedDuration = SignedDuration::from_secs(1);

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
        let passed = times.filter(|time| *time >= since && *time <= state.now);
        let Some(time) = passed.min() else {
            break;
        };
        // However late it is now: the look before that time tells how far the next one is.
        let since_then = erring_since(state).map_or(since, |it| it.min(since));
        pace = after_a_time(look.requeue, Some(since_then), time);
        since = later(time, SECOND);
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
        .flat_map(|binding| errors_of(binding, state));
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
    let own = state.approvals.iter();
    let own = own.filter(|it| it.spec.run == run.meta.name && !pace::is_noted(run, &it.meta.name));
    // Only an approval is watched for: what somebody else accepted is seen at the next look.
    let (own, others) = own.partition::<Vec<_>, _>(|it| it.counts());
    let taken = others.iter().filter(|it| it.is_accepted());
    let taken = taken.filter_map(|it| it.accepted()?.since).max();
    let approved = own
        .into_iter()
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
    let since = wrote.max(changed).max(taken).unwrap_or(state.now);
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
    // After a look that came late the next one comes later still, if that found an error as well.
    let bindings = by_cluster(state);
    let late = wrote.and_then(|wrote| late_gap(&state.run, wrote, &bindings));
    let late = late.unwrap_or_default().saturating_mul(2);
    let mut stages = state.run.all_stages();
    let stage = stages.find(|stage| !stage.is_done());
    for cluster in stage.into_iter().flat_map(|stage| &stage.clusters) {
        if cluster.is_done() {
            continue;
        }
        let started = cluster.conditions.since(reasons::STARTED).or(wrote);
        let Some(binding) = bindings.get(cluster.name.as_str()) else {
            continue;
        };
        let recovered = binding.last_transition();
        last = last.max(recovered);
        // One that is in error was so at the last look.
        let is_failing = errors_of(binding, state).next().is_some();
        let until = recovered.max(wrote.filter(|_| is_failing));
        if let (Some(started), Some(until)) = (started, until) {
            troubled = troubled.max(until.duration_since(started));
            if Some(until) >= wrote {
                troubled = troubled.max(late);
            }
        }
    }
    (last, troubled)
}

/// How long the controller may have waited before its last look, where that noted a cluster late.
fn late_gap(
    run: &UpdateRun,
    look: Timestamp,
    bindings: &BTreeMap<&str, &Binding>,
) -> Option<SignedDuration> {
    let noted = run.updated_clusters();
    let mut noted = noted.filter(|it| is_of_look(it.conditions.since(reasons::SUCCEEDED), look));
    let usual = pace::LOOK_EVERY.saturating_add(SECOND);
    let is_late = noted.any(|cluster| {
        let recovered = bindings.get(cluster.name.as_str());
        let recovered = recovered.and_then(|it| it.last_transition());
        recovered.is_some_and(|recovered| look.duration_since(recovered) > usual)
    });
    gap_before(run, look).filter(|_| is_late)
}

/// The conditions of a binding that are errors.
fn errors_of<'b>(binding: &'b Binding, state: &State) -> impl Iterator<Item = &'b Condition> {
    let (conditions, version) = (binding.status.conditions.iter(), state.version);
    conditions.filter(move |it| it.is_false() && !is_transient(it, version))
}

/// The bindings by their clusters.
fn by_cluster(state: &State) -> BTreeMap<&str, &Binding> {
    let bindings = state.bindings.iter();
    bindings.map(|it| (it.spec.cluster.as_str(), it)).collect()
}

/// Whether something happened with a look: times are whole seconds.
fn is_of_look(time: Option<Timestamp>, look: Timestamp) -> bool {
    time.is_some_and(|time| look.duration_since(time) <= SECOND)
}

/// How long before a look the controller wrote the status before.
fn gap_before(run: &UpdateRun, look: Timestamp) -> Option<SignedDuration> {
    let writes = run.status_writes();
    let before = writes.filter(|time| !is_of_look(Some(*time), look)).max()?;
    Some(look.duration_since(before))
}

/// Whether a binding asks for the run's content and has not been released: that write met a conflict.
/// Source: updaterun/execution.go:executeUpdatingStage, updateBindingRolloutStarted.
fn is_unreleased(state: &State) -> bool {
    let index = &state.run.status.snapshot_index;
    let wanted = names::master_snapshot(&state.run.spec.placement, index);
    let mut bindings = state.bindings.iter();
    bindings.any(|binding| binding.spec.snapshot == wanted && !binding.is_released())
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
    // A look that started some clusters, and another one not, was an error as well.
    let gap = match run.in_flight().next() {
        Some(_) => Some(gap_before_conflict(run, since)?),
        None => None,
    };
    let (noted, before): (Vec<_>, Vec<_>) = passed_errors(state)
        .into_iter()
        .partition(|it| is_of_look(Some(it.ended), since));
    // The wait after an error is twice as long as the one before it, and about as long as all before it.
    let double = |wait: SignedDuration| wait.saturating_mul(2).min(pace::LONGEST);
    let row = noted.iter().map(|it| it.started).min();
    let (errors, mut pace) = match (row, gap) {
        (Some(begun), _) => (noted, since.duration_since(begun).min(pace::LONGEST)),
        (None, Some(gap)) if !before.is_empty() => (before, double(gap)),
        (None, _) => return None,
    };
    let clusters = errors.iter().map(|it| it.cluster.to_owned()).collect();
    let (mut wait, erred) = (pace, gap.is_some() || is_unreleased(state));
    let troubled = troubled_ahead(state);
    for _ in 0..LOOKS {
        let has_erred = erred && later(since, pace) < state.now;
        // The wait is at least half of what it can be at most.
        let may_have = troubled.is_some_and(|until| later(since, pace / 2) < until);
        if !has_erred && !may_have {
            break;
        }
        wait = double(wait);
        pace = pace.saturating_add(wait);
    }
    Some(SlowedLook {
        clusters,
        since,
        pace,
    })
}

/// A cluster that a run is done with and that was in error.
struct PassedError<'s> {
    cluster: &'s str,
    started: Timestamp,
    ended: Timestamp,
}

/// Those: each took longer than until the next look, and was not sent late.
fn passed_errors(state: &State) -> Vec<PassedError<'_>> {
    let bindings = by_cluster(state);
    let done = state.run.updated_clusters().filter(|it| it.is_done());
    let errors = done.filter_map(|it| {
        let time = |kind| it.conditions.since(kind);
        let (started, ended) = time(reasons::STARTED).zip(time(reasons::SUCCEEDED))?;
        let binding = bindings.get(it.name.as_str())?;
        // What became of the binding after the run was done with it tells nothing of the time before.
        let transition = binding.last_transition()?;
        let (recovered, pace) = if transition > ended {
            (ended, pace::LOOK_EVERY.saturating_mul(2))
        } else {
            (transition, pace::LOOK_EVERY)
        };
        // After a change of the policy it may be sent late, and before that there was no error.
        let during = started..=recovered;
        let mut policies = state.policies.iter();
        let is_late = policies.any(|it| it.meta.created.is_some_and(|at| during.contains(&at)));
        let sent = binding.status.conditions.since(reasons::OVERRIDDEN);
        let begun = sent.filter(|_| is_late).unwrap_or(started);
        let cluster = it.name.as_str();
        (recovered.duration_since(begun) > pace).then_some(PassedError {
            cluster,
            started,
            ended,
        })
    });
    errors.collect()
}

/// Until when a cluster may have been in error whose turn came, and whose binding has what the run brings: a look finds
/// its error before it notes a start.
fn troubled_ahead(state: &State) -> Option<Timestamp> {
    let run = &state.run;
    let mut stages = run.status.stages.iter();
    let stage = stages.find(|stage| !stage.is_done())?;
    let next = stage.clusters.iter().find(|it| !it.is_done())?;
    let mut bindings = state.bindings.iter();
    let binding = bindings.find(|it| it.spec.cluster == next.name)?;
    let is_ahead = !next.conditions.is_true(reasons::STARTED) && is_written(binding, run, next);
    binding.last_transition().filter(|_| is_ahead)
}

/// How long the controller waited before its last look at a run, where that was long and the look met a
/// conflict: it started clusters and left a slot of their stage free.
fn gap_before_conflict(run: &UpdateRun, since: Timestamp) -> Option<SignedDuration> {
    let began = |it: &ClusterStatus| is_of_look(it.conditions.since(reasons::STARTED), since);
    if !run.in_flight().all(began) {
        return None;
    }
    let mut stages = run.status.stages.iter().enumerate();
    let (at, stage) = stages.find(|(_, stage)| !stage.is_done())?;
    let spec = run.status.strategy.as_deref()?.stages.get(at)?;
    let slots = spec.concurrency(stage.clusters.len())?;
    let is_started = |it: &ClusterStatus| it.conditions.is_true(reasons::STARTED);
    // What was found done when it began takes a slot until the next look.
    let clusters = stage.clusters.iter();
    let taken = clusters.filter(|it| is_started(it) && (!it.is_done() || began(it)));
    let is_free = taken.count() < slots && stage.clusters.iter().any(|it| !is_started(it));
    gap_before(run, since).filter(|gap| is_free && *gap > pace::LOOK_EVERY)
}

fn later(time: Timestamp, by: SignedDuration) -> Timestamp {
    time.checked_add(by).unwrap_or(time)
}

#[cfg(test)]
mod tests;
