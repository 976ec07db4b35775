//! A stage has no clusters.

use super::steps::show_labels;
use super::{Problem, RefusalTense, StageMap, near_misses};
use crate::inventory::Inventory;
use crate::kubefleet::ObjectRef;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::strategy::Stage;
use crate::report::ComposeText;
use crate::words::enumerate;

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
    let tail = match tasks.len() {
        0 => String::new(),
        several => {
            let they = if several == 1 { "it runs" } else { "they run" };
            let until = format!("; up to KubeFleet 0.3.1 {they} anyway");
            format!(
                " with its {} ({}){}",
                if several == 1 { "task" } else { "tasks" },
                enumerate(tasks),
                tense.pick(&until, "")
            )
        }
    };
    let unselected = unselected(inventory, &own, members);
    let near = match unselected.len() {
        0 => near_misses(members.iter().copied(), &own),
        several => {
            let (fits, them) = if several == 1 {
                ("fits", "it")
            } else {
                ("fit", "them")
            };
            let names = enumerate(&unselected);
            format!("; {names} {fits}, but the placement has not selected {them}")
        }
    };
    let message = format!(
        "Stage {name} {} no clusters and {} skipped{tail}{near}.",
        tense.has(),
        tense.is(),
    );
    let mut problem = Problem::new(object, message).stage(*name);
    if let (Some((map, stage)), false) = (spec, unselected.is_empty()) {
        let problem = map.evidence(problem, unselected.iter().copied(), [*stage]);
        let placement = &inventory.placement_name;
        return problem.look_with(
            "Check why the placement selects others, if clusters should be in the stage.",
            inventory.scope.fleet("clusters").arg(placement),
        );
    }
    if let Some((map, stage)) = spec {
        let near = members
            .iter()
            .filter(|member| !near_misses([**member], &own).is_empty())
            .map(|member| member.meta.name.as_str());
        problem = map.evidence(problem, near, [*stage]);
    }
    if own.iter().any(|stage| stage.selector.is_none()) {
        return problem.fix(
            "Give the stage a `labelSelector`, if clusters should be in it: a stage without one takes \
             no cluster, and `labelSelector: {}` takes all.",
        );
    }
    problem.look_with(
        "Compare the labels of the clusters with its selector, if clusters should be in it.",
        show_labels(),
    )
}

/// The clusters that a stage would take, if the placement selected them.
fn unselected<'i>(
    inventory: &'i Inventory,
    own: &[&Stage],
    members: &[&MemberCluster],
) -> Vec<&'i str> {
    let selectors = own.iter().filter_map(|stage| stage.selector.as_ref());
    let selectors: Vec<_> = selectors.collect();
    let fits = |member: &&MemberCluster| {
        let labels = &member.meta.labels;
        !selectors.is_empty() && selectors.iter().all(|it| it.matches(labels) == Some(true))
    };
    let is_selected = |name: &str| members.iter().any(|it| it.meta.name == name);
    let fitting = inventory.members.iter().filter(fits);
    let names = fitting.map(|it| it.meta.name.as_str());
    names.filter(|name| !is_selected(name)).collect()
}
