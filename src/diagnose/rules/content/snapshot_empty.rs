//! A run rolls out a snapshot that has no objects.

use crate::diagnose::rules::prelude::*;
use crate::problems::snapshot_empty;
use crate::rollout::{ClusterState, ClusterView, Phase};

/// Whoever deletes on the hub what a placement selects gets a snapshot without objects from the next
/// run, and KubeFleet succeeds with it. Source:
/// utils/controller/resource_snapshot_resolver.go:ResolveResourceSnapshot.
pub const RULE: Rule = Rule::warning("FS709", "snapshot-empty", RuleSearch::One(check))
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
    let clusters = || rollout.updated_clusters();
    let has_it = |cluster: &ClusterView<'_>| {
        let has = cluster.binding.and_then(|binding| binding.snapshot_index());
        has == Some(index.as_str())
    };
    let to_lose: Vec<_> = clusters()
        .filter(|it| it.state == ClusterState::NotReached && !has_it(it))
        .filter(|it| it.binding.is_some_and(|it| !it.spec.snapshot.is_empty()))
        .map(|it| it.name)
        .collect();
    // What a run has brought may have been replaced since.
    if !rollout.is_live() && !clusters().any(has_it) {
        return None;
    }
    Some(rule.told(snapshot_empty(placement, snapshot, &to_lose)))
}
