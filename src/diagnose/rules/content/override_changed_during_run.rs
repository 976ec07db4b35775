//! An override was changed after a run had recorded its snapshot.

use std::collections::BTreeMap;

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::overrides::compared;
use crate::kubefleet::{ObjectRef, names, reasons};
use crate::rollout::ClusterState;
use crate::rollout::overrides::successor;

/// A run records the override snapshots of each cluster when it is initialized, and brings those.
/// Source: updaterun/initialization.go:recordOverrideSnapshots.
pub const RULE: Rule = Rule::warning(
    "FS710",
    "override-changed-during-run",
    RuleSearch::Whole(check),
)
.reads(&[Concept::ClusterOverrideSnapshot, Concept::OverrideSnapshot]);

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(rollout) = &cx.rollout else {
        return Vec::new();
    };
    let is_over = cx.verdict == Verdict::Succeeded;
    if !is_over && !rollout.is_live() {
        return Vec::new();
    }
    let run = rollout.run;
    // What cannot be applied says itself that it was changed.
    let fails = |name: &str| {
        let mut troubles = cx.troubles.iter();
        troubles.any(|it| it.cluster == name && it.trouble.condition.kind == reasons::OVERRIDDEN)
    };
    let gets_it = |name: &str| {
        let mut clusters = rollout.updated_clusters();
        !fails(name)
            && clusters.any(|it| it.name == name && (is_over || it.state != ClusterState::Done))
    };
    let latest = &cx.inventory.overrides.items;
    let mut changed: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    for cluster in run.status.stages.iter().flat_map(|stage| &stage.clusters) {
        for kept in cluster.override_names() {
            let is_there = !cx.inventory.gone_overrides.contains(&kept)
                && successor(latest, &kept.namespace, &kept.name).is_some();
            if is_there && gets_it(&cluster.name) {
                changed.entry(kept).or_default().push(&cluster.name);
            }
        }
    }
    let finding = |(kept, clusters): (_, Vec<&str>)| {
        let kept: ObjectRef = kept;
        let now = successor(latest, &kept.namespace, &kept.name)?;
        // What was changed after the run is for the next one.
        if is_over && now.meta.created? > rollout.ended()? {
            return None;
        }
        let verb = match (is_over, clusters.len()) {
            (false, 1) => "gets",
            (false, _) => "get",
            (true, 1) => "has",
            (true, _) => "have",
        };
        let finding = rule
            .finding(
                now.object(),
                format!(
                    "The override {} was changed after {} recorded it: {} {verb} {}, not {}.",
                    names::override_of(&kept.name),
                    run.meta.name,
                    enumerate(&clusters),
                    kept.name,
                    now.meta.name
                ),
            )
            .clusters(clusters);
        Some(compared(finding, now, &kept.name).fix_with(
            "Start a new run, if the clusters should get the override as it is now.",
            cx.new_run_command(),
        ))
    };
    changed.into_iter().filter_map(finding).collect()
}
