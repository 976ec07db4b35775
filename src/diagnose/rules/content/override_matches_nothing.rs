//! An override that was written for the placement changes nothing there.

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::member::MemberCluster;
use crate::problems::override_matches_nothing;
use crate::rollout::overrides::{IdleOverride, idle};
use crate::rollout::versions::versions;
use crate::rollout::{AgentVersion, Rollout};

/// Overrides without a placement are for all of them, and silent where they select nothing. One
/// that names the placement is meant to change something there.
/// Source: utils/overrider/overrider.go:FetchAllMatchingOverridesForResourceSnapshot,
/// PickFromResourceMatchedOverridesForTargetCluster.
pub const RULE: Rule = Rule::warning("FS708", "override-matches-nothing", Run(check)).reads(&[
    Concept::ClusterOverrideSnapshot,
    Concept::OverrideSnapshot,
    Concept::ResourceSnapshot,
    Concept::MemberCluster,
]);

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, rollout: &Rollout<'_>) -> Vec<Finding> {
    let inventory = cx.inventory;
    let index = rollout.run.status.snapshot_index.as_str();
    let all = versions(inventory);
    let version = all
        .iter()
        .find(|version| version.index == index && version.is_complete());
    let resources: Option<Vec<_>> = version.map(|version| version.objects().collect());
    let clusters: Option<Vec<&MemberCluster>> = rollout
        .updated_clusters()
        .map(|cluster| inventory.member(cluster.name))
        .collect();
    let placement = cx.placement_object();
    let overrides = inventory.overrides.iter();
    let version_of_hub = AgentVersion::of_hub(inventory);
    overrides
        .filter_map(|snapshot| {
            let idle = idle(
                snapshot,
                &placement,
                (resources.as_deref(), version_of_hub),
                clusters.as_deref(),
            )?;
            let no_cluster = matches!(idle, IdleOverride::NoCluster);
            let clusters = clusters.as_deref().unwrap_or_default();
            let problem = override_matches_nothing(snapshot, &placement, idle, index, clusters);
            let mut finding = rule.told(problem);
            if no_cluster {
                finding = finding.severity(Severity::Info);
            } else if let Some(part) = version.and_then(|version| version.parts.first()) {
                finding = finding.index_of(part);
            }
            Some(finding.fix_with(
                "Correct the override, then start a new run: a run takes overrides only when it is \
                 initialized.",
                cx.new_run_command(),
            ))
        })
        .collect()
}
