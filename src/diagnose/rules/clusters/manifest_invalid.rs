//! A manifest that no cluster could take.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::affected::AffectedObject;
use crate::kubefleet::messages::ManifestProblem;

/// The agent refuses the manifest before it asks the member's API server.
/// Source: workapplier/preprocess.go:preProcessManifests, apply.go:validateOwnerReferences.
pub const RULE: Rule = Rule::on_object("FS513", "manifest-invalid", check).content();

fn check(affected: &AffectedObject<'_, '_>, mut finding: Finding) -> Finding {
    use ManifestProblem as P;
    let (why, repair) = match &affected.manifest.problem {
        P::Duplicate => (
            "the Work contains the same object twice",
            "Remove one of the two: an envelope and the placement's own content, or two entries of \
             one envelope, contain the same object",
        ),
        P::GenerateNameOnly => (
            "the manifest has a generateName and no name",
            "Give it a name",
        ),
        P::OwnerReferencesNotAllowed => (
            "the manifest names owners, and the placement does not allow co-ownership",
            "Remove metadata.ownerReferences from it",
        ),
        _ => (
            "the manifest cannot be read as a Kubernetes object",
            "Correct the manifest",
        ),
    };
    finding.message = format!(
        "{} was not applied on {}: {why}.",
        affected.object(),
        affected.clusters()
    );
    let action = format!(
        "{repair}; fix {} on the hub, or the override that changes it, and roll it out with a \
         new run.",
        affected.on_hub()
    );
    finding.new_run(affected.cx, action)
}
