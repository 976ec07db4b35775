//! Overrides of the content that the controller cannot use.

use std::collections::BTreeMap;

use super::draft::Draft;
use super::stages::Computed;
use super::{RefusalKind, Warning, WarningKind};
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::names;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::snapshot::ManifestIdentity;
use crate::problems::steps::see_override;
use crate::problems::{Problem, Tense, override_invalid};
use crate::report::{Compose, Subject};
use crate::rollout::overrides::{IdleOverride, applies, idle, is_lost, matches, origin, selected};
use crate::rollout::versions::{Version, versions};
use crate::words::enumerate;

/// Says which overrides stop the run. Only those count that select an object of the snapshot
/// itself: what is wrapped in envelopes is not read.
/// Source: utils/overrider/overrider.go:FetchAllMatchingOverridesForResourceSnapshot.
pub(super) fn check(draft: &mut Draft<'_>, computed: &Computed, index: Option<&str>) {
    let inventory = draft.inventory;
    let all = versions(inventory);
    let Some(version) = all
        .iter()
        .find(|version| Some(version.index.as_str()) == index)
    else {
        return;
    };
    if !draft.placement().namespace.is_empty() && version.expected.is_some_and(|parts| parts > 1) {
        parts(draft, version);
    }
    let resources: Vec<&ManifestIdentity> = version
        .parts
        .iter()
        .flat_map(|part| &part.spec.resources)
        .collect();
    let clusters: Vec<_> = computed
        .stages
        .iter()
        .flat_map(|stage| &stage.clusters)
        .filter_map(|cluster| inventory.member(&cluster.name))
        .collect();
    let complete = version.is_complete().then_some(resources.as_slice());
    let placed: usize = computed.stages.iter().map(|it| it.clusters.len()).sum();
    let seen = (placed == clusters.len()).then_some(clusters.as_slice());
    for snapshot in inventory.overrides.iter() {
        without_effect(draft, snapshot, complete, seen);
        if !snapshot.is_latest() || !applies(snapshot, &draft.placement().name, &resources) {
            continue;
        }
        let mut problems: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for member in &clusters {
            if let Err(problem) = matches(snapshot, member) {
                problems.entry(problem).or_default().push(&member.meta.name);
            }
        }
        for (what, clusters) in problems {
            let placement = draft.placement();
            let problem = override_invalid(snapshot, placement, &what, Tense::Now);
            draft.refuse(RefusalKind::OverrideInvalid, problem.clusters(clusters));
        }
    }
}

/// Where there are overrides the controller looks for the further parts among the cluster-scoped
/// snapshots, also for a namespaced placement. Source:
/// updaterun/initialization.go:recordOverrideSnapshots (the placement's bare name),
/// utils/controller/resource_snapshot_resolver.go:FetchAllResourceSnapshotsAlongWithMaster.
fn parts(draft: &mut Draft<'_>, version: &Version<'_>) {
    let overrides = &draft.inventory.overrides;
    let Some(one) = overrides.iter().find(|it| it.is_latest()) else {
        return;
    };
    let object = draft.placement().clone();
    let expected = version.expected.unwrap_or_default();
    let mut problem = Problem::new(
        &object,
        format!(
            "Resource snapshot {} of {object} has {expected} parts, but the controller finds only \
             the first one while the hub has any override.",
            version.index
        ),
    )
    .evidence(one.object(), "metadata.name", &one.meta.name);
    if let Some(part) = version.parts.first() {
        let path = format!("metadata.annotations[{}]", names::NUMBER_OF_SNAPSHOTS);
        problem = problem.evidence(part.object(), path, expected);
    }
    let problem = problem
        .fix("Split the placement until its content fits into one snapshot object (about 800 KB).");
    draft.refuse(RefusalKind::SnapshotPartsNotFound, problem);
}

/// Warns of an override that was written for the placement and changes nothing there.
fn without_effect(
    draft: &mut Draft<'_>,
    snapshot: &OverrideSnapshot,
    resources: Option<&[&ManifestIdentity]>,
    clusters: Option<&[&MemberCluster]>,
) {
    let object = snapshot.object();
    let placement = draft.placement();
    let subject = Subject::new(
        object.kind.origin_kind(),
        &object.namespace,
        origin(snapshot),
    );
    let warning = |kind, message: String| {
        Warning::new(kind, subject.clone(), message)
            .evidence(&object, "spec.overrideSpec.placement.name", &placement.name)
            .look_with("Show the override.", see_override(snapshot))
    };
    let warning = if snapshot.is_latest() && is_lost(snapshot, placement) {
        let message = format!(
            "Update runs do not apply {subject}: they do not find overrides whose placement \
             reference has `scope: Namespaced`."
        );
        warning(WarningKind::OverrideNeverApplied, message)
            .evidence(&object, "spec.overrideSpec.placement.scope", "Namespaced")
            .fix(
                "Delete the override and create it again without `spec.placement`, which is \
                 immutable. It then applies to every placement that includes the objects it \
                 selects.",
            )
    } else {
        match idle(snapshot, placement, resources, clusters) {
            None => return,
            Some(IdleOverride::NoObject(near)) => {
                let near =
                    near.map_or_else(String::new, |near| format!(" The content has {near}."));
                let message = format!(
                    "{subject} is meant for {} but selects none of its objects: it selects \
                     {}.{near}",
                    placement.name,
                    enumerate(selected(snapshot))
                );
                warning(WarningKind::OverrideMatchesNothing, message)
            }
            Some(IdleOverride::NoCluster) => {
                let message = format!(
                    "{subject} is meant for {} but its rules match none of its clusters.",
                    placement.name
                );
                warning(WarningKind::OverrideMatchesNothing, message)
            }
        }
    };
    draft.warnings.push(warning);
}
