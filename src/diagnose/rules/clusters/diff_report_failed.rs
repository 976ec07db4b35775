//! A placement only reports differences, and the report of a cluster does not complete.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::diagnose::subjects::objects::{clusters, list_works, per_object, per_trouble};
use crate::diagnose::subjects::ownership;
use crate::kubefleet::messages::{ManifestProblem, parse_manifest_problem};
use crate::kubefleet::work::Work;
use crate::kubefleet::{Condition, Conditions, reasons};

/// `FailedToReportDiff`; also `FoundDiffInDegradedMode`, which is a report, but is not counted as
/// one. Source: workapplier/status.go:setManifestDiffReportedCondition.
pub const RULE: Rule = Rule::on_member("FS514", "diff-report-failed", check).environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let mut findings = per_object(cx, rule, |affected, mut finding| {
        let clusters = affected.clusters();
        let degraded = matches!(affected.manifest.problem, ManifestProblem::DiffFound { .. });
        if degraded {
            return in_degraded_mode(cx, &affected.object(), &clusters, finding);
        }
        finding.message = format!(
            "The differences of {} could not be determined on {clusters}.",
            affected.object()
        );
        finding.repair_there_or_on_hub(
            affected,
            format!(
                "Fix on {clusters} what the evidence names: the kind, the permission, or the API \
                 server."
            ),
            "Or fix {} on the hub and start a new run, if the manifest is wrong.",
        )
    });
    findings.extend(unnamed(cx, rule));
    findings
}

fn in_degraded_mode(
    cx: &DiagnosisContext<'_>,
    object: &str,
    on: &str,
    mut finding: Finding,
) -> Finding {
    finding.message = format!(
        "The API server of {on} rejects the manifest of {object}, so its differences come from a \
         full comparison. KubeFleet does not count that as a report."
    );
    let action = "Fix the manifest on the hub until the member's API server accepts it, then start a new \
                  run.";
    finding.new_run(cx, action)
}

/// Reports that failed without an object whose condition says so.
fn unnamed(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let subject = |failing: &FailingCluster<'_>| {
        let unnamed = ownership::of_trouble(failing).contains(&rule.code)
            && !failing
                .trouble
                .manifests
                .iter()
                .any(|manifest| ownership::of_manifest(manifest) == Some(rule.code));
        unnamed.then(|| {
            let works = cx.inventory.works_of(failing.binding);
            degraded(works).map_or_else(
                || failing.binding.object().into(),
                |(_, subject, ..)| subject,
            )
        })
    };
    per_trouble(cx, rule, subject, |on, mut finding| {
        let clusters = clusters(on);
        let found = on
            .first()
            .and_then(|first| degraded(cx.inventory.works_of(first.binding)));
        if let Some((work, subject, at, condition)) = found {
            finding = finding.condition_at(
                &work.object(),
                &format!("status.manifestConditions[{at}]"),
                condition,
            );
            return in_degraded_mode(cx, &subject.to_string(), &clusters, finding);
        }
        finding.message = format!(
            "The differences on {clusters} could not be reported, and the binding names no object."
        );
        finding
            .look_with(
                format!(
                    "Search the Works for {clusters} for a manifest without DiffReported=True."
                ),
                list_works(cx, on).flag("-o", "yaml"),
            )
            .fix(format!("Fix on {clusters} what its condition names."))
            .then_continues(cx)
    })
}

fn degraded<'i>(
    works: impl Iterator<Item = &'i Work>,
) -> Option<(&'i Work, Subject, usize, &'i Condition)> {
    for work in works {
        for (at, status) in work.status.manifests.iter().enumerate() {
            let Some(condition) = status.conditions.condition(reasons::DIFF_REPORTED) else {
                continue;
            };
            if matches!(
                parse_manifest_problem(&condition.reason, &condition.message),
                ManifestProblem::DiffFound { degraded: true, .. }
            ) {
                let id = &status.id;
                let subject =
                    Subject::new(id.kind.as_str(), id.namespace.as_str(), id.name.as_str());
                return Some((work, subject, at, condition));
            }
        }
    }
    None
}
