//! The policy snapshot that decides which clusters a run has.

use super::draft::Draft;
use super::{Refusal, RefusalKind};
use crate::kubefleet::snapshot::PolicySnapshot;
use crate::kubefleet::{Concept, Conditions, names, reasons};
use crate::problems::scheduling;
use crate::problems::steps::wait_until_scheduled;
use crate::report::Build;
use crate::words::enumerate;

/// The latest policy snapshot, where there is exactly one.
/// Source: updaterun/initialization.go:determinePolicySnapshot.
pub(super) fn check<'i>(draft: &mut Draft<'i>) -> Option<&'i PolicySnapshot> {
    let inventory = draft.inventory;
    if !Draft::knows(&inventory.policies) {
        return None;
    }
    let latest: Vec<_> = inventory.latest_policies().collect();
    let policy = match latest.as_slice() {
        [] => {
            none(draft);
            return None;
        }
        [one] => *one,
        several => {
            let refusal = several_policies(draft, several);
            draft.refusals.push(refusal);
            return None;
        }
    };
    let object = policy.object();
    if policy.index().is_none_or(str::is_empty) {
        let index = object
            .name
            .rsplit_once('-')
            .map_or("INDEX", |(_, index)| index);
        let refusal = Refusal::new(
            RefusalKind::PolicySnapshotWithoutIndex,
            &object,
            format!("{object} has no index label."),
        )
        .evidence(
            &object,
            format!("metadata.labels[{}]", names::POLICY_INDEX),
            "absent",
        )
        .fix_with(
            "Restore the label that the placement controller sets.",
            object
                .kubectl("label")
                .arg(format!("{}={index}", names::POLICY_INDEX))
                .switch("--overwrite"),
        );
        draft.refusals.push(refusal);
    }
    let counted =
        policy.policy_type() != "PickN" || policy.wanted_clusters().is_some_and(|it| it >= 0);
    if !counted {
        let wanted = inventory
            .placement
            .present()
            .and_then(|placement| placement.spec.policy.as_deref()?.count)
            .map_or_else(|| "COUNT".to_owned(), |count| count.to_string());
        let value = policy.meta.annotation(names::NUMBER_OF_CLUSTERS);
        let refusal = Refusal::new(
            RefusalKind::PolicySnapshotWithoutCount,
            &object,
            format!("{object} does not say how many clusters to select."),
        )
        .evidence(
            &object,
            format!("metadata.annotations[{}]", names::NUMBER_OF_CLUSTERS),
            value.unwrap_or("absent"),
        )
        .fix_with(
            "Restore the annotation that the placement controller sets.",
            object
                .kubectl("annotate")
                .arg(format!("{}={wanted}", names::NUMBER_OF_CLUSTERS))
                .switch("--overwrite"),
        );
        draft.refusals.push(refusal);
    }
    if !policy.is_scheduled() {
        let refusal = not_scheduled(draft, policy);
        draft.refusals.push(refusal);
    }
    Some(policy)
}

fn none(draft: &mut Draft<'_>) {
    let kind = draft.inventory.scope.kind(Concept::PolicySnapshot);
    if !draft.inventory.policies.is_complete() {
        draft.undecided(
            kind.name(),
            "none of those that were read is the latest",
            Vec::new(),
        );
        return;
    }
    let deleting = draft
        .inventory
        .placement
        .present()
        .is_some_and(|placement| placement.meta.is_deleting());
    if deleting {
        // That is told already, and is the cause.
        return;
    }
    let object = draft.placement().clone();
    let refusal = Refusal::new(
        RefusalKind::PolicySnapshotNotFound,
        &object,
        format!("{object} has no scheduling policy snapshot yet, so its clusters are unknown."),
    )
    .evidence(&object, kind.plural(), "none is the latest")
    .look_with(
        "Wait until the placement is scheduled.",
        wait_until_scheduled(draft.placement()),
    );
    draft.refusals.push(refusal);
}

fn several_policies(draft: &Draft<'_>, latest: &[&PolicySnapshot]) -> Refusal {
    let object = draft.placement();
    let mut sorted = latest.to_vec();
    sorted.sort_by_key(|policy| {
        let number = policy.index().and_then(|index| index.parse::<u64>().ok());
        (number.unwrap_or(0), policy.meta.name.as_str())
    });
    let all = enumerate(sorted.iter().map(|policy| policy.meta.name.as_str()));
    let mut refusal = Refusal::new(
        RefusalKind::PolicySnapshotsSeveral,
        object,
        format!(
            "{} scheduling policy snapshots of {object} are marked as the latest: {all}.",
            latest.len()
        ),
    );
    for policy in sorted.iter().take(6) {
        let path = format!("metadata.labels[{}]", names::IS_LATEST);
        refusal = refusal.evidence(policy.object(), path, "true");
    }
    // The newest stays.
    sorted.pop();
    for policy in sorted {
        refusal = refusal.fix_with(
            "Remove the label from the older one. No controller fixes this.",
            policy
                .object()
                .kubectl("label")
                .arg(format!("{}=false", names::IS_LATEST))
                .switch("--overwrite"),
        );
    }
    refusal
}

fn not_scheduled(draft: &Draft<'_>, policy: &PolicySnapshot) -> Refusal {
    let object = draft.placement();
    let snapshot = policy.object();
    let groups = scheduling::not_picked(policy, draft.inventory);
    let tail = match (policy.wanted_clusters(), scheduling::explain(&groups)) {
        (_, None) => String::new(),
        (None, Some(reasons)) => format!(" ({reasons})"),
        (Some(wanted), Some(reasons)) => {
            let picked = policy.status.decisions.iter().filter(|it| it.selected);
            format!(
                ": {} of {wanted} clusters are picked ({reasons})",
                picked.count()
            )
        }
    };
    let mut refusal = Refusal::new(
        RefusalKind::PlacementNotScheduled,
        object,
        format!("{object} is not fully scheduled{tail}, and a run does not wait for that."),
    )
    .clusters(groups.into_values().flatten());
    refusal = match policy.status.conditions.condition(reasons::SCHEDULED) {
        None => refusal.evidence(&snapshot, "status.conditions[type=Scheduled]", "absent"),
        Some(condition) if condition.observes(policy.meta.generation) => {
            refusal.condition(&snapshot, condition)
        }
        Some(condition) => refusal.condition(&snapshot, condition).evidence(
            &snapshot,
            "status.conditions[type=Scheduled].observedGeneration",
            format!(
                "{} while metadata.generation is {}",
                condition.observed_generation.unwrap_or(0),
                policy.meta.generation.unwrap_or(0)
            ),
        ),
    };
    refusal
        .fix(
            "Make enough clusters match the policy: fix the labels, taints, or agents of the \
             clusters that were not picked, join more clusters, or require fewer.",
        )
        .look_with(
            "Wait until the placement is scheduled.",
            wait_until_scheduled(draft.placement()),
        )
}
