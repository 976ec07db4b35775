//! The snapshot that an unfinished run needs is the next to be deleted.

use crate::diagnose::rules::prelude::*;
use crate::problems::snapshot_pruned_next;
use crate::rollout::ClusterState;
use crate::rollout::versions::versions;

/// A placement keeps `revisionHistoryLimit` versions. Once it has them, a new one deletes another, not
/// always the oldest, and runs do not hold the version that they roll out. Source:
/// utils/controller/resource_snapshot_resolver.go:deleteRedundantResourceSnapshots.
pub const RULE: Rule = Rule::warning("FS704", "snapshot-about-to-be-pruned", One(check))
    .reads(&[Concept::ResourceSnapshot, Concept::Placement]);

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let rollout = cx.rollout.as_ref().filter(|rollout| rollout.is_live())?;
    let inventory = cx.inventory;
    let placement = inventory.placement.present()?;
    let index = &rollout.run.status.snapshot_index;
    let needed = rollout
        .updated_clusters()
        .any(|cluster| cluster.state != ClusterState::Done);
    if !needed || !inventory.snapshots.is_complete() {
        return None;
    }
    let all = versions(inventory);
    let mut existing = all.iter().filter(|version| version.exists());
    let is_oldest = existing.next().is_some_and(|it| it.index == *index);
    let own = all.iter().find(|version| version.index == *index)?;
    if own.survives != Some(0) {
        return None;
    }
    let snapshot = inventory.snapshot(index)?;
    let run = Some(rollout.run);
    let finding = rule.told(snapshot_pruned_next(placement, snapshot, run));
    Some(if is_oldest {
        finding
    } else {
        finding.severity(Severity::Info)
    })
}
