//! A look at a run at some moment, and whether there is one.

use jiff::{SignedDuration, Timestamp};

use super::pace;
use super::reconcile::{LookResult, Reconciler};
use super::state::State;
use crate::kubefleet::run::{ClusterStatus, RunState, UpdateRun};
use crate::kubefleet::{Conditions, duration, reasons};
use crate::rollout::AgentVersion;

/// One look at a moment.
pub(super) fn look_at(state: &State, now: Timestamp) -> Result<(LookResult, Reconciler), String> {
    let mut reconciler = Reconciler::new(State {
        now,
        ..state.clone()
    });
    let look = reconciler.reconcile()?;
    Ok((look, reconciler))
}

/// Whether the controller does not look at the run until somebody starts or resumes it.
pub(super) fn rests(state: &State) -> bool {
    let run = &state.run;
    let waits = state.version > AgentVersion::V01
        && !run.meta.is_deleting()
        && run.spec.wants() == RunState::Initialize
        && run.status.conditions.is_true(reasons::INITIALIZED)
        && run.condition(reasons::SUCCEEDED).is_none()
        && pace::is_observed(run);
    waits || (!run.meta.is_deleting() && pace::is_at_rest(run, state.version))
}

/// By when a look comes at a stopped run that was arranged before the stop: nothing takes it back, and
/// it checks the run. `None` where it has come: it notes the stop anew.
/// Source: updaterun/controller.go:handleIncompleteUpdateRun.
pub(super) fn pending_look(
    run: &UpdateRun,
    version: AgentVersion,
    now: Timestamp,
) -> Option<Timestamp> {
    if !pace::is_at_rest(run, version) {
        return None;
    }
    let stopped = run.status.conditions.since(reasons::PROGRESSING)?;
    let edited = run.meta.spec_edited();
    if edited.is_some_and(|edited| stopped.duration_since(edited) > pace::PROMPT) {
        return None;
    }
    let wait = stopped_wait(run).map_or(pace::STAGE_EVERY, |wait| wait.max(pace::STAGE_EVERY));
    let wait = wait.saturating_add(pace::PROMPT);
    stopped.checked_add(wait).ok().filter(|by| *by >= now)
}

/// How long the timed wait is after the clusters of the stage in which a run was stopped.
fn stopped_wait(run: &UpdateRun) -> Option<SignedDuration> {
    let strategy = run.status.strategy.as_deref()?;
    let mut stages = run.status.stages.iter().zip(&strategy.stages);
    let (stage, spec) = stages.find(|(stage, _)| !stage.is_done())?;
    let waits = spec.after.iter().filter(|task| task.is_timed_wait());
    let wait = waits.filter_map(|task| duration::parse(&task.wait)).max();
    wait.filter(|_| stage.clusters.iter().all(ClusterStatus::is_done))
}

/// Whether an approval was given just now: the controller looks then, even at a run that rests, and
/// checks it. One that is given again wakes nobody, and whether it was is not known: a look of which
/// nothing came is taken as over.
/// Source: updaterun/controller.go:handleApprovalRequestUpdate.
pub(super) fn is_woken(state: &State) -> bool {
    let run = &state.run;
    let wrote = run.last_write();
    state.approvals.iter().any(|it| {
        let given = it.untaken().and_then(|approved| approved.since);
        let is_new = given > wrote
            && given.is_some_and(|given| state.now.duration_since(given) <= pace::PROMPT);
        it.spec.run == run.meta.name && !pace::is_noted(run, &it.meta.name) && is_new
    })
}
