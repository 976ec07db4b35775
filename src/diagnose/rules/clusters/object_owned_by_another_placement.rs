//! Two placements place the same object on a member cluster.

use std::collections::BTreeSet;

use crate::diagnose::affected::Affected;
use crate::diagnose::failing_cluster::FailingCluster;
use crate::diagnose::rules::prelude::*;
use crate::kubefleet::messages::ManifestProblem;
use crate::rollout::ManifestTrouble;

/// The object's owner is the AppliedWork of another Work: whoever placed it first keeps it.
/// Source: workapplier/drift_detection_takeover.go:takeOverPreExistingObject,
/// apply.go:validateOwnerReferences.
pub const RULE: Rule = Rule::error(
    "FS508",
    "object-owned-by-another-placement",
    Search::Object(check),
)
.reads(&[Concept::Binding, Concept::Work])
.person();

fn check(affected: &Affected<'_, '_>, mut finding: Finding) -> Finding {
    let clusters = affected.clusters();
    if affected
        .all
        .iter()
        .all(|(failing, manifest)| is_own(failing, manifest))
    {
        return earlier(affected, finding);
    }
    let owners: BTreeSet<_> = affected
        .all
        .iter()
        .flat_map(|(_, manifest)| owners(manifest))
        .collect();
    // A Work is named after its placement, and so is the AppliedWork.
    let by = if owners.is_empty() {
        String::new()
    } else {
        format!(" (AppliedWork {})", enumerate(&owners))
    };
    finding.message = format!(
        "{} belongs to another placement{by} on {clusters}, so this one cannot apply it there.",
        affected.object()
    );
    if owners.is_empty() {
        finding = finding.look_with(
            format!(
                "Check which placement owns it on {clusters}: the AppliedWork's name starts with \
                 the placement's name."
            ),
            affected
                .kubectl("get")
                .flag("-o", "jsonpath={.metadata.ownerReferences[*].name}"),
        );
    }
    finding = finding.new_run(
        affected.cx,
        format!(
            "Remove {} from this placement's content and start a new run, if the other placement \
             should keep it: nothing changes on {clusters}.",
            affected.on_hub()
        ),
    );
    let with = if affected.manifest.kind == "Namespace" {
        ", with everything in it,"
    } else {
        ""
    };
    finding
        .disrupt(format!(
            "Or remove it from the other placement's selectors, if this placement should have it. \
             This deletes it{with} on all clusters of the other placement before this one applies \
             it."
        ))
        .then_continues(affected.cx)
}

/// The AppliedWorks that own an object, by name.
fn owners<'m>(manifest: &'m ManifestTrouble<'_>) -> impl Iterator<Item = &'m str> {
    let owners = match &manifest.problem {
        ManifestProblem::AlreadyOwnedByOthers { owners } => owners.as_slice(),
        _ => &[],
    };
    let owners = owners.iter().filter(|owner| owner.kind == "AppliedWork");
    owners.map(|owner| owner.name.as_str())
}

/// Whether the other owner has the name of the Work that may not apply the object: a name is given
/// once on a cluster, so that it is an AppliedWork that was deleted and created again meanwhile.
fn is_own(failing: &FailingCluster<'_>, manifest: &ManifestTrouble<'_>) -> bool {
    let work = failing.trouble.work.as_ref();
    let own = work.and_then(|work| work.work.as_deref());
    let mut owners = owners(manifest).peekable();
    owners.peek().is_some() && owners.all(|owner| Some(owner) == own)
}

/// The object belongs to this placement, under an owner that is gone.
fn earlier(affected: &Affected<'_, '_>, mut finding: Finding) -> Finding {
    let (object, clusters) = (affected.object(), affected.clusters());
    finding.message = format!(
        "{object} on {clusters} is still owned by an earlier AppliedWork of this placement, so the \
         current AppliedWork cannot apply it."
    );
    finding
        .look_with(
            "Compare the uid of the owner with that of the AppliedWork.",
            affected
                .kubectl("get")
                .flag("-o", "jsonpath={.metadata.ownerReferences}"),
        )
        .look_with(
            "Check that the cluster's garbage collector runs: it deletes the object when its owner \
             no longer exists.",
            affected
                .on_member("get")
                .arg("appliedworks.placement.kubernetes-fleet.io"),
        )
        .fix(format!(
            "Or remove that owner reference from {object}, if the garbage collector does not run."
        ))
        .then_continues(affected.cx)
}
