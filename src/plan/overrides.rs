//! Overrides of the content that change nothing.

use super::WarningKind;
use super::draft::PlanDraft;
use super::stages::ComputedStages;
use crate::kubefleet::snapshot::ManifestIdentity;
use crate::problems::{override_matches_nothing, override_never_applied};
use crate::rollout::AgentVersion;
use crate::rollout::overrides::{idle, is_lost};
use crate::rollout::versions::versions;

/// Warns of overrides that were written for the placement and change nothing there.
pub(super) fn check(draft: &mut PlanDraft<'_>, computed: &ComputedStages, index: Option<&str>) {
    let inventory = draft.inventory;
    let placement = draft.placement();
    let overrides = inventory.overrides.iter();
    let (lost, others): (Vec<_>, Vec<_>) =
        overrides.partition(|it| it.is_latest() && is_lost(it, placement));
    for it in lost {
        let problem = override_never_applied(it, placement);
        draft.warn(WarningKind::OverrideNeverApplied, problem);
    }
    let all = versions(inventory);
    let mut all = all.iter();
    let Some(version) = all.find(|version| Some(version.index.as_str()) == index) else {
        return;
    };
    let resources: Vec<&ManifestIdentity> = version.objects().collect();
    let placed: Vec<_> = computed.updated().collect();
    let clusters = placed
        .iter()
        .filter_map(|cluster| inventory.member(&cluster.name));
    let clusters: Vec<_> = clusters.collect();
    let complete = version.is_complete().then_some(resources.as_slice());
    let seen = (placed.len() == clusters.len()).then_some(clusters.as_slice());
    let version_of_hub = AgentVersion::of_hub(inventory);
    for snapshot in others {
        if let Some(idle) = idle(snapshot, placement, (complete, version_of_hub), seen) {
            let (index, clusters) = (&version.index, seen.unwrap_or_default());
            let problem = override_matches_nothing(snapshot, placement, idle, index, clusters);
            draft.warn(WarningKind::OverrideMatchesNothing, problem);
        }
    }
}
