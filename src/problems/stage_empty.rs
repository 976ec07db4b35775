//! A stage has no clusters.

use super::prelude::*;
use super::steps::show_labels;
use super::{StageMap, near_misses};
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::strategy::Stage;
use crate::rollout::AgentVersion;
use crate::rollout::placing::takes;
use crate::words::by_number;

/// A stage without clusters.
pub struct EmptyStage<'s> {
    pub name: &'s str,
    /// The types of its tasks.
    pub tasks: Vec<&'s str>,
    /// Where its selector stands; `None` where that is not known.
    pub spec: Option<(&'s StageMap<'s>, &'s Stage)>,
}

/// A stage without clusters runs none of its tasks either: nobody is asked, nothing is waited for.
/// Up to KubeFleet 0.3.1 its tasks were run. `members` are those that it might have been meant for.
/// Source: updaterun/execution.go:execute.
pub fn stage_empty(
    inventory: &Inventory,
    object: &ObjectRef,
    stage: &EmptyStage<'_>,
    members: &[&MemberCluster],
    tense: RefusalTense<'_>,
) -> Problem {
    let EmptyStage { name, tasks, spec } = stage;
    let own: Vec<_> = spec.iter().map(|(_, stage)| *stage).collect();
    let all = enumerate(tasks);
    let (kind, they) = by_number(tasks.len(), ("task", "it runs"), ("tasks", "they run"));
    let until = format!("; up to KubeFleet 0.3.1 {they} anyway");
    let skipped = format!(" and {} skipped", tense.is());
    let tail = match (tense, AgentVersion::of_hub(inventory)) {
        _ if tasks.is_empty() => skipped,
        (RefusalTense::Now, None) => format!("{skipped} with its {kind} ({all}){until}"),
        (RefusalTense::Now, Some(version)) if version < AgentVersion::Next => {
            let run = by_number(tasks.len(), "runs", "run");
            format!(", but its {kind} ({all}) {run} all the same")
        }
        _ => format!("{skipped} with its {kind} ({all})"),
    };
    let unselected = unselected(inventory, *spec, members);
    let (near, shown) = match unselected.len() {
        0 => {
            let near = members
                .iter()
                .filter(|member| !near_misses([**member], &own).is_empty())
                .map(|member| member.meta.name.as_str());
            (near_misses(members.iter().copied(), &own), near.collect())
        }
        several => {
            let (fits, them) = by_number(several, ("fits", "it"), ("fit", "them"));
            let names = enumerate(&unselected);
            let near = format!("; {names} {fits}, but the placement has not selected {them}");
            (near, unselected.clone())
        }
    };
    let message = format!("Stage {name} {} no clusters{tail}{near}.", tense.has());
    let mut problem = Problem::new(object, message).stage(*name);
    if let Some((map, stage)) = spec {
        problem = map.evidence(problem, shown, [*stage]);
    }
    if !unselected.is_empty() {
        let placement = &inventory.placement_name;
        let action = "Check why the placement selects others, if clusters should be in the stage.";
        return problem.look_with(action, inventory.scope.fleet("clusters").arg(placement));
    }
    if own.iter().any(|stage| stage.selector.is_none()) {
        return problem.fix(
            "Give the stage a `labelSelector`, if clusters should be in it: a stage without one takes \
             no cluster, and `labelSelector: {}` takes all.",
        );
    }
    let step = "Compare the labels of the clusters with its selector, if clusters should be in it.";
    problem.look_with(step, show_labels())
}

/// The clusters that a stage would take, if the placement selected them.
fn unselected<'i>(
    inventory: &'i Inventory,
    spec: Option<(&StageMap<'_>, &Stage)>,
    members: &[&MemberCluster],
) -> Vec<&'i str> {
    let Some((_, stage)) = spec else {
        return Vec::new();
    };
    // Of what the scheduler picked later, the run does not know.
    let is_picked = |name: &str| {
        inventory
            .binding(name)
            .is_some_and(|it| !it.is_unscheduled())
    };
    let is_selected = |name: &str| members.iter().any(|it| it.meta.name == name) || is_picked(name);
    let all = inventory.members.iter();
    let fitting = all.filter(|member| takes(stage, member) == Some(true));
    let names = fitting.map(|member| member.meta.name.as_str());
    names.filter(|name| !is_selected(name)).collect()
}
