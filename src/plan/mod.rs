//! The preflight: what the controller would compute for a run, and every reason for which it would
//! refuse. Pure: computed from what was read, and nothing is written.

mod changes;
mod compute;
mod content;
mod delivery;
mod draft;
mod inputs;
mod limits;
mod members;
mod neighbours;
mod overrides;
mod point;
mod policy;
pub mod schema;
mod stages;
mod strategy;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::kubefleet::ObjectRef;
use crate::kubefleet::strategy::Strategy;
use crate::report::{NotChecked, Subject};
use crate::words::worded;

pub use changes::{ObjectChanges, PlanContents, of_run};
pub use compute::compute;
pub use delivery::{Carriers, may_carry};
pub use point::{Kinded, Point, Refusal, RefusalKind, Warning, WarningKind};

/// The run that someone thinks of.
#[derive(Debug, Clone)]
pub struct PlannedRun {
    /// The placement to roll out.
    pub placement: ObjectRef,
    pub strategy: StrategyChoice,
    /// The index of the snapshot, or `latest`; `None` means the content as it is then.
    pub snapshot: Option<String>,
    /// The run's name, where it has one already: approval requests are named after it.
    pub run: Option<String>,
}

/// The strategy of a planned run.
#[derive(Debug, Clone)]
pub enum StrategyChoice {
    /// One that exists in the placement's scope, by its name.
    Named(String),
    /// One that is not applied yet.
    Given(Box<GivenStrategy>),
}

/// A strategy that is not applied yet.
#[derive(Debug, Clone)]
pub struct GivenStrategy {
    /// The strategy, as far as it can be read.
    pub strategy: Strategy,
    /// Where it comes from: a file's name.
    pub source: String,
    /// The rules of the schema that it breaks.
    pub violations: Vec<Violation>,
}

/// A rule of the schema that a strategy breaks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// Where: `spec.stages[1].afterStageTasks[0].waitTime`.
    pub path: String,
    /// What stands there.
    pub value: String,
    /// The rest of a sentence that begins with the path: `must be …`.
    pub rule: String,
}

worded! {
    /// What would become of a run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[schemars(rename = "Outcome")]
    pub enum PlanOutcome {
        /// Nothing that was seen speaks against it.
        Ready = "Ready",
        /// The controller would refuse it.
        Refused = "Refused",
        /// Too little was seen to say.
        Unknown = "Unknown",
    }
}

/// What the controller would compute for a run, and why it would refuse.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// Always `kubectl-fleet-stage/v1`.
    pub api_version: String,
    /// Always `Plan`.
    pub kind: String,
    /// What would become of the run.
    pub outcome: PlanOutcome,
    /// One sentence, true on its own.
    pub summary: String,
    /// The placement.
    pub placement: Subject,
    /// The strategy.
    pub strategy: Subject,
    /// The file from which the strategy was read; absent for one of the hub.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy_file: Option<String>,
    /// The run's name, where it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The content.
    pub snapshot: PlannedSnapshot,
    /// The index of the policy snapshot that selected the clusters; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_snapshot: Option<String>,
    /// The stages in order.
    pub stages: Vec<PlannedStage>,
    /// The clusters from which the placement would be removed at the end, by name.
    pub removed: Vec<PlannedCluster>,
    /// Clusters that are in no stage, or of which nobody can say in which, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unplaced: Vec<PlannedCluster>,
    /// What changes in the clusters, by clusters where the same changes; empty where the snapshots
    /// could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ObjectChanges>,
    /// Why the controller would refuse, in the order in which it looks; it tells only the first.
    pub refusals: Vec<Refusal>,
    /// What a person should know.
    pub warnings: Vec<Warning>,
    /// What could not be judged, and why.
    pub not_checked: Vec<NotChecked>,
    /// The moment for which the plan is true: the clock, or the time of the bundle.
    #[schemars(with = "String")]
    pub as_of: Timestamp,
}

/// The content that a run would roll out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlannedSnapshot {
    /// What was asked for: an index, or `latest`; absent for the content as it is then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// The index of the version; absent where it does not exist or is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// The index of the latest version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest: Option<String>,
    /// Whether the run gets exactly this version. Without an index the controller compares the
    /// content with the latest version and makes a new one where it has changed, which cannot be
    /// seen before.
    pub certain: bool,
    /// When it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub created: Option<Timestamp>,
    /// When a change was noticed that the latest version lacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub change_detected: Option<Timestamp>,
    /// How many more new snapshots it survives; 0 when the next one deletes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub survives: Option<u64>,
}

/// One stage of a planned run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlannedStage {
    /// Its name.
    pub name: String,
    /// Which clusters belong to it, as kubectl writes selectors; absent where it selects none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// The label whose number orders the clusters; absent where they go by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ordered_by: Option<String>,
    /// How many clusters are updated at once, as the strategy says it: a number or a percentage.
    pub max_concurrency: String,
    /// How many that are here; absent where the strategy's value is not valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<usize>,
    /// The tasks before the first cluster.
    pub before: Vec<PlannedTask>,
    /// The clusters in the order of their update.
    pub clusters: Vec<PlannedCluster>,
    /// The tasks after the last cluster; they run side by side.
    pub after: Vec<PlannedTask>,
}

/// A stage task of a planned run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlannedTask {
    /// `Approval` or `TimedWait`.
    #[serde(rename = "type")]
    pub kind: String,
    /// How long a TimedWait takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<String>,
    /// The approval request's name as the controller gives it; `RUN` stands for the run's where
    /// that was not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_request: Option<String>,
}

/// A cluster of a planned run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlannedCluster {
    /// The member cluster's name.
    pub name: String,
    /// Its turn in the stage, from 1: as many clusters as go at once have the same. A cluster
    /// begins as soon as another one is done, so that turns are exact only where all take as long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<usize>,
    /// The number in the label that orders the stage's clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<i64>,
    /// The snapshot that it is to have now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot_now: Option<String>,
    /// The run that wrote it, where the binding says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_by: Option<String>,
    /// The snapshot that it would get.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot_then: Option<String>,
    /// What that means for it.
    pub change: ClusterChange,
}

/// What a run means for a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ClusterChange {
    /// It has the snapshot already.
    Unchanged,
    /// It gets a newer one.
    Forward,
    /// It gets an older one.
    Back,
    /// It gets its first one.
    New,
    /// The placement is removed from it.
    Delete,
    /// Nobody can say.
    Unknown,
}

impl ClusterChange {
    /// The word for people: what takes something back is loud.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Forward => "forward",
            Self::Back => "BACK",
            Self::New => "new",
            Self::Delete => "delete",
            Self::Unknown => "unknown",
        }
    }
}

impl Plan {
    /// All clusters of all stages, then those from which the placement is removed.
    pub fn clusters(&self) -> impl Iterator<Item = &PlannedCluster> {
        self.stages
            .iter()
            .flat_map(|stage| &stage.clusters)
            .chain(&self.removed)
    }

    /// The clusters that would get an older snapshot than they have, also where nobody can say in
    /// which stage.
    pub fn going_back(&self) -> impl Iterator<Item = &PlannedCluster> {
        self.clusters()
            .chain(&self.unplaced)
            .filter(|cluster| cluster.change == ClusterChange::Back)
    }

    pub fn warnings_of(&self, kind: WarningKind) -> impl Iterator<Item = &Warning> {
        self.warnings
            .iter()
            .filter(move |warning| warning.kind == kind)
    }

    /// Whether the hub begins with every run at once, whatever its `spec.state`.
    pub fn starts_at_once(&self) -> bool {
        self.warnings_of(WarningKind::StateIgnoredByHub)
            .next()
            .is_some()
    }
}
