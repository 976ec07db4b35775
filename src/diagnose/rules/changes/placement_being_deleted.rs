//! The placement is being deleted under a run, or has been.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::run_failure;
use crate::kubefleet::ObjectRef;
use crate::rollout::Rollout;

/// The run's controller never reads the placement's deletionTimestamp: it fails for what is
/// missing first, and policy snapshots go before the placement does.
/// Source: placement/controller.go:handleDelete.
pub const RULE: Rule =
    Rule::warning("FS206", "placement-being-deleted", Search::One(check)).reads(&[
        Concept::Placement,
        Concept::Binding,
        Concept::PolicySnapshot,
    ]);

/// How many of its bindings are shown.
const SHOWN: usize = 2;

fn check(cx: &Context<'_>, rule: &Rule) -> Option<Finding> {
    cx.run()?;
    let placement = cx.placement_object();
    let deleting = cx
        .inventory
        .placement
        .present()
        .and_then(|placement| placement.meta.deleted);
    // Bindings outlive their placement for as long as their content is being removed.
    let leftovers = cx
        .inventory
        .bindings
        .iter()
        .filter(|binding| binding.meta.is_deleting())
        .count();
    // A run that was initialized had its placement.
    let gone = cx.inventory.placement.is_absent()
        && (run_failure::live_run(cx).is_some()
            || (leftovers > 0 && leftovers == cx.inventory.bindings.items.len()));
    if deleting.is_none() && !gone {
        return None;
    }
    let explains = cx.causes().any(is_explained);
    let live = cx.rollout.as_ref().is_some_and(Rollout::is_live);
    if (!explains && !live) || (explains && gone) {
        // That a placement is gone for good is told by what the run says of it.
        return None;
    }
    let what = match (gone, leftovers) {
        (true, 0) => format!("{placement} was deleted"),
        (true, _) => {
            format!("{placement} was deleted, and its bindings are now being deleted")
        }
        (false, _) => format!("{placement} is being deleted"),
    };
    let whether = match cx.verdict {
        Verdict::WaitingForApproval => ", approved or not",
        _ => "",
    };
    let finding = if explains {
        run_failure::finding(
            cx,
            rule,
            &placement,
            format!("{what}, so the run can no longer read what it needs from it."),
        )
    } else {
        rule.finding(
            &placement,
            format!("{what}, so the run has nothing to roll out and will fail{whether}."),
        )
    };
    let finding = evidence(cx, finding, &placement, gone);
    Some(remedies(cx, finding, &placement))
}

fn evidence(cx: &Context<'_>, mut finding: Finding, placement: &ObjectRef, gone: bool) -> Finding {
    if gone {
        finding = finding.absent(placement);
    } else if let Some(placement) = cx.inventory.placement.present() {
        if let Some(deleted) = placement.meta.deleted {
            finding = finding.evidence(placement.object(), "metadata.deletionTimestamp", deleted);
        }
        if !placement.meta.finalizers.is_empty() {
            finding = finding.evidence(
                placement.object(),
                "metadata.finalizers",
                &placement.meta.finalizers,
            );
        }
    }
    let leaving = cx.inventory.bindings.iter();
    for binding in leaving
        .filter(|binding| binding.meta.is_deleting())
        .take(SHOWN)
    {
        let deleted = binding.meta.deleted;
        finding = finding.evidence(binding.object(), "metadata.deletionTimestamp", deleted);
    }
    if cx.inventory.policies.is_known_empty() {
        finding = finding.computed(
            cx.run_object(),
            &["spec.placementName"],
            format!("{placement} has no policy snapshot"),
        );
    }
    finding
}

fn remedies(cx: &Context<'_>, finding: Finding, placement: &ObjectRef) -> Finding {
    let name = &cx.run_object().name;
    let gone = cx.inventory.placement.is_absent();
    let finding = if gone {
        finding.look_with(
            "List what is left of it.",
            cx.of_placement(Concept::Binding),
        )
    } else {
        finding.look_with(
            "Check what delays its deletion.",
            placement.kubectl("get").flag("-o", "yaml"),
        )
    };
    let finding = finding.fix_with(
        "Delete the run, if the deletion was intended: there is nothing to roll out.",
        cx.command("delete").arg(name),
    );
    let finding = finding.fix(if gone {
        "Or create the placement again from its manifest."
    } else {
        "Or wait until the placement is gone, then create it again from its manifest."
    });
    run_failure::new_run(
        cx,
        finding,
        "Then start a new run, once the placement exists again and is scheduled.",
    )
}

/// What is missing first when a placement is deleted under a run.
const fn is_explained(cause: &Cause) -> bool {
    matches!(
        cause,
        Cause::PlacementNotFound
            | Cause::PolicySnapshotNotFound { .. }
            | Cause::PolicyNotScheduled { .. }
            | Cause::NoBindings { .. }
            | Cause::BindingCountMismatch { .. }
            | Cause::BindingMissing { .. }
            | Cause::StageClusterCountChanged { .. }
            | Cause::DeleteClusterNotInStage { .. }
            | Cause::SnapshotNotFound { .. }
            | Cause::NoMasterSnapshot { .. }
    )
}
