//! An object on a member cluster has owners other than the placement.

use std::collections::BTreeSet;

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::affected::AffectedObject;
use crate::kubefleet::messages::ManifestProblem;

/// `FailedToTakeOver` over foreign owner references, while `allowCoOwnership` is off.
/// Source: workapplier/drift_detection_takeover.go:takeOverPreExistingObject,
/// apply.go:validateOwnerReferences.
pub const RULE: Rule = Rule::on_object("FS507", "object-owned-by-others", check).environment();

fn check(affected: &AffectedObject<'_, '_>, mut finding: Finding) -> Finding {
    let clusters = affected.clusters();
    let object = affected.manifest.describe();
    let owners: BTreeSet<_> = affected
        .all
        .iter()
        .flat_map(|(_, manifest)| match &manifest.problem {
            ManifestProblem::AlreadyOwnedByOthers { owners } => owners.as_slice(),
            _ => &[],
        })
        .map(|owner| format!("{} {}", owner.kind, owner.name))
        .collect();
    let by = if owners.is_empty() {
        "by something else".to_owned()
    } else {
        format!("by {}", enumerate(&owners))
    };
    finding.message = format!(
        "{} is owned {by} on {clusters}, and the placement does not allow co-ownership.",
        affected.object()
    );
    if owners.is_empty() {
        finding = finding.look_with(
            format!("Check what owns it on {}.", affected.cluster()),
            affected
                .kubectl("get")
                .flag("-o", "jsonpath={.metadata.ownerReferences}"),
        );
    }
    finding
        .fix(format!(
            "Remove the other owner reference from {object} on {clusters}, or stop the owner from \
             creating it, if the placement should own it alone."
        ))
        .then_continues(affected.cx)
        .same_content(
            affected.cx,
            "Or set allowCoOwnership: true in the placement's applyStrategy, if both should own \
             it. This fails the current run, so start a new one.",
        )
        .repair_on_hub(
            affected,
            "Or remove {} from the placement's content and start a new run, if the other owner \
             should keep it.",
        )
}
