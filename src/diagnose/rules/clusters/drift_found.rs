//! An object was changed on a member cluster, and the placement does not apply over that.

use crate::diagnose::case::Case;
use crate::diagnose::claims;
use crate::diagnose::objects::{Compared, per_object};
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::Concept;

/// `FoundDrifts` with `whenToApply: IfNotDrifted`.
/// Source: workapplier/process.go:performPreApplyDriftDetectionIfApplicable.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS505",
    name: "drift-found",
    severity: Severity::Error,
    reads: &[Concept::Binding, Concept::Work],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    per_object(
        case,
        rule,
        |manifest| claims::of_manifest(manifest) == Some(rule.code),
        |affected, mut finding| {
            let clusters = affected.clusters();
            finding.message = format!(
                "{} was changed on {clusters}. Because whenToApply is IfNotDrifted, Fleet does \
                 not overwrite the change.",
                affected.object()
            );
            let before = finding.evidence.len();
            finding = affected.compared(finding, Compared::Drift);
            let fields = if finding.evidence.len() > before {
                "the fields named in the evidence have the hub's values again"
            } else {
                "the object matches the hub again; the changed fields were not reported"
            };
            finding = finding.fix(
                format!("Undo the change on {clusters} until {fields}."),
                None,
            );
            finding = affected.goes_on(finding);
            finding = affected.new_run(
                finding,
                format!(
                    "Or copy the change into {} on the hub and roll it out with a new run, if the \
                     change should stay.",
                    affected.on_hub()
                ),
            );
            affected.new_run(
                finding,
                "Or set whenToApply: Always in the placement's applyStrategy to overwrite changes \
                 everywhere. This fails the current run, so start a new one.",
            )
        },
    )
}
