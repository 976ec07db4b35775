//! The run recorded a maxConcurrency that is neither a number nor a percentage.

use crate::diagnose::failing;
use crate::diagnose::rules::prelude::*;

/// The API server checks the field; a value that passes it by was stored under another schema.
/// Source: updaterun/execution.go:calculateMaxConcurrencyValue.
pub const RULE: Rule = Rule::error("FS208", "max-concurrency-invalid", Check::Whole(check));

fn check(cx: &Context<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(detail) = cx.causes().find_map(|cause| match cause {
        Cause::MaxConcurrencyInvalid { detail } => Some(detail),
        _ => None,
    }) else {
        return Vec::new();
    };
    let run = cx.run_object();
    let wrong: Vec<_> = cx
        .rollout
        .iter()
        .flat_map(|rollout| &rollout.stages)
        .enumerate()
        .filter_map(|(at, stage)| {
            let spec = stage.spec?;
            spec.concurrency(stage.status.clusters.len())
                .is_none()
                .then_some((at, spec))
        })
        .collect();
    let stages = enumerate(wrong.iter().map(|(_, spec)| spec.name.as_str()));
    let message = if wrong.is_empty() {
        format!("The maxConcurrency of a stage is neither a number nor a percentage: {detail}.")
    } else {
        let values = wrong
            .iter()
            .map(|(_, spec)| format!("`{}`", spec.max_concurrency));
        format!(
            "The maxConcurrency that the run recorded for stage {stages} is neither a number nor a \
             percentage: {}.",
            enumerate(values)
        )
    };
    let mut finding = failing::finding(cx, rule, &run, message);
    if let [(_, spec)] = wrong.as_slice() {
        finding.stage = Some(spec.name.clone());
    }
    for (at, spec) in &wrong {
        finding = finding.evidence(
            &run,
            format!("status.stagedUpdateStrategySnapshot.stages[{at}].maxConcurrency"),
            spec.max_concurrency.clone(),
        );
    }
    let strategy = cx
        .run()
        .map(|run| run.spec.strategy.clone())
        .unwrap_or_default();
    let finding = finding.fix(format!(
        "Set the stage's maxConcurrency in the strategy {strategy} to a whole number or a \
             percentage, such as `maxConcurrency: 1` or `maxConcurrency: 25%`."
    ));
    vec![failing::new_run(
        cx,
        finding,
        "Then start a new run: this one keeps the strategy that it recorded.",
    )]
}
