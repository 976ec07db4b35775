//! A run's own record contradicts itself, or a part of it is missing.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::run_failure;

/// At every look the controller checks that the record is whole and in order. Nothing but the
/// controller should write it. Source: updaterun/validation.go:validateStagesStatus,
/// validateUpdateStagesStatus, validateClusterUpdatingStatus, validateDeleteStageStatus.
pub const RULE: Rule =
    Rule::error("FS207", "run-status-inconsistent", RuleSearch::Cause(check)).environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    {
        let (path, stage, clusters, what) = describe(cause)?;
        let mut finding = run_failure::finding(
            cx,
            rule,
            cx.run_object(),
            format!("The run's status is inconsistent: {what}."),
        )
        .clusters(clusters);
        let status = cx.run().map(|run| &run.status);
        let is_gone = status.is_some_and(|status| match cause {
            Cause::StrategySnapshotMissing => status.strategy.is_none(),
            Cause::StagesStatusMissing => status.stages.is_empty(),
            Cause::DeletionStageMissing => status.deletion_stage.is_none(),
            _ => false,
        });
        finding = if is_gone {
            finding.evidence(cx.run_object(), path, ABSENT)
        } else {
            finding.computed(cx.run_object(), &["status"], what)
        };
        finding.stage = stage;
        let finding = finding.look_with(
            "Find what wrote the status: its managed fields name the writers. Typical causes: a \
             restored backup, a manual edit, an older hub agent that drops newer fields.",
            cx.run_object().kubectl("get").showing_field_managers(),
        );
        Some(run_failure::new_run(
            cx,
            finding,
            "Start a new run: a damaged status cannot be fixed.",
        ))
    }
}

type StatusDescription = (String, Option<String>, Vec<String>, String);

/// Where in the status, in which stage, of which clusters, and what is wrong.
fn describe(cause: &Cause) -> Option<StatusDescription> {
    let at = |index: Option<i64>| index.map_or_else(|| "?".to_owned(), |index| index.to_string());
    let number =
        |number: Option<u64>| number.map_or_else(|| "?".to_owned(), |number| number.to_string());
    let stages = || "status.stagesStatus".to_owned();
    let some = |name: &String| Some(name.clone());
    let none = Vec::new;
    let (path, stage, clusters, what) = match cause {
        Cause::StrategySnapshotMissing => (
            "status.stagedUpdateStrategySnapshot".to_owned(),
            None,
            none(),
            "its copy of the strategy is missing".to_owned(),
        ),
        Cause::StagesStatusMissing => (stages(), None, none(), "its stages are missing".to_owned()),
        Cause::DeletionStageMissing => (
            "status.deletionStageStatus".to_owned(),
            None,
            none(),
            "its deletion stage is missing".to_owned(),
        ),
        Cause::StageCountChanged { new, existing } => (
            stages(),
            None,
            none(),
            format!(
                "it lists {} stages but its copy of the strategy has {}",
                number(*existing),
                number(*new)
            ),
        ),
        Cause::StageNameChanged { new, existing, .. } => (
            stages(),
            some(existing),
            none(),
            format!("its stage {existing} is called {new} in its copy of the strategy"),
        ),
        Cause::FinishedStageAfterUpdating { finished, updating } => (
            stages(),
            None,
            none(),
            format!(
                "stage number {} is finished but the earlier stage number {} is still updating",
                at(*finished),
                at(*updating)
            ),
        ),
        Cause::FinishedStageUnfinishedCluster { cluster, stage } => (
            stages(),
            some(stage),
            vec![cluster.clone()],
            format!("stage {stage} is finished but its cluster {cluster} is not"),
        ),
        Cause::FinishedStageOutOfOrder { stage, .. } => (
            stages(),
            some(stage),
            none(),
            format!("stage {stage} is finished but an earlier one is not"),
        ),
        _ => return describe_more(cause),
    };
    Some((path, stage, clusters, what))
}

fn describe_more(cause: &Cause) -> Option<StatusDescription> {
    let stages = || "status.stagesStatus".to_owned();
    Some(match cause {
        Cause::TwoUpdatingStages { stage, .. } => (
            stages(),
            Some(stage.clone()),
            Vec::new(),
            format!("stage {stage} is updating at the same time as another one"),
        ),
        Cause::UpdatingStageOutOfOrder { stage, .. } => (
            stages(),
            Some(stage.clone()),
            Vec::new(),
            format!("stage {stage} is updating but an earlier one is not finished"),
        ),
        Cause::TooManyUpdatingClusters {
            stage,
            updating,
            max_concurrency,
            clusters,
        } => {
            let what = match (updating, max_concurrency) {
                (Some(updating), Some(max)) => {
                    format!(
                        "stage {stage} updates {updating} clusters at a time, but its limit is \
                         {max}"
                    )
                }
                _ => format!("stage {stage} updates more clusters at a time than its limit"),
            };
            (stages(), Some(stage.clone()), clusters.clone(), what)
        }
        Cause::DeleteStageActiveEarly => (
            "status.deletionStageStatus".to_owned(),
            None,
            Vec::new(),
            "its deletion stage has started but other stages are not finished".to_owned(),
        ),
        Cause::ClusterFailed { cluster, stage } => (
            stages(),
            Some(stage.clone()),
            vec![cluster.clone()],
            format!("cluster {cluster} of stage {stage} failed without a reason"),
        ),
        _ => return None,
    })
}
