//! What changes under a run: it fails when it is checked next, or has failed.

use super::case::Case;
use super::report::Finding;
use crate::kubefleet::run::UpdateRun;

pub(super) use super::failing::finding;

/// Ends the steps of a failed run: it cannot go on, a new one takes its place.
pub(super) fn new_run(case: &Case<'_>, finding: Finding, action: impl Into<String>) -> Finding {
    finding.fix(action, case.new_run_command())
}

/// What comes after a warning about a run that is still alive and will fail for it.
pub(super) fn replace_live(case: &Case<'_>, finding: Finding) -> Finding {
    new_run(
        case,
        finding,
        "Make a new run: it takes the placement as it is now, and this one cannot adopt the change.",
    )
}

/// The live run that will be checked against its recorded state again: initialized and not over.
pub(super) fn live_run<'i>(case: &Case<'i>) -> Option<&'i UpdateRun> {
    use crate::rollout::Phase;
    let rollout = case.rollout.as_ref()?;
    matches!(
        rollout.phase,
        Phase::Idle | Phase::Executing | Phase::Stopping | Phase::Stopped
    )
    .then_some(rollout.run)
}
