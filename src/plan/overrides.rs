//! Overrides of the content that the controller cannot use.

use std::collections::BTreeMap;

use super::draft::Draft;
use super::stages::Computed;
use super::{RefusalKind, Warning, WarningKind};
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::snapshot::ManifestIdentity;
use crate::problems::{
    Tense, override_invalid, override_matches_nothing, override_never_applied,
    snapshot_parts_not_found,
};
use crate::report::Compose;
use crate::rollout::overrides::{applies, idle, is_lost, matches};
use crate::rollout::versions::versions;

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
        let overrides = &inventory.overrides;
        if let Some(any) = overrides.iter().find(|it| it.is_latest()) {
            let problem = snapshot_parts_not_found(draft.placement(), version, any);
            draft.refuse(RefusalKind::SnapshotPartsNotFound, problem);
        }
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
        without_effect(draft, snapshot, &version.index, complete, seen);
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

/// Warns of an override that was written for the placement and changes nothing there.
fn without_effect(
    draft: &mut Draft<'_>,
    snapshot: &OverrideSnapshot,
    index: &str,
    resources: Option<&[&ManifestIdentity]>,
    clusters: Option<&[&MemberCluster]>,
) {
    let placement = draft.placement();
    let warning = if snapshot.is_latest() && is_lost(snapshot, placement) {
        let problem = override_never_applied(snapshot, placement);
        Warning::of(WarningKind::OverrideNeverApplied, problem)
    } else if let Some(idle) = idle(snapshot, placement, resources, clusters) {
        let clusters = clusters.unwrap_or_default();
        let problem = override_matches_nothing(snapshot, placement, idle, index, clusters);
        Warning::of(WarningKind::OverrideMatchesNothing, problem)
    } else {
        return;
    };
    draft.warnings.push(warning);
}
