//! The run failed with words that no rule knows.

use crate::diagnose::case::Case;
use crate::diagnose::failing;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::{ALL, Rule};
use crate::kubefleet::messages::Cause;
use crate::words::Command;

/// A wording of a newer controller, or a failure that no rule explains.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS124",
    name: "failure-not-recognized",
    severity: Severity::Error,
    reads: &[],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(failure) = &case.failure else {
        return Vec::new();
    };
    let mut findings: Vec<_> = case
        .causes()
        .filter_map(|cause| match cause {
            Cause::Unrecognized { text } if !text.is_empty() => {
                Some(unrecognized(case, rule, text))
            }
            _ => None,
        })
        .collect();
    if findings.is_empty() && !is_explained(case, rule) {
        findings.push(unrecognized(case, rule, &failure.condition.message));
    }
    findings
}

/// Whether another rule explains the failure. Asked of the rules themselves, so that no failure
/// is left out when rules come and go.
fn is_explained(case: &Case<'_>, rule: &Rule) -> bool {
    ALL.iter()
        .filter(|other| other.code != rule.code)
        .flat_map(|other| (other.check)(case, other))
        .any(|finding| finding.root_cause)
}

fn unrecognized(case: &Case<'_>, rule: &Rule, text: &str) -> Finding {
    let run = case.run_object();
    let text = text.trim().trim_end_matches('.');
    let when = failing::when(case);
    let message = if text.is_empty() {
        format!("The controller failed the run without a reason {when}.")
    } else {
        format!("The controller failed the run for an unknown reason {when}: `{text}`.")
    };
    let finding = failing::finding(case, rule, &run, message)
        .look(
            "Read the controller's message and the hub agent's log of that time.",
            Some(Command::fleet("doctor")),
        )
        .fix("Fix what they name.", None);
    failing::then_new_run(case, finding)
}
