use proptest::prelude::*;

use super::*;
use crate::kubefleet::apply::ApplyStrategy;

const VALIDATE: &str = "cannot continue the updateRun: failed to validate the updateRun: ";
const INIT_OLD: &str = "cannot continue the updateRun: failed to initialize the updateRun: ";
const OLDEST: &str =
    "cannot continue the ClusterStagedUpdateRun: failed to initialize the clusterStagedUpdateRun: ";
const ABORT: &str = "cannot continue the updateRun: ";
const ABORT_OLDEST: &str = "cannot continue the ClusterStagedUpdateRun: ";
const USER: &str = "failed to process the request due to a client error: ";
const UNEXPECTED: &str = "unexpected behavior which cannot be handled by the controller: ";
const EXPECTED: &str = "expected behavior which can be recovered by itself: ";
const API: &str = "error returned by the API server: ";

fn key(text: &str) -> ObjectKey {
    ObjectKey::parse(text)
}

fn owned(text: &str) -> String {
    text.to_owned()
}

fn tasks(before: bool, problem: TaskProblem) -> Cause {
    Cause::StageTasksInvalid {
        before,
        strategy: key("/catalog"),
        stage: owned("staging"),
        problem,
    }
}

const fn selector(problem: SelectorProblem) -> Cause {
    Cause::ResourceSelectorInvalid { problem }
}

/// The message id, the text without its beginnings, and the cause it names: one line per wording.
#[rustfmt::skip]
fn wordings() -> Vec<(&'static str, String, Cause)> {
    let mut table: Vec<(&'static str, String, Cause)> = Vec::new();
    let mut add = |id: &'static str, text: &str, cause: Cause| table.push((id, owned(text), cause));

    add("INIT-PLACEMENT-NOT-FOUND", "parent placement not found", Cause::PlacementNotFound);
    add("INIT-PLACEMENT-NOT-FOUND", "parent clusterResourcePlacement not found", Cause::PlacementNotFound);
    for kind in ["placement", "clusterResourcePlacement"] {
        add("INIT-PLACEMENT-NOT-EXTERNAL", &format!("parent {kind} does not have an external rollout strategy, current strategy: RollingUpdate"), Cause::PlacementNotExternal { current: owned("RollingUpdate") });
    }
    for text in [
        "no latest policy snapshot found for placement /shop",
        "no latest policy snapshot associated with the placement: `/shop`",
        "no latest policy snapshot associated with the clusterResourcePlacement: shop",
    ] {
        add("INIT-POLICY-SNAPSHOT-NONE", text, Cause::PolicySnapshotNotFound);
    }
    for text in [
        "multiple active policy snapshots found for placement apps/shop: got 2, want 1",
        "more than one (2 in actual) latest policy snapshots associated with the placement: `apps/shop`",
    ] {
        add("INIT-POLICY-SNAPSHOT-MULTIPLE", text, Cause::PolicySnapshotMultiple { count: Some(2) });
    }
    add("INIT-POLICY-SNAPSHOT-MULTIPLE", "more than one (3 in actual) latest policy snapshots associated with the clusterResourcePlacement: shop", Cause::PolicySnapshotMultiple { count: Some(3) });
    for text in [
        "policy snapshot `/shop-0` does not have a policy index label",
        "policy snapshot `shop-0` does not have a policy index label",
    ] {
        add("INIT-POLICY-SNAPSHOT-NO-INDEX", text, Cause::PolicySnapshotNoIndex { snapshot: key("shop-0") });
    }
    add("INIT-POLICY-SNAPSHOT-BAD-CLUSTER-COUNT", "cannot find annotation kubernetes-fleet.io/number-of-clusters: the policy snapshot `/shop-0` doesn't have valid cluster count annotation", Cause::PolicySnapshotBadClusterCount { snapshot: key("shop-0") });
    add("INIT-POLICY-SNAPSHOT-BAD-CLUSTER-COUNT", "invalid annotation kubernetes-fleet.io/number-of-clusters: x is not a valid count: strconv.Atoi: parsing \"x\": invalid syntax: the policy snapshot `shop-0` doesn't have valid cluster count annotation", Cause::PolicySnapshotBadClusterCount { snapshot: key("shop-0") });
    add("INIT-POLICY-NOT-SCHEDULED", "policy snapshot `shop-0` not fully scheduled yet", Cause::PolicyNotScheduled { snapshot: key("shop-0") });
    for text in [
        "binding `/shop-member1-xxx` with old policy snapshot `/shop-0` has state Bound, we might observe a transient state, need retry",
        "binding `shop-member1-xxx` with old policy snapshot shop-0 has state Bound, not unscheduled",
    ] {
        add("RETRY-BINDING-OLD-POLICY-TRANSIENT", text, Cause::BindingOldPolicy { binding: key("shop-member1-xxx"), state: owned("Bound") });
    }
    add("v0.0.1", "binding `shop-member1-xxx`'s state Unscheduled is not scheduled or bound", Cause::BindingNotScheduled { binding: key("shop-member1-xxx"), state: owned("Unscheduled") });
    for text in [
        "no scheduled or to-be-deleted bindings found for the latest policy snapshot /shop-0",
        "no scheduled or to-be-deleted clusterResourceBindings found for the latest policy snapshot shop-0",
    ] {
        add("INIT-NO-BINDINGS", text, Cause::NoBindings { policy_snapshot: key("shop-0") });
    }
    add("INIT-BINDING-COUNT-MISMATCH", "the number of selected bindings 2 is not equal to the observed cluster count -1", Cause::BindingCountMismatch { selected: Some(2), observed: Some(-1) });
    for text in [
        "referenced updateStrategy not found: `/catalog-absent`",
        "referenced clusterStagedUpdateStrategy not found: catalog-absent",
    ] {
        add("INIT-STRATEGY-NOT-FOUND", text, Cause::StrategyNotFound { strategy: key("catalog-absent") });
    }
    for (id, before, err, problem) in [
        ("INIT-BEFORE-TASKS-INVALID", true, "something new", TaskProblem::Other { text: owned("something new") }),
        ("INIT-BEFORE-TASKS-INVALID-COUNT", true, "beforeStageTasks can have at most one task", TaskProblem::TooMany),
        ("INIT-BEFORE-TASKS-INVALID-TYPE", true, "task 0 of type TimedWait is not allowed in beforeStageTasks, allowed type: Approval", TaskProblem::TypeNotAllowed { task: Some(0), task_type: owned("TimedWait") }),
        ("INIT-BEFORE-TASKS-INVALID-WAIT", true, "task 0 of type Approval cannot have wait duration set", TaskProblem::WaitNotAllowed { task: Some(0) }),
        ("INIT-AFTER-TASKS-INVALID", false, "task 0 of type TimedWait has wait duration <= 0", TaskProblem::WaitNotPositive { task: Some(0) }),
        ("INIT-AFTER-TASKS-INVALID-DUP", false, "afterStageTasks cannot have two tasks of the same type: Approval", TaskProblem::DuplicateType { task_type: owned("Approval") }),
        ("INIT-AFTER-TASKS-INVALID-NILWAIT", false, "task 0 of type TimedWait has wait duration set to nil", TaskProblem::WaitMissing { task: Some(0) }),
        ("INIT-AFTER-TASKS-INVALID-ZEROWAIT", false, "task 1 of type TimedWait has wait duration <= 0", TaskProblem::WaitNotPositive { task: Some(1) }),
    ] {
        let when = if before { "before" } else { "after" };
        add(id, &format!("the {when} stage tasks are invalid, updateStrategy: `/catalog`, stage: staging, err: {err}"), tasks(before, problem));
    }
    add("INIT-AFTER-TASKS-INVALID-ZEROWAIT", "the after stage tasks are invalid, clusterStagedUpdateStrategy: catalog, stage: staging, err: task 1 has wait duration <= 0", tasks(false, TaskProblem::WaitNotPositive { task: Some(1) }));
    for strategy in [
        "updateStrategy: `/catalog`",
        "clusterStagedUpdateStrategy: catalog",
    ] {
        add("INIT-STAGE-SELECTOR-INVALID", &format!("the stage label selector is invalid, {strategy}, stage: staging, err: \"foo\" is not a valid label selector operator"), Cause::StageSelectorInvalid { strategy: key("catalog"), stage: owned("staging"), error: owned("\"foo\" is not a valid label selector operator") });
    }
    add("INIT-CLUSTER-IN-MULTIPLE-STAGES", "cluster `member-1` appears in more than one stages", Cause::ClusterInSeveralStages { cluster: owned("member-1") });
    add("INIT-SORTING-LABEL-INVALID", "the sorting label `wave:` on cluster `member-1` is not valid: strconv.Atoi: parsing \"\": invalid syntax", Cause::SortingLabelInvalid { key: owned("wave"), value: None, cluster: owned("member-1") });
    add("INIT-SORTING-LABEL-INVALID", "the sorting label `example.com/order:one` on cluster `member1` is not valid: strconv.Atoi: parsing \"one\": invalid syntax", Cause::SortingLabelInvalid { key: owned("example.com/order"), value: Some(owned("one")), cluster: owned("member1") });
    add("INIT-CLUSTERS-NOT-IN-ANY-STAGE", "some clusters are not placed in any stage, total 2, showing up to 10: member-2, member-3", Cause::ClustersInNoStage { total: Some(2), shown: vec![owned("member-2"), owned("member-3")] });
    add("INIT-CLUSTERS-NOT-IN-ANY-STAGE", "some clusters are not placed in any stage", Cause::ClustersInNoStage { total: None, shown: Vec::new() });
    for text in [
        "no master resourceSnapshot found for placement /shop",
        "no master clusterResourceSnapshot found for clusterResourcePlacement `shop` with index `1`",
    ] {
        add("INIT-NO-MASTER-SNAPSHOT", text, Cause::NoMasterSnapshot);
    }
    for (id, text) in [
        ("INIT-OVERRIDE-FETCH-FAILED", "not all resource snapshot in the same index group are created: resource snapshots are still being created for the masterResourceSnapshot shop-0-snapshot, total snapshot in the index group = 2, num Of existing snapshot in the group= 1, placement = /shop"),
        ("INIT-OVERRIDE-SNAPSHOT-GROUP-INCOMPLETE", "resource snapshots are still being created for the masterResourceSnapshot shop-0-snapshot, total snapshot in the index group = 2, num Of existing snapshot in the group= 1, placement = shop"),
    ] {
        add(id, text, Cause::SnapshotGroupIncomplete { snapshot: owned("shop-0-snapshot"), expected: Some(2), existing: Some(1) });
    }
    add("INIT-OVERRIDE-FETCH-FAILED", "master resource snapshot shop-0-snapshot for placement shop has an invalid snapshot count 0 or err strconv.Atoi: parsing \"\": invalid syntax", Cause::SnapshotCountInvalid { snapshot: owned("shop-0-snapshot") });
    for text in [
        "memberclusters.cluster.kubernetes-fleet.io \"member-1\" not found",
        "MemberCluster.cluster.kubernetes-fleet.io \"member-1\" not found",
    ] {
        add("INIT-OVERRIDE-FETCH-FAILED", text, Cause::MemberClusterNotFound);
    }
    add("INIT-OVERRIDE-POLICY-NIL", "policy is nil", Cause::OverridePolicyNil);
    add("INIT-OVERRIDE-SELECTOR-INVALID", "invalid cluster label selector &LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{},}: \"foo\" is not a valid label selector operator", Cause::OverrideSelectorInvalid { selector: owned("&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{},}"), error: owned("\"foo\" is not a valid label selector operator") });
    add("INIT-SNAPSHOT-INDEX-INVALID", "invalid resource snapshot index `abc` provided, expected an integer >= 0", Cause::SnapshotIndexInvalid { index: owned("abc") });
    for text in [
        "no resourceSnapshots with index `7` found for placement `/catalog`",
        "no resourceSnapshots with index `7` found for placement `my-app-namespace/web-app-placement`",
        "no clusterResourceSnapshots with index `7` found for clusterResourcePlacement `example-placement`",
    ] {
        add("INIT-SNAPSHOT-NOT-FOUND", text, Cause::SnapshotNotFound { index: owned("7") });
    }
    add("INIT-SELECTOR-NAMESPACE-NOT-ALLOWED", "invalid clusterRresourcePlacement shop: namespace kube-system is not allowed to propagate", selector(SelectorProblem::NamespaceNotAllowed { namespace: owned("kube-system") }));
    add("INIT-SELECTOR-GVR", "invalid placement /shop, failed to get GVR of the selector: no matches for kind \"Foo\" in version \"v1\"", selector(SelectorProblem::KindUnknown { error: owned("no matches for kind \"Foo\" in version \"v1\"") }));
    add("INIT-SELECTOR-NAMESPACED-IN-CRP", "invalid placement /shop: cannot select namespace-scoped resource apps/v1, Resource=deployments in a clusterResourcePlacement", selector(SelectorProblem::NamespacedKindInClusterPlacement { resource: owned("apps/v1, Resource=deployments") }));
    add("INIT-SELECTOR-CLUSTER-IN-RP", "invalid placement apps/shop: cannot select cluster-scoped resource rbac.authorization.k8s.io/v1, Resource=clusterroles in a resourcePlacement", selector(SelectorProblem::ClusterKindInNamespacedPlacement { resource: owned("rbac.authorization.k8s.io/v1, Resource=clusterroles") }));
    add("INIT-SELECTOR-NAMESPACE-IN-RP", "invalid placement apps/shop: cannot select cluster-scoped resource Namespace in a resourcePlacement", selector(SelectorProblem::NamespaceInNamespacedPlacement));
    add("INIT-SELECTOR-DUPLICATE", "found duplicate resource {Group:apps Version:v1 Kind:Deployment Name:web Namespace:ns Envelope:<nil>}", selector(SelectorProblem::Duplicate { resource: owned("{Group:apps Version:v1 Kind:Deployment Name:web Namespace:ns Envelope:<nil>}") }));
    add("INIT-SELECTOR-NS-WITH-SELECTORS-NONE", "invalid clusterResourcePlacement shop: NamespaceWithResourceSelectors mode requires exactly one namespace, but no namespaces were selected", selector(SelectorProblem::NoNamespaceSelected));
    add("RETRY-INFORMER-NOT-SYNCED", "informer cache for apps/v1, Resource=deployments is not synced yet", Cause::InformerNotSynced { resource: owned("apps/v1, Resource=deployments") });
    add("RETRY-NO-SNAPSHOT-CREATED", "no resource snapshot created for placement `/shop` but there is no error returned by getOrCreate", Cause::SnapshotNotCreated);
    add("RETRY-NO-LATEST-SNAPSHOT-OLD", "no latest resourceSnapshots found for placement `/shop`. This might be a transient state, need retry", Cause::LatestSnapshotNotFound);
    for run in ["updateRun", "clusterStagedUpdateRun"] {
        add("VAL-APPLY-STRATEGY-CHANGED", &format!("the applyStrategy in the {run} is outdated, latest: &{{PartialComparison Always ServerSideApply false 0x1f26506a711c Always}}, recorded: &{{PartialComparison Always ClientSideApply false <nil> Always}}"), Cause::ApplyStrategyChanged);
        add("VAL-POLICY-INDEX-CHANGED", &format!("the policy snapshot index used in the {run} is outdated, latest: 1, recorded: 0"), Cause::PolicyIndexChanged { latest: owned("1"), recorded: owned("0") });
        add("VAL-CLUSTER-COUNT-CHANGED", &format!("the cluster count initialized in the {run} is outdated, latest: 3, recorded: 2"), Cause::ClusterCountChanged { latest: Some(3), recorded: Some(2) });
        add("VAL-NIL-STAGES", &format!("the {run} has nil stagesStatus"), Cause::StagesStatusMissing);
        add("VAL-NIL-DELETION-STAGE", &format!("the {run} has nil deletionStageStatus"), Cause::DeletionStageMissing);
        add("VAL-STAGE-COUNT-CHANGED", &format!("the number of stages in the {run} has changed, new: 3, existing: 2"), Cause::StageCountChanged { new: Some(3), existing: Some(2) });
        add("VAL-STAGE-NAME-CHANGED", &format!("index `0` stage name in the {run} has changed, new: a, existing: b"), Cause::StageNameChanged { new: owned("a"), existing: owned("b") });
    }
    for text in [
        "the updateRun has nil updateStrategySnapshot",
        "the clusterStagedUpdateRun has nil stagedUpdateStrategySnapshot",
    ] {
        add("VAL-NIL-STRATEGY-SNAPSHOT", text, Cause::StrategySnapshotMissing);
    }
    add("VAL-STAGE-CLUSTER-COUNT-CHANGED", "the number of clusters in index `1` stage has changed, new: 3, existing: 2", Cause::StageClusterCountChanged { stage_index: Some(1), new: Some(3), existing: Some(2) });
    add("VAL-STAGE-CLUSTER-CHANGED", "the `0` cluster in the `1` stage has changed, new: member3, existing: member2", Cause::StageClusterChanged { stage_index: Some(1), new: owned("member3"), existing: owned("member2") });
    add("VAL-MAXCONCURRENCY-INVALID", "invalid value for IntOrString: invalid type: string is not a percentage", Cause::MaxConcurrencyInvalid { detail: owned("invalid type: string is not a percentage") });
    add("VAL-FINISHED-STAGE-AFTER-UPDATING", "the finished stage `2` is after the updating stage `1`", Cause::FinishedStageAfterUpdating { finished: Some(2), updating: Some(1) });
    add("VAL-FINISHED-STAGE-UNFINISHED-CLUSTER", "cluster `member1` in the finished stage `staging` has not succeeded", Cause::FinishedStageUnfinishedCluster { cluster: owned("member1"), stage: owned("staging") });
    add("VAL-FINISHED-STAGE-OUT-OF-ORDER", "the finished stage `prod` is not right after the last finished stage with index `-1`", Cause::FinishedStageOutOfOrder { stage: owned("prod") });
    add("VAL-STAGE-FAILED", "the stage `staging` has failed, err: cannot continue the updateRun: the cluster `member1` in the stage staging has failed", Cause::StageFailed { inner: vec![Cause::ClusterFailed { cluster: owned("member1"), stage: owned("staging") }] });
    add("VAL-TWO-UPDATING-STAGES", "the stage `prod` is updating, but there is already a stage with index `0` updating", Cause::TwoUpdatingStages { stage: owned("prod") });
    add("VAL-UPDATING-STAGE-OUT-OF-ORDER", "the updating stage `prod` is not right after the last finished stage with index `-1`", Cause::UpdatingStageOutOfOrder { stage: owned("prod") });
    add("VAL-TOO-MANY-UPDATING", "the number of updating clusters `3` in the updating stage `staging` exceeds maxConcurrency `2`", Cause::TooManyUpdatingClusters { stage: owned("staging"), updating: Some(3), max_concurrency: Some(2), clusters: Vec::new() });
    add("VAL-TOO-MANY-UPDATING", "more than one cluster is updating in the stage `staging`, clusters: [member1 member2]", Cause::TooManyUpdatingClusters { stage: owned("staging"), updating: None, max_concurrency: None, clusters: vec![owned("member1"), owned("member2")] });
    add("VAL-DELETE-CLUSTER-NOT-IN-STAGE", "the cluster `member2` to be deleted is not in the delete stage", Cause::DeleteClusterNotInStage { cluster: owned("member2") });
    add("VAL-DELETE-STAGE-ACTIVE-EARLY", "the delete stage is active, but there are still stages updating, updatingStageIndex: 1, lastFinishedStageIndex: 0", Cause::DeleteStageActiveEarly);
    add("VAL-DELETE-STAGE-FAILED", "the delete stage has failed, err: cannot continue the updateRun: unexpected behavior which cannot be handled by the controller: the deleted cluster `member3` in the deleting stage still has a binding", Cause::DeleteStageFailed { inner: vec![Cause::DeletedClusterHasBinding { cluster: owned("member3") }] });
    add("EXEC-CLUSTER-FAILED", "the cluster `member1` in the stage staging has failed", Cause::ClusterFailed { cluster: owned("member1"), stage: owned("staging") });
    add("EXEC-BINDING-MISSING", "the binding for cluster `member1` in stage `staging` is not found in the toBeUpdatedBindings map", Cause::BindingMissing { cluster: owned("member1"), stage: owned("staging"), stopping: false });
    for placement in ["placement", "clusterResourcePlacement"] {
        add("EXEC-PREEMPTED", &format!("the binding of the updating cluster `member-1` in the stage `staging` is not up-to-date with the desired status, please check the status of binding `invoices-member-1-615c1b38` and see if there is a concurrent updateRun referencing the same {placement} and updating the same cluster"), preempted(Some("invoices-member-1-615c1b38")));
    }
    add("EXEC-PREEMPTED", "the binding of the updating cluster `member-1` in the stage `staging` is not up-to-date with the desired status, please check the status of binding `my-app-namespace/web-member-1-e1a567da` and see if there is a concurrent updateRun referencing the same placement and updating the same cluster", preempted(Some("web-member-1-e1a567da")));
    add("EXEC-PREEMPTED", "the clusterResourceBinding of the updating cluster `member-1` in the stage `staging` does not have expected status: binding spec diff: binding has different resourceSnapshotName, want: example-placement-0-snapshot, got: example-placement-1-snapshot; binding state (want Bound): Bound; binding RolloutStarted (want true): true, please check if there is concurrent clusterStagedUpdateRun", preempted(None));
    add("EXEC-PREEMPTED", "the updating cluster `member-1` in the stage staging does not match the cluster status: &{ClusterName:member-1}, binding: {State:Bound}, condition: nil", preempted(None));
    add("RETRY-CLUSTER-UPDATE-ERROR", "the cluster updating encountered an error at stage `staging`, updateRun := `run1`", Cause::ClusterUpdateError);
    add("EXEC-BEFORE-TASK-UNSUPPORTED", "found unsupported task type in before stage tasks: TimedWait", Cause::BeforeTaskUnsupported);
    add("EXEC-APPROVAL-WRONG-TARGET", "the approval request task `/run1-after-staging` is targeting update run `/other` and stage `staging`, want target update run `/run1 and stage `staging`", Cause::ApprovalWrongTarget { request: key("run1-after-staging"), run: key("other"), stage: owned("staging"), want_stage: Some(owned("staging")) });
    for text in [
        "the approval request task `/run1-staging` is targeting update run `/other` and stage `staging`",
        "the approval request task `run1-staging` is targeting update run `other` and stage `staging` ",
    ] {
        add("EXEC-APPROVAL-WRONG-TARGET", text, Cause::ApprovalWrongTarget { request: key("run1-staging"), run: key("other"), stage: owned("staging"), want_stage: None });
    }
    add("EXEC-DELETE-CLUSTER-NOT-IN-STAGE", "the to be deleted cluster `member3` is not in the deleting stage during execution", Cause::DeleteClusterNotInStage { cluster: owned("member3") });
    for kind in ["binding", "clusterResourceBinding"] {
        add("EXEC-DELETED-CLUSTER-HAS-BINDING", &format!("the deleted cluster `member3` in the deleting stage still has a {kind}"), Cause::DeletedClusterHasBinding { cluster: owned("member3") });
    }
    add("EXEC-DELETING-BINDING-NOT-DELETING", "the cluster `member3` in the deleting stage is marked as deleting but its corresponding binding is not deleting", Cause::DeletingBindingNotDeleting { cluster: owned("member3") });
    add("STOP-BINDING-MISSING", "the binding for cluster `member1` in stage `staging` is not found in the toBeUpdatedBindings map during stopping", Cause::BindingMissing { cluster: owned("member1"), stage: owned("staging"), stopping: true });
    add("STOP-DELETE-CLUSTER-NOT-IN-STAGE", "the to be deleted cluster `member3` is not in the deleting stage during stopping", Cause::DeleteClusterNotInStage { cluster: owned("member3") });
    add("RUN-STATE-UNSUPPORTED", "found unsupported updateRun state: Execute", Cause::RunStateUnsupported { state: owned("Execute") });
    table
}

fn preempted(binding: Option<&str>) -> Cause {
    Cause::Preempted {
        cluster: owned("member-1"),
        stage: owned("staging"),
        binding: binding.map(owned),
    }
}

#[test]
fn a_drift_is_kept_where_the_same_content_is_applied_again() {
    let drift = ManifestProblem::Drift { degraded: false };
    let strategy = |when: &str| ApplyStrategy {
        when_to_apply: when.to_owned(),
        ..ApplyStrategy::default()
    };
    let (keeps, always) = (strategy("IfNotDrifted"), strategy("Always"));
    assert!(!drift.is_overcome_by(&keeps, false));
    assert!(drift.is_overcome_by(&keeps, true));
    assert!(drift.is_overcome_by(&always, false));
    // What others own stays theirs, whatever the content is.
    assert!(!ManifestProblem::OwnedByAnotherAppliedWork.is_overcome_by(&always, true));
    assert!(ManifestProblem::OwnedByAnotherAppliedWork.is_not_ours());
    assert!(!drift.is_not_ours());
}

#[test]
fn every_wording_names_its_cause_behind_every_beginning() {
    let beginnings: Vec<String> = [
        "",
        ABORT,
        ABORT_OLDEST,
        VALIDATE,
        INIT_OLD,
        OLDEST,
        "cannot continue the updateRun: failed to validate the updateRun, ",
        "cannot continue the updateRun: cannot continue the updateRun: ",
    ]
    .iter()
    .flat_map(|prefix| ["", USER, UNEXPECTED, EXPECTED].map(|class| format!("{prefix}{class}")))
    .collect();
    for (id, text, cause) in wordings() {
        assert!(!matches!(cause, Cause::Unrecognized { .. }));
        for beginning in &beginnings {
            let whole = format!("{beginning}{text}");
            let wanted = std::slice::from_ref(&cause);
            assert_eq!(parse_failure(&whole), wanted, "{id}: {whole}");
        }
    }
}

#[test]
fn every_known_message_has_a_wording() {
    let table = wordings();
    let mut ids: Vec<&str> = table.iter().map(|(id, _, _)| *id).collect();
    // Its text is whatever the API server said; see `errors_of_the_api_server`.
    ids.push("RETRY-API-SERVER");
    ids.sort_unstable();
    ids.dedup();
    ids.retain(|id| *id != "v0.0.1");
    assert_eq!(ids.len(), 74);
}

#[test]
fn a_pair_in_any_order_is_one_failure_with_two_causes() {
    let table = wordings();
    for (_, text, cause) in &table {
        let member = format!("{ABORT}{USER}{text}");
        let other = "the cluster updating encountered an error at stage `s`, updateRun := `r`";
        let other_cause = Cause::ClusterUpdateError;
        if *cause == other_cause {
            continue;
        }
        let found = parse_failure(&format!("[{member}, {other}]"));
        assert_eq!(found, [cause.clone(), other_cause.clone()], "{member}");
        let found = parse_failure(&format!("{ABORT}[{other}, {member}, {member}]"));
        assert_eq!(found, [other_cause, cause.clone()], "{member}");
    }
}

#[test]
fn nested_aggregates_and_stages() {
    let inner = "cannot continue the updateRun: failed to process the request due to a client error: the binding of the updating cluster `a` in the stage `s` is not up-to-date with the desired status, please check the status of binding `b-1` and see if there is a concurrent updateRun referencing the same placement and updating the same cluster";
    let text = format!(
        "cannot continue the updateRun: the stage `s` has failed, err: [{inner}, [the cluster updating encountered an error at stage `s`, updateRun := `r`, cannot continue the updateRun: the cluster `c` in the stage s has failed]]"
    );
    let found = parse_failure(&text);
    let [Cause::StageFailed { inner }] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert!(matches!(
        inner.as_slice(),
        [
            Cause::Preempted { .. },
            Cause::ClusterUpdateError,
            Cause::ClusterFailed { .. }
        ]
    ));
}

#[test]
fn an_aggregate_survives_brackets_that_do_not_match() {
    let found = parse_failure(
        "[cannot continue the updateRun: failed to process the request due to a client error: invalid resource snapshot index `[` provided, expected an integer >= 0, the cluster updating encountered an error at stage `s`, updateRun := `r`]",
    );
    assert!(matches!(
        found.as_slice(),
        [
            Cause::SnapshotIndexInvalid { .. },
            Cause::ClusterUpdateError
        ]
    ));
}

#[test]
fn errors_of_the_api_server() {
    let detail = owned("Operation cannot be fulfilled on x");
    let found = parse_failure(&format!("{API}{detail}"));
    assert_eq!(found, [Cause::ApiServerError { detail }]);
    for beginning in [VALIDATE, INIT_OLD, OLDEST] {
        for class in [EXPECTED, API] {
            let detail = owned("timeout");
            let found = parse_failure(&format!("{beginning}{class}{detail}"));
            assert_eq!(found, [Cause::OverrideFetchFailed { detail }]);
        }
    }
}

#[test]
fn unknown_text_is_kept_and_unknown_beginnings_are_skipped() {
    let text = owned("a new reason, as yet unknown");
    let found = parse_failure(&format!("{ABORT}{text}"));
    assert_eq!(found, [Cause::Unrecognized { text }]);
    let wrapped = format!("some new wrapper: {VALIDATE}{USER}parent placement not found: more");
    assert_eq!(parse_failure(&wrapped), [Cause::PlacementNotFound]);
    let aborted = ABORT.trim_end_matches(": ");
    for text in ["", "[", "[]", "[, ]", "]", ":", aborted, ABORT] {
        let found = parse_failure(text);
        assert_eq!(found.len(), 1, "{text:?}");
        assert!(matches!(found[0], Cause::Unrecognized { .. }), "{text:?}");
    }
}

#[test]
fn deep_nesting_ends() {
    let found = parse_failure(&"[".repeat(100_000));
    assert_eq!(found.len(), 1);
    let found = parse_failure(&"the stage `s` has failed, err: ".repeat(1_000));
    assert!(matches!(found[0], Cause::StageFailed { .. }));
}

#[test]
fn the_longest_message_is_read_to_its_end() {
    // A condition message holds at most 32768 characters.
    for piece in [
        ", policy snapshot `",
        ": the stage `",
        "[the cluster `, ",
        ", [",
        "{ is invalid: , ",
    ] {
        let text = piece.repeat(32_768 / piece.len());
        test_hub::waiting::ends(piece, move || {
            let _ = everything(&format!("[{text}"));
            let _ = everything(&text);
        });
    }
}

#[test]
fn keys_print_as_they_are_read() {
    let (namespace, name) = (None, owned("shop"));
    assert_eq!(key("/shop"), ObjectKey { namespace, name });
    assert_eq!(key("`apps/shop`,").to_string(), "apps/shop");
    assert_eq!(key("shop").to_string(), "shop");
    assert_eq!(key(""), ObjectKey::default());
    assert_eq!(key("{web-0 shop}").to_string(), "shop/web-0");
    assert_eq!(key("{web-0 }").to_string(), "web-0");
}

#[test]
fn stuck_at_every_version() {
    let one = Some(StuckClusters {
        clusters: vec![owned("member1")],
        stage: owned("staging"),
    });
    for text in [
        "The updateRun is stuck waiting for member1 cluster(s) in stage staging to finish updating, please check placement status for potential errors",
        "The updateRun is stuck waiting for cluster(s) member1 in stage staging to finish updating, please check placement status for potential errors",
        "The updateRun is stuck waiting for cluster member1 in stage staging to finish updating, please check placement status for potential errors",
        "The updateRun is stuck waiting for cluster member1 in stage staging to\n      finish updating, please check crp status for potential errors",
    ] {
        assert_eq!(parse_stuck(text), one, "{text}");
    }
    let text = "The updateRun is stuck waiting for a, cluster, c... cluster(s) in stage prod to finish updating, please check placement status for potential errors";
    let several = StuckClusters {
        clusters: vec![owned("a"), owned("cluster"), owned("c")],
        stage: owned("prod"),
    };
    assert_eq!(parse_stuck(text), Some(several));
    assert_eq!(parse_stuck("The update run is making progress"), None);
    assert_eq!(parse_stuck(""), None);
}

#[test]
fn waiting_before_and_after() {
    for (when, before) in [("before", true), ("after", false)] {
        let text =
            format!("The updateRun is waiting for {when}-stage tasks in stage canary to complete");
        let stage = owned("canary");
        assert_eq!(parse_waiting(&text), Some(WaitingStage { before, stage }));
    }
    let text = "Not all before-stage tasks are completed, waiting for approval";
    assert_eq!(parse_waiting(text), None);
}

#[test]
fn rollout_started_names_the_run() {
    const BEGIN: &str = "Detected the new changes on the resources and started the rollout process";
    let read = |tail: &str| parse_rollout_started(&format!("{BEGIN}{tail}"));
    let started = |index: Option<&str>, run: &str| RolloutStarted {
        snapshot_index: index.map(owned),
        run: Some(owned(run)),
    };
    let current = read(", resourceSnapshotIndex: , updateRun: web-1");
    assert_eq!(current, started(None, "web-1"));
    for kind in ["updateRun", "clusterStagedUpdateRun"] {
        let named = read(&format!(", resourceSnapshotIndex: 3, {kind}: web-1"));
        assert_eq!(named, started(Some("3"), "web-1"));
    }
    assert_eq!(read(""), RolloutStarted::default());
    let other = "The resources cannot be updated to the latest because of the rollout strategy";
    assert_eq!(parse_rollout_started(other), RolloutStarted::default());
}

#[test]
fn binding_problems() {
    const OVERRIDE: &str = "Failed to apply the override rules on the resources: ";
    const SYNC: &str = "Failed to synchronize the work to the latest: ";
    let failed =
        |snapshot: Option<&str>, kind, on, patch_error: &str| BindingProblem::OverrideFailed {
            snapshot: snapshot.map(owned),
            kind,
            on,
            patch_error: owned(patch_error),
        };
    let target = |kind: &str, name: &str, namespace: Option<&str>| {
        Some(OverrideTarget {
            kind: owned(kind),
            name: owned(name),
            namespace: namespace.map(owned),
        })
    };
    let envelope = |problem, envelope: &str, manifest: Option<&str>| BindingProblem::Envelope {
        problem,
        envelope: Some(owned(envelope)),
        manifest: manifest.map(owned),
    };
    #[rustfmt::skip]
    let table = [
        ("ClusterResourceOverrideSnapshot \"gateway-over-0\" failed to apply on Namespace \"gateway\": replace operation does not apply: doc is missing path: /metadata/labels/x: missing value", failed(Some("gateway-over-0"), Some(OverrideKind::Cluster), target("Namespace", "gateway", None), "replace operation does not apply: doc is missing path: /metadata/labels/x: missing value")),
        ("ResourceOverrideSnapshot \"web-0\" failed to apply on Deployment \"web\" in namespace \"shop\": add operation does not apply: doc is missing path: \"/spec/x/y\": missing value", failed(Some("web-0"), Some(OverrideKind::Namespaced), target("Deployment", "web", Some("shop")), "add operation does not apply: doc is missing path: \"/spec/x/y\": missing value")),
        ("replace operation does not apply: doc is missing key: /spec/x: missing value", failed(None, None, None, "replace operation does not apply: doc is missing key: /spec/x: missing value")),
        ("failed to apply overrides to Deployment \"web\" in namespace \"shop\" from envelope &{env shop ResourceEnvelope}: failed to process the request due to a client error: ResourceOverrideSnapshot \"web-0\" failed to apply on Deployment \"web\" in namespace \"shop\": remove operation does not apply", failed(Some("web-0"), Some(OverrideKind::Namespaced), target("Deployment", "web", Some("shop")), "remove operation does not apply")),
        ("clusterResourceOverrideSnapshot gateway-over-0 is not found", BindingProblem::OverrideSnapshotNotFound { kind: OverrideKind::Cluster, snapshot: key("gateway-over-0") }),
        ("resourceOverrideSnapshot {web-0 shop} is not found", BindingProblem::OverrideSnapshotNotFound { kind: OverrideKind::Namespaced, snapshot: key("shop/web-0") }),
        ("invalid clusterResourceOverrideSnapshot gateway-over-0: policy is nil", BindingProblem::OverridePolicyNil { kind: Some(OverrideKind::Cluster), snapshot: Some(key("gateway-over-0")) }),
        ("invalid resourceOverrideSnapshot web-0: policy is nil", BindingProblem::OverridePolicyNil { kind: Some(OverrideKind::Namespaced), snapshot: Some(key("web-0")) }),
        ("label key region not found on cluster member-1", BindingProblem::LabelKeyMissing { key: owned("region") }),
        ("ClusterResourceOverrideSnapshot \"o-0\" failed to apply on Namespace \"n\": label key region not found on cluster member-1", BindingProblem::LabelKeyMissing { key: owned("region") }),
        ("input ${MEMBER-CLUSTER-LABEL-KEY-region is missing the closing bracket `}`", BindingProblem::UnclosedVariable { input: owned("${MEMBER-CLUSTER-LABEL-KEY-region") }),
        ("the master resource snapshot is not found", BindingProblem::MasterSnapshotNotFound),
        ("not all resource snapshot in the same index group are created: resource snapshots are still being created for the masterResourceSnapshot shop-0-snapshot, total snapshot in the index group = 2, num Of existing snapshot in the group= 1, placement = shop", BindingProblem::SnapshotGroupIncomplete { snapshot: Some(owned("shop-0-snapshot")) }),
        ("resource snapshots are still being created for the masterResourceSnapshot shop-0-snapshot", BindingProblem::SnapshotGroupIncomplete { snapshot: Some(owned("shop-0-snapshot")) }),
        ("works.placement.kubernetes-fleet.io \"shop-work\" is forbidden: unable to create new content in namespace fleet-member-member-1 because it is being terminated", BindingProblem::NamespaceTerminating { namespace: Some(owned("fleet-member-member-1")) }),
        ("a namespaced object cm (&ResourceIdentifier{}) has been wrapped in a cluster resource envelope &{env  ClusterResourceEnvelope}", envelope(EnvelopeProblem::NamespacedObjectInClusterEnvelope, "&{env ClusterResourceEnvelope}", Some("cm"))),
        ("a cluster scope object role (&ResourceIdentifier{}) has been wrapped in a resource envelope &{env ns ResourceEnvelope}", envelope(EnvelopeProblem::ClusterObjectInNamespacedEnvelope, "&{env ns ResourceEnvelope}", Some("role"))),
        ("a namespaced object cm (&ResourceIdentifier{}) in has been wrapped in a resource envelope from another namespace (&{env ns ResourceEnvelope})", envelope(EnvelopeProblem::ObjectOfAnotherNamespace, "&{env ns ResourceEnvelope}", Some("cm"))),
        ("2 work objects found for the same envelope &{env ns ResourceEnvelope}, only one expected", envelope(EnvelopeProblem::SeveralWorks, "&{env ns ResourceEnvelope}", None)),
        ("failed to parse the wrapped manifest data to a Kubernetes runtime object (manifestKey=cm,envelopeObjRef=&{env ns ResourceEnvelope}): Object 'Kind' is missing", envelope(EnvelopeProblem::NotAnObject, "&{env ns ResourceEnvelope}", Some("cm"))),
        ("works.placement.kubernetes-fleet.io is forbidden: User \"x\" cannot create resource \"works\"", BindingProblem::Forbidden { said: owned("User \"x\" cannot create resource \"works\"") }),
        ("etcdserver: request is too large", BindingProblem::TooLarge),
        ("Failed to synchronize the work to the latest: object is being deleted: works.placement.kubernetes-fleet.io \"web-work\" already exists", BindingProblem::NameTaken),
        ("works.placement.kubernetes-fleet.io \"web-work\" already exists", BindingProblem::Other { text: owned("works.placement.kubernetes-fleet.io \"web-work\" already exists") }),
        ("dial tcp 10.0.0.1:443: connect: connection refused", BindingProblem::ApiServerUnavailable { detail: owned("dial tcp 10.0.0.1:443: connect: connection refused") }),
        ("something new", BindingProblem::Other { text: owned("something new") }),
        ("", BindingProblem::Other { text: String::new() }),
    ];
    for (text, problem) in table {
        for outer in ["", OVERRIDE, SYNC] {
            for class in ["", USER, UNEXPECTED, EXPECTED, API] {
                let whole = format!("{outer}{class}{text}");
                if text.is_empty() && !(outer.is_empty() && class.is_empty()) {
                    continue;
                }
                assert_eq!(parse_binding_problem(&whole), problem, "{whole}");
            }
        }
    }
}

#[test]
fn work_problems() {
    use WorkState as S;
    #[rustfmt::skip]
    let table = [
        ("Work object a-work is not yet available", S::NotAvailable),
        ("Work object a-work has not yet completed the apply op", S::ApplyPending),
        ("Work object a-work has failed to apply", S::ApplyFailed),
        ("Work object a-work is not applied", S::ApplyFailed),
        ("Work object a-work has not yet completed availability check", S::AvailabilityPending),
        ("The availability of work object a-work is not trackable", S::NotTrackable),
        ("Work object a-work has not yet completed diff reporting", S::DiffPending),
        ("Work object a-work has failed to report diff", S::DiffFailed),
        ("Resources are being applied", S::ApplyPending),
        ("Diff reporting on resources is in progress", S::DiffPending),
    ];
    for (text, state) in table {
        for name in ["storefront-work", "search.search-work"] {
            let work = text.contains("a-work").then(|| owned(name));
            let text = text.replace("a-work", name);
            let found = parse_work_problem(&text);
            assert_eq!(found, Some(WorkProblem { work, state }), "{text}");
        }
    }
    let fine = "All corresponding work objects are available";
    assert_eq!(parse_work_problem(fine), None);
}

#[test]
fn manifest_problems() {
    use ManifestProblem as P;
    let degraded = " in degraded mode (full comparison is performed instead of partial comparison, as the manifest object is considered to be invalid by the member cluster API server)";
    let differs = "cannot take over object: configuration differences are found between the manifest object and the corresponding object in the member cluster";
    let drifts = "cannot apply manifest: drifts are found between the manifest and the object from the member cluster";
    let differs_degraded = format!("{differs}{degraded}");
    let drifts_degraded = format!("{drifts}{degraded}");
    #[rustfmt::skip]
    let failed = [
        ("DecodingErred", "failed to decode manifest: failed to find GVR from member cluster client REST mapping: no matches for kind \"Widget\" in version \"example.com/v1\"", P::KindNotFound { kind: Some(owned("Widget")), version: Some(owned("example.com/v1")) }),
        ("DecodingErred", "failed to decode manifest: failed to unmarshal JSON: unexpected end of JSON input", P::DecodeFailed),
        ("FoundGenerateName", "objects with only generate name are not supported", P::GenerateNameOnly),
        ("Duplicated", "a duplicate manifest has been found", P::Duplicate),
        ("FailedToFindObjInMemberCluster", "failed to find the corresponding object for the manifest object in the member cluster: error returned by the API server: odd", P::LookupFailed),
        ("FailedToTakeOver", "failed to take over a pre-existing object: the object is already owned by some other sources(s) and co-ownership is disallowed (existingOwnerRefs: [{APIVersion:apps/v1 Kind:ReplicaSet Name:web-5c UID:1 Controller:0xc0001 BlockOwnerDeletion:0xc0002} {APIVersion:v1 Kind:ConfigMap Name:owner UID:2 Controller:<nil> BlockOwnerDeletion:<nil>}])", P::AlreadyOwnedByOthers { owners: vec![OwnerRef { kind: owned("ReplicaSet"), name: owned("web-5c") }, OwnerRef { kind: owned("ConfigMap"), name: owned("owner") }] }),
        ("FailedToTakeOver", "failed to take over a pre-existing object: the object is already owned by some other sources(s) and co-ownership is disallowed", P::AlreadyOwnedByOthers { owners: Vec::new() }),
        ("FailedToTakeOver", "failed to take over a pre-existing object: the object is already owned by another Fleet AppliedWork object", P::OwnedByAnotherAppliedWork),
        ("FailedToTakeOver", differs, P::DiffFound { degraded: false, report_only: false }),
        ("FailedToTakeOver", differs_degraded.as_str(), P::DiffFound { degraded: true, report_only: false }),
        ("FailedToTakeOver", "failed to take over a pre-existing object: odd", P::TakeoverFailed),
        ("NotTakenOver", "no ownership of the object in the member cluster; takeover is needed", P::TakeoverNever),
        ("FailedToRunDriftDetection", "failed to calculate pre-apply drifts between the manifest and the object from the member cluster: odd", P::DriftDetectionFailed),
        ("FoundDrifts", drifts, P::Drift { degraded: false }),
        ("FoundDriftsInDegradedMode", drifts_degraded.as_str(), P::Drift { degraded: true }),
    ];
    #[rustfmt::skip]
    let not_applied = [
        ("failed to apply the manifest: failed to create manifest object: error returned by the API server: namespaces \"billing\" not found", P::NamespaceNotFound { namespace: owned("billing") }),
        ("failed to apply the manifest: failed to patch the manifest object: error returned by the API server: Deployment.apps \"web\" is invalid: spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"web\"}}: field is immutable", P::ImmutableField { field: Some(owned("spec.selector")) }),
        ("failed to patch the manifest object: error returned by the API server: Service \"s\" is invalid: [spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive, spec.clusterIPs[0]: Invalid value: []string{\"10.0.0.1\"}: may not change once set]", P::ImmutableField { field: Some(owned("spec.clusterIPs[0]")) }),
        ("StatefulSet.apps \"db\" is invalid: spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'template' are forbidden", P::ImmutableField { field: Some(owned("spec")) }),
        ("failed to apply the manifest: failed to create manifest object: error returned by the API server: ResourceQuota in version \"v1\" cannot be handled as a ResourceQuota: quantities must match the regular expression", P::Invalid { field: None }),
        ("Deployment.apps \"web\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0", P::Invalid { field: Some(owned("spec.replicas")) }),
        ("pods \"web\" is forbidden: exceeded quota: compute, requested: cpu=2, used: cpu=0, limited: cpu=1", P::QuotaExceeded { quota: owned("compute") }),
        ("admission webhook \"guard.example.com\" denied the request: no", P::AdmissionDenied { webhook: owned("guard.example.com"), said: owned("no") }),
        ("deployments.apps \"web\" is forbidden: ValidatingAdmissionPolicy 'replicas' with binding 'all' denied request: too many", P::AdmissionPolicyDenied { policy: owned("replicas"), said: owned("too many") }),
        ("Internal error occurred: failed calling webhook \"guard.example.com\": failed to call webhook: Post \"https://g\": dial tcp: connect: connection refused", P::WebhookUnreachable { webhook: owned("admission webhook guard.example.com") }),
        ("pods \"web\" is forbidden: violates PodSecurity \"restricted:latest\": privileged", P::PodSecurity { level: owned("restricted:latest") }),
        ("configmaps \"c\" is forbidden: unable to create new content in namespace shop because it is being terminated", P::NamespaceTerminating { namespace: Some(owned("shop")) }),
        ("secrets is forbidden: User \"m\" cannot create resource \"secrets\"", P::Forbidden { said: owned("User \"m\" cannot create resource \"secrets\"") }),
        ("failed to create the manifest object: Unauthorized", P::Forbidden { said: owned("Unauthorized") }),
        ("failed to apply the manifest object: an error is returned by the API server: Apply failed with 1 conflict: conflict with \"kubectl\" using apps/v1: .spec.replicas", P::ApplyConflict { managers: vec![owned("kubectl")] }),
        ("failed to apply the manifest object: an error is returned by the API server: Apply failed with 3 conflicts: conflicts with \"hpa\":\n- .spec.replicas\nconflicts with \"kubectl-edit\" using apps/v1:\n- .spec.a\n- .spec.b", P::ApplyConflict { managers: vec![owned("hpa"), owned("kubectl-edit")] }),
        ("Operation cannot be fulfilled on deployments.apps \"web\": the object has been modified; please apply your changes to the latest version and try again", P::ObjectModified),
        ("Request entity too large: limit is 3145728", P::TooLarge),
        ("ConfigMap \"c\" is invalid: metadata.annotations: Too long: must have at most 262144 bytes", P::TooLarge),
        ("conversion webhook for x.io/v1, Kind=Widget failed: Post \"https://g\": dial tcp: connect: connection refused", P::WebhookUnreachable { webhook: owned("conversion webhook for x.io/v1, Kind=Widget") }),
        ("conversion webhook for x.io/v1, Kind=Widget failed: could not find the requested resource", P::Other { text: owned("conversion webhook for x.io/v1, Kind=Widget failed: could not find the requested resource") }),
        ("etcdserver: mvcc: database space exceeded", P::Other { text: owned("etcdserver: mvcc: database space exceeded") }),
        ("Get \"https://10.0.0.1\": dial tcp 10.0.0.1:443: i/o timeout", P::ApiServerUnavailable { detail: owned("Get \"https://10.0.0.1\": dial tcp 10.0.0.1:443: i/o timeout") }),
        ("failed to validate owner references: manifest is set to have owner references but co-ownership is disallowed", P::OwnerReferencesNotAllowed),
        ("failed to validate owner references: object is co-owned by multiple objects but co-ownership has been disallowed", P::CoOwned),
        ("failed to validate owner references: object is not owned by the expected AppliedWork object", P::OwnerMissing),
        ("failed to validate owner references: object is already owned by another AppliedWork object", P::OwnedByAnotherAppliedWork),
        ("something new", P::Other { text: owned("something new") }),
    ];
    #[rustfmt::skip]
    let whole = [
        ("Applied", "Manifest has been applied successfully", P::Fine),
        ("Available", "Manifest is available", P::Fine),
        ("NotTrackable", "Manifest's availability is not trackable; Fleet assumes that the applied manifest is available", P::Fine),
        ("NoDiffFound", "No diff has been found between the hub cluster and the member cluster", P::Fine),
        ("AppliedWithFailedDriftDetection", "AppliedWithFailedDriftDetection", P::DriftDetectionFailed),
        ("PreparingToProcess", "The manifest is being prepared for processing.", P::Preparing),
        ("ManifestApplyFailed", "An unexpected apply result is yielded (FoundDrifts, error: odd)", P::Drift { degraded: false }),
        ("ManifestNotAvailableYet", "Manifest is not yet available; Fleet will check again later", P::NotAvailableYet),
        ("ManifestNotAvailableYet", "Manifest is trackable but not available yet", P::NotAvailableYet),
        ("Failed", "Failed to track the availability of the applied manifest (error = odd)", P::AvailabilityTrackingFailed),
        ("FoundDiff", "Diff has been found between the hub cluster and the member cluster", P::DiffFound { degraded: false, report_only: true }),
        ("FoundDiffInDegradedMode", "Diff has been found in degraded mode: cannot perform partial comparison as the member cluster API server rejected the manifest object (object is invalid)", P::DiffFound { degraded: true, report_only: true }),
        ("FailedToReportDiff", "Failed to report the diff between the hub cluster and the member cluster (error = odd)", P::DiffReportFailed),
        ("FailedToReportDiff", "An error blocks the diff reporting process (NotTakenOver, error: no ownership of the object in the member cluster; takeover is needed)", P::TakeoverNever),
        ("FailedToReportDiff", "An error blocks the diff reporting process (DecodingErred, error: odd)", P::DecodeFailed),
        ("ManifestsAlreadyOwnedByOthers", "Failed to apply manifest: failed to process the request due to a client error: resource is not managed by the work controller", P::AlreadyOwnedByOthers { owners: Vec::new() }),
        ("ApplyConflictBetweenPlacements", "Failed to apply manifest: manifest is already managed by placement", P::OwnedByAnotherAppliedWork),
        ("ManifestApplyFailed", "Failed to apply manifest: namespaces \"x\" not found", P::NamespaceNotFound { namespace: owned("x") }),
        ("WorkAppliedFailed", "odd", P::Other { text: owned("odd") }),
        ("", "", P::Other { text: String::new() }),
    ];
    let check = |reason: &str, text: &str, problem: &P| {
        let found = parse_manifest_problem(reason, text);
        assert_eq!(found, *problem, "{reason}: {text}");
    };
    let not_applied = not_applied.map(|(inner, problem)| ("ManifestApplyFailed", inner, problem));
    for (reason, inner, problem) in failed.into_iter().chain(not_applied) {
        let text = format!("Failed to apply the manifest (error: {inner})");
        check(reason, &text, &problem);
    }
    for (reason, text, problem) in whole {
        check(reason, text, &problem);
    }
}

#[test]
fn decisions() {
    use FilterReason as R;
    let refused = |reasons: Vec<R>| ScheduleProblem::Unschedulable { reasons };
    #[rustfmt::skip]
    let table: Vec<(&str, ScheduleProblem)> = vec![
        ("Successfully scheduled resources for placement in \"member-1\" (affinity score: 0, topology spread score: -2): picked by scheduling policy", ScheduleProblem::Picked),
        ("Successfully scheduled resources for placement in \"member-1\": picked by scheduling policy", ScheduleProblem::Picked),
        ("Cluster \"member-1\" is not eligible for resource placement yet: cluster has left the fleet", refused(vec![R::LeftFleet])),
        ("Specified cluster \"member-9\" is not found", ScheduleProblem::ClusterNotFound),
        ("Cluster \"member-1\" does not score high enough (affinity score: 1, topology spread score: 0)", ScheduleProblem::ScoreTooLow),
        ("ClusterUnschedulable, cluster is not connected to the fleet: member agent not online yet", refused(vec![R::AgentNotOnline])),
        ("ClusterUnschedulable, cluster is not connected to the fleet: no recent heartbeat signals (last received 6.25 minutes ago)", refused(vec![R::NoHeartbeat { minutes: Some(6) }])),
        ("cluster is not connected to the fleet: member agent not joined yet", refused(vec![R::AgentNotJoined])),
        ("ClusterUnschedulable, cluster is not connected to the fleet: health condition from member agent is not available", refused(vec![R::HealthUnknown])),
        ("ClusterUnschedulable, cluster is not connected to the fleet: unhealthy for a prolonged period of time (last transitioned 12.00 minutes ago)", refused(vec![R::Unhealthy { minutes: Some(12) }])),
        ("ClusterUnschedulable, cluster does not match with any of the required cluster affinity terms", refused(vec![R::AffinityMismatch])),
        ("ClusterUnschedulable, taint &{Key:key1 Value:value1 Effect:NoSchedule} cannot be tolerated", refused(vec![R::Taint { key: owned("key1"), value: owned("value1"), effect: owned("NoSchedule") }])),
        ("ClusterUnschedulable, violated doNotSchedule topology spread constraint \"zone\" (max skew 1), violated doNotSchedule topology spread constraint \"region\" (max skew 2)", refused(vec![R::TopologySpread { key: owned("zone") }, R::TopologySpread { key: owned("region") }])),
        ("ClusterUnschedulable, cluster has no namespace information available", refused(vec![R::NamespacesUnknown])),
        ("ClusterUnschedulable, target namespace does not exist on cluster", refused(vec![R::NamespaceMissing])),
        ("ClusterAlreadySelected, resource placement has already been scheduled or bounded on the cluster", refused(vec![R::AlreadyPlaced])),
        ("ClusterUnschedulable, odd", refused(vec![R::Other { text: owned("odd") }])),
        ("odd, text", ScheduleProblem::Other { text: owned("odd, text") }),
        ("", ScheduleProblem::Other { text: String::new() }),
    ];
    for (text, decision) in table {
        assert_eq!(parse_decision(text), decision, "{text}");
    }
}

/// Every parser on one text.
fn everything(text: &str) -> impl PartialEq + std::fmt::Debug {
    (
        parse_failure(text),
        (parse_stuck(text), parse_waiting(text)),
        (
            parse_rollout_started(text),
            parse_binding_problem(text),
            parse_work_problem(text),
        ),
        (
            parse_manifest_problem("ManifestApplyFailed", text),
            parse_manifest_problem(text, text),
        ),
        parse_decision(text),
    )
}

/// Pieces that make parsers go further than plain noise does.
fn pieces() -> Vec<String> {
    let mut pieces: Vec<String> = wordings::WORDINGS
        .iter()
        .map(|wording| owned(wording.template))
        .collect();
    #[rustfmt::skip]
    let more = [
        VALIDATE, INIT_OLD, OLDEST, ABORT, USER, UNEXPECTED, EXPECTED, API,
        "[", "]", ", ", ": ", "`", "\"", "{", "}", "/", "-", "é", "\u{1f680}",
        "existingOwnerRefs: [{Kind:", "Apply failed with 2 conflicts: conflicts with \"",
        " is invalid: [", "Forbidden: ", "field is immutable", "no matches for kind \"",
        "Failed to apply the manifest (error: ", "resourceSnapshotIndex: ", ", updateRun: ",
        "ClusterUnschedulable, ", "taint &{Key:", " cannot be tolerated", "(max skew ",
        "is stuck waiting for ", " cluster(s) in stage ", " to finish",
    ];
    pieces.extend(more.map(owned));
    pieces
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn no_text_panics(text in "(?s).{0,200}") {
        let _ = everything(&text);
    }

    #[test]
    fn no_mixture_panics_and_folding_changes_nothing(
        parts in prop::collection::vec(prop::sample::select(pieces()), 0..8),
        noise in "[a-z0-9 `,:\\[\\]é]{0,12}",
        folds in prop::collection::vec(prop::sample::select(vec![" ", "\n", "\n      ", "  ", "\t"]), 1..6),
    ) {
        let text = parts.concat().replace("{}", &noise);
        let mut folded = String::from("\n");
        for (at, part) in text.split(' ').enumerate() {
            folded.push_str(part);
            folded.push_str(folds[at % folds.len()]);
        }
        prop_assert_eq!(everything(&text), everything(&folded));
    }
}
