//! The strategy that the run names does not exist.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::run_failure;
use crate::inventory::Sight;
use crate::problems::{Problem, strategy_missing};

/// A run looks for its strategy once, in its own scope; later it uses its own copy.
/// Source: updaterun/initialization.go:generateStagesByStrategy.
pub const RULE: Rule = Rule::error("FS108", "strategy-not-found", Search::Cause(check))
    .reads(&[Concept::Strategy])
    .person();

fn check(cx: &Context<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    let Cause::StrategyNotFound { strategy } = cause else {
        return None;
    };

    let object = cx.object(Concept::Strategy, &strategy.name);
    let inventory = cx.inventory;
    if let Sight::Present(strategy) = &inventory.strategy {
        let message = format!("{object} did not exist {}, but exists now.", cx.when);
        let problem = Problem::new(&object, message).evidence(
            &object,
            "metadata.creationTimestamp",
            strategy.meta.created,
        );
        return Some(run_failure::refused(cx, rule, problem, true));
    }
    let placement = &inventory.placement_name;
    let problem = strategy_missing(inventory, &object, placement, cx.past(""));
    let chosen = problem.remedies.len() > 1;
    let finding = run_failure::refused(cx, rule, problem, false);
    let strategies = inventory.strategies.iter();
    let others = strategies.filter(|it| it.meta.namespace == object.namespace);
    if chosen || others.count() == 0 {
        return Some(finding);
    }
    // A run made from this one would name the same missing strategy.
    let named = cx
        .new_run_command()
        .map(|command| command.flag("--strategy", "STRATEGY"));
    Some(
        finding
            .look_with("Or pick an existing one …", cx.command("strategies"))
            .fix_with("Then start a new run that names it.", named),
    )
}
