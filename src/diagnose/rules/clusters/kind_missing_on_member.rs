//! A member cluster does not serve the kind of an object.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::affected::AffectedObject;
use crate::diagnose::subjects::sent::{self, SentManifest};
use crate::kubefleet::kind::api_version;
use crate::kubefleet::messages::ManifestProblem;
use crate::kubefleet::snapshot::is_of_hub;

/// The agent cannot map the kind to a resource: the CRD is missing, or the version is not served.
/// Source: workapplier/preprocess.go:decodeManifest.
pub const RULE: Rule = Rule::on_object("FS504", "kind-missing-on-member", check).content();

fn check(affected: &AffectedObject<'_, '_>, mut finding: Finding) -> Finding {
    let manifest = affected.manifest;
    let (kind, version) = match &manifest.problem {
        ManifestProblem::KindNotFound { kind, version } => (kind.as_deref(), version.as_deref()),
        _ => (None, None),
    };
    let kind = kind.unwrap_or(manifest.kind);
    let own = api_version(manifest.group, manifest.version);
    let version = version.unwrap_or(&own);
    let clusters = affected.clusters();
    finding.message = format!(
        "{} could not be applied on {clusters}: the API server there does not serve {kind} in \
         {version}.",
        affected.object()
    );
    let defines = |name: &str| defines(name, manifest.group, kind);
    let refused = sent::refused(&affected.on, |it| {
        it.kind == "CustomResourceDefinition" && defines(it.name)
    });
    if let Some(causes) = refused {
        return sent::caused_by(finding, causes);
    }
    let definition = affected.on.iter().find_map(|failing| {
        SentManifest::all(affected.cx, failing).find(|sent| {
            let manifest = sent.manifest;
            manifest.kind == "CustomResourceDefinition" && defines(&manifest.meta.name)
        })
    });
    if let Some(sent) = definition {
        let name = &sent.manifest.meta.name;
        finding = finding.evidence(sent.work.object(), sent.path("metadata.name"), name);
        finding.message = format!(
            "{} The content has a CustomResourceDefinition for it.",
            finding.message
        );
        return finding
            .look_with(
                format!(
                    "Check on {clusters} whether the definition is established, and which versions \
                     it serves."
                ),
                affected
                    .on_member("get")
                    .arg("crd")
                    .arg(name)
                    .flag("-o", "yaml"),
            )
            .look_with(
                "Wait, if it is: the member agent tries again within 15 minutes.",
                affected
                    .cx
                    .command("diagnose")
                    .arg(affected.cx.run_object().name),
            )
            .repair_on_hub(
                affected,
                "Fix the version of {}, or the definition, on the hub and start a new run, if they \
                 do not fit together.",
            );
    }
    if is_of_hub(manifest.group, manifest.kind) {
        return finding.repair_on_hub(
            affected,
            "Select objects instead of the whole namespace, or move {} to another one, and start a \
             new run: KubeFleet's own objects belong on the hub.",
        );
    }
    let served = affected.on_member("api-resources");
    finding
        .look_with(
            format!("List the kinds that {} serves.", affected.cluster()),
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
        .roll_out(
            affected.cx,
            &format!("Or fix the version of {} on the hub", affected.on_hub()),
        )
}

/// Whether a CustomResourceDefinition of this name may be the one of a kind: it is called
/// `PLURAL.GROUP`.
fn defines(name: &str, group: &str, kind: &str) -> bool {
    let Some((plural, of)) = name.split_once('.') else {
        return false;
    };
    let kind = kind.to_lowercase();
    let endings = [("", ""), ("", "s"), ("", "es"), ("y", "ies")];
    let mut plurals = endings
        .iter()
        .filter_map(|(from, to)| Some(format!("{}{to}", kind.strip_suffix(from)?)));
    of == group && plurals.any(|it| it == plural)
}

#[cfg(test)]
mod tests {
    use super::defines;

    #[test]
    fn a_definition_is_found_by_its_name() {
        for (name, group, kind, is_it) in [
            ("widgets.example.com", "example.com", "Widget", true),
            ("policies.example.com", "example.com", "Policy", true),
            ("ingresses.example.com", "example.com", "Ingress", true),
            ("widgets.example.com", "other.com", "Widget", false),
            (
                "databaseusers.example.com",
                "example.com",
                "Database",
                false,
            ),
            ("widgets", "", "Widget", false),
        ] {
            assert_eq!(defines(name, group, kind), is_it, "{name} {kind}");
        }
    }
}
