//! Executing a run: one look at the stage that is being updated.

use serde_json::{Value, json};

use super::clusters;
use super::conditions::{Condition, Conditions};
use super::deletion;
use super::gates;
use super::halt::{self, Halt, abort, unexpected, user};
use super::look::{Action, Look, Next};
use super::marks::{self, Small, Stage};
use super::names;
use super::object::Object;
use super::stop;
use super::validate::stage_limit;

/// Does what the run's state asks for, and marks the run when it is over; nothing for one that is
/// only to be initialized.
pub(crate) fn proceed(look: &mut Look<'_>, index: usize) -> Option<Result<Next, Halt>> {
    let state = look.run.spec.state.clone();
    let outcome = match state.as_str() {
        "Initialize" => return None,
        "Run" => execute(look, index),
        "Stop" => stop::stop(look, index),
        other => Err(Halt::Abort(unexpected(&format!(
            "found unsupported updateRun state: {other}"
        )))),
    };
    match &outcome {
        Ok(Next::Finished) if state == "Run" => marks::run_succeeded(&mut look.run, look.now),
        Ok(Next::Finished) => marks::run_stopped(&mut look.run, look.now),
        Err(Halt::Abort(message)) => marks::run_failed(&mut look.run, message, look.now),
        _ => {}
    }
    Some(outcome)
}

/// Goes on with the stage of this index, or with the deletion stage after the last one.
pub(crate) fn execute(look: &mut Look<'_>, index: usize) -> Result<Next, Halt> {
    let outcome = advance(look, index);
    mark_aborted(look, index, &outcome);
    outcome
}

/// Marks the stage as failed when the run is over.
pub(crate) fn mark_aborted(look: &mut Look<'_>, index: usize, outcome: &Result<Next, Halt>) {
    let Err(Halt::Abort(message)) = outcome else {
        return;
    };
    let (generation, now) = (look.run.generation, look.now);
    let status = &mut look.run.status;
    let stage = status
        .stages_status
        .get_mut(index)
        .or(status.deletion_stage_status.as_mut());
    if let Some(stage) = stage {
        Stage::new(stage, generation, now).failed(message);
    }
}

fn advance(look: &mut Look<'_>, index: usize) -> Result<Next, Halt> {
    let (generation, now) = (look.run.generation, look.now);
    marks::run_progressing_unless_held(&mut look.run, now);
    let Some(stage) = look.run.status.stages_status.get_mut(index) else {
        let finished = deletion::execute(look)?;
        return Ok(if finished {
            Next::Finished
        } else {
            Next::After(look.timing.look)
        });
    };
    if stage.clusters.is_empty() {
        Stage::new(stage, generation, now).skipped();
        return Ok(Next::Again);
    }
    if !gates::before(look, index)? {
        let name = look.stage_name(index);
        let message = "Not all before-stage tasks are completed, waiting for approval";
        look.stage(index).waiting(message);
        marks::run_waiting(&mut look.run, "before", &name, now);
        return Ok(Next::After(look.timing.gate_look));
    }
    let limit = stage_limit(&look.run, index)?;
    update(look, index, limit)
}

/// Starts clusters while there are free slots, and finishes those that are done.
fn update(look: &mut Look<'_>, index: usize, limit: usize) -> Result<Next, Halt> {
    let stage = look.stage_name(index);
    let total = look.run.status.stages_status[index].clusters.len();
    let (mut finished, mut updating) = (0, 0);
    let mut stuck: Vec<String> = Vec::new();
    let mut errors: Vec<Halt> = Vec::new();
    for position in 0..total {
        if updating >= limit {
            break;
        }
        let cluster = &look.run.status.stages_status[index].clusters[position];
        if cluster.conditions.is_true("Succeeded", look.run.generation) {
            finished += 1;
            continue;
        }
        updating += 1;
        match one(look, index, position) {
            Ok(Progress::Finished) => {
                finished += 1;
                updating -= 1;
            }
            Ok(Progress::Moving) => {}
            Ok(Progress::Stuck(cluster)) => stuck.push(cluster),
            Err((halt, cluster)) => {
                errors.push(halt);
                stuck.extend(cluster);
            }
        }
    }
    settle(look, &stage, &stuck);
    if let Some(halt) = halt::join(errors) {
        return Err(halt);
    }
    if finished == total {
        return complete(look, index, &stage);
    }
    Ok(Next::After(look.timing.look))
}

/// Says whether the run is stuck, or that it is moving.
pub(crate) fn settle(look: &mut Look<'_>, stage: &str, stuck: &[String]) {
    if !stuck.is_empty() {
        marks::run_stuck(&mut look.run, stuck, stage, look.now);
    } else if look.run.spec.state == "Run" {
        marks::run_progressing(&mut look.run, look.now);
    }
}

enum Progress {
    Finished,
    Moving,
    Stuck(String),
}

/// A cluster can be in error and stuck at the same time: then its name comes with the error.
type Failure = (Halt, Option<String>);

fn one(look: &mut Look<'_>, index: usize, position: usize) -> Result<Progress, Failure> {
    let stage = look.stage_name(index);
    let generation = look.run.generation;
    let snapshot = snapshot_name(look);
    let cluster = look.run.status.stages_status[index].clusters[position].clone();
    let name = &cluster.cluster_name;
    if cluster.conditions.is_false("Succeeded", generation) {
        let text = format!("the cluster `{name}` in the stage {stage} has failed");
        return Err((abort(&text), None));
    }
    let binding = look
        .binding_of(name, &stage, "")
        .map_err(|halt| (halt, None))?;
    let in_sync = clusters::in_sync(&look.run, binding, &snapshot);
    let bound = binding.text("/spec/state") == "Bound";
    let started = clusters::rollout_started(binding);
    if !cluster.conditions.is_true("Started", generation) {
        let rollout = |spec: Vec<(&'static str, Value)>| Action::Rollout {
            binding: binding.name().to_owned(),
            spec,
        };
        if !in_sync {
            let strategy = look.run.status.applied_strategy.clone();
            look.actions.push(rollout(vec![
                ("state", json!("Bound")),
                ("resourceSnapshotName", json!(snapshot)),
                ("resourceOverrideSnapshots", Value::Null),
                ("clusterResourceOverrideSnapshots", Value::Null),
                ("applyStrategy", strategy.unwrap_or_default()),
            ]));
        } else if !bound {
            look.actions.push(rollout(vec![("state", json!("Bound"))]));
        } else if !started {
            look.actions.push(rollout(Vec::new()));
        } else if clusters::updated(&look.run, binding, &stage).map_err(|halt| (halt, None))? {
            look.cluster(index, position).succeeded();
        }
        look.cluster(index, position).started();
        look.stage(index).started();
        return Ok(Progress::Moving);
    }
    if !in_sync || !bound || !started {
        let why = user(&format!(
            "the binding of the updating cluster `{name}` in the stage `{stage}` is not \
             up-to-date with the desired status, please check the status of binding `{}` and see \
             if there is a concurrent updateRun referencing the same placement and updating the \
             same cluster",
            look.run.scope.reference(binding.name()),
        ));
        look.cluster(index, position).failed(&why);
        return Err((abort(&why), None));
    }
    finish(look, index, position, binding)
}

/// Looks whether a cluster that is being updated is done, or has taken too long.
pub(crate) fn finish_cluster(
    look: &mut Look<'_>,
    index: usize,
    position: usize,
    binding: &Value,
) -> (Result<bool, Halt>, Option<String>) {
    let stage = look.stage_name(index);
    let cluster = &look.run.status.stages_status[index].clusters[position];
    let name = cluster.cluster_name.clone();
    let since = cluster
        .conditions
        .find("Started")
        .and_then(Condition::since);
    let outcome = clusters::updated(&look.run, binding, &stage);
    if outcome == Ok(true) {
        look.cluster(index, position).succeeded();
        return (outcome, None);
    }
    let too_long = since.is_some_and(|since| {
        look.now.duration_since(since).unsigned_abs() > look.timing.stuck_after
    });
    (outcome, too_long.then_some(name))
}

fn finish(
    look: &mut Look<'_>,
    index: usize,
    position: usize,
    binding: &Value,
) -> Result<Progress, Failure> {
    match finish_cluster(look, index, position, binding) {
        (Ok(true), _) => Ok(Progress::Finished),
        (Ok(false), None) => Ok(Progress::Moving),
        (Ok(false), Some(cluster)) => Ok(Progress::Stuck(cluster)),
        (Err(halt), stuck) => Err((halt, stuck)),
    }
}

/// All clusters are updated: the tasks after the stage are left.
fn complete(look: &mut Look<'_>, index: usize, stage: &str) -> Result<Next, Halt> {
    marks::run_waiting(&mut look.run, "after", stage, look.now);
    let message =
        "All clusters in the stage are updated, waiting for after-stage tasks to complete";
    look.stage(index).waiting(message);
    match gates::after(look, index)? {
        gates::After::Passed => {
            marks::run_progressing(&mut look.run, look.now);
            look.stage(index).succeeded();
            Ok(Next::Again)
        }
        gates::After::Waits(time) => Ok(Next::After(time.unwrap_or(look.timing.gate_look))),
    }
}

fn snapshot_name(look: &Look<'_>) -> String {
    let index = look
        .run
        .status
        .resource_snapshot_index_used
        .parse()
        .unwrap_or_default();
    names::resource_snapshot(&look.run.spec.placement, index)
}

impl Look<'_> {
    pub(crate) fn stage_name(&self, index: usize) -> String {
        self.run.status.stages_status[index].stage_name.clone()
    }

    pub(crate) fn stage(&mut self, index: usize) -> Stage<'_> {
        let stage = &mut self.run.status.stages_status[index];
        Stage::new(stage, self.run.generation, self.now)
    }

    pub(crate) fn cluster(&mut self, index: usize, position: usize) -> Small<'_> {
        let cluster = &mut self.run.status.stages_status[index].clusters[position];
        Small::new(&mut cluster.conditions, self.run.generation, self.now)
    }
}
