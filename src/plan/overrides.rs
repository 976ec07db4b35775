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
    let placement = draft.placement();
    let overrides = inventory.overrides.iter();
    let (lost, others): (Vec<_>, Vec<_>) =
        overrides.partition(|it| it.is_latest() && is_lost(it, placement));
    let lost = lost.into_iter().map(|it| {
        let problem = override_never_applied(it, placement);
        Warning::of(WarningKind::OverrideNeverApplied, problem)
    });
    let lost: Vec<_> = lost.collect();
    draft.warnings.extend(lost);
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
    for snapshot in others {
        without_effect(draft, snapshot, &version.index, complete, seen);
    }
}

/// Warns of one that selects nothing.
fn without_effect(
    draft: &mut PlanDraft<'_>,
    snapshot: &OverrideSnapshot,
    index: &str,
    resources: Option<&[&ManifestIdentity]>,
    clusters: Option<&[&MemberCluster]>,
) {
    let placement = draft.placement();
    if let Some(idle) = idle(snapshot, placement, resources, clusters) {
        let clusters = clusters.unwrap_or_default();
        let problem = override_matches_nothing(snapshot, placement, idle, index, clusters);
        let warning = Warning::of(WarningKind::OverrideMatchesNothing, problem);
        draft.warnings.push(warning);
    }
}
