//! Every wording of a failure, at every version, as data: one line per wording.
//!
//! A template begins where the prefixes and the error class end. Where one template begins like
//! another, the longer one comes first; a template that begins with a placeholder comes last.

use super::cause::{Cause, ObjectKey, SelectorProblem, TaskProblem};
use super::pattern::{PatternCaptures, capture, capture_within, names};

/// One wording and the cause it names.
pub(super) struct FailureWording {
    pub(super) template: &'static str,
    pub(super) build: BuildCause,
}

/// Names the cause. A text within the text is a failure of its own, which the second argument reads.
type BuildCause = fn(&PatternCaptures<'_>, &dyn Fn(&str) -> Vec<Cause>) -> Cause;

const fn w(template: &'static str, build: BuildCause) -> FailureWording {
    FailureWording { template, build }
}

#[rustfmt::skip]
pub(super) static WORDINGS: &[FailureWording] = &[
    // Initialization: placement and policy.
    w("parent placement not found", |_, _| Cause::PlacementNotFound),
    w("parent clusterResourcePlacement not found", |_, _| Cause::PlacementNotFound), // v0.0.1
    w("parent placement does not have an external rollout strategy, current strategy: {}", |c, _| not_external(c)),
    w("parent clusterResourcePlacement does not have an external rollout strategy, current strategy: {}", |c, _| not_external(c)), // v0.0.1
    w("no latest policy snapshot found for placement {}", |_, _| Cause::PolicySnapshotNotFound),
    w("no latest policy snapshot associated with the placement: {}", |_, _| Cause::PolicySnapshotNotFound), // v0.1 to v0.3.1
    w("no latest policy snapshot associated with the clusterResourcePlacement: {}", |_, _| Cause::PolicySnapshotNotFound), // v0.0.1
    w("multiple active policy snapshots found for placement {}: got {}, want", |c, _| Cause::PolicySnapshotMultiple { count: c.number(1) }),
    w("more than one ({} in actual) latest policy snapshots associated with the placement: {}", |c, _| Cause::PolicySnapshotMultiple { count: c.number(0) }), // v0.1 to v0.3.1
    w("more than one ({} in actual) latest policy snapshots associated with the clusterResourcePlacement: {}", |c, _| Cause::PolicySnapshotMultiple { count: c.number(0) }), // v0.0.1
    w("policy snapshot `{}` does not have a policy index label", |c, _| Cause::PolicySnapshotNoIndex { snapshot: key(c, 0) }),
    w("policy snapshot `{}` not fully scheduled yet", |c, _| Cause::PolicyNotScheduled { snapshot: key(c, 0) }),
    w("the policy snapshot `{}` doesn't have valid cluster count annotation", |c, _| Cause::PolicySnapshotBadClusterCount { snapshot: key(c, 0) }),

    // Initialization: bindings.
    w("binding `{}` with old policy snapshot `{}` has state {}, we might observe", |c, _| old_policy(c)),
    w("binding `{}` with old policy snapshot {} has state {}, not unscheduled", |c, _| old_policy(c)), // v0.0.1
    w("binding `{}`'s state {} is not scheduled or bound", |c, _| Cause::BindingNotScheduled { binding: key(c, 0), state: c.word(1) }), // v0.0.1
    w("no scheduled or to-be-deleted bindings found for the latest policy snapshot {}", |c, _| Cause::NoBindings { policy_snapshot: key(c, 0) }),
    w("no scheduled or to-be-deleted clusterResourceBindings found for the latest policy snapshot {}", |c, _| Cause::NoBindings { policy_snapshot: key(c, 0) }), // v0.0.1
    w("the number of selected bindings {} is not equal to the observed cluster count {}", |c, _| Cause::BindingCountMismatch { selected: c.number(0), observed: c.number(1) }),

    // Initialization: strategy and stages.
    w("referenced updateStrategy not found: {}", |c, _| Cause::StrategyNotFound { strategy: key(c, 0) }),
    w("referenced clusterStagedUpdateStrategy not found: {}", |c, _| Cause::StrategyNotFound { strategy: key(c, 0) }), // v0.0.1
    w("the before stage tasks are invalid, updateStrategy: {}, stage: {}, err: {}", |c, _| tasks(c, true)),
    w("the after stage tasks are invalid, updateStrategy: {}, stage: {}, err: {}", |c, _| tasks(c, false)),
    w("the after stage tasks are invalid, clusterStagedUpdateStrategy: {}, stage: {}, err: {}", |c, _| tasks(c, false)), // v0.0.1
    w("the stage label selector is invalid, updateStrategy: {}, stage: {}, err: {}", |c, _| stage_selector(c)),
    w("the stage label selector is invalid, clusterStagedUpdateStrategy: {}, stage: {}, err: {}", |c, _| stage_selector(c)), // v0.0.1
    w("cluster `{}` appears in more than one stage", |c, _| Cause::ClusterInSeveralStages { cluster: c.word(0) }),
    w("the sorting label `{}` on cluster `{}` is not valid: {}", |c, _| sorting_label(c)),
    w("some clusters are not placed in any stage, total {}, showing up to {}: {}", |c, _| Cause::ClustersInNoStage { total: c.number(0), shown: names(c.get(2)) }),
    w("some clusters are not placed in any stage", |_, _| Cause::ClustersInNoStage { total: None, shown: Vec::new() }), // v0.0.1

    // Initialization: resource snapshots and overrides.
    w("no master resourceSnapshot found for placement {}", |_, _| Cause::NoMasterSnapshot),
    w("no master clusterResourceSnapshot found for clusterResourcePlacement {}", |_, _| Cause::NoMasterSnapshot), // v0.0.1
    w("no masterResourceSnapshot found for the placement {}", |_, _| Cause::NoMasterSnapshot),
    w("resource snapshots are still being created for the masterResourceSnapshot {}, total snapshot in the index group = {}, num Of existing snapshot in the group= {}, placement = {}", |c, _| incomplete(c)),
    w("not all resource snapshot in the same index group are created: resource snapshots are still being created for the masterResourceSnapshot {}, total snapshot in the index group = {}, num Of existing snapshot in the group= {}, placement = {}", |c, _| incomplete(c)),
    w("master resource snapshot {} for placement {} has an invalid snapshot count", |c, _| Cause::SnapshotCountInvalid { snapshot: c.word(0) }),
    w("policy is nil", |_, _| Cause::OverridePolicyNil),
    w("invalid cluster label selector {}: {}", |c, _| override_selector(c)),
    w("memberclusters.cluster.kubernetes-fleet.io \"{}\" not found", |_, _| Cause::MemberClusterNotFound),
    w("MemberCluster.cluster.kubernetes-fleet.io \"{}\" not found", |_, _| Cause::MemberClusterNotFound),
    w("invalid resource snapshot index `{}` provided", |c, _| Cause::SnapshotIndexInvalid { index: c.text(0) }),
    w("no resourceSnapshots with index `{}` found for placement {}", |c, _| Cause::SnapshotNotFound { index: c.word(0) }),
    w("no clusterResourceSnapshots with index `{}` found for clusterResourcePlacement {}", |c, _| Cause::SnapshotNotFound { index: c.word(0) }), // v0.0.1
    w("no latest resourceSnapshots found for placement {}", |_, _| Cause::LatestSnapshotNotFound), // v0.1 to v0.2.2
    w("no resource snapshot created for placement {} but there is no error", |_, _| Cause::SnapshotNotCreated),

    // Initialization: resource selectors.
    w("invalid clusterRresourcePlacement {}: namespace {} is not allowed to propagate", |c, _| namespace_not_allowed(c)),
    w("invalid clusterResourcePlacement {}: namespace {} is not allowed to propagate", |c, _| namespace_not_allowed(c)),
    w("invalid placement {}: namespace {} is not allowed to propagate", |c, _| namespace_not_allowed(c)),
    w("invalid placement {}, failed to get GVR of the selector: {}", |c, _| selector(SelectorProblem::KindUnknown { error: c.text(1) })),
    w("invalid placement {}: cannot select namespace-scoped resource {} in a clusterResourcePlacement", |c, _| selector(SelectorProblem::NamespacedKindInClusterPlacement { resource: c.text(1) })),
    w("invalid placement {}: cannot select cluster-scoped resource Namespace in a resourcePlacement", |_, _| selector(SelectorProblem::NamespaceInNamespacedPlacement)),
    w("invalid placement {}: cannot select cluster-scoped resource {} in a resourcePlacement", |c, _| selector(SelectorProblem::ClusterKindInNamespacedPlacement { resource: c.text(1) })),
    w("found duplicate resource {}", |c, _| selector(SelectorProblem::Duplicate { resource: c.text(0) })),
    w("invalid clusterResourcePlacement {}: NamespaceWithResourceSelectors mode requires exactly one namespace", |_, _| selector(SelectorProblem::NoNamespaceSelected)),
    w("informer cache for {} is not synced yet", |c, _| Cause::InformerNotSynced { resource: c.text(0) }),

    // Validation: what the run began with against what is now.
    w("the applyStrategy in the updateRun is outdated", |_, _| Cause::ApplyStrategyChanged),
    w("the applyStrategy in the clusterStagedUpdateRun is outdated", |_, _| Cause::ApplyStrategyChanged), // v0.0.1
    w("the policy snapshot index used in the updateRun is outdated, latest: {}, recorded: {}", |c, _| policy_index(c)),
    w("the policy snapshot index used in the clusterStagedUpdateRun is outdated, latest: {}, recorded: {}", |c, _| policy_index(c)), // v0.0.1
    w("the cluster count initialized in the updateRun is outdated, latest: {}, recorded: {}", |c, _| cluster_count(c)),
    w("the cluster count initialized in the clusterStagedUpdateRun is outdated, latest: {}, recorded: {}", |c, _| cluster_count(c)), // v0.0.1
    w("the updateRun has nil updateStrategySnapshot", |_, _| Cause::StrategySnapshotMissing),
    w("the clusterStagedUpdateRun has nil stagedUpdateStrategySnapshot", |_, _| Cause::StrategySnapshotMissing), // v0.0.1
    w("the updateRun has nil stagesStatus", |_, _| Cause::StagesStatusMissing),
    w("the clusterStagedUpdateRun has nil stagesStatus", |_, _| Cause::StagesStatusMissing), // v0.0.1
    w("the updateRun has nil deletionStageStatus", |_, _| Cause::DeletionStageMissing),
    w("the clusterStagedUpdateRun has nil deletionStageStatus", |_, _| Cause::DeletionStageMissing), // v0.0.1
    w("the number of stages in the updateRun has changed, new: {}, existing: {}", |c, _| Cause::StageCountChanged { new: c.number(0), existing: c.number(1) }),
    w("the number of stages in the clusterStagedUpdateRun has changed, new: {}, existing: {}", |c, _| Cause::StageCountChanged { new: c.number(0), existing: c.number(1) }), // v0.0.1
    w("index `{}` stage name in the updateRun has changed, new: {}, existing: {}", |c, _| stage_name(c)),
    w("index `{}` stage name in the clusterStagedUpdateRun has changed, new: {}, existing: {}", |c, _| stage_name(c)), // v0.0.1
    w("the number of clusters in index `{}` stage has changed, new: {}, existing: {}", |c, _| Cause::StageClusterCountChanged { stage_index: c.number(0), new: c.number(1), existing: c.number(2) }),
    w("the `{}` cluster in the `{}` stage has changed, new: {}, existing: {}", |c, _| Cause::StageClusterChanged { stage_index: c.number(1), new: c.word(2), existing: c.word(3) }),
    w("invalid value for IntOrString: {}", |c, _| Cause::MaxConcurrencyInvalid { detail: c.text(0) }),

    // Validation: the order of stages and clusters.
    w("the finished stage `{}` is after the updating stage `{}`", |c, _| Cause::FinishedStageAfterUpdating { finished: c.number(0), updating: c.number(1) }),
    w("cluster `{}` in the finished stage `{}` has not succeeded", |c, _| Cause::FinishedStageUnfinishedCluster { cluster: c.word(0), stage: c.word(1) }),
    w("the finished stage `{}` is not right after the last finished stage with index `{}`", |c, _| Cause::FinishedStageOutOfOrder { stage: c.word(0) }),
    w("the stage `{}` has failed, err: {}", |c, read| Cause::StageFailed { inner: read(c.get(1)) }),
    w("the stage `{}` is updating, but there is already a stage with index `{}` updating", |c, _| Cause::TwoUpdatingStages { stage: c.word(0) }),
    w("the updating stage `{}` is not right after the last finished stage with index `{}`", |c, _| Cause::UpdatingStageOutOfOrder { stage: c.word(0) }),
    w("the number of updating clusters `{}` in the updating stage `{}` exceeds maxConcurrency `{}`", |c, _| Cause::TooManyUpdatingClusters { stage: c.word(1), updating: c.number(0), max_concurrency: c.number(2), clusters: Vec::new() }),
    w("more than one cluster is updating in the stage `{}`, clusters: {}", |c, _| one_cluster_only(c)), // v0.0.1, v0.1

    // Validation, execution, stopping: the delete stage.
    w("the cluster `{}` to be deleted is not in the delete stage", |c, _| Cause::DeleteClusterNotInStage { cluster: c.word(0) }),
    w("the to be deleted cluster `{}` is not in the deleting stage during execution", |c, _| Cause::DeleteClusterNotInStage { cluster: c.word(0) }),
    w("the to be deleted cluster `{}` is not in the deleting stage during stopping", |c, _| Cause::DeleteClusterNotInStage { cluster: c.word(0) }),
    w("the delete stage is active, but there are still stages updating, updatingStageIndex: {}, lastFinishedStageIndex: {}", |_, _| Cause::DeleteStageActiveEarly),
    w("the delete stage has failed, err: {}", |c, read| Cause::DeleteStageFailed { inner: read(c.get(0)) }),
    w("the deleted cluster `{}` in the deleting stage still has a binding", |c, _| Cause::DeletedClusterHasBinding { cluster: c.word(0) }),
    w("the deleted cluster `{}` in the deleting stage still has a clusterResourceBinding", |c, _| Cause::DeletedClusterHasBinding { cluster: c.word(0) }), // v0.0.1
    w("the cluster `{}` in the deleting stage is marked as deleting but its corresponding binding is not deleting", |c, _| Cause::DeletingBindingNotDeleting { cluster: c.word(0) }),

    // Execution and stopping.
    w("the cluster `{}` in the stage {} has failed", |c, _| Cause::ClusterFailed { cluster: c.word(0), stage: c.word(1) }),
    w("the binding for cluster `{}` in stage `{}` is not found in the toBeUpdatedBindings map during stopping", |c, _| Cause::BindingMissing { cluster: c.word(0), stage: c.word(1), stopping: true }),
    w("the binding for cluster `{}` in stage `{}` is not found in the toBeUpdatedBindings map", |c, _| Cause::BindingMissing { cluster: c.word(0), stage: c.word(1), stopping: false }),
    w("the binding of the updating cluster `{}` in the stage `{}` is not up-to-date with the desired status{}", |c, _| preempted(c)),
    w("the clusterResourceBinding of the updating cluster `{}` in the stage `{}` does not have expected status{}", |c, _| preempted(c)), // between v0.0.1 and v0.1
    w("the updating cluster `{}` in the stage {} does not match the cluster status", |c, _| preempted(c)), // v0.0.1
    w("the cluster updating encountered an error at stage `{}`, updateRun := `{}`", |_, _| Cause::ClusterUpdateError),
    w("found unsupported task type in before stage tasks: {}", |_, _| Cause::BeforeTaskUnsupported),
    w("the approval request task `{}` is targeting update run `{}` and stage `{}`{}", |c, _| approval_target(c)),
    w("found unsupported updateRun state: {}", |c, _| Cause::RunStateUnsupported { state: c.word(0) }),

    // A template that begins with a placeholder matches last.
    w("{}: the policy snapshot `{}` doesn't have valid cluster count annotation", |c, _| Cause::PolicySnapshotBadClusterCount { snapshot: key(c, 1) }),
];

fn key(found: &PatternCaptures<'_>, index: usize) -> ObjectKey {
    ObjectKey::parse(found.get(index))
}

fn not_external(found: &PatternCaptures<'_>) -> Cause {
    Cause::PlacementNotExternal {
        current: found.word(0),
    }
}

fn old_policy(found: &PatternCaptures<'_>) -> Cause {
    Cause::BindingOldPolicy {
        binding: key(found, 0),
        state: found.word(2),
    }
}

fn tasks(found: &PatternCaptures<'_>, before: bool) -> Cause {
    Cause::StageTasksInvalid {
        before,
        strategy: key(found, 0),
        stage: found.word(1),
        problem: task_problem(found.get(2)),
    }
}

fn task_problem(text: &str) -> TaskProblem {
    type Build = fn(&PatternCaptures<'_>) -> TaskProblem;
    #[rustfmt::skip]
    const PROBLEMS: [(&str, Build); 8] = [
        ("beforeStageTasks can have at most one task", |_| TaskProblem::TooMany),
        ("task {} of type {} is not allowed in beforeStageTasks", |c| TaskProblem::TypeNotAllowed { task: c.number(0), task_type: c.word(1) }),
        ("task {} of type Approval cannot have wait duration set", |c| TaskProblem::WaitNotAllowed { task: c.number(0) }),
        ("afterStageTasks cannot have two tasks of the same type: {}", |c| TaskProblem::DuplicateType { task_type: c.word(0) }),
        ("task {} of type TimedWait has wait duration set to nil", |c| TaskProblem::WaitMissing { task: c.number(0) }),
        ("task {} of type TimedWait has wait duration <= 0", |c| TaskProblem::WaitNotPositive { task: c.number(0) }),
        ("task {} has wait duration set to nil", |c| TaskProblem::WaitMissing { task: c.number(0) }), // v0.0.1
        ("task {} has wait duration <= 0", |c| TaskProblem::WaitNotPositive { task: c.number(0) }), // v0.0.1
    ];
    PROBLEMS
        .iter()
        .find_map(|(template, build)| capture(template, text).map(|found| build(&found)))
        .unwrap_or_else(|| TaskProblem::Other {
            text: text.trim().to_owned(),
        })
}

fn stage_selector(found: &PatternCaptures<'_>) -> Cause {
    Cause::StageSelectorInvalid {
        strategy: key(found, 0),
        stage: found.word(1),
        error: found.text(2),
    }
}

fn sorting_label(found: &PatternCaptures<'_>) -> Cause {
    let (label, value) = found.get(0).split_once(':').unwrap_or((found.get(0), ""));
    Cause::SortingLabelInvalid {
        key: label.to_owned(),
        value: Some(value.to_owned()).filter(|value| !value.is_empty()),
        cluster: found.word(1),
    }
}

fn incomplete(found: &PatternCaptures<'_>) -> Cause {
    Cause::SnapshotGroupIncomplete {
        snapshot: found.word(0),
        expected: found.number(1),
        existing: found.number(2),
    }
}

fn override_selector(found: &PatternCaptures<'_>) -> Cause {
    // The selector itself prints colons: `&LabelSelector{…},}: error`.
    let whole = [found.get(0), found.get(1)].join(": ");
    let split = whole.find("}: ").map(|at| at + 1);
    let (selector, error) = split
        .and_then(|at| whole.split_at_checked(at))
        .unwrap_or((found.get(0), found.get(1)));
    Cause::OverrideSelectorInvalid {
        selector: selector.to_owned(),
        error: error.trim_start_matches(": ").to_owned(),
    }
}

const fn selector(problem: SelectorProblem) -> Cause {
    Cause::ResourceSelectorInvalid { problem }
}

fn namespace_not_allowed(found: &PatternCaptures<'_>) -> Cause {
    selector(SelectorProblem::NamespaceNotAllowed {
        namespace: found.word(1),
    })
}

fn policy_index(found: &PatternCaptures<'_>) -> Cause {
    Cause::PolicyIndexChanged {
        latest: found.word(0),
        recorded: found.word(1),
    }
}

fn cluster_count(found: &PatternCaptures<'_>) -> Cause {
    Cause::ClusterCountChanged {
        latest: found.number(0),
        recorded: found.number(1),
    }
}

fn stage_name(found: &PatternCaptures<'_>) -> Cause {
    Cause::StageNameChanged {
        new: found.word(1),
        existing: found.word(2),
    }
}

fn one_cluster_only(found: &PatternCaptures<'_>) -> Cause {
    // A Go list: `[member1 member2]`.
    let listed = found.get(1).trim_start_matches('[');
    let listed = listed.split(']').next().unwrap_or_default();
    Cause::TooManyUpdatingClusters {
        stage: found.word(0),
        updating: None,
        max_concurrency: None,
        clusters: listed.split_whitespace().map(str::to_owned).collect(),
    }
}

fn preempted(found: &PatternCaptures<'_>) -> Cause {
    let binding = capture_within("status of binding `{}`", found.get(2));
    Cause::Preempted {
        cluster: found.word(0),
        stage: found.word(1),
        binding: binding.map(|binding| key(&binding, 0).name),
    }
}

fn approval_target(found: &PatternCaptures<'_>) -> Cause {
    // The source leaves the backtick after the wanted run out.
    let wanted = capture_within("want target update run `{} and stage `{}`", found.get(3));
    Cause::ApprovalWrongTarget {
        request: key(found, 0),
        run: key(found, 1),
        stage: found.word(2),
        want_stage: wanted.map(|wanted| wanted.word(1)),
    }
}
