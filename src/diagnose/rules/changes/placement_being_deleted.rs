//! The placement is being deleted under a run, or has been.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::context::is_target_going;
use crate::diagnose::subjects::run_failure;
use crate::problems::placement_deleted;
use crate::rollout::Rollout;

/// The run's controller never reads the placement's deletionTimestamp: it fails for what is
/// missing first, and policy snapshots go before the placement does.
/// Source: placement/controller.go:handleDelete.
pub const RULE: Rule = Rule::warning("FS206", "placement-being-deleted", One(check))
    .reads(&[
        Concept::Placement,
        Concept::Binding,
        Concept::PolicySnapshot,
    ])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    cx.run()?;
    let placement = cx.placement_object();
    let deleting = cx
        .inventory
        .placement
        .present()
        .and_then(|placement| placement.meta.deleted);
    // Bindings outlive their placement for as long as their content is being removed.
    let bindings = cx.inventory.bindings.iter();
    let leftovers = bindings
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
    let is_asked = is_target_going(cx.inventory);
    if (!explains && !live && !is_asked) || (explains && gone) {
        // That a placement is gone for good is told by what the run says of it.
        return None;
    }
    let problem = |so: &str| placement_deleted(cx.inventory, &placement, so);
    let finding = if explains {
        let so = "so the run can no longer read what it needs from it";
        run_failure::finding_without_run(cx, rule, problem(so))
    } else if !live {
        return Some(rule.told(problem("and its content goes from its clusters")));
    } else {
        let whether = match cx.verdict {
            Verdict::WaitingForApproval => ", approved or not",
            _ => "",
        };
        let so = format!("so the run has nothing to roll out and will fail{whether}");
        rule.told(problem(&so))
    };
    // A run that is over changes nothing any more.
    let finding = if live {
        let action = "Delete the run, if the deletion was intended: there is nothing to roll out.";
        finding.fix_with(action, cx.command("delete").arg(&cx.run_object().name))
    } else {
        finding
    };
    let finding = finding.fix(if cx.inventory.placement.is_absent() {
        "Or create the placement again from its manifest, if it should exist."
    } else {
        "Or wait until the placement is gone, then create it again from its manifest."
    });
    let step = "Then start a new run, once the placement exists again and is scheduled.";
    Some(finding.next_run(cx, step))
}

/// What is missing first when a placement is deleted under a run.
const fn is_explained(cause: &Cause) -> bool {
    matches!(
        cause,
        Cause::PlacementNotFound
            | Cause::PolicySnapshotNotFound
            | Cause::PolicyNotScheduled { .. }
            | Cause::NoBindings { .. }
            | Cause::BindingCountMismatch { .. }
            | Cause::BindingMissing { .. }
            | Cause::StageClusterCountChanged { .. }
            | Cause::DeleteClusterNotInStage { .. }
            | Cause::SnapshotNotFound { .. }
            | Cause::NoMasterSnapshot
    )
}
