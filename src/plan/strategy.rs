//! The strategy itself, whatever the clusters are.

use std::collections::BTreeMap;

use super::draft::Draft;
use super::{RefusalKind, StrategyChoice, Warning, WarningKind};
use crate::inventory::source::NOT_COLLECTED;
use crate::kubefleet::messages::TaskProblem;
use crate::kubefleet::selector::LabelSelector;
use crate::kubefleet::strategy::{Stage, Strategy};
use crate::problems::{
    Problem, Tense, max_concurrency, stage_selector, stage_tasks, strategy_missing,
};
use crate::report::Compose;

/// Says what is wrong with the strategy, and gives it where there is one.
/// Source: updaterun/initialization.go:generateStagesByStrategy.
pub(super) fn check<'i>(draft: &mut Draft<'i>) -> Option<&'i Strategy> {
    let Some(strategy) = draft.strategy else {
        missing(draft);
        return None;
    };
    violations(draft);
    for (at, stage) in strategy.spec.stages.iter().enumerate() {
        tasks(draft, at, stage);
        selector(draft, at, stage);
        concurrency(draft, at, stage);
    }
    names_twice(draft, strategy);
    unknown(draft, strategy);
    removal(draft, strategy);
    Some(strategy)
}

fn missing(draft: &mut Draft<'_>) {
    if matches!(draft.wish.strategy, StrategyChoice::Given(_)) {
        return;
    }
    let strategies = &draft.inventory.strategies;
    let unread = |why: &String| why == NOT_COLLECTED || strategies.items.is_empty();
    if strategies.gap.as_ref().is_some_and(unread) {
        draft.undecided = true;
        return;
    }
    let object = draft.strategy_object();
    let placement = &draft.placement().name;
    let problem = strategy_missing(draft.inventory, &object, placement, Tense::Now);
    draft.refuse(RefusalKind::StrategyNotFound, problem);
}

/// The rules of the schema that a strategy from a file breaks.
fn violations(draft: &mut Draft<'_>) {
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

/// The tasks that the controller would not take. What the schema refuses already is not told twice.
fn tasks(draft: &mut Draft<'_>, at: usize, stage: &Stage) {
    let object = draft.strategy_object();
    for (before, problem) in stage.task_problems() {
        let (field, tasks) = if before {
            ("beforeStageTasks", &stage.before)
        } else {
            ("afterStageTasks", &stage.after)
        };
        if draft.is_rejected(at, field) {
            continue;
        }
        let told = stage_tasks(&object, &stage.name, before, &problem, Tense::Now);
        let path = format!("spec.stages[{at}].{field}");
        let told = match place(&problem).and_then(|at| Some((at, tasks.get(at)?))) {
            Some((one, task)) => told.evidence(&object, format!("{path}[{one}]"), task),
            None => told.evidence(&object, path, tasks),
        };
        draft.refuse(RefusalKind::StageTasksInvalid, told);
    }
}

/// The task that the problem is about.
fn place(problem: &TaskProblem) -> Option<usize> {
    match problem {
        TaskProblem::TypeNotAllowed { task, .. }
        | TaskProblem::WaitNotAllowed { task }
        | TaskProblem::WaitMissing { task }
        | TaskProblem::WaitNotPositive { task } => usize::try_from((*task)?).ok(),
        _ => None,
    }
}

fn selector(draft: &mut Draft<'_>, at: usize, stage: &Stage) {
    let Some(error) = stage.selector.as_deref().and_then(LabelSelector::problem) else {
        return;
    };
    let object = draft.strategy_object();
    let path = format!("spec.stages[{at}].labelSelector");
    let problem = stage_selector(&object, &stage.name, &error, Tense::Now).evidence(
        &object,
        path,
        stage.selector.as_deref(),
    );
    draft.refuse(RefusalKind::StageSelectorInvalid, problem);
}

fn concurrency(draft: &mut Draft<'_>, at: usize, stage: &Stage) {
    if stage.concurrency(1).is_some() || draft.is_rejected(at, "maxConcurrency") {
        return;
    }
    let object = draft.strategy_object();
    let problem = max_concurrency(&object, "spec", &object, &[(at, stage)], Tense::Now);
    draft.refuse(RefusalKind::MaxConcurrencyInvalid, problem);
}

/// Fields that this version does not know: they are the hub's business, and nobody else's.
fn unknown(draft: &mut Draft<'_>, strategy: &Strategy) {
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
fn removal(draft: &mut Draft<'_>, strategy: &Strategy) {
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
fn names_twice(draft: &mut Draft<'_>, strategy: &Strategy) {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, stage) in strategy.spec.stages.iter().enumerate() {
        places.entry(&stage.name).or_default().push(at);
    }
    let object = draft.strategy_object();
    for (name, places) in places.into_iter().filter(|(_, places)| places.len() > 1) {
        let mut warning = Warning::new(
            WarningKind::StageNameTwice,
            &object,
            format!(
                "{} stages are named {name}. They share approval requests, so one approval opens \
                 the gates of all of them.",
                places.len()
            ),
        )
        .stage(name);
        for at in places {
            warning = warning.evidence(&object, format!("spec.stages[{at}].name"), name);
        }
        draft
            .warnings
            .push(warning.fix("Give each stage its own name."));
    }
}
