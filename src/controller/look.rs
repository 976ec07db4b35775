//! A look at a run at some moment, and whether there is one.

use jiff::Timestamp;

use super::pace;
use super::reconcile::{LookResult, Reconciler};
use super::state::State;
use crate::kubefleet::run::RunState;
use crate::kubefleet::{Conditions, reasons};
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
        && run
            .status
            .conditions
            .condition(reasons::SUCCEEDED)
            .is_none()
        && pace::is_observed(run);
    waits || (!run.meta.is_deleting() && pace::is_at_rest(run, state.version))
}

/// Whether an approval was given that the controller has not looked at: it looks then, even at a run
/// that rests, and checks it.
pub(super) fn is_woken(state: &State) -> bool {
    let run = &state.run;
    let wrote = pace::last_write(run);
    state.approvals.iter().any(|it| {
        let given = it.approved().and_then(|approved| approved.since);
        it.spec.run == run.meta.name && it.counts() && !it.is_accepted() && given > wrote
    })
}
