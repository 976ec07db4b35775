//! Overrides of the content that change nothing.

use super::draft::PlanDraft;
use super::stages::ComputedStages;
use super::{Warning, WarningKind};
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::snapshot::ManifestIdentity;
use crate::problems::{override_matches_nothing, override_never_applied};
use crate::rollout::overrides::{idle, is_lost};
use crate::rollout::versions::versions;

/// Warns of overrides that were written for the placement and change nothing there.
pub(super) fn check(draft: &mut PlanDraft<'_>, computed: &ComputedStages, index: Option<&str>) {
    let inventory = draft.inventory;
    let all = versions(inventory);
    let mut all = all.iter();
    let Some(version) = all.find(|version| Some(version.index.as_str()) == index) else {
        return;
    };
    let resources: Vec<&ManifestIdentity> = version.objects().collect();
    let placed: Vec<_> = computed
        .stages
        .iter()
        .flat_map(|stage| &stage.clusters)
        .collect();
    let clusters = placed
        .iter()
        .filter_map(|cluster| inventory.member(&cluster.name));
    let clusters: Vec<_> = clusters.collect();
    let complete = version.is_complete().then_some(resources.as_slice());
    let seen = (placed.len() == clusters.len()).then_some(clusters.as_slice());
    for snapshot in inventory.overrides.iter() {
        without_effect(draft, snapshot, &version.index, complete, seen);
    }
}

/// Warns of one.
fn without_effect(
    draft: &mut PlanDraft<'_>,
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
