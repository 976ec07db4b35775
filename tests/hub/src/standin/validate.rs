//! Checking, at every look, that what a run is based on still holds, and where it stands.

use super::conditions::Conditions;
use super::halt::{Halt, abort, unexpected, user};
use super::initialize::Targets;
use super::inputs;
use super::names;
use super::object::Object;
use super::stages;
use super::status::{Run, StageStatus};
use super::world::World;

/// What a run has to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// The stage with this index; the deletion stage comes after the last one.
    Stage(usize),
    /// Nothing: everything is done.
    Done,
}

/// Checks the run against the hub as it is now. The run is over when a check fails.
pub(crate) fn validate(run: &Run, world: &World) -> Result<(Position, Targets), Halt> {
    let placement = inputs::placement(run, world)?;
    let latest = inputs::apply_strategy(placement);
    let recorded = run.status.applied_strategy.clone().unwrap_or_default();
    if latest != recorded {
        return Err(abort(&user(&format!(
            "the applyStrategy in the updateRun is outdated, latest: {}, recorded: {}",
            inputs::print_apply_strategy(&latest),
            inputs::print_apply_strategy(&recorded),
        ))));
    }
    let policy = inputs::policy(run, world)?;
    let wanted = inputs::wanted_clusters(run, policy)?;
    inputs::scheduled(policy)?;
    let index = policy.label(names::POLICY_INDEX);
    if index != run.status.policy_snapshot_index_used {
        return Err(abort(&format!(
            "the policy snapshot index used in the updateRun is outdated, latest: {index}, \
             recorded: {}",
            run.status.policy_snapshot_index_used
        )));
    }
    if let Some(count) = wanted
        && count != run.status.policy_observed_cluster_count
    {
        return Err(abort(&format!(
            "the cluster count initialized in the updateRun is outdated, latest: {count}, \
             recorded: {}",
            run.status.policy_observed_cluster_count
        )));
    }
    let bindings = inputs::bindings(run, world, policy, wanted)?;
    if run.status.staged_update_strategy_snapshot.is_none() {
        return Err(abort(&unexpected(
            "the updateRun has nil updateStrategySnapshot",
        )));
    }
    let latest = stages::compute(run, world, &bindings).map_err(|(halt, _)| halt)?;
    let target = |binding: &&serde_json::Value| binding.text("/spec/targetCluster").to_owned();
    let to_delete: Vec<String> = bindings.unselected.iter().map(target).collect();
    let position = position(run, &latest, &to_delete)?;
    let named = |binding: &&serde_json::Value| binding.name().to_owned();
    Ok((
        position,
        Targets {
            update: bindings.selected.iter().map(named).collect(),
            delete: bindings.unselected.iter().map(named).collect(),
        },
    ))
}

/// Where the run stands, judged from its own status; refuses a status that contradicts itself or
/// the stages as they would be computed now.
fn position(run: &Run, latest: &[StageStatus], to_delete: &[String]) -> Result<Position, Halt> {
    let stages = &run.status.stages_status;
    if stages.is_empty() {
        return Err(abort(&unexpected("the updateRun has nil stagesStatus")));
    }
    if stages.len() != latest.len() {
        return Err(abort(&format!(
            "the number of stages in the updateRun has changed, new: {}, existing: {}",
            latest.len(),
            stages.len()
        )));
    }
    let mut updating: Option<usize> = None;
    let mut finished = 0;
    for (index, (stage, latest)) in stages.iter().zip(latest).enumerate() {
        same_clusters(index, stage, latest)?;
        if stage.conditions.is_true("Succeeded", run.generation) {
            finished_stage(run, index, stage, updating, finished)?;
            finished = index + 1;
        } else if let Some(failed) = stage
            .conditions
            .find("Succeeded")
            .filter(|condition| condition.status == "False")
        {
            return Err(abort(&format!(
                "the stage `{}` has failed, err: {}",
                stage.stage_name, failed.message
            )));
        } else if stage.conditions.find("Progressing").is_some() {
            updating_stage(run, index, stage, updating, finished)?;
            updating = Some(index);
        }
    }
    deletion(run, stages.len(), updating, finished, to_delete)
}

fn same_clusters(index: usize, stage: &StageStatus, latest: &StageStatus) -> Result<(), Halt> {
    if stage.stage_name != latest.stage_name {
        return Err(abort(&format!(
            "index `{index}` stage name in the updateRun has changed, new: {}, existing: {}",
            latest.stage_name, stage.stage_name
        )));
    }
    if stage.clusters.len() != latest.clusters.len() {
        return Err(abort(&format!(
            "the number of clusters in index `{index}` stage has changed, new: {}, existing: {}",
            latest.clusters.len(),
            stage.clusters.len()
        )));
    }
    // KubeFleet would crash on such a status; a test that writes one should see why instead.
    if stage.before_stage_task_status.len() != latest.before_stage_task_status.len()
        || stage.after_stage_task_status.len() != latest.after_stage_task_status.len()
    {
        return Err(abort(&unexpected(&format!(
            "the tasks of index `{index}` stage do not match the recorded strategy"
        ))));
    }
    for (position, (own, new)) in stage.clusters.iter().zip(&latest.clusters).enumerate() {
        if own.cluster_name != new.cluster_name {
            return Err(abort(&format!(
                "the `{position}` cluster in the `{index}` stage has changed, new: {}, \
                 existing: {}",
                new.cluster_name, own.cluster_name
            )));
        }
    }
    Ok(())
}

// The controllers count finished stages by the index of the last one, which is -1 before the first.
fn last(finished: usize) -> i64 {
    i64::try_from(finished).unwrap_or(i64::MAX) - 1
}

fn finished_stage(
    run: &Run,
    index: usize,
    stage: &StageStatus,
    updating: Option<usize>,
    finished: usize,
) -> Result<(), Halt> {
    let name = &stage.stage_name;
    if let Some(updating) = updating {
        return Err(abort(&unexpected(&format!(
            "the finished stage `{index}` is after the updating stage `{updating}`"
        ))));
    }
    for cluster in &stage.clusters {
        if !cluster.conditions.is_true("Succeeded", run.generation) {
            return Err(abort(&unexpected(&format!(
                "cluster `{}` in the finished stage `{name}` has not succeeded",
                cluster.cluster_name
            ))));
        }
    }
    is_next("finished", name, index, finished)
}

/// That a stage comes right after those that are finished.
fn is_next(how: &str, name: &str, index: usize, finished: usize) -> Result<(), Halt> {
    if index == finished {
        return Ok(());
    }
    Err(abort(&unexpected(&format!(
        "the {how} stage `{name}` is not right after the last finished stage with index `{}`",
        last(finished)
    ))))
}

fn updating_stage(
    run: &Run,
    index: usize,
    stage: &StageStatus,
    updating: Option<usize>,
    finished: usize,
) -> Result<(), Halt> {
    let name = &stage.stage_name;
    if let Some(updating) = updating {
        return Err(abort(&unexpected(&format!(
            "the stage `{name}` is updating, but there is already a stage with index \
             `{updating}` updating"
        ))));
    }
    is_next("updating", name, index, finished)?;
    let limit = stage_limit(run, index)?;
    let count = stage
        .clusters
        .iter()
        .filter(|cluster| {
            cluster.conditions.is_true("Started", run.generation)
                && !cluster.conditions.is_true("Succeeded", run.generation)
        })
        .count();
    if count > limit {
        return Err(abort(&unexpected(&format!(
            "the number of updating clusters `{count}` in the updating stage `{name}` exceeds \
             maxConcurrency `{limit}`"
        ))));
    }
    Ok(())
}

/// How many clusters of the stage with this index may be updated at once.
pub(crate) fn stage_limit(run: &Run, index: usize) -> Result<usize, Halt> {
    let stage = run.status.recorded_stages().get(index);
    let clusters = run
        .status
        .stages_status
        .get(index)
        .map_or(0, |stage| stage.clusters.len());
    stage
        .ok_or_else(|| "nil value for IntOrString".to_owned())
        .and_then(|stage| stages::max_concurrency(stage, clusters))
        .map_err(|why| abort(&why))
}

fn deletion(
    run: &Run,
    stages: usize,
    updating: Option<usize>,
    finished: usize,
    to_delete: &[String],
) -> Result<Position, Halt> {
    let Some(stage) = &run.status.deletion_stage_status else {
        return Err(abort(&unexpected(
            "the updateRun has nil deletionStageStatus",
        )));
    };
    for cluster in to_delete {
        let known = stage
            .clusters
            .iter()
            .any(|known| known.cluster_name == *cluster);
        if !known {
            return Err(abort(&unexpected(&format!(
                "the cluster `{cluster}` to be deleted is not in the delete stage"
            ))));
        }
    }
    let succeeded = stage.conditions.is_true("Succeeded", run.generation);
    let failed = stage
        .conditions
        .find("Succeeded")
        .filter(|condition| condition.status == "False");
    if updating.is_some() || finished < stages {
        if succeeded || failed.is_some() || stage.conditions.is_true("Progressing", run.generation)
        {
            return Err(abort(&unexpected(&format!(
                "the delete stage is active, but there are still stages updating, \
                 updatingStageIndex: {}, lastFinishedStageIndex: {}",
                updating.map_or(-1, |index| last(index + 1)),
                last(finished)
            ))));
        }
        return Ok(Position::Stage(updating.unwrap_or(finished)));
    }
    match failed {
        _ if succeeded => Ok(Position::Done),
        Some(failed) => Err(abort(&format!(
            "the delete stage has failed, err: {}",
            failed.message
        ))),
        None => Ok(Position::Stage(stages)),
    }
}
