//! Stopping a run: clusters that are being updated finish, no other is started.

use super::conditions::Conditions;
use super::deletion;
use super::execute::{finish_cluster, mark_aborted, settle};
use super::halt::{self, Halt};
use super::look::{Look, Next};
use super::marks;

/// One look at a run that is to stop.
pub(crate) fn stop(look: &mut Look<'_>, index: usize) -> Result<Next, Halt> {
    let outcome = advance(look, index);
    mark_aborted(look, index, &outcome);
    outcome
}

fn advance(look: &mut Look<'_>, index: usize) -> Result<Next, Halt> {
    marks::run_stopping(&mut look.run, look.now);
    if index >= look.run.status.stages_status.len() {
        let finished = deletion::stop(look)?;
        return Ok(if finished {
            Next::Finished
        } else {
            Next::After(look.timing.look)
        });
    }
    let stage = look.stage_name(index);
    look.stage(index).stopping();
    let generation = look.run.generation;
    let mut updating = 0;
    let mut stuck: Vec<String> = Vec::new();
    let mut errors: Vec<Halt> = Vec::new();
    for position in 0..look.run.status.stages_status[index].clusters.len() {
        let cluster = &look.run.status.stages_status[index].clusters[position];
        let started = cluster.conditions.is_true("Started", generation);
        let over = cluster.conditions.is_true("Succeeded", generation)
            || cluster.conditions.is_false("Succeeded", generation);
        if !started || over {
            continue;
        }
        updating += 1;
        let name = cluster.cluster_name.clone();
        let binding = match look.binding_of(&name, &stage, " during stopping") {
            Ok(binding) => binding,
            Err(halt) => {
                errors.push(halt);
                continue;
            }
        };
        let (outcome, too_long) = finish_cluster(look, index, position, binding);
        match outcome {
            Ok(true) => updating -= 1,
            Ok(false) => {}
            Err(halt) => errors.push(halt),
        }
        stuck.extend(too_long);
    }
    settle(look, &stage, &stuck);
    if let Some(halt) = halt::join(errors) {
        return Err(halt);
    }
    if updating == 0 {
        look.stage(index).stopped();
        return Ok(Next::Finished);
    }
    Ok(Next::After(look.timing.look))
}
