//! A member cluster does not serve the kind of an object.

use crate::diagnose::case::Case;
use crate::diagnose::claims;
use crate::diagnose::objects::per_subject;
use crate::diagnose::report::{Finding, Severity, Subject};
use crate::diagnose::rules::Rule;
use crate::kubefleet::Concept;
use crate::kubefleet::messages::ManifestProblem;

/// The agent cannot map the kind to a resource: the CRD is missing, or the version is not served.
/// Source: workapplier/preprocess.go:decodeManifest.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS504",
    name: "kind-missing-on-member",
    severity: Severity::Error,
    reads: &[Concept::Binding, Concept::Work],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    per_subject(
        case,
        rule,
        |manifest| {
            (claims::of_manifest(manifest) == Some(rule.code))
                .then(|| Subject::new(manifest.kind, manifest.namespace, manifest.name))
        },
        |affected, mut finding| {
            let manifest = affected.manifest;
            let (kind, version) = match &manifest.problem {
                ManifestProblem::KindNotFound { kind, version } => {
                    (kind.as_deref(), version.as_deref())
                }
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
                "{} could not be applied on {clusters}: the API server there does not serve \
                 {kind} in {version}.",
                affected.object()
            );
            let served = affected.on_member("api-resources");
            finding = finding.look(
                format!("List the kinds that {clusters} serves."),
                Some(match manifest.group {
                    "" => served,
                    group => served.joined("--api-group", group),
                }),
            );
            finding = finding.fix(
                format!(
                    "Install the CustomResourceDefinition of {kind} with version {version} on \
                     {clusters}, or place it there before this placement."
                ),
                None,
            );
            finding = affected.goes_on(finding);
            affected.new_run(
                finding,
                format!(
                    "Or fix the version of {} on the hub and roll it out with a new run.",
                    affected.on_hub()
                ),
            )
        },
    )
}
