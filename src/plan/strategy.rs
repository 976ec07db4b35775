//! The strategy itself, whatever the clusters are.

use crate::report::Build;
use std::collections::BTreeMap;

use super::draft::Draft;
use super::{Refusal, RefusalKind, StrategyChoice, Warning, WarningKind, tasks};
use crate::inventory::source::NOT_COLLECTED;
use crate::kubefleet::Concept;
use crate::kubefleet::selector::LabelSelector;
use crate::kubefleet::strategy::{Stage, Strategy};
use crate::words::closest;

/// Says what is wrong with the strategy, and gives it where there is one.
/// Source: updaterun/initialization.go:generateStagesByStrategy.
pub(super) fn check<'i>(draft: &mut Draft<'i>) -> Option<&'i Strategy> {
    let Some(strategy) = draft.strategy else {
        missing(draft);
        return None;
    };
    violations(draft);
    for (at, stage) in strategy.spec.stages.iter().enumerate() {
        tasks::check(draft, at, stage);
        selector(draft, at, stage);
        concurrency(draft, at, stage);
    }
    names_twice(draft, strategy);
    Some(strategy)
}

fn missing(draft: &mut Draft<'_>) {
    let inventory = draft.inventory;
    let StrategyChoice::Named(name) = &draft.wish.strategy else {
        return;
    };
    let kind = inventory.scope.kind(Concept::Strategy);
    let unread = match &inventory.strategies.gap {
        Some(why) if why == NOT_COLLECTED || inventory.strategies.items.is_empty() => true,
        Some(_) | None => false,
    };
    if unread {
        draft.undecided = true;
        return;
    }
    let object = draft.strategy_object();
    let others = || {
        inventory
            .strategies
            .iter()
            .filter(|strategy| strategy.meta.namespace == object.namespace)
            .map(|strategy| strategy.meta.name.as_str())
    };
    let near = closest(name, others());
    let tail = match near {
        Some(near) => format!("; the closest name is {near}"),
        None if others().next().is_none() => {
            let place = if object.namespace.is_empty() {
                "on the hub".to_owned()
            } else {
                format!("in namespace {}", object.namespace)
            };
            format!("; there is no {kind} {place}")
        }
        None => String::new(),
    };
    let mut refusal = Refusal::new(
        RefusalKind::StrategyNotFound,
        &object,
        format!("{object} does not exist{tail}."),
    )
    .evidence(&object, "metadata.name", "absent");
    if let Some(near) = near {
        let placement = &draft.placement().name;
        refusal = refusal.look_with(
            format!("If you mean {near}, plan with it."),
            draft
                .command("plan")
                .flag("--placement", placement)
                .flag("--strategy", near),
        );
    } else if others().next().is_some() {
        refusal = refusal.look_with("Choose an existing one.", draft.command("strategies"));
    }
    draft
        .refusals
        .push(refusal.fix(format!("Create {object} in the run's scope and namespace.")));
}

/// The rules of the schema that a strategy from a file breaks.
fn violations(draft: &mut Draft<'_>) {
    let StrategyChoice::Given(given) = &draft.wish.strategy else {
        return;
    };
    let object = draft.strategy_object();
    for violation in &given.violations {
        let mut refusal = Refusal::new(
            RefusalKind::StrategyRejected,
            &object,
            format!("{} {}.", violation.path, violation.rule),
        );
        if !violation.value.is_empty() {
            refusal = refusal.evidence(&object, violation.path.clone(), violation.value.clone());
        }
        draft.refusals.push(refusal);
    }
}

fn selector(draft: &mut Draft<'_>, at: usize, stage: &Stage) {
    let Some(problem) = stage.selector.as_deref().and_then(LabelSelector::problem) else {
        return;
    };
    let object = draft.strategy_object();
    let refusal = Refusal::new(
        RefusalKind::StageSelectorInvalid,
        &object,
        format!(
            "The labelSelector of stage {} is invalid: {problem}.",
            stage.name
        ),
    )
    .stage(&stage.name)
    .evidence(
        &object,
        format!("spec.stages[{at}].labelSelector"),
        stage.selector.as_deref(),
    )
    .fix(
        "Fix the selector: In and NotIn need at least one value, Exists and DoesNotExist none, and \
         keys and values must be valid labels.",
    );
    draft.refusals.push(refusal);
}

/// The controller looks at the number only when the stage is under way, and gives up then.
fn concurrency(draft: &mut Draft<'_>, at: usize, stage: &Stage) {
    if stage.concurrency(1).is_some() || draft.is_rejected(at, "maxConcurrency") {
        return;
    }
    let object = draft.strategy_object();
    let refusal = Refusal::new(
        RefusalKind::MaxConcurrencyInvalid,
        &object,
        format!(
            "The maxConcurrency of stage {} is neither a number nor a percentage: the run would \
             fail at that stage.",
            stage.name
        ),
    )
    .stage(&stage.name)
    .evidence(
        &object,
        format!("spec.stages[{at}].maxConcurrency"),
        stage.max_concurrency.clone(),
    )
    .fix("Set a number such as 3, or a percentage such as 25%.");
    draft.refusals.push(refusal);
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
