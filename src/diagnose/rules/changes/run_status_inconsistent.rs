//! A run's own record contradicts itself, or a part of it is missing.

use std::slice;

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::run_failure;

/// At every look the controller checks that the record is whole and in order. Nothing but the
/// controller should write it. Source: updaterun/validation.go:validateStagesStatus,
/// validateUpdateStagesStatus, validateClusterUpdatingStatus, validateDeleteStageStatus.
pub const RULE: Rule =
    Rule::error("FS207", "run-status-inconsistent", NamedCause(check)).environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    let (stage, what) = describe(cause)?;
    let message = format!("The run's status is inconsistent: {what}.");
    let mut finding =
        run_failure::finding(cx, rule, cx.run_object(), message).clusters(clusters(cause));
    let gone = cx.run().and_then(|run| match cause {
        Cause::StrategySnapshotMissing if run.status.strategy.is_none() => {
            Some("status.stagedUpdateStrategySnapshot")
        }
        Cause::StagesStatusMissing if run.status.stages.is_empty() => Some("status.stagesStatus"),
        Cause::DeletionStageMissing if run.status.deletion_stage.is_none() => {
            Some("status.deletionStageStatus")
        }
        _ => None,
    });
    finding = match gone {
        Some(path) => finding.evidence(cx.run_object(), path, ABSENT),
        None => finding.computed(cx.run_object(), &["status"], what),
    };
    finding.stage = stage.cloned();
    let finding = finding.look_with(
        "Find what wrote the status: its managed fields name the writers. Typical causes: a \
         restored backup, a manual edit, an older hub agent that drops newer fields.",
        cx.run_object().kubectl("get").showing_field_managers(),
    );
    Some(finding.next_run(cx, "Start a new run: a damaged status cannot be fixed."))
}

/// In which stage, and what is wrong.
fn describe(cause: &Cause) -> Option<(Option<&String>, String)> {
    Some(match cause {
        Cause::StrategySnapshotMissing => (None, "its copy of the strategy is missing".to_owned()),
        Cause::StagesStatusMissing => (None, "its stages are missing".to_owned()),
        Cause::DeletionStageMissing => (None, "its deletion stage is missing".to_owned()),
        Cause::StageCountChanged { new, existing } => (
            None,
            format!(
                "it lists {} stages but its copy of the strategy has {}",
                number(*existing),
                number(*new)
            ),
        ),
        Cause::StageNameChanged { new, existing } => (
            Some(existing),
            format!("its stage {existing} is called {new} in its copy of the strategy"),
        ),
        Cause::FinishedStageAfterUpdating { finished, updating } => (
            None,
            format!(
                "stage number {} is finished but the earlier stage number {} is still updating",
                number(*finished),
                number(*updating)
            ),
        ),
        Cause::FinishedStageUnfinishedCluster { cluster, stage } => (
            Some(stage),
            format!("stage {stage} is finished but its cluster {cluster} is not"),
        ),
        Cause::FinishedStageOutOfOrder { stage } => (
            Some(stage),
            format!("stage {stage} is finished but an earlier one is not"),
        ),
        Cause::TwoUpdatingStages { stage } => (
            Some(stage),
            format!("stage {stage} is updating at the same time as another one"),
        ),
        Cause::UpdatingStageOutOfOrder { stage } => (
            Some(stage),
            format!("stage {stage} is updating but an earlier one is not finished"),
        ),
        Cause::TooManyUpdatingClusters {
            stage,
            updating: Some(updating),
            max_concurrency: Some(max),
            ..
        } => (
            Some(stage),
            format!("stage {stage} updates {updating} clusters at a time, but its limit is {max}"),
        ),
        Cause::TooManyUpdatingClusters { stage, .. } => (
            Some(stage),
            format!("stage {stage} updates more clusters at a time than its limit"),
        ),
        Cause::DeleteStageActiveEarly => (
            None,
            "its deletion stage has started but other stages are not finished".to_owned(),
        ),
        Cause::ClusterFailed { cluster, stage } => (
            Some(stage),
            format!("cluster {cluster} of stage {stage} failed without a reason"),
        ),
        _ => return None,
    })
}

fn number(number: Option<impl ToString>) -> String {
    number.map_or_else(|| "?".to_owned(), |it| it.to_string())
}

fn clusters(cause: &Cause) -> &[String] {
    match cause {
        Cause::FinishedStageUnfinishedCluster { cluster, .. }
        | Cause::ClusterFailed { cluster, .. } => slice::from_ref(cluster),
        Cause::TooManyUpdatingClusters { clusters, .. } => clusters,
        _ => &[],
    }
}
