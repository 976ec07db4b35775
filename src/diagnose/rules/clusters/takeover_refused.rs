//! An object existed on a member cluster before the placement, and is not taken over.

use crate::diagnose::affected::{Affected, Compared};
use crate::diagnose::rules::prelude::*;
use crate::kubefleet::messages::ManifestProblem;

/// `FailedToTakeOver` with `whenToTakeOver: IfNoDiff`, `NotTakenOver` with `Never`.
/// Source: workapplier/process.go:takeOverInMemberClusterObjectIfApplicable.
pub const RULE: Rule = Rule::error("FS506", "takeover-refused", Search::Object(check))
    .reads(&[Concept::Binding, Concept::Work])
    .environment();

fn check(affected: &Affected<'_, '_>, mut finding: Finding) -> Finding {
    let clusters = affected.clusters();
    let object = affected.manifest.describe();
    let why = match affected.manifest.problem {
        ManifestProblem::DiffFound { .. } => {
            "it differs from the hub's version, so Fleet does not take it over (whenToTakeOver: \
             IfNoDiff)"
        }
        ManifestProblem::TakeoverNever => "Fleet does not take it over (whenToTakeOver: Never)",
        _ => "the attempt to take it over failed",
    };
    finding.message = format!(
        "{} already existed on {clusters}, and {why}.",
        affected.object()
    );
    finding = affected.compared(finding, Compared::Diff);
    match affected.manifest.problem {
        ManifestProblem::DiffFound { .. } => {
            finding = finding
                .fix(format!(
                    "Set {object} to the hub's values on {clusters}, if the hub is right: Fleet \
                     takes it over once nothing differs."
                ))
                .then_continues(affected.cx);
        }
        ManifestProblem::TakeoverNever => {
            finding = finding.look_with(
                format!("Check what {object} is on {clusters}, and who wrote it."),
                affected
                    .kubectl("get")
                    .flag("-o", "yaml")
                    .switch("--show-managed-fields"),
            );
        }
        _ => {
            finding = finding
                .fix(format!("Fix on {clusters} what the evidence names."))
                .then_continues(affected.cx);
        }
    }
    finding = finding.new_run(
        affected.cx,
        "Or set whenToTakeOver: Always in the placement's applyStrategy to take over existing \
         objects as they are. This fails the current run, so start a new one.",
    );
    if !affected.is_replaceable() {
        return finding;
    }
    finding.disrupt(format!(
        "Or delete {object} on {clusters}, if nothing else needs it and a short gap is acceptable: \
         the agent then creates its own."
    ))
}
