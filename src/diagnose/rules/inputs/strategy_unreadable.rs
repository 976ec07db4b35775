//! The hub agent cannot read a strategy, and sees no other one because of it.

use crate::diagnose::rules::prelude::*;
use crate::problems::strategy_unreadable;

/// Source: updaterun/initialization.go:generateStagesByStrategy.
pub const RULE: Rule = Rule::error("FS125", "strategy-unreadable", One(check))
    .reads(&[Concept::Strategy])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let problem = strategy_unreadable(cx.inventory.unreadable_strategy()?)?;
    let run = cx.run();
    let is_waiting = cx.failure.is_none() && run.is_some_and(|run| run.status.strategy.is_none());
    Some(rule.told(problem).root_if(is_waiting))
}
