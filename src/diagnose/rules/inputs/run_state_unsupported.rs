//! The run's state is a word of an older KubeFleet.

use crate::diagnose::case::Case;
use crate::diagnose::failing;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::messages::Cause;

/// Runs that KubeFleet 0.1 stored keep their state when the hub agent is upgraded, and the newer
/// controller fails them. Source: updaterun/controller.go:Reconcile.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS123",
    name: "run-state-unsupported",
    severity: Severity::Error,
    reads: &[],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    case.causes()
        .filter_map(|cause| match cause {
            Cause::RunStateUnsupported { state } => Some(unsupported(case, rule, state)),
            _ => None,
        })
        .collect()
}

fn unsupported(case: &Case<'_>, rule: &Rule, state: &str) -> Finding {
    let run = case.run_object();
    let now = case.run().and_then(|run| run.spec.state.clone());
    let verb = if now.as_deref() == Some(state) {
        "is"
    } else {
        "was"
    };
    let mut finding = failing::finding(
        case,
        rule,
        &run,
        format!(
            "{run} {verb} in state {state}, which the hub's controller does not support. \
             Supported states: Initialize, Run, Stop."
        ),
    );
    if let Some(now) = now {
        finding = finding.evidence(&run, "spec.state", now);
    }
    finding.fix(
        format!(
            "Start a new run: {} was created for an older KubeFleet and has failed for good.",
            run.name
        ),
        case.new_run_command(),
    )
}
