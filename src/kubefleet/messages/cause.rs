//! What a failure text says: the causes that KubeFleet names.

use super::pattern::word;

/// An object's key as controllers print it: `/name`, `namespace/name`, or the bare name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ObjectKey {
    /// None for a cluster-scoped object and where only the name was printed.
    pub namespace: Option<String>,
    /// The object's name.
    pub name: String,
}

impl ObjectKey {
    /// Reads the first word of `text` as a key, or what Go prints of a struct: `{NAME NAMESPACE}`.
    pub fn parse(text: &str) -> Self {
        let fields = text
            .trim()
            .strip_prefix('{')
            .and_then(|it| it.strip_suffix('}'));
        if let Some((name, namespace)) = fields.and_then(|it| it.split_once(' ')) {
            return Self {
                namespace: Some(namespace.trim().to_owned()).filter(|it| !it.is_empty()),
                name: name.to_owned(),
            };
        }
        let key = word(text);
        match key.split_once('/') {
            Some((namespace, name)) => Self {
                namespace: Some(namespace.to_owned()).filter(|namespace| !namespace.is_empty()),
                name: name.to_owned(),
            },
            None => Self {
                namespace: None,
                name: key.to_owned(),
            },
        }
    }
}

impl std::fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{namespace}/{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// What is wrong with a stage's tasks
/// (updaterun/initialization.go:validateBeforeStageTask, validateAfterStageTask).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TaskProblem {
    /// More than one task before a stage.
    TooMany,
    /// A task type that is not allowed before a stage.
    TypeNotAllowed {
        task: Option<u32>,
        task_type: String,
    },
    /// An approval with a wait time.
    WaitNotAllowed { task: Option<u32> },
    /// Two tasks of one type after a stage.
    DuplicateType { task_type: String },
    /// A timed wait without a wait time.
    WaitMissing { task: Option<u32> },
    /// A timed wait that is not positive.
    WaitNotPositive { task: Option<u32> },
    /// No known wording.
    Other { text: String },
}

/// What is wrong with a placement's resource selectors
/// (utils/controller/resource_selector_resolver.go).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SelectorProblem {
    /// The selected namespace is reserved (fetchAllResourcesInOneNamespace).
    NamespaceNotAllowed { namespace: String },
    /// The hub does not know the selected kind (fetchResources).
    KindUnknown {
        /// The error of the REST mapping.
        error: String,
    },
    /// A cluster placement selects a namespaced kind (fetchResources).
    NamespacedKindInClusterPlacement {
        /// The resource, as printed.
        resource: String,
    },
    /// A namespaced placement selects a cluster-scoped kind (fetchResources).
    ClusterKindInNamespacedPlacement {
        /// The resource, as printed.
        resource: String,
    },
    /// A namespaced placement selects a Namespace (gatherSelectedResource).
    NamespaceInNamespacedPlacement,
    /// Two selectors pick one object (gatherSelectedResource).
    Duplicate {
        /// The object, as printed.
        resource: String,
    },
    /// `NamespaceWithResourceSelectors` without a namespace (gatherSelectedResource).
    NoNamespaceSelected,
}

/// The cause a failure text names. Sources are in `pkg/controllers/updaterun` unless said.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The placement does not exist (initialization.go:validatePlacement).
    PlacementNotFound,
    /// The placement's strategy is not External (initialization.go:validatePlacement).
    PlacementNotExternal {
        /// The strategy it has.
        current: String,
    },
    /// No latest policy snapshot (policy_snapshot_resolver.go:LookupLatestPolicySnapshot).
    PolicySnapshotNotFound,
    /// Several latest policy snapshots (policy_snapshot_resolver.go:LookupLatestPolicySnapshot).
    PolicySnapshotMultiple {
        /// How many.
        count: Option<u32>,
    },
    /// The policy snapshot lacks its index label (initialization.go:determinePolicySnapshot).
    PolicySnapshotNoIndex { snapshot: ObjectKey },
    /// The policy snapshot's cluster count is missing or no number (determinePolicySnapshot).
    PolicySnapshotBadClusterCount { snapshot: ObjectKey },
    /// Scheduling is not complete (initialization.go:determinePolicySnapshot).
    PolicyNotScheduled {
        /// The policy snapshot, by its bare name.
        snapshot: ObjectKey,
    },
    /// A binding still belongs to an older policy snapshot (collectScheduledClusters); retried,
    /// but final at v0.0.1.
    BindingOldPolicy {
        binding: ObjectKey,
        /// The binding's state.
        state: String,
    },
    /// v0.0.1: a selected binding is neither scheduled nor bound (collectScheduledClusters).
    BindingNotScheduled {
        binding: ObjectKey,
        /// The binding's state.
        state: String,
    },
    /// No binding to update or to delete (initialization.go:collectScheduledClusters).
    NoBindings { policy_snapshot: ObjectKey },
    /// Bindings and observed cluster count disagree (initialization.go:collectScheduledClusters).
    BindingCountMismatch {
        selected: Option<i64>,
        /// The count the policy snapshot gives.
        observed: Option<i64>,
    },
    /// The strategy does not exist (initialization.go:generateStagesByStrategy).
    StrategyNotFound { strategy: ObjectKey },
    /// A stage's tasks are not valid (initialization.go:computeRunStageStatus).
    StageTasksInvalid {
        /// The tasks before the stage, not those after it.
        before: bool,
        strategy: ObjectKey,
        stage: String,
        /// What is wrong.
        problem: TaskProblem,
    },
    /// A stage's label selector is not valid (initialization.go:computeRunStageStatus).
    StageSelectorInvalid {
        strategy: ObjectKey,
        stage: String,
        error: String,
    },
    /// Two stages select one cluster (initialization.go:computeRunStageStatus).
    ClusterInSeveralStages { cluster: String },
    /// A cluster's sorting label is no integer (initialization.go:computeRunStageStatus).
    SortingLabelInvalid {
        /// The label's key.
        key: String,
        /// The label's value; none where the label is missing or empty.
        value: Option<String>,
        cluster: String,
    },
    /// Clusters are in no stage (initialization.go:computeRunStageStatus).
    ClustersInNoStage {
        /// How many; none at v0.0.1.
        total: Option<u64>,
        /// The first ten names.
        shown: Vec<String>,
    },
    /// The resource snapshot group lacks its master (initialization.go:recordOverrideSnapshots).
    NoMasterSnapshot,
    /// Overrides could not be read for a reason that passes (recordOverrideSnapshots).
    OverrideFetchFailed {
        /// The text.
        detail: String,
    },
    /// Parts of the resource snapshot are not there yet
    /// (resource_snapshot_resolver.go:FetchAllResourceSnapshotsAlongWithMaster).
    SnapshotGroupIncomplete {
        snapshot: String,
        /// The number of parts.
        expected: Option<u32>,
        /// The number seen.
        existing: Option<u32>,
    },
    /// The master snapshot's number of parts is not valid
    /// (resource_snapshot_resolver.go:FetchAllResourceSnapshotsAlongWithMaster).
    SnapshotCountInvalid { snapshot: String },
    /// An override has no policy (utils/overrider/overrider.go:IsClusterMatched).
    OverridePolicyNil,
    /// An override's cluster selector is not valid (utils/overrider/overrider.go:IsClusterMatched).
    OverrideSelectorInvalid {
        /// The selector, as printed.
        selector: String,
        error: String,
    },
    /// A member cluster is gone (overrider.go:PickFromResourceMatchedOverridesForTargetCluster).
    MemberClusterNotFound,
    /// The snapshot index is no number (initialization.go:getResourceSnapshotObjs).
    SnapshotIndexInvalid {
        /// The index of the run's spec.
        index: String,
    },
    /// No resource snapshot has this index (initialization.go:getResourceSnapshotObjs).
    SnapshotNotFound { index: String },
    /// The placement's resource selectors are not valid (resource_selector_resolver.go).
    ResourceSelectorInvalid {
        /// What is wrong.
        problem: SelectorProblem,
    },
    /// The hub agent's cache is not filled yet (resource_selector_resolver.go); retried.
    InformerNotSynced {
        /// The resource, as printed.
        resource: String,
    },
    /// No snapshot came back though none failed (initialization.go:getResourceSnapshotObjs); retried.
    SnapshotNotCreated,
    /// v0.1 to v0.2.2: no latest snapshot yet (initialization.go:getResourceSnapshotObjs); retried.
    LatestSnapshotNotFound,
    /// The hub's API server refused (utils/controller/controller.go:NewAPIServerError); retried.
    ApiServerError {
        /// The text.
        detail: String,
    },
    /// The placement's apply strategy changed (validation.go:validate).
    ///
    /// The two strategies are printed with pointers in them, so they are not kept.
    ApplyStrategyChanged,
    /// The placement's policy changed (validation.go:validate).
    PolicyIndexChanged {
        /// The index now.
        latest: String,
        /// The index the run began with.
        recorded: String,
    },
    /// The number of clusters changed (validation.go:validate).
    ClusterCountChanged {
        /// The number now.
        latest: Option<i64>,
        /// The number the run began with.
        recorded: Option<i64>,
    },
    /// The run's status lost its strategy (validation.go:validateStagesStatus).
    StrategySnapshotMissing,
    /// The run's status lost its stages (validation.go:validateStagesStatus).
    StagesStatusMissing,
    /// The run's status lost its delete stage (validation.go:validateDeleteStageStatus).
    DeletionStageMissing,
    /// The number of stages changed (validation.go:validateUpdateStagesStatus).
    StageCountChanged {
        /// The number now.
        new: Option<u64>,
        /// The number the run began with.
        existing: Option<u64>,
    },
    /// A stage's name changed (validation.go:validateUpdateStagesStatus).
    StageNameChanged {
        /// The name now.
        new: String,
        /// The name the run began with.
        existing: String,
    },
    /// The number of a stage's clusters changed (validation.go:validateUpdateStagesStatus).
    StageClusterCountChanged {
        stage_index: Option<u64>,
        /// The number now.
        new: Option<u64>,
        /// The number the run began with.
        existing: Option<u64>,
    },
    /// A stage's clusters or their order changed (validation.go:validateUpdateStagesStatus).
    StageClusterChanged {
        stage_index: Option<u64>,
        /// The cluster now.
        new: String,
        /// The cluster the run began with.
        existing: String,
    },
    /// A stage's maxConcurrency is neither number nor percentage
    /// (execution.go:calculateMaxConcurrencyValue).
    MaxConcurrencyInvalid {
        /// The error of the conversion.
        detail: String,
    },
    /// A finished stage follows the updating one (validation.go:validateClusterUpdatingStatus).
    FinishedStageAfterUpdating {
        /// Position of the finished stage.
        finished: Option<i64>,
        /// Position of the updating stage.
        updating: Option<i64>,
    },
    /// A finished stage has an unfinished cluster (validation.go:validateClusterUpdatingStatus).
    FinishedStageUnfinishedCluster { cluster: String, stage: String },
    /// A finished stage is not the next one (validation.go:validateClusterUpdatingStatus).
    FinishedStageOutOfOrder { stage: String },
    /// A stage had failed before (validation.go:validateClusterUpdatingStatus).
    StageFailed {
        /// Why it failed.
        inner: Vec<Cause>,
    },
    /// Two stages are updating (validation.go:validateClusterUpdatingStatus).
    TwoUpdatingStages {
        /// The second one.
        stage: String,
    },
    /// The updating stage is not the next one (validation.go:validateClusterUpdatingStatus).
    UpdatingStageOutOfOrder { stage: String },
    /// More clusters are updating than allowed (validation.go:validateClusterUpdatingStatus).
    TooManyUpdatingClusters {
        stage: String,
        /// How many clusters are updating; none up to v0.1.
        updating: Option<u64>,
        /// How many may; 1 up to v0.1.
        max_concurrency: Option<u64>,
        /// The clusters, named up to v0.1 only.
        clusters: Vec<String>,
    },
    /// A cluster to be deleted is not in the delete stage (validation.go:validateDeleteStageStatus,
    /// execution.go:executeDeleteStage, stop.go:stopDeleteStage).
    DeleteClusterNotInStage { cluster: String },
    /// The delete stage began too early (validation.go:validateDeleteStageStatus).
    DeleteStageActiveEarly,
    /// The delete stage had failed before (validation.go:validateDeleteStageStatus).
    DeleteStageFailed {
        /// Why it failed.
        inner: Vec<Cause>,
    },
    /// A cluster had failed before (execution.go:executeUpdatingStage).
    ClusterFailed { cluster: String, stage: String },
    /// A cluster of the stage has no binding (execution.go:executeUpdatingStage, stop.go:stopUpdatingStage).
    BindingMissing {
        cluster: String,
        stage: String,
        /// The run was being stopped.
        stopping: bool,
    },
    /// Something else took over the binding of an updating cluster (execution.go:executeUpdatingStage).
    Preempted {
        cluster: String,
        stage: String,
        /// The binding's bare name; none at v0.0.1 and before v0.1.
        binding: Option<String>,
    },
    /// A cluster's update ran into an error (execution.go:checkClusterUpdateResult); retried.
    ClusterUpdateError,
    /// A task type that cannot run before a stage (execution.go:checkBeforeStageTasksStatus).
    BeforeTaskUnsupported,
    /// The approval request belongs to another run or stage (execution.go:handleStageApprovalTask).
    ApprovalWrongTarget {
        request: ObjectKey,
        run: ObjectKey,
        stage: String,
        /// The stage that wants it; none up to v0.1.
        want_stage: Option<String>,
    },
    /// A deleted cluster has a binding again (execution.go:executeDeleteStage, stop.go:stopDeleteStage).
    DeletedClusterHasBinding { cluster: String },
    /// The binding of a cluster being deleted is not (execution.go:executeDeleteStage, stop.go:stopDeleteStage).
    DeletingBindingNotDeleting { cluster: String },
    /// The run's state is one of an older version (controller.go:Reconcile).
    RunStateUnsupported { state: String },
    /// No known wording.
    Unrecognized {
        /// The text without its known beginnings, white space folded.
        text: String,
    },
}
