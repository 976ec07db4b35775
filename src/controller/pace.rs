//! How often the controller looks at a run, and what makes it look at once.

use jiff::{SignedDuration, Timestamp};

use crate::kubefleet::run::{RunState, StageStatus, UpdateRun};
use crate::kubefleet::{Conditions, reasons};
use crate::rollout::AgentVersion;
pub use crate::rollout::{LONGEST, LOOK_EVERY};

/// How often it looks at a stage that waits for its tasks.
/// Source: updaterun/execution.go:stageUpdatingWaitTime.
pub const STAGE_EVERY: SignedDuration = SignedDuration::from_secs(60);

/// How long a look takes that something started which the controller watches: the run's spec, and
/// the `Approved` condition or the deletion of an approval request.
/// Source: updaterun/controller.go:SetupWithManagerForClusterStagedUpdateRun.
pub const PROMPT: SignedDuration = SignedDuration::from_secs(10);

/// When a look is followed by the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requeue {
    /// Only something that is watched makes it look again.
    Never,
    After(SignedDuration),
    /// At once, and then ever more rarely as long as the error lasts.
    Backoff,
}

/// The time after which the next look has come for certain, where something has lasted since.
pub fn within(requeue: Requeue, since: Option<Timestamp>, now: Timestamp) -> SignedDuration {
    match requeue {
        Requeue::Never => PROMPT,
        Requeue::After(wait) => wait.saturating_add(PROMPT),
        // The waits double, so the next is as long as all before.
        Requeue::Backoff => since
            .map_or(LONGEST, |since| now.duration_since(since))
            .clamp(LOOK_EVERY, LONGEST),
    }
}

/// Some looks that it may miss.
pub const MISSED: SignedDuration = SignedDuration::from_secs(120);

/// By how much a look may come later than that before the controller counts as silent: some looks
/// that it missed, and where an error may have made them rare, the longest time between two.
pub fn grace(pace: SignedDuration, runs: bool) -> SignedDuration {
    if runs {
        LONGEST.max(pace).saturating_add(MISSED)
    } else {
        MISSED
    }
}

/// Whether the run has noted that a request is approved: what is written of it then changes nothing.
/// Source: updaterun/execution.go:handleStageApprovalTask.
pub fn is_noted(run: &UpdateRun, request: &str) -> bool {
    let mut tasks = run.all_stages().flat_map(StageStatus::tasks);
    tasks.any(|task| {
        task.approval_request == request
            && task.conditions.is_true(reasons::APPROVAL_REQUEST_APPROVED)
    })
}

/// Whether the controller is done with a run until something that it watches changes: it stopped the
/// run as the spec is now.
pub fn is_at_rest(run: &UpdateRun, version: AgentVersion) -> bool {
    version > AgentVersion::V01 && run.spec.wants() == RunState::Stop && run.is_stopped()
}

/// Whether the controller has looked at the run's spec as it is now.
pub fn is_observed(run: &UpdateRun) -> bool {
    let conditions = &run.status.conditions;
    let of = |kind| conditions.condition(kind);
    of(reasons::PROGRESSING)
        .or_else(|| of(reasons::INITIALIZED))
        .is_some_and(|condition| condition.observes(run.meta.generation))
}
