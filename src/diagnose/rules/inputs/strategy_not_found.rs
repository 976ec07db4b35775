//! The strategy that the run names does not exist.

use crate::diagnose::case::Case;
use crate::diagnose::failing;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::inventory::Sight;
use crate::kubefleet::Concept;
use crate::kubefleet::messages::Cause;

/// A run looks for its strategy once, in its own scope; later it uses its own copy.
/// Source: updaterun/initialization.go:generateStagesByStrategy.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS108",
    name: "strategy-not-found",
    severity: Severity::Error,
    reads: &[Concept::Strategy],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    case.causes()
        .filter_map(|cause| match cause {
            Cause::StrategyNotFound { strategy } => Some(missing(case, rule, &strategy.name)),
            _ => None,
        })
        .collect()
}

fn missing(case: &Case<'_>, rule: &Rule, name: &str) -> Finding {
    let object = case.object(Concept::Strategy, name);
    let inventory = case.inventory;
    let lead = format!("{object} did not exist {}", failing::when(case));
    if let Sight::Present(strategy) = &inventory.strategy {
        let finding = failing::finding(case, rule, &object, format!("{lead}, but exists now."))
            .evidence(&object, "metadata.creationTimestamp", strategy.meta.created);
        return failing::just_new_run(case, finding);
    }
    let others = || {
        inventory
            .strategies
            .iter()
            .filter(|strategy| strategy.meta.namespace == object.namespace)
            .map(|strategy| strategy.meta.name.as_str())
    };
    let similar = failing::similar(name, others());
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
    let mut finding = failing::finding(case, rule, &object, format!("{lead}{tail}."));
    if inventory.strategy.is_absent() {
        finding = finding.absent(&object);
    }
    if let Some(similar) = similar {
        let there = case.object(Concept::Strategy, similar);
        finding = finding.evidence(&there, "metadata.name", similar).fix(
            format!(
                "Start a new run that names {similar}, if you meant it: the field is immutable."
            ),
            Some(
                case.command("run")
                    .arg("NEW")
                    .flag("--placement", &inventory.placement_name)
                    .flag("--strategy", similar),
            ),
        );
    }
    finding = finding.fix(
        format!("Create {object}: one of the other scope or another namespace does not count."),
        None,
    );
    finding = failing::then_new_run(case, finding);
    if similar.is_none() && others().next().is_some() {
        // A run made from this one would name the same missing strategy.
        let named = case
            .new_run_command()
            .map(|command| command.flag("--strategy", "STRATEGY"));
        finding = finding
            .look(
                "Or pick an existing one …",
                Some(case.command("strategies")),
            )
            .fix("Then start a new run that names it.", named);
    }
    finding
}
