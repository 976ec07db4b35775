//! The stages of the strategy, and the clusters in them.

use std::collections::BTreeSet;

use super::draft::PlanDraft;
use super::{ClusterChange, Plan, PlannedCluster, PlannedStage, WarningKind};
use crate::controller::{self, ClusterTimes, State};
use crate::inventory::Inventory;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::run::{StageStatus, UpdateRun};
use crate::kubefleet::strategy::Stage;
use crate::problems::{EmptyStage, RefusalTense, StageMap, stage_empty};
use crate::rollout::placing::sorting_number;
use crate::rollout::sent::{awaited_since, sent_index};
use crate::rollout::{StageDefinition, StageEnd, binding_trouble, is_written, rollout_started};

/// What the strategy makes of the clusters.
#[derive(Debug, Default)]
pub(super) struct ComputedStages {
    pub stages: Vec<PlannedStage>,
    pub removed: Vec<PlannedCluster>,
    pub unplaced: Vec<PlannedCluster>,
}

impl ComputedStages {
    pub fn updated(&self) -> impl Iterator<Item = &PlannedCluster> + Clone {
        self.stages.iter().flat_map(|stage| &stage.clusters)
    }
}

/// The stages as the controller computes them.
pub(super) fn compute(
    draft: &mut PlanDraft<'_>,
    planned: &State,
    map: Option<&StageMap<'_>>,
    then: Option<&str>,
) -> ComputedStages {
    let inventory = draft.inventory;
    let status = &planned.run.status;
    let leaving = status.deletion_stage.iter().flat_map(|it| &it.clusters);
    let removed = leaving.filter_map(|it| {
        let mut bindings = inventory.bindings_of(&it.name);
        let binding = bindings.find(|it| it.is_unscheduled())?;
        Some(PlannedCluster {
            change: ClusterChange::Delete,
            ..cluster(inventory, &it.name, Some(binding))
        })
    });
    let removed = removed.collect();
    let specs = draft.strategy.map_or(&[][..], |it| &it.spec.stages);
    let stages = specs.iter().zip(&status.stages);
    let stages: Vec<_> = stages
        .map(|(spec, it)| stage(draft, spec, (&planned.run, it), then))
        .collect();
    let Some(map) = map else {
        return ComputedStages {
            stages,
            removed,
            unplaced: Vec::new(),
        };
    };
    // Who is in no stage as far as can be seen may be in this one.
    if !map.clusters.is_empty() && map.unclear().next().is_none() {
        empty(draft, map, &stages);
    }
    let lost = map.clusters.iter();
    let lost = lost.filter(|placed| placed.stages.is_empty());
    let unplaced = lost.map(|it| cluster(inventory, it.name, inventory.binding(it.name)));
    ComputedStages {
        unplaced: unplaced.collect(),
        stages,
        removed,
    }
}

fn empty(draft: &mut PlanDraft<'_>, map: &StageMap<'_>, stages: &[PlannedStage]) {
    let object = draft.strategy_object();
    let placed = map.clusters.iter();
    let members: Vec<_> = placed.filter_map(|placed| placed.member).collect();
    for (planned, stage) in stages.iter().zip(&map.strategy.stages) {
        if !planned.clusters.is_empty() {
            continue;
        }
        let tasks = planned.definition.gates.iter();
        let empty = EmptyStage {
            name: &planned.definition.name,
            tasks: tasks.map(|task| task.kind.as_str()).collect(),
            spec: Some((map, stage)),
        };
        let problem = stage_empty(
            draft.inventory,
            &object,
            &empty,
            &members,
            RefusalTense::Now,
        );
        draft.warn(WarningKind::StageEmpty, problem);
    }
}

fn stage(
    draft: &PlanDraft<'_>,
    spec: &Stage,
    (run, status): (&UpdateRun, &StageStatus),
    then: Option<&str>,
) -> PlannedStage {
    let concurrency = spec.concurrency(status.clusters.len());
    let turn = |at: usize| {
        concurrency.map(|at_once| at.checked_div(at_once).unwrap_or(at).saturating_add(1))
    };
    // Without the placement, how it applies is unknown.
    let is_read = draft.inventory.placement.present().is_some();
    let key = Some(&spec.sorting_label).filter(|key| !key.is_empty());
    let clusters = status.clusters.iter().enumerate();
    let clusters = clusters.map(|(at, it)| {
        let binding = draft.inventory.binding(&it.name);
        let planned = cluster(draft.inventory, &it.name, binding);
        let change = change(planned.snapshot.as_deref(), then);
        let is_written = binding.is_none_or(|binding| is_written(binding, run, it));
        PlannedCluster {
            turn: turn(at),
            order: key.and_then(|key| sorting_number(draft.inventory.member(&it.name)?, key)),
            new_snapshot: then.map(str::to_owned),
            change,
            rewritten: is_read && change == ClusterChange::Unchanged && !is_written,
            ..planned
        }
    });
    let mut definition = StageDefinition::new(spec);
    let tasks = status.before.iter().chain(&status.after);
    for (gate, task) in definition.gates.iter_mut().zip(tasks) {
        let request = || task.approval_request.clone();
        gate.request = task.is_approval().then(request);
    }
    PlannedStage {
        definition,
        concurrency,
        clusters: clusters.collect(),
        ends: None,
    }
}

/// What else keeps a cluster from being done than content that it refuses.
const STALLS: [WarningKind; 9] = [
    WarningKind::WorkloadHeld,
    WarningKind::OverrideNotApplicable,
    WarningKind::EarlierWorkRemains,
    WarningKind::ClusterFailing,
    WarningKind::ClusterHeld,
    WarningKind::BindingDeleted,
    WarningKind::MemberAgentSilent,
    WarningKind::MemberClusterUnhealthy,
    WarningKind::MemberClusterLeaving,
];

/// Adds when the stages end, up to one that stalls.
pub(super) fn foresee(plan: &mut Plan, inventory: &Inventory, planned: &State) {
    let Some(times) = ClusterTimes::of_placement(inventory) else {
        return;
    };
    let content = WarningKind::CONTENT_REFUSED;
    let stalls = plan.warnings.iter();
    let stalls = stalls.filter(|it| STALLS.contains(&it.kind) || content.contains(&it.kind));
    let stalls: BTreeSet<_> = stalls.flat_map(|it| &it.clusters).collect();
    let is_well = |stage: &&mut PlannedStage| {
        let mut clusters = stage.clusters.iter();
        clusters.all(|cluster| {
            let is_late = awaited_since(inventory, &cluster.name).is_some();
            // What is not available with what it has already may become so, nobody knows when.
            let binding = inventory.binding(&cluster.name);
            let fails = binding.is_some_and(|it| binding_trouble(inventory, it).is_some());
            let stays = cluster.change == ClusterChange::Unchanged && fails;
            !stalls.contains(&cluster.name) && !is_late && !stays
        })
    };
    let stages = plan.stages.iter_mut().take_while(is_well);
    for (stage, ends) in stages.zip(controller::forecast(planned, times)) {
        stage.ends = ends.map(|ends| StageEnd {
            after_start: ends.after_approval.is_none(),
            ..ends
        });
    }
}

/// A cluster and what it has, as its binding tells; what it would get is open.
fn cluster(inventory: &Inventory, name: &str, binding: Option<&Binding>) -> PlannedCluster {
    let now = binding.and_then(|it| sent_index(inventory, it));
    PlannedCluster {
        name: name.to_owned(),
        turn: None,
        order: None,
        snapshot: now.map(str::to_owned),
        written_by: binding.and_then(|it| rollout_started(it).run),
        new_snapshot: None,
        change: ClusterChange::Unknown,
        rewritten: false,
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
