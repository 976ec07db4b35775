//! An override that was written for the placement changes nothing there.

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::names;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::problems::steps::see_override;
use crate::rollout::overrides::{IdleOverride, idle, origin, selected, selectors};
use crate::rollout::versions::versions;

/// Overrides without a placement are for all of them, and silent where they select nothing. One
/// that names the placement is meant to change something there.
/// Source: utils/overrider/overrider.go:FetchAllMatchingOverridesForResourceSnapshot,
/// PickFromResourceMatchedOverridesForTargetCluster.
pub const RULE: Rule = Rule::warning("FS708", "override-matches-nothing", Search::Whole(check))
    .reads(&[
        Concept::ClusterOverrideSnapshot,
        Concept::OverrideSnapshot,
        Concept::ResourceSnapshot,
        Concept::MemberCluster,
    ]);

fn check(cx: &Context<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(rollout) = &cx.rollout else {
        return Vec::new();
    };
    let inventory = cx.inventory;
    let index = rollout.run.status.snapshot_index.as_str();
    let all = versions(inventory);
    let version = all
        .iter()
        .find(|version| version.index == index && version.is_complete());
    let resources: Option<Vec<_>> = version.map(|version| {
        let parts = version.parts.iter();
        parts.flat_map(|part| &part.spec.resources).collect()
    });
    let clusters: Option<Vec<&MemberCluster>> = rollout
        .updated_clusters()
        .map(|cluster| inventory.member(cluster.name))
        .collect();
    let placement = cx.placement_object();
    let overrides = inventory.overrides.iter();
    overrides
        .filter_map(|snapshot| {
            let idle = idle(
                snapshot,
                &placement,
                resources.as_deref(),
                clusters.as_deref(),
            )?;
            let kind = snapshot.object().kind;
            let (namespace, name) = (&snapshot.meta.namespace, origin(snapshot));
            let subject = Subject::new(kind.origin_kind(), namespace, name);
            let finding = match idle {
                IdleOverride::NoObject(near) => {
                    let finding =
                        no_object(rule, subject, snapshot, (&placement.name, index), near);
                    match version.and_then(|version| version.parts.first()) {
                        Some(part) => finding.evidence(
                            part.object(),
                            format!("metadata.labels[{}]", names::RESOURCE_INDEX),
                            index,
                        ),
                        None => finding,
                    }
                }
                IdleOverride::NoCluster => {
                    no_cluster(cx, rule, subject, snapshot, clusters.as_deref()?)
                }
            };
            let see = Some(see_override(snapshot));
            Some(finding.look_with("Inspect the override.", see).fix_with(
                "Correct the override, then start a new run: a run takes overrides only when it is \
                 initialized.",
                cx.new_run_command(),
            ))
        })
        .collect()
}

fn no_object(
    rule: &Rule,
    subject: Subject,
    snapshot: &OverrideSnapshot,
    (placement, index): (&str, &str),
    near: Option<String>,
) -> Finding {
    let selected = selected(snapshot);
    let near = near.map_or_else(String::new, |near| format!(" The snapshot has {near}."));
    let message = format!(
        "{subject} applies to {placement} but selects no object of snapshot {index}: it selects {}.{near}",
        enumerate(&selected)
    );
    let field = if snapshot.meta.namespace.is_empty() {
        "clusterResourceSelectors"
    } else {
        "resourceSelectors"
    };
    let mut finding = rule.finding(subject, message);
    for (at, selector) in selectors(snapshot).iter().enumerate().take(4) {
        finding = finding.evidence(
            snapshot.object(),
            format!("spec.overrideSpec.{field}[{at}].name"),
            &selector.name,
        );
    }
    finding
}

fn no_cluster(
    cx: &Context<'_>,
    rule: &Rule,
    subject: Subject,
    snapshot: &OverrideSnapshot,
    clusters: &[&MemberCluster],
) -> Finding {
    let names = clusters.iter().map(|member| member.meta.name.as_str());
    let message = format!(
        "{subject} applies to {} but its rules match no cluster of the run: {}.",
        cx.inventory.placement_name,
        enumerate(names.clone())
    );
    let wanted: Vec<String> = snapshot
        .cluster_labels()
        .map(crate::kubefleet::selector::LabelSelector::describe)
        .collect();
    let rules = "spec.overrideSpec.policy.overrideRules";
    let (path, wanted) = if wanted.is_empty() {
        (rules.to_owned(), "no cluster selector".to_owned())
    } else {
        (format!("{rules}[].clusterSelector"), wanted.join("; "))
    };
    let mut finding = rule
        .finding(subject, message)
        .severity(Severity::Info)
        .clusters(names)
        .computed(snapshot.object(), &[&path], wanted);
    for member in clusters.iter().take(6) {
        finding = finding.evidence(member.object(), "metadata.labels", &member.meta.labels);
    }
    finding
}
