//! The preflight: what the controller would compute for a run, and every reason for which it would
//! refuse. Pure: computed from what was read, and nothing is written.

mod changes;
mod compute;
mod content;
mod draft;
mod limits;
mod lost;
mod members;
mod neighbours;
mod overrides;
mod point;
mod refusals;
pub mod schema;
mod stages;
mod still_failing;
mod strategy;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use crate::kubefleet::ObjectRef;
use crate::kubefleet::strategy::Strategy;
use crate::report::{NotChecked, Subject, TypeMeta};
use crate::rollout::{StageDefinition, StageEnd};
use crate::words::worded;

pub use changes::{
    ObjectChanges, PlanContents, RefusedObject, RunChanges, ToldByWorks, new_objects, of_run,
};
pub use compute::compute;
pub use lost::CascadingDeletion;
pub use point::{PlanPoint, PointKind, Refusal, RefusalKind, Warning, WarningKind};

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
    /// The run that it is made of, with the same strategy.
    pub made_of: Option<String>,
    /// The runs that are stopped or deleted first.
    pub in_place_of: Vec<String>,
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
    pub violations: Vec<SchemaViolation>,
}

/// A rule of the schema that a strategy breaks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SchemaViolation {
    /// Where: `spec.stages[1].afterStageTasks[0].waitTime`.
    pub path: String,
    /// What stands there.
    pub value: String,
    /// The rest of a sentence that begins with the path: `must be …`.
    pub rule: String,
}

worded! {
    /// What would happen to a run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[schemars(rename = "Outcome")]
    pub enum PlanOutcome {
        /// No reason to refuse it was found.
        Ready = "Ready",
        /// The controller would refuse it.
        Refused = "Refused",
        /// Unknown, because too little could be read.
        Unknown = "Unknown",
    }
}

/// What the controller would compute for a run, and why it would refuse.
#[skip_serializing_none]
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    #[serde(flatten)]
    pub meta: TypeMeta,
    /// What would happen to the run.
    pub outcome: PlanOutcome,
    /// One sentence, true on its own.
    pub summary: String,
    /// The placement.
    pub placement: Subject,
    /// The strategy.
    pub strategy: Subject,
    /// The file from which the strategy was read; absent for a strategy on the hub.
    pub strategy_file: Option<String>,
    /// The run, if its name was given.
    pub run: Option<Subject>,
    #[serde(flatten)]
    pub content: PlannedSnapshot,
    /// The index of the policy snapshot that selected the clusters; absent if unknown.
    pub policy_snapshot: Option<String>,
    /// The stages in order.
    pub stages: Vec<PlannedStage>,
    /// The clusters from which the placement would be removed at the end, by name.
    pub removed: Vec<PlannedCluster>,
    /// Clusters in no stage or in an unknown stage, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unplaced: Vec<PlannedCluster>,
    /// What changes, in groups of clusters with the same changes; empty if the snapshots could not
    /// be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ObjectChanges>,
    /// Why the controller would refuse, in the order of its checks; it reports only the first.
    pub refusals: Vec<Refusal>,
    /// What a person should know.
    pub warnings: Vec<Warning>,
    /// What could not be checked, and why.
    pub not_checked: Vec<NotChecked>,
    /// Whether nothing is applied, because the placement only compares (`ReportDiff`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compares_only: bool,
    /// The clusters of which only the Works may tell what they have.
    #[serde(skip)]
    pub told_by_works: Vec<String>,
    /// The time for which the plan is true: now, or the time of the bundle.
    pub as_of: Timestamp,
}

/// The content that a run would roll out.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlannedSnapshot {
    /// What was requested: an index, or `latest`; absent for the content at that time.
    pub requested_snapshot: Option<String>,
    /// The index of the version, which may be one that is still to be created; absent if it is unknown.
    pub snapshot: Option<String>,
    /// The index of the latest version.
    pub latest_snapshot: Option<String>,
    /// Whether the run gets exactly this version. Without an index, the controller compares the
    /// content with the latest version and creates a new one if it has changed; on a hub, this is known
    /// if all that the placement selects could be read.
    pub snapshot_certain: bool,
    /// When the version was created; absent if it does not exist yet.
    pub snapshot_created: Option<Timestamp>,
    /// When a change was detected that the latest version lacks.
    pub change_detected: Option<Timestamp>,
    /// How many more new snapshots it surely survives; 0 if the next one may delete it.
    pub snapshot_survives: Option<u64>,
}

impl PlannedSnapshot {
    /// Whether it is still to be made.
    pub fn is_next(&self) -> bool {
        self.snapshot.is_some()
            && self.snapshot_created.is_none()
            && !self.snapshot_certain
            && self.latest_snapshot != self.snapshot
    }
}

/// One stage of a planned run.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlannedStage {
    #[serde(flatten)]
    pub definition: StageDefinition,
    /// The resulting number of clusters; absent if the strategy's value is invalid.
    pub concurrency: Option<usize>,
    /// The clusters in the order in which they are updated.
    pub clusters: Vec<PlannedCluster>,
    /// When it is expected to end; absent if that is unknown.
    pub ends: Option<StageEnd>,
}

/// A cluster of a planned run.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlannedCluster {
    /// The member cluster's name.
    pub name: String,
    /// Its turn in the stage, from 1. Clusters that are updated at once have the same turn. A
    /// cluster starts as soon as another one is done, so turns are exact only if all clusters take
    /// the same time.
    pub turn: Option<usize>,
    /// The number in the label that orders the stage's clusters.
    pub order: Option<i64>,
    /// The snapshot that it should have now.
    pub snapshot: Option<String>,
    /// The run that wrote it, if the binding says so.
    pub written_by: Option<String>,
    /// The snapshot that it would get.
    pub new_snapshot: Option<String>,
    /// What that means for it.
    pub change: ClusterChange,
    /// Whether it has the snapshot, and would get other overrides or another apply strategy.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rewritten: bool,
}

worded! {
    /// What a run means for a cluster.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
    pub enum ClusterChange {
        /// It has the snapshot already.
        Unchanged = "unchanged",
        /// It gets a newer one.
        Forward = "forward",
        /// It gets an older one.
        Back = "back",
        /// It gets its first one.
        New = "new",
        /// The placement is removed from it.
        Delete = "delete",
        /// Unknown.
        Unknown = "unknown",
    }
}

impl Plan {
    /// All clusters of all stages, then those from which the placement is removed.
    pub fn clusters(&self) -> impl Iterator<Item = &PlannedCluster> {
        let stages = self.stages.iter().flat_map(|stage| &stage.clusters);
        stages.chain(&self.removed)
    }

    /// Whether all clusters were seen: else nobody can say how many a stage has.
    pub fn sees_clusters(&self) -> bool {
        let is_gap = |gap: &NotChecked| gap.what.ends_with("ResourceBinding");
        self.policy_snapshot.is_some() && !self.not_checked.iter().any(is_gap)
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
