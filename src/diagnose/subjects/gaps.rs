//! What could not be judged, and why: silence is never health.

use crate::diagnose::subjects::changes_ahead::changes_ahead;
use crate::diagnose::subjects::context::DiagnosisContext;
use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::diagnose::subjects::member_findings;
use crate::inventory::source::{NOT_COLLECTED, NOT_SERVED};
use crate::kubefleet::messages::Cause;
use crate::kubefleet::{Concept, Kind, reasons};
use crate::report::NotChecked;
use crate::rollout::{Health, Rollout};
use crate::words::distinct;

/// The gaps of a case, sorted.
pub fn not_checked(cx: &DiagnosisContext<'_>) -> Vec<NotChecked> {
    let inventory = cx.inventory;
    let mut gaps = Vec::new();
    for (kind, why) in &inventory.gaps {
        let seen = has_seen(cx, *kind);
        // Objects that a person put into a file are taken as the ones that matter; what is missing
        // among them is said cluster by cluster below.
        if seen && why == NOT_COLLECTED {
            continue;
        }
        // Most hubs have no overrides, and most diagnoses do not need them: they are read for what
        // they add, and missed only where one of them is at fault, or a live run may still use them.
        let adds = matches!(
            kind.concept(),
            Concept::ClusterOverrideSnapshot | Concept::OverrideSnapshot
        );
        let is_live = cx.rollout.as_ref().is_some_and(Rollout::is_live);
        let was_asked_for = why != NOT_COLLECTED && why != NOT_SERVED;
        let is_missed = was_asked_for && (is_live || overrides_matter(cx));
        if adds && !is_missed && !overrides_ahead(cx, *kind) {
            continue;
        }
        // What brings the namespace is asked for beside the placement that was meant.
        let is_beside = inventory.scope.is_beside(*kind);
        if is_beside && why == NOT_COLLECTED && inventory.placement.present().is_some() {
            continue;
        }
        let why = if kind.concept() == Concept::UpdateRun && cx.run().is_some() {
            format!("other runs on the placement: {why}")
        } else {
            why.clone()
        };
        gaps.push(NotChecked::new(kind.name(), why));
    }
    if let Some(rollout) = &cx.rollout
        && let Some(why) = &inventory.bindings.gap
        && !inventory.bindings.items.is_empty()
    {
        let clusters: Vec<_> = rollout
            .clusters()
            .filter(|cluster| matches!(cluster.health, Health::Unseen))
            .map(|cluster| cluster.name.to_owned())
            .collect();
        if !clusters.is_empty() {
            gaps.push(
                NotChecked::new(inventory.scope.kind(Concept::Binding).name(), why.clone())
                    .on(clusters),
            );
        }
    }
    gaps.extend(member_findings::not_checked(cx));
    let ahead = changes_ahead(cx);
    let is_ahead = |it: &&NotChecked| {
        it.clusters
            .iter()
            .any(|it| ahead.told_by_works.contains(it))
    };
    gaps.extend(ahead.not_checked.iter().filter(is_ahead).cloned());
    distinct(gaps)
}

/// Whether an override is at fault: it could not be used when the run was initialized, or on a
/// cluster since.
fn overrides_matter(cx: &DiagnosisContext<'_>) -> bool {
    let refused = |cause: &Cause| {
        matches!(
            cause,
            Cause::OverridePolicyNil | Cause::OverrideSelectorInvalid { .. }
        )
    };
    let failed =
        |failing: &FailingCluster<'_>| failing.trouble.condition.kind == reasons::OVERRIDDEN;
    cx.causes().any(refused) || cx.troubles.iter().any(failed)
}

/// Whether a live run recorded overrides of a kind for clusters that it has still to reach.
fn overrides_ahead(cx: &DiagnosisContext<'_>, kind: Kind) -> bool {
    let live = cx.rollout.iter().filter(|it| it.is_live());
    let ahead = live.flat_map(Rollout::still_to_reach);
    let mut recorded = ahead.flat_map(|it| it.recorded.override_names());
    recorded.any(|it| it.kind == kind)
}

/// Whether at least one object of the kind was seen that belongs to the case.
fn has_seen(cx: &DiagnosisContext<'_>, kind: Kind) -> bool {
    let inventory = cx.inventory;
    match kind.concept() {
        Concept::UpdateRun => inventory.runs.items.len() > 1,
        Concept::Strategy => inventory.strategy.present().is_some(),
        Concept::ApprovalRequest => !inventory.approvals.items.is_empty(),
        Concept::Placement => inventory.placement.present().is_some(),
        Concept::Binding => !inventory.bindings.items.is_empty(),
        Concept::ResourceSnapshot => !inventory.snapshots.items.is_empty(),
        Concept::PolicySnapshot => !inventory.policies.items.is_empty(),
        Concept::MemberCluster => !inventory.members.items.is_empty(),
        Concept::Work => !inventory.works.items.is_empty(),
        Concept::ClusterOverrideSnapshot | Concept::OverrideSnapshot => false,
    }
}
