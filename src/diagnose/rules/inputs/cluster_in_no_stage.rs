//! The placement selects clusters that no stage of the strategy takes.

use std::collections::BTreeSet;

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::membership::{recorded_stage, relabel, undo};
use crate::problems::{Problem, StageMap, no_stage};
use crate::rollout::Rollout;
use crate::rollout::sent::joined_since;

/// The controller prints ten names at most. A stage without a selector takes no cluster.
/// Source: updaterun/initialization.go:computeRunStageStatus.
pub const RULE: Rule = Rule::refusal("FS113", "cluster-in-no-stage", check)
    .reads(&[Concept::Strategy, Concept::MemberCluster, Concept::Binding])
    .caused_by(&["FS518"])
    .person();

fn check(cx: &DiagnosisContext<'_>, cause: &Cause) -> Option<(Problem, bool)> {
    let Cause::ClustersInNoStage { total, shown } = cause else {
        return None;
    };

    let recorded = StageMap::recorded(cx.inventory);
    let shown: BTreeSet<&str> = shown.iter().map(String::as_str).collect();
    let computed = recorded.iter().flat_map(|map| map.nowhere());
    let computed: BTreeSet<&str> = computed.map(|placed| placed.name).collect();
    let number = total
        .and_then(|total| usize::try_from(total).ok())
        .unwrap_or(shown.len())
        .max(shown.len());
    // The same as the controller computed, names beyond the tenth included?
    let same = shown.is_subset(&computed) && (computed.len() == number || total.is_none());
    let number = if same { computed.len() } else { number };
    let fixed = StageMap::now(cx.inventory).is_some_and(|now| now.is_sound());
    let left = shown.iter().filter(|it| cx.inventory.member_is_absent(it));
    let left: Vec<_> = left.copied().collect();
    // What was in no stage was another MemberCluster.
    let ended = cx.rollout.as_ref().and_then(Rollout::ended);
    let back = |it: &&&str| ended.and_then(|ended| joined_since(cx.inventory, it, ended));
    let back: Vec<_> = shown.iter().filter(|it| back(it).is_some()).collect();
    let is_gone = !shown.is_empty() && left.len() + back.len() == shown.len();
    let since = match (&recorded, left.as_slice()) {
        _ if is_gone && left.is_empty() => {
            format!(
                "; {} left the fleet and joined again since",
                enumerate(back)
            )
        }
        // A cluster without labels is in no stage.
        (_, [one]) => format!("; {one} has left the fleet"),
        (_, [_, ..]) => format!("; {} have left the fleet", enumerate(&left)),
        _ if fixed => "; now every cluster is in one stage".to_owned(),
        (Some(map), _) if same => map.near_misses(),
        // Without the placement there are no clusters to place.
        (Some(map), _) if map.complete && !cx.inventory.placement.is_absent() => {
            match computed.len() {
                0 => "; with the current labels, each is in a stage".to_owned(),
                _ => format!("; with the current labels: {}", enumerate(&computed)),
            }
        }
        _ => String::new(),
    };
    let clusters: Vec<_> = if same { computed } else { shown }.into_iter().collect();
    let strategy = cx.strategy_object();
    let past = cx.past(&since);
    let mut problem = no_stage(recorded.as_ref(), &strategy, &clusters, number, past);
    if is_gone && !fixed {
        // Nobody can label it.
        problem.remedies.clear();
        if !left.is_empty() {
            problem =
                problem.look("Wait until the placement no longer selects what has left the fleet.");
        }
    }
    if cx.failure.is_none() && left.is_empty() {
        problem = under_a_run(cx, problem, &clusters);
    }
    let problem = if cx.inventory.placement.is_absent() {
        problem
    } else {
        problem.look_with("Check the stage of every cluster then.", cx.plan_command())
    };
    Some((problem, fixed))
}

/// What a run that has begun knows of the clusters: that they came since, or the stage from which a label
/// has moved them.
fn under_a_run(cx: &DiagnosisContext<'_>, mut problem: Problem, clusters: &[&str]) -> Problem {
    let stages = distinct(clusters.iter().filter_map(|it| recorded_stage(cx, it)));
    let (it, them) = by_number(clusters.len(), ("it", "it"), ("they", "them"));
    let known = match stages.as_slice() {
        [] => format!("{it} joined the placement after the run's start"),
        [stage] => format!("the run has {them} in stage {stage}"),
        stages => format!("the run has {them} in stages {}", enumerate(stages)),
    };
    problem.message = format!("{}; {known}", problem.message.trim_end_matches('.'));
    if stages.is_empty() {
        return problem;
    }
    let label = relabel(cx, &clusters.iter().copied().collect());
    undo(cx, problem, label)
}
