//! Two stages select the same cluster.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::membership::undo;
use crate::problems::{Problem, StageMap, two_stages, was_in_two_stages};

/// The controller names the first such cluster only. A stage with an empty selector takes every
/// cluster. Source: updaterun/initialization.go:computeRunStageStatus.
pub const RULE: Rule = Rule::refusal("FS111", "cluster-in-two-stages", check)
    .reads(&[Concept::Strategy, Concept::MemberCluster, Concept::Binding])
    .person();

fn check(cx: &DiagnosisContext<'_>, cause: &Cause) -> Option<(Problem, bool)> {
    let Cause::ClusterInSeveralStages { cluster } = cause else {
        return None;
    };

    let recorded = StageMap::recorded(cx.inventory);
    let fixed = StageMap::now(cx.inventory).is_some_and(|now| now.is_sound());
    let stages = recorded.as_ref().and_then(|map| {
        let placed = map.cluster(cluster).filter(|it| !it.is_unclear)?;
        Some(placed.stages.len())
    });
    let since = match stages {
        Some(0) => ", but with its current labels it is in none",
        Some(1) => ", but with its current labels it is in one",
        Some(_) if fixed => "; with the current strategy each is in one",
        _ => "",
    };
    let problem = match recorded.as_ref().filter(|_| stages > Some(1)) {
        Some(map) => two_stages(map, cx.past(since)),
        // The labels have changed since, or cannot be read.
        None => was_in_two_stages(recorded.as_ref(), cluster, cx.past(since)),
    };
    // What a run that has begun recorded is sound, so that somebody has changed a label since.
    let problem = match cx.failure {
        Some(_) => problem,
        None => undo(cx, problem, None),
    };
    let problem = problem.look_with("Check the stage of every cluster then.", cx.plan_command());
    Some((problem, fixed))
}
