//! The run recorded a maxConcurrency that is neither a number nor a percentage.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::run_failure;
use crate::problems::max_concurrency;

/// The API server checks the field; a value that passes it by was stored under another schema.
/// Source: updaterun/execution.go:calculateMaxConcurrencyValue.
pub const RULE: Rule = Rule::error("FS208", "max-concurrency-invalid", NamedCause(check)).person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    let Cause::MaxConcurrencyInvalid { detail } = cause else {
        return None;
    };

    let run = cx.run_object();
    let wrong = cx.rollout.iter().flat_map(|rollout| &rollout.stages);
    let wrong: Vec<_> = wrong
        .enumerate()
        .filter_map(|(at, stage)| Some((at, stage.spec?, stage.status.clusters.len())))
        .filter(|(_, spec, clusters)| spec.concurrency(*clusters).is_none())
        .map(|(at, spec, _)| (at, spec))
        .collect();
    let strategy = cx.strategy_object();
    let path = "status.stagedUpdateStrategySnapshot";
    let mut problem = max_concurrency(&run, path, &strategy, &wrong, cx.past(""));
    if wrong.is_empty() {
        problem.message = format!(
            "The maxConcurrency of a stage is neither a number nor a percentage: {detail}."
        );
    }
    let finding = run_failure::finding_without_run(cx, rule, problem);
    let action = "Then start a new run: this one keeps the strategy that it recorded.";
    Some(finding.next_run(cx, action))
}
