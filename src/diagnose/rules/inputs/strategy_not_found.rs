//! The strategy that the run names does not exist.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::run_failure;
use crate::inventory::Sight;
use crate::problems::{Problem, strategy_missing};

/// A run looks for its strategy once, in its own scope; later it uses its own copy.
/// Source: updaterun/initialization.go:generateStagesByStrategy.
pub const RULE: Rule = Rule::error("FS108", "strategy-not-found", NamedCause(check))
    .reads(&[Concept::Strategy])
    .caused_by(&["FS125"])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    let Cause::StrategyNotFound { strategy } = cause else {
        return None;
    };

    let object = cx.object(Concept::Strategy, &strategy.name);
    let inventory = cx.inventory;
    if let Sight::Present(strategy) = &inventory.strategy {
        let is_hidden = inventory.unreadable_strategy().is_some();
        let problem = |message| {
            let created = strategy.meta.created;
            Problem::new(&object, message).evidence(&object, "metadata.creationTimestamp", created)
        };
        let when = &cx.when;
        let problem = if is_hidden {
            problem(format!(
                "{object} exists, but the hub agent did not see it {when}."
            ))
            .look("Resolve FS125 first: the agent does not see the strategy before.")
        } else {
            problem(format!("{object} did not exist {when}, but exists now."))
        };
        return Some(run_failure::refused(cx, rule, problem, !is_hidden));
    }
    let placement = &inventory.placement_name;
    let problem = strategy_missing(inventory, &object, placement, cx.past(""));
    let chosen = problem.remedies.len() > 1;
    let finding = run_failure::refused(cx, rule, problem, false);
    let strategies = inventory.strategies.iter();
    let others = strategies.filter(|it| it.meta.namespace == object.namespace);
    let others: Vec<_> = others.map(|it| it.meta.name.as_str()).collect();
    if chosen || others.is_empty() {
        return Some(finding);
    }
    // A run made from this one would name the same missing strategy.
    let named = |strategy: &str| {
        let command = cx.new_run_command()?;
        Some(command.flag("--strategy", strategy))
    };
    Some(match others.as_slice() {
        [only] => finding.fix_with(
            format!("Or start a new run with {only}, the only strategy there, if its stages fit."),
            named(only),
        ),
        _ => finding
            .look_with("Or pick an existing strategy.", cx.command("strategies"))
            .fix_with("Then start a new run that names it.", named("STRATEGY")),
    })
}
