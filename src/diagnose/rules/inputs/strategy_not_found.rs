//! The strategy that the run names does not exist.

use crate::diagnose::failing;
use crate::diagnose::rules::prelude::*;
use crate::inventory::Sight;
use crate::words::closest;

/// A run looks for its strategy once, in its own scope; later it uses its own copy.
/// Source: updaterun/initialization.go:generateStagesByStrategy.
pub const RULE: Rule =
    Rule::error("FS108", "strategy-not-found", Check::Cause(check)).reads(&[Concept::Strategy]);

fn check(cx: &Context<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    match cause {
        Cause::StrategyNotFound { strategy } => Some(missing(cx, rule, &strategy.name)),
        _ => None,
    }
}

fn missing(cx: &Context<'_>, rule: &Rule, name: &str) -> Finding {
    let object = cx.object(Concept::Strategy, name);
    let inventory = cx.inventory;
    let lead = format!("{object} did not exist {}", failing::when(cx));
    if let Sight::Present(strategy) = &inventory.strategy {
        let finding = failing::finding(cx, rule, &object, format!("{lead}, but exists now."))
            .evidence(&object, "metadata.creationTimestamp", strategy.meta.created);
        return failing::just_new_run(cx, finding);
    }
    let others = || {
        inventory
            .strategies
            .iter()
            .filter(|strategy| strategy.meta.namespace == object.namespace)
            .map(|strategy| strategy.meta.name.as_str())
    };
    let similar = closest(name, others());
    let tail = match similar {
        Some(similar) => format!("; a similar name exists: {similar}"),
        None if inventory.strategy.is_absent()
            && inventory.strategies.is_complete()
            && others().next().is_none() =>
        {
            let place = if object.namespace.is_empty() {
                "on the hub".to_owned()
            } else {
                format!("in namespace {}", object.namespace)
            };
            format!("; no {} exists {place}", object.kind)
        }
        None => String::new(),
    };
    let mut finding = failing::finding(cx, rule, &object, format!("{lead}{tail}."));
    if inventory.strategy.is_absent() {
        finding = finding.absent(&object);
    }
    if let Some(similar) = similar {
        let there = cx.object(Concept::Strategy, similar);
        finding = finding.evidence(&there, "metadata.name", similar).fix_with(
            format!(
                "Start a new run that names {similar}, if you meant it: the field is immutable."
            ),
            cx.command("run")
                .arg("NEW")
                .flag("--placement", &inventory.placement_name)
                .flag("--strategy", similar),
        );
    }
    finding = finding.fix(format!(
        "Create {object}: one of the other scope or another namespace does not count."
    ));
    finding = failing::then_new_run(cx, finding);
    if similar.is_none() && others().next().is_some() {
        // A run made from this one would name the same missing strategy.
        let named = cx
            .new_run_command()
            .map(|command| command.flag("--strategy", "STRATEGY"));
        finding = finding
            .look_with("Or pick an existing one …", cx.command("strategies"))
            .fix_with("Then start a new run that names it.", named);
    }
    finding
}
