//! The run failed with words that no rule knows.

use crate::diagnose::rules::ALL;
use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::run_failure;

/// A wording of a newer controller, or a failure that no rule explains.
pub const RULE: Rule = Rule::error("FS124", "failure-not-recognized", Whole(check));

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(failure) = &cx.failure else {
        return Vec::new();
    };
    let mut findings: Vec<_> = cx
        .causes()
        .filter_map(|cause| match cause {
            Cause::Unrecognized { text } if !text.is_empty() => Some(unrecognized(cx, rule, text)),
            _ => None,
        })
        .collect();
    if findings.is_empty() && !is_explained(cx, rule) {
        findings.push(unrecognized(cx, rule, &failure.condition.message));
    }
    findings
}

/// Whether another rule explains the failure. Asked of the rules themselves, so that no failure
/// is left out when rules come and go.
fn is_explained(cx: &DiagnosisContext<'_>, rule: &Rule) -> bool {
    ALL.iter()
        .filter(|other| other.code != rule.code)
        .flat_map(|other| other.check(cx))
        .any(|finding| {
            let mut evidence = finding.evidence.iter();
            finding.root_cause || evidence.any(|it| it.path == cx.failure_path())
        })
}

fn unrecognized(cx: &DiagnosisContext<'_>, rule: &Rule, text: &str) -> Finding {
    let run = cx.run_object();
    let text = text.trim().trim_end_matches('.');
    let when = &cx.when;
    let message = if text.is_empty() {
        format!("The controller failed the run without a reason {when}.")
    } else {
        format!("The controller failed the run for an unknown reason {when}: `{text}`.")
    };
    let finding = run_failure::finding(cx, rule, &run, message)
        .look_with(
            "Read the controller's message and the hub agent's log of that time.",
            cx.agent_log(),
        )
        .fix("Fix what they name.");
    run_failure::then_new_run(cx, finding)
}
