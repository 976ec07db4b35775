//! The strategy itself, whatever the clusters are.

use super::draft::PlanDraft;
use super::{RefusalKind, StrategyChoice, Warning, WarningKind};
use crate::kubefleet::strategy::Strategy;
use crate::problems::{Problem, strategy_unreadable};
use crate::report::ComposeText;
use crate::words::by_key;

/// Tells what the API server would refuse, and what a person should know.
pub(super) fn check(draft: &mut PlanDraft<'_>) {
    let Some(strategy) = draft.strategy else {
        return;
    };
    violations(draft);
    hidden(draft, strategy);
    names_twice(draft, strategy);
    unknown(draft, strategy);
    removal(draft, strategy);
}

/// Another strategy that keeps the controller from seeing this one as it is.
fn hidden(draft: &mut PlanDraft<'_>, strategy: &Strategy) {
    let others = draft.inventory.strategies.iter();
    let mut others = others.filter(|it| it.object() != strategy.object());
    if let Some(problem) = others.find_map(strategy_unreadable) {
        draft.warn(WarningKind::StrategyUnreadable, problem);
    }
}

/// The rules of the schema that a strategy from a file breaks.
fn violations(draft: &mut PlanDraft<'_>) {
    let StrategyChoice::Given(given) = &draft.wish.strategy else {
        return;
    };
    let object = draft.strategy_object();
    for violation in &given.violations {
        let message = format!("{} {}.", violation.path, violation.rule);
        let mut problem = Problem::new(&object, message);
        if !violation.value.is_empty() {
            problem = problem.evidence(&object, &violation.path, &violation.value);
        }
        draft.refuse(RefusalKind::StrategyRejected, problem);
    }
}

/// Fields that this version does not know: they are the hub's business, and nobody else's.
fn unknown(draft: &mut PlanDraft<'_>, strategy: &Strategy) {
    let object = draft.strategy_object();
    for field in strategy.spec.unknown_fields() {
        let path = format!("spec.{field}");
        let message = format!("{path} is unknown to this version: it may add gates.");
        let warning = Warning::new(WarningKind::FieldUnknown, &object, message);
        draft.warnings.push(
            warning.look(
                "Check with kubectl explain what the hub's version of KubeFleet does with it.",
            ),
        );
    }
}

/// A gate before the removal, which its request's name does not tell.
fn removal(draft: &mut PlanDraft<'_>, strategy: &Strategy) {
    if strategy.spec.before_deletion.is_empty() {
        return;
    }
    let object = draft.strategy_object();
    let message = "spec.deleteStageTasks adds a gate: passing it removes the placement from clusters \
                   that it no longer selects.";
    let warning = Warning::new(WarningKind::RemovalGate, &object, message);
    draft.warnings.push(warning);
}

/// Approval requests are named after the stage, and the controller takes one that exists for its
/// own. Source: updaterun/execution.go:handleStageApprovalTask.
fn names_twice(draft: &mut PlanDraft<'_>, strategy: &Strategy) {
    let stages = strategy.spec.stages.iter().enumerate();
    let places = by_key(stages.map(|(at, stage)| (stage.name.as_str(), at)));
    let object = draft.strategy_object();
    for (name, places) in places.into_iter().filter(|(_, places)| places.len() > 1) {
        let message = format!(
            "{} stages are named {name}. They share approval requests, so one approval opens \
             the gates of all of them.",
            places.len()
        );
        let mut warning = Warning::new(WarningKind::StageNameTwice, &object, message).stage(name);
        for at in places {
            warning = warning.evidence(&object, format!("spec.stages[{at}].name"), name);
        }
        draft
            .warnings
            .push(warning.fix("Give each stage its own name."));
    }
}
