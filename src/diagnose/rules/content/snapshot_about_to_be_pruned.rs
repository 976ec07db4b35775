//! The snapshot that an unfinished run needs is the next to be deleted.

use crate::diagnose::rules::prelude::*;
use crate::problems::snapshot_pruned_next;
use crate::rollout::ClusterState;

/// A placement keeps `revisionHistoryLimit` versions; the oldest is deleted before a new one is made,
/// and runs do not hold the version that they roll out. Source:
/// utils/controller/resource_snapshot_resolver.go:deleteRedundantResourceSnapshots.
pub const RULE: Rule = Rule::warning(
    "FS704",
    "snapshot-about-to-be-pruned",
    RuleSearch::One(check),
)
.reads(&[Concept::ResourceSnapshot, Concept::Placement]);

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let rollout = cx.rollout.as_ref().filter(|rollout| rollout.is_live())?;
    let inventory = cx.inventory;
    let placement = inventory.placement.present()?;
    let indexes = inventory.snapshot_indexes();
    let index = &rollout.run.status.snapshot_index;
    let Ok(own) = index.parse::<u64>() else {
        return None;
    };
    let limit = placement.history_limit();
    // Before a version is made, all but the newest `limit - 1` are deleted; a limit of 1 spares none.
    let kept = indexes.iter().filter(|other| **other >= own).count();
    let spared = i64::try_from(kept).is_ok_and(|kept| kept < limit);
    let needed = rollout
        .updated_clusters()
        .any(|cluster| cluster.state != ClusterState::Done);
    if spared || !needed || !inventory.snapshots.is_complete() {
        return None;
    }
    let snapshot = inventory.snapshot(index)?;
    let run = Some(rollout.run);
    Some(rule.told(snapshot_pruned_next(placement, snapshot, run)))
}
