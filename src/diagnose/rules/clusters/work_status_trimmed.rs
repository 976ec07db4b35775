//! A Work's status was too large, and details were left out.

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::{Conditions, reasons};

/// `StatusTrimmed=True`: drift and difference details may be missing where there are some.
/// Source: workapplier/status.go.
pub const RULE: Rule =
    Rule::info("FS525", "work-status-trimmed", Whole(check)).reads(&[Concept::Work]);

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let mut findings = Vec::new();
    for failing in &cx.troubles {
        for work in cx.inventory.works_of(failing.binding) {
            let Some(trimmed) = work
                .status
                .conditions
                .condition(reasons::STATUS_TRIMMED)
                .filter(|trimmed| trimmed.is_true())
            else {
                continue;
            };
            let cluster = failing.cluster;
            let message = format!(
                "The status of Work {} of {cluster} was too large, so it omits details of \
                 drifts and differences: an empty list does not mean that there are none.",
                work.meta.name
            );
            let mut finding = rule
                .finding(work.object(), message)
                .clusters([cluster])
                .condition(&work.object(), trimmed)
                .look(format!("Inspect the objects on {cluster}."));
            finding.stage = failing.stage.map(str::to_owned);
            findings.push(finding);
        }
    }
    findings
}
