//! Condition types and reasons that rules ask for by name.
//!
//! Source: apis/placement/v1beta1 (types) and pkg/utils/condition/reason.go (reasons).

/// Run: stages computed and snapshots pinned.
pub const INITIALIZED: &str = "Initialized";
/// Run, stage: moving, waiting, stuck, stopping or stopped.
pub const PROGRESSING: &str = "Progressing";
/// Run, stage, cluster: finished.
pub const SUCCEEDED: &str = "Succeeded";
/// Cluster in a stage: its binding was written.
pub const STARTED: &str = "Started";

/// Progressing=False of a run that waits for stage tasks.
pub const RUN_WAITING: &str = "UpdateRunWaiting";
/// Progressing=False of a run with a cluster that did not finish within five minutes.
pub const RUN_STUCK: &str = "UpdateRunStuck";
/// Progressing=Unknown of a run that waits for clusters in flight before it stops.
pub const RUN_STOPPING: &str = "UpdateRunStopping";
/// Progressing=False of a stopped run.
pub const RUN_STOPPED: &str = "UpdateRunStopped";

/// Every reason that a known KubeFleet gives for a run, or a stage, that does not progress.
pub const NOT_PROGRESSING: [&str; 13] = [
    RUN_WAITING,
    RUN_STUCK,
    RUN_STOPPING,
    RUN_STOPPED,
    "UpdateRunSucceeded",
    "UpdateRunFailed",
    STAGE_WAITING,
    STAGE_STOPPED,
    STAGE_SKIPPED,
    "StageUpdatingStopping",
    "StageUpdatingSucceeded",
    "StageUpdatingFailed",
    "StageUpdatingStarted",
];

/// Applied=False of a binding whose cluster has not reported on the new content.
pub const APPLY_IN_PROGRESS: &str = "ApplyInProgress";

/// Progressing=False of a stage that waits for its tasks.
pub const STAGE_WAITING: &str = "StageUpdatingWaiting";
/// `Progressing` of a stage: the run was stopped in it.
pub const STAGE_STOPPED: &str = "StageUpdatingStopped";
/// Succeeded=True of a stage without clusters.
pub const STAGE_SKIPPED: &str = "StageUpdatingSkippedNoClusters";

/// Stage task: the approval request exists.
pub const APPROVAL_REQUEST_CREATED: &str = "ApprovalRequestCreated";
/// Stage task: the approval was taken.
pub const APPROVAL_REQUEST_APPROVED: &str = "ApprovalRequestApproved";
/// Stage task: the wait is over.
pub const WAIT_TIME_ELAPSED: &str = "WaitTimeElapsed";

/// Approval request: written by a person.
pub const APPROVED: &str = "Approved";
/// Approval request: written by the controller.
pub const APPROVAL_ACCEPTED: &str = "ApprovalAccepted";

/// Placement, policy snapshot: the scheduler is done.
pub const SCHEDULED: &str = "Scheduled";
/// Binding: a rollout to the cluster was started.
pub const ROLLOUT_STARTED: &str = "RolloutStarted";
/// Binding: the overrides were applied to the content.
pub const OVERRIDDEN: &str = "Overridden";
/// Binding: the Works were written.
pub const WORK_SYNCHRONIZED: &str = "WorkSynchronized";
/// Binding, Work, manifest: applied on the member.
pub const APPLIED: &str = "Applied";
/// Binding, Work, manifest: available on the member.
pub const AVAILABLE: &str = "Available";
/// Binding, Work, manifest: differences were reported.
pub const DIFF_REPORTED: &str = "DiffReported";
/// Work: details were left out for size.
pub const STATUS_TRIMMED: &str = "StatusTrimmed";
/// Available=True although nothing could be checked.
pub const NOT_TRACKABLE: &str = "NotAllWorkAreAvailabilityTrackable";
/// Member agent: the member's API server answers.
pub const HEALTHY: &str = "Healthy";
/// Member cluster, member agent: part of the fleet.
pub const JOINED: &str = "Joined";
