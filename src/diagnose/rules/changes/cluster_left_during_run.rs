//! A cluster left the fleet, or the placement left the cluster, under a run.

use std::collections::BTreeMap;

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::membership::{ClusterFate, fate, is_recorded, recorded_stage};
use crate::diagnose::subjects::run_failure;
use crate::kubefleet::binding::Binding;
use crate::problems::steps;
use crate::rollout::{ClusterView, Rollout};

/// A binding that became Unscheduled after the run was initialized belongs into a deletion stage
/// that was computed without it. Source: updaterun/validation.go:validateDeleteStageStatus,
/// execution.go:executeDeleteStage, stop.go:stopDeleteStage.
pub const RULE: Rule = Rule::error("FS205", "cluster-left-during-run", Whole(check))
    .reads(&[Concept::Binding, Concept::MemberCluster])
    .caused_by(&["FS202", "FS203", "FS206", "FS518"])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let mut left: BTreeMap<&str, Option<ClusterFate>> = BTreeMap::new();
    // The positions of the stages that the run's text is about, `None` meaning any.
    let mut places: Vec<Option<u64>> = Vec::new();
    for cause in cx.causes() {
        match cause {
            Cause::DeleteClusterNotInStage { cluster } => {
                left.insert(cluster, fate(cx.inventory, cluster));
            }
            Cause::StageClusterCountChanged { stage_index, .. }
            | Cause::StageClusterChanged { stage_index, .. } => places.push(*stage_index),
            Cause::BindingCountMismatch { .. } | Cause::BindingMissing { .. } => places.push(None),
            _ => {}
        }
    }
    let membership = !places.is_empty();
    let failed = !left.is_empty() || membership;
    if !failed && run_failure::live_run(cx).is_none() {
        return Vec::new();
    }
    // It fails before it comes to that, and so would the next.
    let failure = cx.outlook.failure();
    if !failed && failure.is_some_and(|it| it.code == "FS105") {
        return Vec::new();
    }
    // Before it began, a run has no clusters that could leave it.
    if membership || !failed {
        let stages = cx.rollout.iter().flat_map(|it| it.stages.iter().zip(0..));
        let stages = stages.filter(|(stage, at)| {
            let is_meant = |place: &Option<u64>| place.is_none_or(|place| place == *at);
            !stage.deletes && (!failed || places.iter().any(is_meant))
        });
        for cluster in stages.flat_map(|(stage, _)| &stage.clusters) {
            if cx
                .rollout
                .as_ref()
                .is_some_and(|it| left_later(it, cluster))
            {
                continue;
            }
            // While the run is alive only the scheduler's word counts: it ends the run.
            let unscheduled = cluster.binding.is_some_and(Binding::is_unscheduled);
            if let Some(fate) = fate(cx.inventory, cluster.name)
                && (failed || unscheduled)
            {
                left.insert(cluster.name, Some(fate));
            }
        }
    }
    // One that the placement picked and dropped again since has to be in the deletion stage, too.
    if !failed && failure.is_some_and(|it| it.code == RULE.code) {
        let bindings = cx.inventory.bindings.iter();
        let strangers = bindings.filter(|it| it.is_unscheduled() && !is_recorded(cx, it));
        left.extend(strangers.map(|it| {
            let cluster = it.spec.cluster.as_str();
            (cluster, Some(ClusterFate::Unscheduled))
        }));
    }
    left.into_iter()
        .map(|(cluster, fate)| finding(cx, rule, cluster, fate.as_ref(), failed))
        .collect()
}

/// Whether a cluster began to leave only after the run had failed.
fn left_later(rollout: &Rollout<'_>, cluster: &ClusterView<'_>) -> bool {
    let deleted = cluster.member.and_then(|member| member.meta.deleted);
    deleted
        .zip(rollout.ended())
        .is_some_and(|(deleted, ended)| deleted > ended)
}

fn finding(
    cx: &DiagnosisContext<'_>,
    rule: &Rule,
    cluster: &str,
    fate: Option<&ClusterFate>,
    failed: bool,
) -> Finding {
    let stage = recorded_stage(cx, cluster);
    let what = match fate {
        Some(ClusterFate::Gone) => "MemberCluster no longer exists",
        Some(ClusterFate::Leaving) => "MemberCluster is leaving the fleet",
        Some(ClusterFate::Unscheduled) => "binding is Unscheduled",
        None => "binding was Unscheduled when the run was checked",
    };
    let place = stage.map_or_else(String::new, |stage| format!(" of stage {stage}"));
    let subject = Subject::member(cluster);
    let mut finding = if failed {
        run_failure::finding(
            cx,
            rule,
            subject,
            match stage {
                Some(stage) => format!(
                    "{cluster} of stage {stage} left during the run: its {what}. The run failed \
                     because a cluster left."
                ),
                None => format!(
                    "The placement must be removed from {cluster}, which is not in the run's \
                     deletion stage: its {what}."
                ),
            },
        )
    } else {
        let will_fail = run_failure::will_fail(cx);
        rule.finding(
            subject,
            if stage.is_some() {
                format!("{cluster}{place} is part of the run but its {what}, {will_fail}.")
            } else {
                format!(
                    "The placement must be removed from {cluster}, which is not in the run's deletion \
                     stage, {will_fail}."
                )
            },
        )
        .severity(Severity::Warning)
    };
    finding = finding.clusters([cluster]);
    finding.stage = stage.map(str::to_owned);
    if let Some(member) = cx.inventory.member(cluster) {
        let object = member.object();
        finding = finding.deleted(&object, member.meta.deleted);
    } else if cx.inventory.member_is_absent(cluster) {
        finding = finding.absent(Subject::member(cluster));
    }
    if let Some(binding) = cx.inventory.binding(cluster) {
        finding = finding.evidence(binding.object(), "spec.state", &binding.spec.state);
    }
    finding = if cx.inventory.member_is_absent(cluster) {
        let action = format!("List the clusters of the fleet: {cluster} is missing.");
        finding.look_with(action, steps::member_clusters())
    } else {
        finding.look_with(
            format!(
                "Check why {cluster} left: it may be deleted, tainted, or relabeled, or the \
                 placement's policy no longer picks it."
            ),
            steps::member_clusters().arg(cluster).flag("-o", "yaml"),
        )
    };
    let step = "Start a new run: its deletion stage removes the placement from the clusters that left. One \
                that left the fleet keeps its content.";
    finding.next_run(cx, step)
}
