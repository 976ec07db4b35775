//! The placement has no scheduling policy snapshot that is marked as the latest.

use crate::diagnose::failing;
use crate::diagnose::rules::prelude::*;
use crate::kubefleet::names;

/// Either the placement is too young, or it is being deleted: then its policy snapshots go first.
/// Source: utils/controller/policy_snapshot_resolver.go:LookupLatestPolicySnapshot.
pub const RULE: Rule = Rule::error("FS103", "policy-snapshot-not-found", Check::Cause(check))
    .reads(&[Concept::Placement, Concept::PolicySnapshot])
    .caused_by(&["FS206"]);

fn check(cx: &Context<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    matches!(cause, Cause::PolicySnapshotNotFound { .. }).then(|| missing(cx, rule))
}

fn missing(cx: &Context<'_>, rule: &Rule) -> Finding {
    let object = cx.placement_object();
    let inventory = cx.inventory;
    let lead = format!(
        "{object} had no scheduling policy snapshot marked as the latest {}",
        failing::when(cx)
    );
    let placement = inventory.placement.present();
    let deleted = placement.and_then(|placement| placement.meta.deleted);
    let latest = inventory.latest_policies().next();
    let tail = if deleted.is_some() {
        ", and it is being deleted"
    } else if inventory.placement.is_absent() {
        ", and it no longer exists"
    } else if latest.is_some() {
        ", but it has one now"
    } else if inventory.policies.is_known_empty() {
        ", and it has none at all now"
    } else {
        ""
    };
    let mut finding = failing::finding(cx, rule, &object, format!("{lead}{tail}."));
    if let Some(deleted) = deleted {
        finding = finding
            .evidence(&object, "metadata.deletionTimestamp", deleted.to_string())
            .look(
                "Wait until the placement is gone, create it again, and wait until it is \
                 scheduled, if the deletion was a mistake. Otherwise nothing is left to roll out.",
            );
        return failing::then_new_run(cx, finding);
    }
    if inventory.placement.is_absent() {
        finding = finding.evidence(&object, "metadata.name", "absent").fix(
            "Create the placement again with `spec.strategy.type: External` and wait until it is \
             scheduled.",
        );
        return failing::then_new_run(cx, finding);
    }
    if let Some(latest) = latest {
        finding = finding.evidence(
            latest.object(),
            format!("metadata.labels[{}]", names::IS_LATEST),
            "true",
        );
        return failing::just_new_run(cx, finding);
    }
    for policy in inventory.policies.iter().take(5) {
        finding = finding.evidence(
            policy.object(),
            format!("metadata.labels[{}]", names::IS_LATEST),
            policy
                .meta
                .label(names::IS_LATEST)
                .unwrap_or("absent")
                .to_owned(),
        );
    }
    finding = finding.look_with(
        "Wait until the placement controller has written the snapshot and the placement is \
         scheduled.",
        cx.command("diagnose").arg(object.word()),
    );
    failing::then_new_run(cx, finding)
}
