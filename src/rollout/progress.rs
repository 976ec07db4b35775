//! How far a run has come, as reports, trees and tables show it.

use crate::words::worded;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// The stages and clusters of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// The placement that is rolled out.
    pub placement: String,
    /// The strategy of the run.
    pub strategy: String,
    /// The index of the snapshot that is rolled out; absent until the run is initialized.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// Whether nothing is applied: clusters are done when their differences are reported.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub only_compares: bool,
    /// Clusters done, over all stages.
    pub done: usize,
    /// Clusters in all stages.
    pub total: usize,
    /// The stages in order; the deletion stage comes last, if it has clusters.
    pub stages: Vec<StageProgress>,
    /// When the run ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub ended: Option<Timestamp>,
}

/// The progress of one stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StageProgress {
    /// The stage's name.
    pub name: String,
    /// Whether the placement is removed from these clusters instead of updated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deletes: bool,
    /// Its state.
    pub state: StageState,
    /// Clusters that may be updated at once.
    pub max_concurrency: usize,
    /// Its clusters in the order in which they are updated.
    pub clusters: Vec<ClusterProgress>,
    /// Its tasks, those before the clusters first.
    pub tasks: Vec<TaskProgress>,
    /// When its first cluster was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub started: Option<Timestamp>,
    /// When it was completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub ended: Option<Timestamp>,
}

impl StageProgress {
    /// How many clusters are done.
    pub fn done(&self) -> usize {
        self.count(|state| state == ClusterState::Done)
    }

    /// How many of the slots are in use: clusters that were started and are not done.
    pub fn in_flight(&self) -> usize {
        self.count(ClusterState::is_in_flight)
    }

    fn count(&self, is_meant: impl Fn(ClusterState) -> bool) -> usize {
        let states = self.clusters.iter().map(|cluster| cluster.state);
        states.filter(|state| is_meant(*state)).count()
    }
}

/// The state of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub enum StageState {
    /// Not reached.
    Pending,
    /// Waits for an approval before its first cluster.
    WaitingBefore,
    /// Clusters are being updated.
    Updating,
    /// Clusters are done, its tasks are not.
    WaitingAfter,
    /// A stop was requested while clusters are in flight.
    Stopping,
    /// Stopped.
    Stopped,
    /// Completed.
    Done,
    /// Completed without a cluster: its tasks were skipped too.
    Skipped,
    /// Failed.
    Failed,
    /// The run was aborted while the stage waited before its first cluster.
    AbortedBefore,
    /// The run was aborted while clusters of the stage were being updated.
    AbortedUpdating,
    /// The run was aborted while the stage waited after its last cluster.
    AbortedAfter,
    /// The run was aborted while it was stopped in the stage, or to be stopped.
    AbortedStopped,
}

impl StageState {
    /// Whether nothing more happens in the stage: it is over, or was never reached.
    pub const fn is_settled(self) -> bool {
        matches!(self, Self::Pending) || self.is_over()
    }

    /// Whether nothing more happens in the stage, and something did.
    pub const fn is_over(self) -> bool {
        match self {
            Self::Pending
            | Self::WaitingBefore
            | Self::Updating
            | Self::WaitingAfter
            | Self::Stopping
            | Self::Stopped => false,
            Self::Done
            | Self::Skipped
            | Self::Failed
            | Self::AbortedBefore
            | Self::AbortedUpdating
            | Self::AbortedAfter
            | Self::AbortedStopped => true,
        }
    }

    /// The state of a stage whose run ended in it.
    #[must_use]
    pub(super) const fn aborted(self) -> Self {
        match self {
            Self::WaitingBefore => Self::AbortedBefore,
            Self::Updating => Self::AbortedUpdating,
            Self::WaitingAfter => Self::AbortedAfter,
            Self::Stopping | Self::Stopped => Self::AbortedStopped,
            over => over,
        }
    }

    /// The words for people.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Pending => "not reached",
            Self::WaitingBefore => "waiting to start",
            Self::Updating => "updating",
            Self::WaitingAfter => "waiting to finish",
            Self::Stopping => "stopping",
            Self::Stopped => "stopped",
            Self::Done => "done",
            Self::Skipped => "skipped, no clusters",
            Self::Failed => "failed",
            Self::AbortedBefore => "aborted before its clusters",
            Self::AbortedUpdating => "aborted while updating",
            Self::AbortedAfter => "aborted after its clusters",
            Self::AbortedStopped => "aborted at a stop",
        }
    }
}

/// The progress of one cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterProgress {
    /// The member cluster.
    pub name: String,
    /// Its state.
    pub state: ClusterState,
    /// The snapshot index that the binding names; absent if it names none or was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// When the run started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub started: Option<Timestamp>,
    /// When the run recorded it as done.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub ended: Option<Timestamp>,
}

/// The state of a cluster in a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub enum ClusterState {
    /// Not reached.
    Pending,
    /// Started, and within the time that the controller allows.
    Updating,
    /// Started more than five minutes ago and not done.
    Stuck,
    /// Done.
    Done,
    /// Started, and not done when the run ended: nothing watches it.
    Left,
    /// Failed.
    Failed,
}

impl ClusterState {
    /// Whether the cluster was started and is not done, while the run continues.
    pub const fn is_in_flight(self) -> bool {
        matches!(self, Self::Updating | Self::Stuck)
    }

    /// The word for people.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Pending => "not reached",
            Self::Updating => "updating",
            Self::Stuck => "stuck",
            Self::Left => "left in flight when the run ended",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }
}

/// The progress of one stage task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskProgress {
    /// `before` or `after` the stage's clusters.
    pub when: TaskTime,
    /// `Approval` or `TimedWait`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its state.
    pub state: TaskState,
    /// The approval request, for approvals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_request: Option<String>,
    /// Since when the approval is pending, or the wait is running; absent if that is not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub since: Option<Timestamp>,
    /// When a running TimedWait ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub until: Option<Timestamp>,
    /// When the controller accepted the approval, or noticed that the wait was over.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub ended: Option<Timestamp>,
}

worded! {
    /// When a stage task takes place.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
    pub enum TaskTime {
        /// Before the stage's first cluster.
        Before = "before",
        /// After the stage's last cluster.
        After = "after",
    }
}

/// The state of a stage task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub enum TaskState {
    /// Not reached.
    Pending,
    /// An approval is pending, or a wait is running.
    Open,
    /// Approved, and not accepted by the controller yet.
    Approved,
    /// The approval was accepted, or the wait is over.
    Done,
}
