//! A run's own record contradicts itself, or a part of it is missing.

use crate::diagnose::case::Case;
use crate::diagnose::failing;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::diagnose::shown::ABSENT;
use crate::kubefleet::messages::Cause;

/// At every look the controller checks that the record is whole and in order. Nothing but the
/// controller should write it. Source: updaterun/validation.go:validateStagesStatus,
/// validateUpdateStagesStatus, validateClusterUpdatingStatus, validateDeleteStageStatus.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS207",
    name: "run-status-inconsistent",
    severity: Severity::Error,
    reads: &[],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    case.causes()
        .filter_map(|cause| {
            let (path, stage, clusters, what) = describe(cause)?;
            let mut finding = failing::finding(
                case,
                rule,
                case.run_object(),
                format!("The record that the run keeps in its status is not consistent: {what}."),
            )
            .clusters(clusters);
            let status = case.run().map(|run| &run.status);
            let is_gone = status.is_some_and(|status| match cause {
                Cause::StrategySnapshotMissing => status.strategy.is_none(),
                Cause::StagesStatusMissing => status.stages.is_empty(),
                Cause::DeletionStageMissing => status.deletion_stage.is_none(),
                _ => false,
            });
            finding = if is_gone {
                finding.evidence(case.run_object(), path, ABSENT)
            } else {
                finding.computed(case.run_object(), &["status"], what)
            };
            finding.stage = stage;
            let finding = finding.look(
                "Find out what wrote the status: its managed fields name the writers. A restore \
                 from a backup, a hand edit and an older hub agent that drops newer fields do this.",
                Some(
                    case.run_object()
                        .kubectl("get")
                        .flag("-o", "yaml")
                        .switch("--show-managed-fields"),
                ),
            );
            Some(failing::new_run(
                case,
                finding,
                "Make a new run: a record that was damaged is not mended.",
            ))
        })
        .collect()
}

type Description = (String, Option<String>, Vec<String>, String);

/// Where in the status, in which stage, of which clusters, and what is wrong.
fn describe(cause: &Cause) -> Option<Description> {
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
                "it lists {} stages and its copy of the strategy gives {}",
                number(*existing),
                number(*new)
            ),
        ),
        Cause::StageNameChanged { new, existing, .. } => (
            stages(),
            some(existing),
            none(),
            format!("it names a stage {existing} that is {new} in its copy of the strategy"),
        ),
        Cause::FinishedStageAfterUpdating { finished, updating } => (
            stages(),
            None,
            none(),
            format!(
                "stage number {} is finished while stage number {} before it is updating",
                at(*finished),
                at(*updating)
            ),
        ),
        Cause::FinishedStageUnfinishedCluster { cluster, stage } => (
            stages(),
            some(stage),
            vec![cluster.clone()],
            format!("stage {stage} is finished and its cluster {cluster} is not"),
        ),
        Cause::FinishedStageOutOfOrder { stage, .. } => (
            stages(),
            some(stage),
            none(),
            format!("stage {stage} is finished and one before it is not"),
        ),
        _ => return describe_more(cause),
    };
    Some((path, stage, clusters, what))
}

fn describe_more(cause: &Cause) -> Option<Description> {
    let stages = || "status.stagesStatus".to_owned();
    Some(match cause {
        Cause::TwoUpdatingStages { stage, .. } => (
            stages(),
            Some(stage.clone()),
            Vec::new(),
            format!("stage {stage} is updating while another one is"),
        ),
        Cause::UpdatingStageOutOfOrder { stage, .. } => (
            stages(),
            Some(stage.clone()),
            Vec::new(),
            format!("stage {stage} is updating and one before it is not finished"),
        ),
        Cause::TooManyUpdatingClusters {
            stage,
            updating,
            max_concurrency,
            clusters,
        } => {
            let what = match (updating, max_concurrency) {
                (Some(updating), Some(max)) => {
                    format!("stage {stage} has {updating} clusters under way and may have {max}")
                }
                _ => format!("stage {stage} has more clusters under way than it may have"),
            };
            (stages(), Some(stage.clone()), clusters.clone(), what)
        }
        Cause::DeleteStageActiveEarly { .. } => (
            "status.deletionStageStatus".to_owned(),
            None,
            Vec::new(),
            "its deletion stage has begun before the other stages are finished".to_owned(),
        ),
        Cause::ClusterFailed { cluster, stage } => (
            stages(),
            Some(stage.clone()),
            vec![cluster.clone()],
            format!("cluster {cluster} of stage {stage} has failed and does not say why"),
        ),
        _ => return None,
    })
}
