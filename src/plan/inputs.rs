//! What the controller looks at first: the placement, its policy and its bindings.

use super::RefusalKind;
use super::draft::Draft;
use crate::inventory::Sight;
use crate::kubefleet::snapshot::PolicySnapshot;
use crate::problems::{
    Tense, binding_count, bindings_outdated, no_cluster, not_external, placement_deleted,
    placement_missing,
};
use crate::report::Compose;
use crate::rollout::placing::selected_bindings;

/// The placement itself. Returns whether it makes sense to look at what belongs to it.
/// Source: updaterun/initialization.go:validatePlacement.
pub(super) fn placement(draft: &mut Draft<'_>) -> bool {
    let object = draft.placement().clone();
    let inventory = draft.inventory;
    let placement = match &inventory.placement {
        Sight::Present(placement) => placement,
        Sight::Unknown(_) => return true,
        Sight::Absent => {
            let strategy = draft.strategy_object().name;
            let problem = placement_missing(inventory, &object, &strategy, Tense::Now);
            draft.refuse(RefusalKind::PlacementNotFound, problem);
            return false;
        }
    };
    if placement.meta.is_deleting() {
        // Its policy snapshots go first, and a run finds none of them.
        let so = "so a run has nothing to roll out";
        let problem = placement_deleted(inventory, &object, so).fix(
            "If the deletion was a mistake, wait until it finishes and create the placement again.",
        );
        draft.refuse(RefusalKind::PlacementBeingDeleted, problem);
    }
    if !placement.is_external() {
        let now = placement.rollout_type();
        let problem = not_external(&object, Some(placement), now, Tense::Now);
        draft.refuse(RefusalKind::PlacementNotExternal, problem);
    }
    true
}

/// The bindings, as far as the policy is known that they follow.
/// Source: updaterun/initialization.go:collectScheduledClusters.
pub(super) fn bindings(draft: &mut Draft<'_>, policy: Option<&PolicySnapshot>) {
    let inventory = draft.inventory;
    let Some(policy) = policy.filter(|_| Draft::knows(&inventory.bindings)) else {
        return;
    };
    let outdated: Vec<_> = inventory
        .bindings
        .iter()
        .filter(|binding| {
            !binding.is_unscheduled() && binding.spec.policy_snapshot != policy.meta.name
        })
        .collect();
    if !outdated.is_empty() {
        let problem = bindings_outdated(draft.placement(), &outdated, policy);
        let again = "Wait a few seconds and plan again. If it persists, check the hub agent's log.";
        draft.refuse(RefusalKind::BindingOutdated, problem.look(again));
        return;
    }
    if !policy.is_scheduled() {
        // How many there are follows from that.
        return;
    }
    let object = draft.placement().clone();
    let selected = selected_bindings(inventory).count();
    let removed = inventory
        .bindings
        .iter()
        .any(super::super::kubefleet::binding::Binding::is_unscheduled);
    if selected == 0 && !removed {
        let problem = no_cluster(inventory, &object, Some(policy), Tense::Now);
        draft.refuse(RefusalKind::NoClusterSelected, problem);
        return;
    }
    let selected = i64::try_from(selected).ok();
    let wanted = policy.wanted_clusters().filter(|wanted| *wanted >= 0);
    if wanted.is_some() && wanted != selected {
        let problem = binding_count(inventory, &object, (selected, wanted), Tense::Now);
        draft.refuse(RefusalKind::BindingCountMismatch, problem);
    }
}
