//! Telling cause from consequence, after all rules have spoken.

use std::collections::BTreeMap;

use super::report::{Cause, Finding, Severity, Verdict};
use super::rules;

/// Findings of the same state of the same object are one finding with all their clusters.
pub(super) fn merge(findings: Vec<Finding>) -> Vec<Finding> {
    const EVIDENCE_EACH: usize = 12;
    let mut merged: BTreeMap<_, Finding> = BTreeMap::new();
    for finding in findings {
        let key = (
            finding.code.clone(),
            finding.subject.clone(),
            finding.stage.clone(),
            finding.severity,
        );
        match merged.get_mut(&key) {
            None => {
                merged.insert(key, finding);
            }
            Some(known) => {
                let all = known
                    .clusters
                    .iter()
                    .chain(&finding.clusters)
                    .cloned()
                    .collect::<Vec<_>>();
                known.clusters = all;
                known.clusters.sort();
                known.clusters.dedup();
                known.root_cause |= finding.root_cause;
                for evidence in finding.evidence {
                    if known.evidence.len() < EVIDENCE_EACH && !known.evidence.contains(&evidence) {
                        known.evidence.push(evidence);
                    }
                }
                for remedy in finding.remedies {
                    if !known.remedies.contains(&remedy) {
                        known.remedies.push(remedy);
                    }
                }
            }
        }
    }
    merged.into_values().collect()
}

/// Folds consequences under their causes: a finding whose rule names another as a possible cause,
/// where that other one was made too and applies to the same clusters.
pub(super) fn link(findings: &mut [Finding]) {
    let causes: Vec<Vec<Cause>> = findings
        .iter()
        .map(|finding| {
            let possible = rules::find(&finding.code).map_or(&[][..], |rule| rule.caused_by);
            let mut causes: Vec<_> = findings
                .iter()
                .filter(|other| possible.contains(&other.code.as_str()))
                .filter(|other| explains(other, finding))
                .map(Finding::as_cause)
                .collect();
            causes.sort();
            causes.dedup();
            causes
        })
        .collect();
    for (finding, causes) in findings.iter_mut().zip(causes) {
        if !causes.is_empty() {
            finding.root_cause = false;
            finding.caused_by = causes;
        }
    }
}

/// A cause explains a consequence when it covers its clusters: all of them, or it concerns the
/// whole run.
fn explains(cause: &Finding, consequence: &Finding) -> bool {
    cause.clusters.is_empty()
        || consequence.clusters.is_empty()
        || consequence
            .clusters
            .iter()
            .all(|cluster| cause.clusters.contains(cluster))
}

/// Root causes first, then by severity, code and subject.
pub(super) fn sort(findings: &mut [Finding]) {
    findings.sort_by(|a, b| {
        (
            !a.root_cause,
            std::cmp::Reverse(a.severity),
            &a.code,
            &a.subject,
            &a.stage,
            &a.clusters,
        )
            .cmp(&(
                !b.root_cause,
                std::cmp::Reverse(b.severity),
                &b.code,
                &b.subject,
                &b.stage,
                &b.clusters,
            ))
    });
}

/// A verdict that asks for an explanation has one: where linking left none, the gravest finding
/// that is not a note takes the part.
pub(super) fn ensure_root(findings: &mut [Finding], verdict: Verdict) {
    if !verdict.wants_root_cause() || findings.iter().any(|finding| finding.root_cause) {
        return;
    }
    let gravest = findings
        .iter_mut()
        .filter(|finding| finding.severity != Severity::Info)
        .max_by_key(|finding| (finding.severity, std::cmp::Reverse(finding.code.clone())));
    if let Some(finding) = gravest {
        finding.root_cause = true;
    }
}
