//! The snapshot that an unfinished run needs is the next to be deleted.

use crate::diagnose::case::Case;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::Concept;
use crate::rollout::Phase;

/// The placement keeps `revisionHistoryLimit` versions and deletes the oldest when it makes a new
/// one; runs do not hold the version that they roll out.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS704",
    name: "snapshot-about-to-be-pruned",
    severity: Severity::Warning,
    reads: &[Concept::ResourceSnapshot, Concept::Placement],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(rollout) = case
        .rollout
        .as_ref()
        .filter(|rollout| !rollout.is_finished() && rollout.phase != Phase::Deleting)
    else {
        return Vec::new();
    };
    let inventory = case.inventory;
    let Some(placement) = inventory.placement.present() else { return Vec::new() };
    let indexes = inventory.snapshot_indexes();
    let index = &rollout.run.status.snapshot_index;
    let (Some(oldest), Ok(own)) = (indexes.first(), index.parse::<u64>()) else { return Vec::new() };
    let limit = placement.history_limit();
    let full = i64::try_from(indexes.len()).is_ok_and(|count| count >= limit);
    // With one version left there is nothing older: a limit of 1 keeps the latest.
    if *oldest != own || !full || indexes.len() < 2 || !inventory.snapshots.is_complete() {
        return Vec::new();
    }
    let Some(snapshot) = inventory.snapshot(index) else { return Vec::new() };
    let object = snapshot.object();
    vec![
        rule.finding(
            &object,
            format!(
                "{} needs snapshot {index}, the oldest of the {limit} that {} keeps: the next change \
                 of the content deletes it, and clusters not yet updated can then never get it.",
                rollout.run.meta.name, inventory.placement_name
            ),
        )
        .evidence(rollout.run.object(), "status.resourceSnapshotIndexUsed", index.clone())
        .evidence(placement.object(), "spec.revisionHistoryLimit", limit.to_string())
        .evidence(
            &object,
            "metadata.labels[kubernetes-fleet.io/resource-index]",
            index.clone(),
        )
        .fix("Raise `spec.revisionHistoryLimit` of the placement before its content changes.", None)
        .look(
            "See the versions that exist.",
            Some(case.command(&format!("snapshots {}", inventory.placement_name))),
        ),
    ]
}
