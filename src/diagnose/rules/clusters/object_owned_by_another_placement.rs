//! Two placements place the same object on a member cluster.

use std::collections::BTreeSet;

use crate::diagnose::case::Case;
use crate::diagnose::claims;
use crate::diagnose::finding::enumerate;
use crate::diagnose::objects::per_object;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::Concept;
use crate::kubefleet::messages::ManifestProblem;

/// The object's owner is the AppliedWork of another Work: whoever placed it first keeps it.
/// Source: workapplier/drift_detection_takeover.go:takeOverPreExistingObject,
/// apply.go:validateOwnerReferences.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS508",
    name: "object-owned-by-another-placement",
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
            let owners: BTreeSet<_> = affected
                .all
                .iter()
                .flat_map(|(_, manifest)| match &manifest.problem {
                    ManifestProblem::AlreadyOwnedByOthers { owners } => owners.as_slice(),
                    _ => &[],
                })
                .filter(|owner| owner.kind == "AppliedWork")
                .map(|owner| owner.name.as_str())
                .collect();
            // A Work is named after its placement, and so is the AppliedWork.
            let by = if owners.is_empty() {
                String::new()
            } else {
                format!(" (AppliedWork {})", enumerate(&owners))
            };
            finding.message = format!(
                "{} belongs to another placement{by} on {clusters}, so this one may not apply it \
                 there.",
                affected.object()
            );
            if owners.is_empty() {
                finding = finding.look(
                    format!(
                        "See which placement owns it on {clusters}: the name of the AppliedWork \
                         begins with that of the placement."
                    ),
                    Some(
                        affected
                            .kubectl("get")
                            .flag("-o", "jsonpath={.metadata.ownerReferences[*].name}"),
                    ),
                );
            }
            finding = affected.new_run(
                finding,
                format!(
                    "If the other placement should keep it, take {} out of this placement's content \
                     and make a new run: nothing changes on {clusters}.",
                    affected.on_hub()
                ),
            );
            let with = if affected.manifest.kind == "Namespace" {
                ", with everything in it,"
            } else {
                ""
            };
            finding = finding.disrupt(
                format!(
                    "Or, if this placement should have it, take it out of the other placement's \
                     selectors. That deletes it{with} wherever the other placement brought it, before \
                     this one applies it."
                ),
                None,
            );
            affected.goes_on(finding)
        },
    )
}
