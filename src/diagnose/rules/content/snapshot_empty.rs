//! A run rolls out a snapshot that has no objects.

use crate::diagnose::rules::prelude::*;
use crate::problems::snapshot_empty;
use crate::rollout::content::emptied;
use crate::rollout::{ClusterView, Phase};

/// Whoever deletes on the hub what a placement selects gets a snapshot without objects from the next
/// run, and KubeFleet succeeds with it. Source:
/// utils/controller/resource_snapshot_resolver.go:ResolveResourceSnapshot.
pub const RULE: Rule = Rule::warning("FS709", "snapshot-empty", One(check))
    .reads(&[Concept::ResourceSnapshot, Concept::Placement])
    .content();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let rollout = cx.rollout.as_ref()?;
    if !rollout.is_live() && rollout.phase != Phase::Succeeded {
        return None;
    }
    let placement = cx.inventory.placement.present()?;
    let index = &rollout.run.status.snapshot_index;
    let snapshot = cx.inventory.snapshot(index).filter(|it| it.is_empty())?;
    // What a run has brought may have been replaced since.
    let brought = |cluster: &ClusterView<'_>| {
        let has = cluster.binding.and_then(|binding| binding.snapshot_index());
        has == Some(index.as_str())
    };
    if !rollout.is_live() && !rollout.updated_clusters().any(brought) {
        return None;
    }
    let to_lose = emptied(rollout);
    Some(rule.told(snapshot_empty(placement, snapshot, &to_lose)))
}
