//! The placement has no scheduling policy snapshot that is marked as the latest.

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::names;
use crate::problems::{Problem, not_latest, selectors_refused_now};

/// Either the placement is too young, or it is being deleted: then its policy snapshots go first.
/// Source: utils/controller/policy_snapshot_resolver.go:LookupLatestPolicySnapshot.
pub const RULE: Rule = Rule::refusal("FS103", "policy-snapshot-not-found", check)
    .reads(&[Concept::Placement, Concept::PolicySnapshot])
    .caused_by(&["FS206", "FS119"])
    .environment();

fn check(cx: &DiagnosisContext<'_>, cause: &Cause) -> Option<(Problem, bool)> {
    let Cause::PolicySnapshotNotFound = cause else {
        return None;
    };

    let object = cx.placement_object();
    let inventory = cx.inventory;
    let placement = inventory.placement.present();
    let deleted = placement.and_then(|placement| placement.meta.deleted);
    let latest = inventory.latest_policies().next();
    let gone = deleted.is_some() || inventory.placement.is_absent();
    let since = if deleted.is_some() {
        ", and it is being deleted"
    } else if gone {
        ", and it no longer exists"
    } else if latest.is_some() {
        ", but it has one now"
    } else if inventory.policies.is_known_empty() {
        ", and it has none at all now"
    } else {
        ""
    };
    let mut problem = not_latest(inventory, &object, cx.past(since));
    if gone || latest.is_some() {
        problem.evidence.clear();
        problem.remedies.clear();
    }
    problem = match (deleted, latest) {
        (Some(_), _) => problem
            .evidence(&object, "metadata.deletionTimestamp", deleted)
            .look(
                "Wait until the placement is gone, create it again, and wait until it is scheduled, \
                 if the deletion was a mistake. Otherwise nothing is left to roll out.",
            ),
        (None, _) if gone => problem.absent(&object).fix(
            "Create the placement again with `spec.strategy.type: External` and wait until it is \
             scheduled.",
        ),
        (None, Some(latest)) => {
            let path = format!("metadata.labels[{}]", names::IS_LATEST);
            problem.evidence(latest.object(), path, "true")
        }
        (None, None) if selectors_refused_now(inventory).is_some() => {
            problem.remedies.clear();
            problem.look("Resolve FS119 first: no snapshot is made before.")
        }
        (None, None) => problem,
    };
    Some((problem, !gone && latest.is_some()))
}
