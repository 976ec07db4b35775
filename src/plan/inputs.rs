//! What the controller looks at first: the placement, its policy and its bindings.

use super::draft::Draft;
use super::{Refusal, RefusalKind};
use crate::inventory::Sight;
use crate::kubefleet::placement::Placement;
use crate::kubefleet::snapshot::PolicySnapshot;
use crate::kubefleet::{Concept, Conditions, ObjectRef, names, reasons};
use crate::problems::scheduling;
use crate::problems::steps::{make_external, of_placement, show_labels};
use crate::report::Build;
use crate::rollout::placing::selected_bindings;
use crate::words::{closest, count, enumerate};

/// The placement itself. Returns whether it makes sense to look at what belongs to it.
/// Source: updaterun/initialization.go:validatePlacement.
pub(super) fn placement(draft: &mut Draft<'_>) -> bool {
    let object = draft.placement().clone();
    let placement = match &draft.inventory.placement {
        Sight::Present(placement) => placement,
        Sight::Unknown(_) => return true,
        Sight::Absent => {
            let refusal = absent(draft);
            draft.refusals.push(refusal);
            return false;
        }
    };
    if let Some(deleted) = placement.meta.deleted {
        // Its policy snapshots go first, and a run finds none of them.
        let refusal = Refusal::new(
            RefusalKind::PlacementBeingDeleted,
            &object,
            format!("{object} is being deleted, so there is nothing left to roll out."),
        )
        .evidence(&object, "metadata.deletionTimestamp", deleted.to_string())
        .fix(
            "If the deletion was a mistake, wait until it finishes and create the placement again.",
        );
        draft.refusals.push(refusal);
    }
    if !placement.is_external() {
        let now = placement.rollout_type();
        let refusal = Refusal::new(
            RefusalKind::PlacementNotExternal,
            &object,
            format!(
                "{object} rolls out changes by itself (strategy {now}), so KubeFleet refuses update \
                 runs."
            ),
        )
        .evidence(&object, "spec.strategy.type", now)
        .fix_with("Set the strategy to External, so that update runs roll it out. This cannot be \
             reverted.", make_external(&object));
        draft.refusals.push(refusal);
    }
    true
}

/// A placement that is not there: perhaps it is elsewhere, or has another name.
fn absent(draft: &Draft<'_>) -> Refusal {
    let object = draft.placement();
    let listed = &draft.inventory.placements;
    let elsewhere: Vec<&Placement> = listed
        .iter()
        .filter(|found| found.meta.name == object.name && found.object() != *object)
        .collect();
    let here = listed
        .iter()
        .filter(|found| found.meta.namespace == object.namespace)
        .map(|found| found.meta.name.as_str());
    let similar = closest(&object.name, here);
    let tail = if !elsewhere.is_empty() {
        let names = enumerate(elsewhere.iter().map(|found| found.object().to_string()));
        format!("; {names} has that name, but a run uses only placements in its own scope")
    } else if let Some(similar) = similar {
        format!("; the closest name is {similar}")
    } else {
        String::new()
    };
    let mut refusal = Refusal::new(
        RefusalKind::PlacementNotFound,
        object,
        format!("{object} does not exist{tail}."),
    )
    .evidence(object, "metadata.name", "absent");
    let strategy = draft.strategy_object().name;
    let mut meant = |there: &ObjectRef| {
        let plan = there.scope().fleet("plan");
        refusal = refusal.clone().look_with(
            format!("If you mean {there}, plan for it."),
            plan.flag("--placement", &there.name)
                .flag("--strategy", &strategy),
        );
    };
    for found in elsewhere.iter().take(3) {
        meant(&found.object());
    }
    if let (true, Some(similar)) = (elsewhere.is_empty(), similar) {
        meant(&draft.inventory.scope.object(Concept::Placement, similar));
    }
    refusal.fix(
        "Create the placement with `spec.strategy.type: External` and wait until it is scheduled.",
    )
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
        let clusters: Vec<_> = outdated.iter().map(|it| it.spec.cluster.as_str()).collect();
        let verb = if outdated.len() == 1 {
            "follows"
        } else {
            "follow"
        };
        let mut refusal = Refusal::new(
            RefusalKind::BindingOutdated,
            draft.placement(),
            format!(
                "{} of {} still {verb} an older policy snapshot than {} ({}); the controller \
                 retries until the scheduler updates them.",
                count(outdated.len(), "binding"),
                draft.placement(),
                policy.meta.name,
                enumerate(&clusters)
            ),
        )
        .clusters(clusters);
        for binding in outdated.iter().take(6) {
            refusal = refusal.evidence(
                binding.object(),
                "spec.schedulingPolicySnapshotName",
                binding.spec.policy_snapshot.clone(),
            );
        }
        let again = "Wait a few seconds and plan again. If it persists, check the hub agent's log.";
        draft.refusals.push(refusal.look(again));
        return;
    }
    if !policy.is_scheduled() {
        // How many there are follows from that.
        return;
    }
    let selected = selected_bindings(inventory).count();
    let removed = inventory
        .bindings
        .iter()
        .any(crate::kubefleet::binding::Binding::is_unscheduled);
    if selected == 0 && !removed {
        let refusal = nothing(draft, policy);
        draft.refusals.push(refusal);
        return;
    }
    let wanted = policy.wanted_clusters().filter(|wanted| *wanted >= 0);
    if wanted.is_some_and(|wanted| usize::try_from(wanted) != Ok(selected)) {
        let refusal = mismatch(draft, policy, selected);
        draft.refusals.push(refusal);
    }
}

fn nothing(draft: &Draft<'_>, policy: &PolicySnapshot) -> Refusal {
    let object = draft.placement();
    let groups = scheduling::not_picked(policy, draft.inventory);
    let tail = if let Some(reasons) = scheduling::explain(&groups) {
        format!(" ({reasons})")
    } else if draft.inventory.members.is_known_empty() {
        ", and the fleet has no member cluster".to_owned()
    } else {
        String::new()
    };
    let mut refusal = Refusal::new(
        RefusalKind::NoClusterSelected,
        object,
        format!("{object} selects no cluster{tail}."),
    )
    .clusters(groups.into_values().flatten());
    if let Some(condition) = policy.status.conditions.condition(reasons::SCHEDULED) {
        refusal = refusal.condition(&policy.object(), condition);
    }
    refusal.fix_with(
        "Make the placement's policy select clusters: fix its affinity or tolerations, or the \
         labels, taints, or agents of the member clusters.",
        show_labels(),
    )
}

fn mismatch(draft: &Draft<'_>, policy: &PolicySnapshot, selected: usize) -> Refusal {
    let object = draft.placement();
    let wanted = policy.wanted_clusters().unwrap_or_default();
    let (path, value) = match policy.spec.policy.as_deref() {
        Some(spec) if spec.kind == "PickFixed" => (
            "spec.policy.clusterNames".to_owned(),
            spec.clusters.join(", "),
        ),
        _ => (
            format!("metadata.annotations[{}]", names::NUMBER_OF_CLUSTERS),
            wanted.to_string(),
        ),
    };
    let bindings = draft.inventory.scope.kind(Concept::Binding);
    let short = usize::try_from(wanted).is_ok_and(|wanted| selected < wanted);
    let refusal = Refusal::new(
        RefusalKind::BindingCountMismatch,
        object,
        format!(
            "{object} has {}, but its policy requires {wanted}.",
            count(selected, "selected binding")
        ),
    )
    .evidence(policy.object(), path, value)
    .evidence(object, bindings.plural(), selected.to_string());
    let for_good = short.then(|| scheduling::left_out_for_good(policy, draft.inventory));
    if let Some(step) = for_good.and_then(|for_good| scheduling::not_by_waiting(&for_good)) {
        return refusal.fix_with(step, show_labels());
    }
    refusal.look_with(
        "List the existing bindings, and wait until the scheduler creates the missing ones or \
         removes the extra ones.",
        of_placement(object, Concept::Binding),
    )
}
