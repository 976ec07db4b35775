//! The stages of the strategy, and the clusters in them.

use super::draft::Draft;
use super::{
    ClusterChange, PlannedCluster, PlannedStage, PlannedTask, RefusalKind, Warning, WarningKind,
    strategy,
};
use crate::kubefleet::binding::Binding;
use crate::kubefleet::selector::LabelSelector;
use crate::kubefleet::strategy::{Stage, Strategy, Task};
use crate::kubefleet::{Kind, names};
use crate::problems::{
    EmptyStage, SortingLabel, StageMap, Tense, no_stage, sorting_label, stage_empty, two_stages,
    unsorted,
};
use crate::rollout::placing::{Placed, Placing, sorting_number};
use crate::rollout::rollout_started;

/// What the strategy makes of the clusters.
#[derive(Debug, Default)]
pub(super) struct Computed {
    pub stages: Vec<PlannedStage>,
    pub removed: Vec<PlannedCluster>,
    pub unplaced: Vec<PlannedCluster>,
}

/// Computes the stages. Source: updaterun/initialization.go:generateStagesByStrategy,
/// computeRunStageStatus.
pub(super) fn compute(draft: &mut Draft<'_>, then: Option<&str>, placed: bool) -> Computed {
    let inventory = draft.inventory;
    let mut computed = Computed::default();
    if placed {
        let removed = inventory.bindings.iter().filter(|it| it.is_unscheduled());
        computed.removed = removed.map(leaving).collect();
        computed.removed.sort_by(|a, b| a.name.cmp(&b.name));
    }
    let Some(strategy) = strategy::check(draft) else {
        return computed;
    };
    if !placed {
        computed.stages = stages(draft, strategy, None, then);
        return computed;
    }
    let placing = StageMap::of(inventory, draft.strategy_object(), &strategy.spec);
    refusals(draft, &placing);
    unclear(draft, &placing);
    computed.stages = stages(draft, strategy, Some(&placing), then);
    // Who is in no stage as far as can be seen may be in this one.
    if !placing.clusters.is_empty() && placing.unclear().next().is_none() {
        empty(draft, &placing, &computed.stages);
    }
    let lost = placing
        .clusters
        .iter()
        .filter(|cluster| cluster.stages.as_ref().is_none_or(Vec::is_empty));
    computed.unplaced = lost
        .map(|cluster| PlannedCluster {
            snapshot_then: None,
            change: ClusterChange::Unknown,
            ..planned(draft, cluster, None)
        })
        .collect();
    computed
}

fn refusals(draft: &mut Draft<'_>, map: &StageMap<'_>) {
    if map.twice().next().is_some() {
        draft.refuse(RefusalKind::ClusterInTwoStages, two_stages(map, Tense::Now));
    }
    let strategy = &map.strategy_object;
    for stage in &map.strategy.stages {
        let key = stage.sorting_label.as_str();
        let members: Vec<_> = map
            .in_order(stage)
            .into_iter()
            .filter_map(|placed| placed.member)
            .filter(|member| unsorted(member, key))
            .collect();
        let Some(first) = members.first() else {
            continue;
        };
        let label = SortingLabel {
            key,
            strategy,
            stage: Some(stage),
            first: (&first.meta.name, first.meta.label(key)),
            members,
        };
        let problem = sorting_label(draft.inventory, &label, Tense::Now);
        draft.refuse(RefusalKind::SortingLabelInvalid, problem);
    }
    let nowhere: Vec<_> = map.nowhere().map(|placed| placed.name).collect();
    if !nowhere.is_empty() {
        let problem = no_stage(Some(map), strategy, &nowhere, nowhere.len(), Tense::Now);
        draft.refuse(RefusalKind::ClusterInNoStage, problem);
    }
}

/// Clusters of which nobody can say in which stage they are. A selector that is not valid, and
/// members that could not be read at all, are told already.
fn unclear(draft: &mut Draft<'_>, placing: &Placing<'_>) {
    let invalid = draft
        .refusals
        .iter()
        .any(|refusal| refusal.kind == RefusalKind::StageSelectorInvalid);
    let unseen: Vec<_> = placing
        .unclear()
        .filter(|placed| placed.member.is_none())
        .map(|placed| placed.name.to_owned())
        .collect();
    if invalid || unseen.is_empty() {
        return;
    }
    let kind = Kind::MemberCluster.name();
    if draft.not_checked.iter().any(|gap| gap.what == kind) {
        draft.undecided = true;
        return;
    }
    let why = draft.inventory.members.gap.clone().unwrap_or_default();
    draft.undecided(kind, why, unseen);
}

fn empty(draft: &mut Draft<'_>, map: &StageMap<'_>, stages: &[PlannedStage]) {
    let object = draft.strategy_object();
    let placed = map.clusters.iter();
    let members: Vec<_> = placed.filter_map(|placed| placed.member).collect();
    for (planned, stage) in stages.iter().zip(&map.strategy.stages) {
        if !planned.clusters.is_empty() {
            continue;
        }
        let tasks = planned.before.iter().chain(&planned.after);
        let empty = EmptyStage {
            name: &planned.name,
            tasks: tasks.map(|task| task.kind.as_str()).collect(),
            spec: Some((map, stage)),
        };
        let problem = stage_empty(&object, &empty, &members, Tense::Now);
        let warning = Warning::of(WarningKind::StageEmpty, problem);
        draft.warnings.push(warning);
    }
}

fn stages(
    draft: &Draft<'_>,
    strategy: &Strategy,
    placing: Option<&Placing<'_>>,
    then: Option<&str>,
) -> Vec<PlannedStage> {
    let stage = |stage: &Stage| {
        let placed = placing.map_or_else(Vec::new, |placing| placing.in_order(stage));
        let concurrency = stage.concurrency(placed.len());
        let clusters = placed
            .into_iter()
            .enumerate()
            .map(|(at, placed)| PlannedCluster {
                turn: concurrency
                    .map(|at_once| at.checked_div(at_once).unwrap_or(at).saturating_add(1)),
                order: placed
                    .member
                    .filter(|_| !stage.sorting_label.is_empty())
                    .and_then(|member| sorting_number(member, &stage.sorting_label)),
                ..planned(draft, placed, then)
            })
            .collect();
        let tasks = |tasks: &[Task], when: &str| {
            let task = |task: &Task| planned_task(draft, task, when, &stage.name);
            tasks.iter().map(task).collect()
        };
        PlannedStage {
            name: stage.name.clone(),
            selector: stage.selector.as_deref().map(LabelSelector::describe),
            ordered_by: (!stage.sorting_label.is_empty()).then(|| stage.sorting_label.clone()),
            max_concurrency: match stage.max_concurrency.trim() {
                "" => "1".to_owned(),
                value => value.to_owned(),
            },
            concurrency,
            before: tasks(&stage.before, "before"),
            clusters,
            after: tasks(&stage.after, "after"),
        }
    };
    strategy.spec.stages.iter().map(stage).collect()
}

fn planned_task(draft: &Draft<'_>, task: &Task, when: &str, stage: &str) -> PlannedTask {
    let run = draft.wish.run.as_deref().unwrap_or("RUN");
    let approval = task.kind == "Approval";
    PlannedTask {
        kind: task.kind.clone(),
        wait: (!approval && !task.wait.is_empty()).then(|| task.wait.clone()),
        approval_request: approval.then(|| names::approval_request(run, when, stage)),
    }
}

/// A cluster, what it has and what it would get.
fn planned(draft: &Draft<'_>, placed: &Placed<'_>, then: Option<&str>) -> PlannedCluster {
    let binding = draft.inventory.binding(placed.name);
    let now = binding.and_then(Binding::snapshot_index);
    PlannedCluster {
        name: placed.name.to_owned(),
        turn: None,
        order: None,
        snapshot_now: now.map(str::to_owned),
        written_by: binding.and_then(|binding| rollout_started(binding).run),
        snapshot_then: then.map(str::to_owned),
        change: change(now, then),
    }
}

fn leaving(binding: &Binding) -> PlannedCluster {
    PlannedCluster {
        name: binding.spec.cluster.clone(),
        turn: None,
        order: None,
        snapshot_now: binding.snapshot_index().map(str::to_owned),
        written_by: rollout_started(binding).run,
        snapshot_then: None,
        change: ClusterChange::Delete,
    }
}

fn change(now: Option<&str>, then: Option<&str>) -> ClusterChange {
    let Some(then) = then else {
        return ClusterChange::Unknown;
    };
    let Some(now) = now else {
        return ClusterChange::New;
    };
    match (now.parse::<u64>(), then.parse::<u64>()) {
        (Ok(now), Ok(then)) if now < then => ClusterChange::Forward,
        (Ok(now), Ok(then)) if now > then => ClusterChange::Back,
        (Ok(_), Ok(_)) => ClusterChange::Unchanged,
        _ => ClusterChange::Unknown,
    }
}
