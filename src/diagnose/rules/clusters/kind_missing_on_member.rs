//! A member cluster does not serve the kind of an object.

use crate::diagnose::affected::Affected;
use crate::diagnose::rules::prelude::*;
use crate::kubefleet::messages::ManifestProblem;

/// The agent cannot map the kind to a resource: the CRD is missing, or the version is not served.
/// Source: workapplier/preprocess.go:decodeManifest.
pub const RULE: Rule = Rule::error("FS504", "kind-missing-on-member", Search::Object(check))
    .reads(&[Concept::Binding, Concept::Work])
    .content();

fn check(affected: &Affected<'_, '_>, mut finding: Finding) -> Finding {
    let manifest = affected.manifest;
    let (kind, version) = match &manifest.problem {
        ManifestProblem::KindNotFound { kind, version } => (kind.as_deref(), version.as_deref()),
        _ => (None, None),
    };
    let kind = kind.unwrap_or(manifest.kind);
    let own = match (manifest.group, manifest.version) {
        ("", version) => version.to_owned(),
        (group, version) => format!("{group}/{version}"),
    };
    let version = version.unwrap_or(&own);
    let clusters = affected.clusters();
    finding.message = format!(
        "{} could not be applied on {clusters}: the API server there does not serve {kind} in \
         {version}.",
        affected.object()
    );
    let served = affected.on_member("api-resources");
    finding
        .look_with(
            format!("List the kinds that {clusters} serves."),
            match manifest.group {
                "" => served,
                group => served.joined("--api-group", group),
            },
        )
        .fix(format!(
            "Install the CustomResourceDefinition of {kind} with version {version} on {clusters}, \
             or place it there before this placement."
        ))
        .then_continues(affected.cx)
        .new_run(
            affected.cx,
            format!(
                "Or fix the version of {} on the hub and roll it out with a new run.",
                affected.on_hub()
            ),
        )
}
