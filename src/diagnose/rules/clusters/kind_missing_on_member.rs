//! A member cluster does not serve the kind of an object.

use crate::contents::{is_definition, usual_definition};
use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::affected::AffectedObject;
use crate::diagnose::subjects::sent::{self, SentManifest};
use crate::kubefleet::kind::api_version;
use crate::kubefleet::messages::ManifestProblem;
use crate::kubefleet::snapshot::{ManifestIdentity, ResourceSnapshot, is_of_hub};
use crate::rollout::rollback::is_newer;
use crate::rollout::versions::versions;
use crate::words::CommandLine;

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
    let defines = |of: &str, name: &str| is_definition((of, name), (manifest.group, kind));
    let refused = sent::refused(&affected.on, |it| defines(it.kind, it.name));
    if let Some(causes) = refused {
        return sent::caused_by(finding, causes);
    }
    let definition = affected.on.iter().find_map(|failing| {
        SentManifest::all(affected.cx, failing)
            .find(|sent| defines(&sent.manifest.kind, &sent.manifest.meta.name))
    });
    if let Some(sent) = definition {
        let name = &sent.manifest.meta.name;
        finding = finding.evidence(sent.work.object(), sent.path("metadata.name"), name);
        finding.add_sentence("The content has a CustomResourceDefinition for it.");
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
    if let Some((dropped, snapshot)) = dropped(affected, defines) {
        let (cx, name) = (affected.cx, &dropped.meta.name);
        let own = cx.run().map_or("", |it| &it.status.snapshot_index);
        let before = snapshot.index().unwrap_or_default();
        finding.add_sentence(&format!(
            "Snapshot {before} has {} {name} for it, and snapshot {own} has not: KubeFleet deletes there what new \
             content lacks.",
            dropped.kind
        ));
        let diff = cx
            .command("snapshots")
            .arg("diff")
            .arg(&cx.inventory.placement_name);
        return finding
            .index_of(snapshot)
            .look_with("Check what the snapshot lost.", diff.arg(before).arg(own))
            .roll_out(cx, &format!("Select the definition {name} again"));
    }
    finding = finding.look_with(
        format!("List the kinds that {} serves.", affected.cluster()),
        match manifest.group {
            "" => served,
            group => served.joined("--api-group", group),
        },
    );
    let mut unless = "";
    if manifest.group.contains('.') {
        let definition = usual_definition(manifest.group, manifest.kind);
        let trace =
            CommandLine::fleet("trace").arg(format!("customresourcedefinition/{definition}"));
        let action =
            "Check whether another placement brings the definition there, and where that stands.";
        finding = finding.look_with(action, trace.flag("--member", affected.cluster()));
        unless = "if none does, ";
    }
    finding
        .fix(format!(
            "Install the CustomResourceDefinition of {kind} with version {version} on {clusters}, \
             {unless}or place it there before this placement."
        ))
        .then_continues(affected.cx)
        .roll_out(
            affected.cx,
            &format!("Or fix the version of {} on the hub", affected.on_hub()),
        )
}

/// The definition that an earlier snapshot had, and the run's does not, with that snapshot.
fn dropped<'i>(
    affected: &AffectedObject<'_, 'i>,
    defines: impl Fn(&str, &str) -> bool,
) -> Option<(&'i ManifestIdentity, &'i ResourceSnapshot)> {
    let inventory = affected.cx.inventory;
    let own = &inventory.run.present()?.status.snapshot_index;
    let all = versions(inventory);
    let earlier = all.iter().rev().filter(|it| is_newer(own, &it.index));
    let mut snapshots = earlier.flat_map(|it| it.parts.iter().copied());
    snapshots.find_map(|snapshot| {
        let mut all = snapshot.spec.resources.iter();
        let found = all.find(|it| defines(&it.kind, &it.meta.name))?;
        Some((found, snapshot))
    })
}
