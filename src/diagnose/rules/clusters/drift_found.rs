//! An object was changed on a member cluster, and the placement does not apply over that.

use crate::diagnose::affected::{Affected, Compared};
use crate::diagnose::rules::prelude::*;

/// `FoundDrifts` with `whenToApply: IfNotDrifted`.
/// Source: workapplier/process.go:performPreApplyDriftDetectionIfApplicable.
pub const RULE: Rule = Rule::error("FS505", "drift-found", Search::Object(check))
    .reads(&[Concept::Binding, Concept::Work])
    .person();

fn check(affected: &Affected<'_, '_>, mut finding: Finding) -> Finding {
    let clusters = affected.clusters();
    finding.message = format!(
        "{} was changed on {clusters}. Because whenToApply is IfNotDrifted, Fleet does not \
         overwrite the change.",
        affected.object()
    );
    let before = finding.evidence.len();
    finding = affected.compared(finding, Compared::Drift);
    let fields = if finding.evidence.len() > before {
        "the fields named in the evidence have the hub's values again"
    } else {
        "the object matches the hub again; the changed fields were not reported"
    };
    finding
        .fix(format!("Undo the change on {clusters} until {fields}."))
        .then_continues(affected.cx)
        .new_run(
            affected.cx,
            format!(
                "Or copy the change into {} on the hub and roll it out with a new run, if the \
                 change should stay.",
                affected.on_hub()
            ),
        )
        .new_run(
            affected.cx,
            "Or set whenToApply: Always in the placement's applyStrategy to overwrite changes \
             everywhere. This fails the current run, so start a new one.",
        )
}
