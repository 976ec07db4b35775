//! The run recorded a maxConcurrency that is neither a number nor a percentage.

use crate::diagnose::case::Case;
use crate::diagnose::failing;
use crate::diagnose::finding::enumerate;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::messages::Cause;

/// The API server checks the field; a value that passes it by was stored under another schema.
/// Source: updaterun/execution.go:calculateMaxConcurrencyValue.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS208",
    name: "max-concurrency-invalid",
    severity: Severity::Error,
    reads: &[],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(detail) = case.causes().find_map(|cause| match cause {
        Cause::MaxConcurrencyInvalid { detail } => Some(detail),
        _ => None,
    }) else {
        return Vec::new();
    };
    let run = case.run_object();
    let wrong: Vec<_> = case
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
    let mut finding = failing::finding(case, rule, &run, message);
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
    let strategy = case
        .run()
        .map(|run| run.spec.strategy.clone())
        .unwrap_or_default();
    let finding = finding.fix(
        format!(
            "Set the stage's maxConcurrency in the strategy {strategy} to a whole number or a \
             percentage, such as `maxConcurrency: 1` or `maxConcurrency: 25%`."
        ),
        None,
    );
    vec![failing::new_run(
        case,
        finding,
        "Then start a new run: this one keeps the strategy that it recorded.",
    )]
}
