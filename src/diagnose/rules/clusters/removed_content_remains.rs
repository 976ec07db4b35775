//! The run removed the placement from a cluster, and a Work of it is still there.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::leftover::PlacementLeftover;
use crate::kubefleet::duration;
use crate::rollout::{ClusterState, Rollout, STUCK_AFTER};

/// A binding goes as soon as its Works are asked to go, so that a run counts a cluster as done
/// while the content is still there. Source: workgenerator/controller.go:listAllWorksAssociated.
pub const RULE: Rule = Rule::warning("FS527", "removed-content-remains", Run(check))
    .reads(&[Concept::Work, Concept::MemberCluster])
    .environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, rollout: &Rollout<'_>) -> Vec<Finding> {
    rollout
        .removals()
        .filter(|cluster| cluster.state == ClusterState::Done && cluster.binding.is_none())
        .filter_map(|cluster| finding_on(cx, rule, cluster.name, cluster.stage))
        .collect()
}

fn finding_on<'i>(
    cx: &DiagnosisContext<'i>,
    rule: &Rule,
    cluster: &'i str,
    stage: &str,
) -> Option<Finding> {
    let left = PlacementLeftover::of(cx, cluster)?;
    let late = left.lasting > STUCK_AFTER;
    let message = format!(
        "{} reports {cluster} as removed, but {} still being deleted after {}: {}.",
        cx.run_object().name,
        left.subject(),
        duration::describe(left.lasting),
        left.why()
    );
    let finding = rule
        .finding(left.first().object(), message)
        .severity(Severity::warning_if(late))
        .stage(stage)
        .clusters([cluster]);
    Some(left.steps(left.shown(finding)))
}
