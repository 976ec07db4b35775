//! The placement does not exist: perhaps it is elsewhere, or has another name.

use super::prelude::*;
use crate::kubefleet::placement::Placement;
use crate::words::closest;

pub const MAKE_PLACEMENT: &str =
    "Create the placement with `spec.strategy.type: External` and wait until it is scheduled.";

/// A run finds a placement only in its own scope, and in a namespace only in its own one.
pub fn placement_missing(
    inventory: &Inventory,
    object: &ObjectRef,
    strategy: &str,
    tense: RefusalTense<'_>,
) -> Problem {
    let listed = &inventory.placements;
    let elsewhere: Vec<&Placement> = listed
        .iter()
        .filter(|found| found.meta.name == object.name && found.object() != *object)
        .collect();
    let here = listed
        .iter()
        .filter(|found| found.meta.namespace == object.namespace)
        .map(|found| found.meta.name.as_str());
    let similar = closest(&object.name, here);
    let tail = if !elsewhere.is_empty() {
        let names = enumerate(elsewhere.iter().map(|found| found.object().to_string()));
        let has = if elsewhere.len() == 1 { "has" } else { "have" };
        format!("; {names} {has} that name, but a run uses only placements of its own scope")
    } else if let Some(similar) = similar {
        format!("; a similar name exists: {similar}")
    } else if listed.is_complete() {
        ", and no placement has a similar name".to_owned()
    } else {
        String::new()
    };
    let lead = tense.pick("does not exist", "did not exist");
    let mut problem = Problem::new(object, format!("{object} {lead}{tense}{tail}.")).absent(object);
    // Where runs have used it, it was here and nothing else is meant.
    let mut used = inventory.runs.iter();
    let was_here = used.any(|run| !run.status.snapshot_index.is_empty());
    let there: Vec<_> = elsewhere.iter().take(3).map(|it| it.object()).collect();
    for there in &there {
        problem = problem.evidence(there, "metadata.name", &there.name);
    }
    let similar = similar.map(|it| object.scope().object(Concept::Placement, it));
    let meant = match similar {
        // Of many, nobody can tell which one is meant.
        _ if was_here || elsewhere.len() > there.len() => Vec::new(),
        Some(similar) if there.is_empty() => vec![similar],
        _ => there,
    };
    let of = |meant: &ObjectRef, verb| {
        let command = meant.scope().fleet(verb).flag("--placement", &meant.name);
        command.flag("--strategy", strategy)
    };
    for meant in &meant {
        let action = format!("Check what a run of {meant} would do, if you meant that placement.");
        problem = problem.look_with(action, of(meant, "plan"));
    }
    if let [meant] = meant.as_slice() {
        let step = "Then start a new run that names it: the field is immutable.";
        problem = problem.fix_with(step, of(meant, "run"));
    }
    problem.fix(MAKE_PLACEMENT)
}
