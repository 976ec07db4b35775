//! The deletion stage: clusters that the policy no longer selects lose their content.

use std::collections::BTreeSet;

use serde_json::Value;

use super::conditions::Conditions;
use super::halt::{Halt, abort, unexpected};
use super::look::{Action, Look};
use super::marks::{Small, Stage};
use super::object::Object;
use super::status::StageStatus;

/// Deletes the bindings, and waits until they are gone. Says whether everything is.
pub(crate) fn execute(look: &mut Look<'_>) -> Result<bool, Halt> {
    let bindings = look.bindings_to_delete();
    let Some(mut stage) = begin(look, Mode::Delete) else {
        return Ok(true);
    };
    let left = follow(look, &mut stage, &bindings, Mode::Delete)?;
    if left == 0 {
        marks(look, &mut stage).succeeded();
    }
    look.run.status.deletion_stage_status = Some(stage);
    Ok(left == 0)
}

/// Lets deletions that have begun finish. Says whether nothing is left to delete.
pub(crate) fn stop(look: &mut Look<'_>) -> Result<bool, Halt> {
    let bindings = look.bindings_to_delete();
    let Some(mut stage) = begin(look, Mode::Stop) else {
        return Ok(true);
    };
    let left = follow(look, &mut stage, &bindings, Mode::Stop)?;
    let generation = look.run.generation;
    let in_flight = stage.clusters.iter().any(|cluster| {
        cluster.conditions.is_true("Started", generation)
            && !cluster.conditions.is_true("Succeeded", generation)
    });
    if !in_flight {
        marks(look, &mut stage).stopped();
    }
    look.run.status.deletion_stage_status = Some(stage);
    Ok(left == 0)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Delete,
    Stop,
}

fn marks<'s>(look: &Look<'_>, stage: &'s mut StageStatus) -> Stage<'s> {
    Stage::new(stage, look.run.generation, look.now)
}

fn begin(look: &Look<'_>, mode: Mode) -> Option<StageStatus> {
    let mut stage = look.run.status.deletion_stage_status.clone()?;
    match mode {
        Mode::Delete => marks(look, &mut stage).started(),
        Mode::Stop => marks(look, &mut stage).stopping(),
    }
    Some(stage)
}

/// Compares the stage with the bindings that are left, and says how many those are.
fn follow(
    look: &mut Look<'_>,
    stage: &mut StageStatus,
    bindings: &[&Value],
    mode: Mode,
) -> Result<usize, Halt> {
    let (generation, now) = (look.run.generation, look.now);
    let during = match mode {
        Mode::Delete => "execution",
        Mode::Stop => "stopping",
    };
    let mut left = BTreeSet::new();
    for binding in bindings {
        let name = binding.text("/spec/targetCluster");
        let cluster = stage
            .clusters
            .iter_mut()
            .find(|cluster| cluster.cluster_name == name)
            .ok_or_else(|| {
                abort(&unexpected(&format!(
                    "the to be deleted cluster `{name}` is not in the deleting stage during \
                     {during}"
                )))
            })?;
        left.insert(name.to_owned());
        if cluster.conditions.is_true("Succeeded", generation) {
            return Err(abort(&unexpected(&format!(
                "the deleted cluster `{name}` in the deleting stage still has a binding"
            ))));
        }
        if cluster.conditions.is_true("Started", generation) {
            if !binding.deleting() {
                return Err(abort(&unexpected(&format!(
                    "the cluster `{name}` in the deleting stage is marked as deleting but its \
                     corresponding binding is not deleting"
                ))));
            }
        } else if mode == Mode::Delete {
            look.actions
                .push(Action::DeleteBinding(binding.name().to_owned()));
            Small::new(&mut cluster.conditions, generation, now).started();
        }
    }
    for cluster in &mut stage.clusters {
        if left.contains(&cluster.cluster_name) {
            continue;
        }
        if !cluster.conditions.is_true("Started", generation) {
            Small::new(&mut cluster.conditions, generation, now).started();
        }
        Small::new(&mut cluster.conditions, generation, now).succeeded();
    }
    Ok(bindings.len())
}
