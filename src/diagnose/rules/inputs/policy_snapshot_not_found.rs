//! The placement has no scheduling policy snapshot that is marked as the latest.

use crate::diagnose::case::Case;
use crate::diagnose::failing;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::messages::Cause;
use crate::kubefleet::{Concept, names};

/// Either the placement is too young, or it is being deleted: then its policy snapshots go first.
/// Source: utils/controller/policy_snapshot_resolver.go:LookupLatestPolicySnapshot.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS103",
    name: "policy-snapshot-not-found",
    severity: Severity::Error,
    reads: &[Concept::Placement, Concept::PolicySnapshot],
    caused_by: &["FS206"],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    case.causes()
        .filter(|cause| matches!(cause, Cause::PolicySnapshotNotFound { .. }))
        .map(|_| missing(case, rule))
        .collect()
}

fn missing(case: &Case<'_>, rule: &Rule) -> Finding {
    let object = case.placement_object();
    let inventory = case.inventory;
    let lead = format!(
        "{object} had no scheduling policy snapshot marked as the latest {}",
        failing::when(case)
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
    let mut finding = failing::finding(case, rule, &object, format!("{lead}{tail}."));
    if let Some(deleted) = deleted {
        finding = finding
            .evidence(&object, "metadata.deletionTimestamp", deleted.to_string())
            .look(
                "Wait until the placement is gone, create it again, and wait until it is \
                 scheduled, if the deletion was a mistake. Otherwise nothing is left to roll out.",
                None,
            );
        return failing::then_new_run(case, finding);
    }
    if inventory.placement.is_absent() {
        finding = finding.evidence(&object, "metadata.name", "absent").fix(
            "Create the placement again with `spec.strategy.type: External` and wait until it is \
             scheduled.",
            None,
        );
        return failing::then_new_run(case, finding);
    }
    if let Some(latest) = latest {
        finding = finding.evidence(
            latest.object(),
            format!("metadata.labels[{}]", names::IS_LATEST),
            "true",
        );
        return failing::just_new_run(case, finding);
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
    finding = finding.look(
        "Wait until the placement controller has written the snapshot and the placement is \
         scheduled.",
        Some(case.command("diagnose").arg(object.word())),
    );
    failing::then_new_run(case, finding)
}
