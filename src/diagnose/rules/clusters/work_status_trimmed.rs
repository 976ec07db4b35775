//! A Work's status was too large, and details were left out.

use crate::diagnose::case::Case;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::{Concept, Conditions, reasons};

/// `StatusTrimmed=True`: drift and difference details may be missing where there are some.
/// Source: workapplier/status.go.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS525",
    name: "work-status-trimmed",
    severity: Severity::Info,
    reads: &[Concept::Work],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let mut findings = Vec::new();
    for troubled in &case.troubles {
        for work in case.inventory.works_of(troubled.binding) {
            let Some(trimmed) = work
                .status
                .conditions
                .condition(reasons::STATUS_TRIMMED)
                .filter(|trimmed| trimmed.is_true())
            else {
                continue;
            };
            let cluster = troubled.cluster;
            let mut finding = rule
                .finding(
                    work.object(),
                    format!(
                        "The status of Work {} of {cluster} was too large, so it omits details of \
                         drifts and differences: an empty list does not mean that there are none.",
                        work.meta.name
                    ),
                )
                .clusters([cluster])
                .condition(&work.object(), "status", trimmed)
                .look(format!("Inspect the objects on {cluster}."), None);
            finding.stage = troubled.stage.map(str::to_owned);
            findings.push(finding);
        }
    }
    findings
}
