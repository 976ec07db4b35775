//! The policy snapshot that decides which clusters a run has.

use super::RefusalKind;
use super::draft::Draft;
use crate::kubefleet::Concept;
use crate::kubefleet::snapshot::PolicySnapshot;
use crate::problems::{
    Tense, not_latest, not_scheduled, several_latest, without_count, without_index,
};

/// The latest policy snapshot, where there is exactly one.
/// Source: updaterun/initialization.go:determinePolicySnapshot.
pub(super) fn check<'i>(draft: &mut Draft<'i>) -> Option<&'i PolicySnapshot> {
    let inventory = draft.inventory;
    if !Draft::knows(&inventory.policies) {
        return None;
    }
    let placement = draft.placement().clone();
    let latest: Vec<_> = inventory.latest_policies().collect();
    let policy = match latest.as_slice() {
        [] => {
            none(draft);
            return None;
        }
        [one] => *one,
        several => {
            let problem = several_latest(inventory, &placement, Some(several.len()), Tense::Now);
            draft.refuse(RefusalKind::PolicySnapshotsSeveral, problem);
            return None;
        }
    };
    let object = policy.object();
    if policy.index().is_none_or(str::is_empty) {
        let problem = without_index(&object, Some(policy), Tense::Now);
        draft.refuse(RefusalKind::PolicySnapshotWithoutIndex, problem);
    }
    let counted =
        policy.policy_type() != "PickN" || policy.wanted_clusters().is_some_and(|it| it >= 0);
    if !counted {
        let problem = without_count(inventory, &object, Some(policy), Tense::Now);
        draft.refuse(RefusalKind::PolicySnapshotWithoutCount, problem);
    }
    if !policy.is_scheduled() {
        let problem = not_scheduled(inventory, &placement, Some(policy), Tense::Now);
        draft.refuse(RefusalKind::PlacementNotScheduled, problem);
    }
    Some(policy)
}

fn none(draft: &mut Draft<'_>) {
    let inventory = draft.inventory;
    if !inventory.policies.is_complete() {
        let kind = inventory.scope.kind(Concept::PolicySnapshot);
        let why = "none of those that were read is the latest";
        draft.undecided(kind.name(), why, Vec::new());
        return;
    }
    let placement = inventory.placement.present();
    // That a placement is being deleted is told already, and is the cause.
    if !placement.is_some_and(|placement| placement.meta.is_deleting()) {
        let problem = not_latest(inventory, draft.placement(), Tense::Now);
        draft.refuse(RefusalKind::PolicySnapshotNotFound, problem);
    }
}
