//! The strategy does not exist in the run's scope.

use super::prelude::*;
use super::steps::new_run;
use crate::words::closest;

/// A run looks for its strategy once, in its own scope; later it uses its own copy.
pub fn strategy_missing(
    inventory: &Inventory,
    object: &ObjectRef,
    placement: &str,
    tense: RefusalTense<'_>,
) -> Problem {
    let others = || {
        inventory
            .strategies
            .iter()
            .filter(|strategy| strategy.meta.namespace == object.namespace)
            .map(|strategy| strategy.meta.name.as_str())
    };
    let similar = closest(&object.name, others());
    let listed = inventory.strategies.is_complete();
    let tail = match similar {
        Some(similar) => format!("; a similar name exists: {similar}"),
        None if listed && others().next().is_none() => {
            let place = match object.namespace.as_str() {
                "" => "on the hub".to_owned(),
                namespace => format!("in namespace {namespace}"),
            };
            format!("; no {} exists {place}", object.kind)
        }
        None => String::new(),
    };
    let lead = tense.pick("does not exist", "did not exist");
    let mut problem = Problem::new(object, format!("{object} {lead}{tense}{tail}."));
    if listed {
        problem = problem.absent(object);
    }
    let fleet = |verb| inventory.scope.fleet(verb);
    if let Some(similar) = similar {
        let there = inventory.scope.object(Concept::Strategy, similar);
        problem = problem.evidence(&there, "metadata.name", similar);
        let of = |command: crate::words::CommandLine| {
            let command = command.flag("--placement", placement);
            command.flag("--strategy", similar)
        };
        problem = match tense {
            RefusalTense::Now => problem.look_with(
                format!("If you mean {similar}, plan with it."),
                of(fleet("plan")),
            ),
            RefusalTense::Past { .. } => problem.fix_with(
                format!(
                    "Start a new run that names {similar}, if you meant it: the field is immutable."
                ),
                match inventory.run.present() {
                    Some(run) => new_run(run).flag("--strategy", similar),
                    None => of(fleet("run")),
                },
            ),
        };
    } else if let (RefusalTense::Now, Some(_)) = (tense, others().next()) {
        problem = problem.look_with("Choose an existing one.", fleet("strategies"));
    }
    problem.fix(format!(
        "Create {object}: one of the other scope or another namespace does not count."
    ))
}
