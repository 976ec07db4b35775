//! What is known of the stages, gates, and clusters of a run: every document and every text has it from
//! here, under the same names.

use crate::words::{CommandLine, worded};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use super::StageEnd;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::selector::LabelSelector;
use crate::kubefleet::strategy::{Stage, Task};

/// The progress of one stage.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Stage")]
pub struct StageProgress {
    /// The stage's name.
    pub name: String,
    /// Whether it is the deletion stage: the placement is removed from its clusters.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deletes: bool,
    /// Its state.
    pub state: StageState,
    /// Clusters that may be updated at once.
    pub concurrency: usize,
    /// Clusters done.
    pub done: usize,
    /// Clusters in it.
    pub total: usize,
    /// Its clusters in the order in which they are updated.
    pub clusters: Vec<ClusterProgress>,
    /// Its gates, those before the clusters first.
    pub gates: Vec<GateFacts>,
    /// When its first cluster was started.
    pub started: Option<Timestamp>,
    /// When it was completed.
    pub ended: Option<Timestamp>,
    /// When it is expected to end; absent if that is unknown.
    pub ends: Option<StageEnd>,
}

impl StageProgress {
    /// What it is called: KubeFleet's own name for the deletion stage is a label.
    pub fn label(&self) -> &str {
        if self.deletes { "deletion" } else { &self.name }
    }

    /// The same in a sentence.
    pub fn title(&self) -> String {
        if self.deletes {
            "deletion stage".to_owned()
        } else {
            format!("stage {}", self.name)
        }
    }

    /// Its gates before or after the clusters.
    pub fn gates(&self, when: TaskTime) -> impl Iterator<Item = &GateFacts> {
        let gates = self.gates.iter();
        gates.filter(move |gate| gate.when == Some(when))
    }

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

/// Why a cluster does not have the snapshot that its binding names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub enum Undelivered {
    /// Nothing of it is sent, because its overrides do not fit: the cluster keeps what it had.
    Unsent,
    /// It is only compared (`ReportDiff`): nothing of it is applied.
    Compared,
}

impl Undelivered {
    /// As far as the binding tells.
    pub fn of(binding: &Binding) -> Option<Self> {
        if binding.is_unsent() {
            return Some(Self::Unsent);
        }
        binding.only_compares().then_some(Self::Compared)
    }
}

/// The state of a stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub enum StageState {
    /// Not reached.
    #[default]
    NotReached,
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
        matches!(self, Self::NotReached) || self.is_over()
    }

    /// Whether it is completed, with clusters or without.
    pub const fn is_completed(self) -> bool {
        matches!(self, Self::Done | Self::Skipped)
    }

    /// Whether it is neither completed nor untouched.
    pub const fn is_current(self) -> bool {
        !self.is_completed() && !matches!(self, Self::NotReached)
    }

    /// Whether nothing more happens in the stage, and something did.
    pub const fn is_over(self) -> bool {
        match self {
            Self::NotReached
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
            Self::NotReached => "not reached",
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
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Cluster")]
pub struct ClusterProgress {
    /// The member cluster.
    pub name: String,
    /// Its state.
    pub state: ClusterState,
    /// The snapshot index that the binding names; absent if it names none or was not read.
    pub snapshot: Option<String>,
    /// When the run started it.
    pub started: Option<Timestamp>,
    /// When the run recorded it as done.
    pub ended: Option<Timestamp>,
}

/// The state of a cluster in a stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub enum ClusterState {
    /// Not reached.
    #[default]
    NotReached,
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
            Self::NotReached => "not reached",
            Self::Updating => "updating",
            Self::Stuck => "stuck",
            Self::Left => "left in flight when the run ended",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }
}

/// A stage, as a strategy defines it.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StageDefinition {
    /// Its name.
    pub name: String,
    /// Which clusters belong to it, as a kubectl selector; absent if it selects none.
    pub selector: Option<String>,
    /// The label whose number orders the clusters; absent if they are ordered by name.
    pub ordered_by: Option<String>,
    /// How many clusters are updated at once, as in the strategy: a number or a percentage.
    pub max_concurrency: String,
    /// Its gates, those before the clusters first.
    pub gates: Vec<GateFacts>,
}

impl StageDefinition {
    /// A stage of a strategy.
    pub fn new(stage: &Stage) -> Self {
        let gate = |when, task: &Task| GateFacts {
            stage: stage.name.clone(),
            when: Some(when),
            kind: task.kind.clone(),
            wait: (!task.wait.is_empty()).then(|| task.wait.clone()),
            ..GateFacts::default()
        };
        let before = stage.before.iter().map(|it| gate(TaskTime::Before, it));
        let after = stage.after.iter().map(|it| gate(TaskTime::After, it));
        Self {
            name: stage.name.clone(),
            selector: stage.selector.as_deref().map(LabelSelector::describe),
            ordered_by: (!stage.sorting_label.is_empty()).then(|| stage.sorting_label.clone()),
            max_concurrency: stage.at_once().to_owned(),
            gates: before.chain(after).collect(),
        }
    }

    /// Its gates before or after the clusters.
    pub fn gates(&self, when: TaskTime) -> impl Iterator<Item = &GateFacts> {
        let gates = self.gates.iter();
        gates.filter(move |gate| gate.when == Some(when))
    }
}

/// A gate of a stage: an approval, or a timed wait.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Gate")]
pub struct GateFacts {
    /// The stage.
    pub stage: String,
    /// `before` or `after` the stage's clusters; absent if unknown.
    pub when: Option<TaskTime>,
    /// `Approval` or `TimedWait`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its state.
    pub state: GateState,
    /// The approval request. Its name is known before it exists; in a plan, `RUN` stands for the name
    /// of the run if that was not given.
    pub request: Option<String>,
    /// How long a TimedWait takes, as a Go duration.
    pub wait: Option<String>,
    /// Since when the approval is pending, or the wait is running; absent if that is not recorded.
    pub since: Option<Timestamp>,
    /// When a running TimedWait ends.
    pub until: Option<Timestamp>,
    /// When the controller accepted the approval, or noticed that the wait was over.
    pub ended: Option<Timestamp>,
    /// What a person answered.
    pub answer: Option<PersonAnswer>,
    /// What to run, where there is something to do.
    #[serde(flatten)]
    pub command: Option<CommandLine>,
    /// Whether the request is accepted, and the run's status does not say so yet.
    #[serde(skip)]
    pub is_unnoted: bool,
}

impl GateFacts {
    /// `before` or `after`; empty if unknown.
    pub fn side(&self) -> &'static str {
        self.when.map_or("", TaskTime::as_str)
    }

    /// Whether it is reached and lets nothing through yet.
    pub fn is_open(&self) -> bool {
        self.state != GateState::NotReached && !self.is_passed()
    }

    /// Whether the run has passed it.
    pub const fn is_passed(&self) -> bool {
        self.state.is_passed() && !self.is_unnoted
    }

    /// Whether a person approved, which the run has not taken yet.
    pub fn is_approved(&self) -> bool {
        match self.state {
            GateState::Approved => true,
            GateState::Accepted => self.is_unnoted,
            GateState::RunOver => self.answer.as_ref().is_some_and(|answer| answer.approves),
            _ => false,
        }
    }

    /// Whether it is an approval that still needs a person.
    pub fn needs_a_person(&self) -> bool {
        self.request.is_some() && self.is_open() && !self.is_approved()
    }
}

/// What a person answered to an approval request.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Answer")]
pub struct PersonAnswer {
    /// When, according to the answer's own time.
    pub at: Option<Timestamp>,
    /// Who, if the text says so.
    pub by: Option<String>,
    /// The program that wrote it, if that is recorded.
    pub with: Option<String>,
    /// Why, if the text says so.
    pub reason: Option<String>,
    /// The text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The generation of the request that it is for.
    pub observed_generation: Option<i64>,
    /// Whether it approves: KubeFleet ignores others.
    pub approves: bool,
    /// Whether it takes an approval back that KubeFleet had accepted, which has no effect.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_too_late: bool,
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

/// The state of a gate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub enum GateState {
    /// The run has not reached it; also in plans and strategies.
    #[default]
    NotReached,
    /// The approval is requested and not answered, or the wait is running.
    Pending,
    /// Approved for a generation that is not the request's current one: KubeFleet ignores it.
    Ignored,
    /// `Approved` is not `True`: KubeFleet treats that as no answer.
    Withheld,
    /// Approved, and not accepted by the controller yet.
    Approved,
    /// Approved and accepted: it cannot be reverted.
    Accepted,
    /// The wait is over.
    Done,
    /// The run waits for a request that does not exist.
    Missing,
    /// The request under that name belongs to another run or stage.
    Foreign,
    /// The run ended before the gate opened: nothing reads an approval.
    RunOver,
    /// Its run no longer exists.
    RunGone,
    /// No gate of its run asks for it: nothing reads it.
    NoGate,
    /// The request could not be read.
    Unknown,
}

impl GateState {
    /// The words for people.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::NotReached => "not reached",
            Self::Pending => "pending",
            Self::Ignored => "ignored",
            Self::Withheld => "withheld",
            Self::Approved => "approved",
            Self::Accepted => "accepted",
            Self::Done => "done",
            Self::Missing => "missing",
            Self::Foreign => "foreign",
            Self::RunOver => "run over",
            Self::RunGone => "run gone",
            Self::NoGate => "no gate",
            Self::Unknown => "unknown",
        }
    }

    /// Whether a person has to do something before the run continues.
    pub const fn needs_a_person(self) -> bool {
        matches!(self, Self::Pending | Self::Ignored | Self::Withheld)
    }

    /// Whether the gate lets the run through.
    pub const fn is_passed(self) -> bool {
        matches!(self, Self::Accepted | Self::Done)
    }
}

/// Where the run is at a stage task, by its own status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskState {
    NotReached,
    /// An approval is asked for, or a wait is running.
    Open,
    /// The approval was accepted, or the wait is over.
    Done,
}
