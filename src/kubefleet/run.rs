//! ClusterStagedUpdateRun and StagedUpdateRun.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::apply::ApplyStrategy;
use super::duration;
use super::kind::Concept;
use super::meta::{Condition, Conditions, ObjectMeta};
use super::names;
use super::override_names::{NamespacedName, override_names};
use super::reasons;
use super::scope::{ObjectRef, Scope};
use super::strategy::StrategySpec;
use super::tolerant::model;

model! {
    /// An update run, in either scope.
    pub struct UpdateRun {
        pub meta: ObjectMeta = "metadata",
        pub spec: RunSpec = "spec",
        pub status: RunStatus = "status",
    }

    /// `spec` of an update run.
    pub struct RunSpec {
        /// The placement, in the run's own scope.
        pub placement: String = "placementName",
        /// The snapshot index that was asked for; empty means the current content.
        pub snapshot_index: String = "resourceSnapshotIndex",
        /// The strategy, in the run's own scope.
        pub strategy: String = "stagedRolloutStrategyName",
        /// What the run should do; absent in v1alpha1. See [`RunSpec::wants`].
        pub state: Option<String> = "state",
        ; pub unknown
    }

    /// `status` of an update run.
    pub struct RunStatus {
        /// Index of the scheduling policy snapshot that the run was computed from.
        pub policy_index: String = "policySnapshotIndexUsed",
        /// Clusters that the policy asked for; -1 with PickAll before they were counted.
        pub policy_cluster_count: Option<i64> = "policyObservedClusterCount",
        /// Index of the resource snapshot that the run rolls out. v1alpha1, and all of v0.0.1, has
        /// no such field: there it is the one that was asked for.
        pub snapshot_index: String = "resourceSnapshotIndexUsed",
        pub snapshot_index_asked: bool,
        /// The placement's apply strategy as it was at initialization.
        pub apply_strategy: Option<Box<ApplyStrategy>> = "appliedStrategy",
        /// The strategy as it was at initialization: later edits of the object change nothing.
        pub strategy: Option<Box<StrategySpec>> = "stagedUpdateStrategySnapshot",
        /// The stages in order; the same indexes as in `strategy`.
        pub stages: Vec<StageStatus> = "stagesStatus",
        /// The clusters from which the placement is removed at the end.
        pub deletion_stage: Option<Box<StageStatus>> = "deletionStageStatus",
        /// Initialized, Progressing, Succeeded.
        pub conditions: Vec<Condition> = "conditions",
    }

    pub struct StageStatus {
        pub name: String = "stageName",
        /// Its clusters, in the order in which they are updated.
        pub clusters: Vec<ClusterStatus> = "clusters",
        /// The tasks before the first cluster.
        pub before: Vec<TaskStatus> = "beforeStageTaskStatus",
        /// The tasks after the last cluster; they run in parallel.
        pub after: Vec<TaskStatus> = "afterStageTaskStatus",
        /// When its first cluster was started.
        pub started: Option<Timestamp> = "startTime",
        /// When it was completed.
        pub ended: Option<Timestamp> = "endTime",
        /// Progressing, Succeeded.
        pub conditions: Vec<Condition> = "conditions",
    }

    /// The progress of one cluster in a stage.
    pub struct ClusterStatus {
        pub name: String = "clusterName",
        /// The override snapshots pinned for it at initialization.
        pub overrides: Vec<NamespacedName> = "resourceOverrideSnapshots",
        /// The cluster override snapshots pinned for it at initialization.
        pub cluster_overrides: Vec<String> = "clusterResourceOverrideSnapshots",
        /// Started, Succeeded.
        pub conditions: Vec<Condition> = "conditions",
    }

    /// The progress of one stage task.
    pub struct TaskStatus {
        /// `Approval` or `TimedWait`.
        pub kind: String = "type",
        /// The approval request's name, for approvals; it stands here before the object exists.
        pub approval_request: String = "approvalRequestName",
        /// ApprovalRequestCreated, ApprovalRequestApproved, WaitTimeElapsed.
        pub conditions: Vec<Condition> = "conditions",
    }
}

/// What `spec.state` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// Compute the stages, then wait. The default where the field is served.
    Initialize,
    /// Execute.
    Run,
    /// Start nothing new.
    Stop,
    /// A value of KubeFleet 0.1, which ignored the field, or of a later one.
    Other,
}

/// Our annotation of a run that says which content it was made for, and its one value: that of the hub at that
/// time, although the run names an index so that it gets what was shown.
pub const CONTENT: &str = "kubectl-fleet-stage/content";
pub const CURRENT_CONTENT: &str = "current";

/// Our annotation of a run that goes back: the index of the newest snapshot that it takes back. The run that
/// brought it may be deleted for it.
pub const ROLLED_BACK: &str = "kubectl-fleet-stage/rolled-back";

impl RunSpec {
    /// How long a cluster may take before the run is stuck, where the run itself says so. No
    /// released version has such a field: it is known by its name, `stuckThreshold` with a prefix
    /// or a unit.
    pub fn stuck_threshold(&self) -> Option<SignedDuration> {
        self.unknown.iter().find_map(|(field, value)| {
            let field = field.to_lowercase();
            let (_, unit) = field.split_once("stuckthreshold")?;
            let limit = match (value, unit) {
                (Value::String(text), "") => duration::parse(text)?,
                (Value::Number(number), "seconds") => SignedDuration::from_secs(number.as_i64()?),
                (Value::Number(number), "minutes") => {
                    SignedDuration::from_secs(number.as_i64()?.checked_mul(60)?)
                }
                _ => return None,
            };
            limit.is_positive().then_some(limit)
        })
    }

    /// What `spec.state` asks for, by the words of KubeFleet 0.2 and later.
    pub fn wants(&self) -> RunState {
        match self.state.as_deref() {
            None | Some("" | "Initialize") => RunState::Initialize,
            Some("Run") => RunState::Run,
            Some("Stop") => RunState::Stop,
            Some(_) => RunState::Other,
        }
    }

    /// Whether no known KubeFleet has that state.
    pub fn is_unknown_state(&self) -> bool {
        let state = self.state.as_deref().unwrap_or_default();
        self.wants() == RunState::Other && !OLD_STATES.contains(&state)
    }
}

/// The states of KubeFleet 0.1 that later versions do not have.
const OLD_STATES: [&str; 7] = [
    "NotStarted",
    "Started",
    "Stopped",
    "Abandoned",
    "Execute",
    "Pause",
    "Abandon",
];

/// What a run has that no known KubeFleet gives it: what the controller does next is unknown then.
#[derive(Debug, Clone, Copy)]
pub enum UnknownTerm<'r> {
    /// Its state.
    State(&'r str),
    /// The reason for which it, or a stage of it, does not progress.
    Reason(&'r Condition),
    /// The type of a task of a stage that is not done.
    Task(&'r StageStatus, &'r TaskStatus),
}

impl UpdateRun {
    /// Whether it applies nothing to clusters: it only reports how they differ from its snapshot.
    pub fn only_compares(&self) -> bool {
        let apply = self.status.apply_strategy.as_deref();
        apply.is_some_and(ApplyStrategy::is_report_diff)
    }

    /// Whether the controller has ever touched it. Its first deed is to add its finalizer.
    /// Source: updaterun/controller.go:ensureFinalizer.
    pub fn is_seen(&self) -> bool {
        let mut finalizers = self.meta.finalizers.iter();
        finalizers.any(|it| it == names::RUN_FINALIZER)
            || !self.status.conditions.is_empty()
            || !self.status.policy_index.is_empty()
            || !self.status.stages.is_empty()
    }

    /// A run as somebody makes it: the controller has not looked yet.
    pub fn made(name: &str, namespace: &str, spec: RunSpec, now: Timestamp) -> Self {
        Self {
            meta: ObjectMeta {
                name: name.to_owned(),
                namespace: namespace.to_owned(),
                generation: Some(1),
                created: Some(now),
                ..ObjectMeta::default()
            },
            spec,
            ..Self::default()
        }
    }

    /// Says what the version in which it was read has no field for.
    pub(super) fn fill_in(&mut self) {
        let initialized = self.status.conditions.is_true(reasons::INITIALIZED);
        if self.status.snapshot_index.is_empty() && initialized {
            self.status
                .snapshot_index
                .clone_from(&self.spec.snapshot_index);
            self.status.snapshot_index_asked = true;
        }
    }

    /// Where the index of the snapshot stands that it rolls out.
    pub const fn snapshot_path(&self) -> &'static str {
        if self.status.snapshot_index_asked {
            "spec.resourceSnapshotIndex"
        } else {
            "status.resourceSnapshotIndexUsed"
        }
    }

    /// The snapshot index that somebody asked for.
    pub fn pinned(&self) -> Option<&str> {
        let content = self.meta.annotations.get(CONTENT);
        let is_named = content.is_none_or(|it| it != CURRENT_CONTENT);
        Some(self.spec.snapshot_index.trim()).filter(|index| is_named && !index.is_empty())
    }

    /// The snapshot that it was made to take back, by the word of who made it.
    pub fn rolled_back(&self) -> Option<&str> {
        self.meta.annotations.get(ROLLED_BACK).map(String::as_str)
    }

    pub fn scope(&self) -> Scope {
        Scope::of_namespace(&self.meta.namespace)
    }

    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        self.status.conditions.condition(kind)
    }

    /// Whether the controller stopped it as its spec is now.
    pub fn is_stopped(&self) -> bool {
        let progressing = self.condition(reasons::PROGRESSING);
        progressing.is_some_and(|it| {
            it.reason == reasons::RUN_STOPPED && it.observes(self.meta.generation)
        })
    }

    /// What it has that no known KubeFleet gives it.
    pub fn unknown_term(&self) -> Option<UnknownTerm<'_>> {
        if self.spec.is_unknown_state() {
            return self.spec.state.as_deref().map(UnknownTerm::State);
        }
        let stages = self.all_stages().map(|stage| &stage.conditions);
        let all = std::iter::once(&self.status.conditions).chain(stages);
        let mut progress = all.filter_map(|it| it.condition(reasons::PROGRESSING));
        let unknown = progress
            .find(|it| !it.is_true() && !reasons::NOT_PROGRESSING.contains(&it.reason.as_str()));
        unknown.map(UnknownTerm::Reason).or_else(|| {
            let reached = self.all_stages().filter(|stage| {
                !stage.is_done() && stage.conditions.condition(reasons::PROGRESSING).is_some()
            });
            let mut tasks = reached.flat_map(|stage| stage.tasks().map(move |task| (stage, task)));
            let (stage, task) = tasks.find(|(_, it)| !it.is_approval() && !it.is_timed_wait())?;
            Some(UnknownTerm::Task(stage, task))
        })
    }

    /// The placement that it rolls out.
    pub fn placement(&self) -> ObjectRef {
        self.scope()
            .object(Concept::Placement, &self.spec.placement)
    }

    /// Its stages, then the deletion stage.
    pub fn all_stages(&self) -> impl Iterator<Item = &StageStatus> {
        self.status
            .stages
            .iter()
            .chain(self.status.deletion_stage.as_deref())
    }

    /// The clusters of its stages, without those of the deletion stage.
    pub fn updated_clusters(&self) -> impl Iterator<Item = &ClusterStatus> + Clone {
        self.status.stages.iter().flat_map(|stage| &stage.clusters)
    }

    /// The override snapshots that it recorded for the clusters of its stages.
    pub fn override_names(&self) -> impl Iterator<Item = ObjectRef> {
        self.updated_clusters()
            .flat_map(ClusterStatus::override_names)
    }

    pub fn has_succeeded(&self) -> bool {
        self.status.conditions.is_true(reasons::SUCCEEDED)
    }

    pub fn tasks(&self) -> impl Iterator<Item = &TaskStatus> {
        self.all_stages().flat_map(StageStatus::tasks)
    }

    /// When the controller last wrote its status, as far as that is told: by who wrote what, else by the
    /// conditions, whose time changes with their status only.
    pub fn last_write(&self) -> Option<Timestamp> {
        self.status_writes().max()
    }

    /// The conditions of its status, and of its stages with their tasks and clusters.
    pub fn all_conditions(&self) -> impl Iterator<Item = &Condition> {
        let stages = self.all_stages().flat_map(|stage| {
            let tasks = stage.tasks().flat_map(|task| &task.conditions);
            let clusters = stage.clusters.iter().flat_map(|it| &it.conditions);
            stage.conditions.iter().chain(tasks).chain(clusters)
        });
        self.status.conditions.iter().chain(stages)
    }

    /// The times at which its status is known to have been written, in no order.
    pub fn status_writes(&self) -> impl Iterator<Item = Timestamp> {
        let managed = self.meta.managed.iter();
        let writes = managed.filter(|write| write.subresource == "status");
        let noted = self.all_conditions().filter_map(|it| it.since);
        noted.chain(writes.filter_map(|write| write.time))
    }

    /// The clusters that it has started and not finished.
    pub fn in_flight(&self) -> impl Iterator<Item = &ClusterStatus> {
        let clusters = self.all_stages().flat_map(|stage| &stage.clusters);
        clusters
            .filter(|cluster| cluster.conditions.is_true(reasons::STARTED) && !cluster.is_done())
    }
}

impl ClusterStatus {
    /// Whether the run is done with the cluster.
    pub fn is_done(&self) -> bool {
        self.conditions.is_true(reasons::SUCCEEDED)
    }

    /// The override snapshots that the run recorded for the cluster.
    pub fn override_names(&self) -> impl Iterator<Item = ObjectRef> {
        override_names(&self.cluster_overrides, &self.overrides)
    }
}

impl StageStatus {
    /// Whether the stage is completed, its tasks too.
    pub fn is_done(&self) -> bool {
        self.conditions.is_true(reasons::SUCCEEDED)
    }

    /// Its tasks, those before the clusters first.
    pub fn tasks(&self) -> impl Iterator<Item = &TaskStatus> {
        self.before.iter().chain(&self.after)
    }

    /// Its gates, in the same order.
    pub fn approvals(&self) -> impl Iterator<Item = &TaskStatus> {
        self.tasks().filter(|task| task.is_approval())
    }
}

impl TaskStatus {
    pub fn is_approval(&self) -> bool {
        self.kind == "Approval"
    }

    pub fn is_timed_wait(&self) -> bool {
        self.kind == "TimedWait"
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::UpdateRun;
    use crate::kubefleet::object::Object;

    fn read(spec: &Value, status: &Value) -> Arc<UpdateRun> {
        Object::of_type(&json!({
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": "ClusterStagedUpdateRun",
            "metadata": {"name": "run"}, "spec": spec, "status": status,
        }))
    }

    #[test]
    fn a_limit_of_the_runs_own_is_known_by_its_name() {
        let limit = |field: &str, value: Value| {
            let run = read(&json!({field: value}), &json!({}));
            run.spec.stuck_threshold().map(|it| it.as_secs())
        };
        assert_eq!(limit("stuckThreshold", json!("20m")), Some(1200));
        assert_eq!(limit("updateRunStuckThreshold", json!("1h")), Some(3600));
        assert_eq!(limit("stuckThresholdSeconds", json!(90)), Some(90));
        assert_eq!(limit("clusterStuckThresholdMinutes", json!(7)), Some(420));
        assert_eq!(limit("stuckThreshold", json!("-5m")), None);
        assert_eq!(limit("stuckThreshold", json!("soon")), None);
        assert_eq!(limit("stuckThresholdSeconds", json!("90")), None);
        assert_eq!(limit("threshold", json!("20m")), None);
    }

    #[test]
    fn the_index_that_was_asked_for_stands_in_where_none_is_recorded() {
        let used = |status: &Value| {
            let run = read(&json!({"resourceSnapshotIndex": "3"}), status);
            run.status.snapshot_index.clone()
        };
        let initialized = |status: &str| json!([{"type": "Initialized", "status": status}]);
        assert_eq!(used(&json!({"conditions": initialized("True")})), "3");
        assert_eq!(used(&json!({"conditions": initialized("False")})), "");
        assert_eq!(used(&json!({})), "");
        let recorded = json!({
            "resourceSnapshotIndexUsed": "2", "conditions": initialized("True"),
        });
        assert_eq!(used(&recorded), "2");
    }
}
