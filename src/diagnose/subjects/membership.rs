//! Which clusters a run's stages would have if they were computed now.

use std::collections::BTreeSet;

use crate::diagnose::subjects::context::DiagnosisContext;
use crate::diagnose::subjects::run_failure;
use crate::inventory::Inventory;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::run::{StageStatus, UpdateRun};
use crate::kubefleet::strategy::Stage;
use crate::problems::{Problem, steps};
use crate::report::ComposeText;
use crate::rollout::Rollout;
use crate::rollout::placing::sorting_number;
use crate::words::CommandLine;

/// What became of a cluster of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClusterFate {
    /// Its binding is Unscheduled: the placement is to be taken from it.
    Unscheduled,
    /// Its MemberCluster is being deleted, or it has left.
    Leaving,
    /// Its MemberCluster does not exist.
    Gone,
}

/// What became of a cluster that was in the run's stages; `None` when nothing did, as far as can
/// be seen.
pub fn fate(inventory: &Inventory, cluster: &str) -> Option<ClusterFate> {
    match inventory.member(cluster) {
        Some(member) if member.is_leaving() => return Some(ClusterFate::Leaving),
        None if inventory.member_is_absent(cluster) => return Some(ClusterFate::Gone),
        _ => {}
    }
    inventory
        .binding(cluster)
        .is_some_and(Binding::is_unscheduled)
        .then_some(ClusterFate::Unscheduled)
}

/// Whether a binding's cluster is in a stage of the run.
pub fn is_recorded(cx: &DiagnosisContext<'_>, binding: &Binding) -> bool {
    let mut clusters = cx.rollout.iter().flat_map(Rollout::clusters);
    clusters.any(|it| it.name == binding.spec.cluster)
}

/// Whether undoing a change of the clusters lets the run continue: one that was picked since is dropped
/// then, and no stage of the run removes it. Source: updaterun/validation.go:validateDeleteStageStatus.
pub fn is_undone_by_undoing(cx: &DiagnosisContext<'_>) -> bool {
    let bindings = &cx.inventory.bindings;
    let mut kept = bindings.iter().filter(|it| !it.is_unscheduled());
    bindings.is_complete() && kept.all(|it| is_recorded(cx, it))
}

/// The clusters of one stage, computed from the recorded strategy, the members' labels and the
/// bindings as they are now, in the order of their update.
/// Source: updaterun/initialization.go:computeRunStageStatus. `None` when something that it takes
/// was not seen in full.
pub fn stage_now<'i>(inventory: &'i Inventory, stage: &Stage) -> Option<Vec<&'i str>> {
    if !inventory.bindings.is_complete() || !inventory.members.is_complete() {
        return None;
    }
    let Some(selector) = stage.selector.as_deref() else {
        return Some(Vec::new());
    };
    let mut clusters = BTreeSet::new();
    for binding in inventory
        .bindings
        .iter()
        .filter(|binding| !binding.is_unscheduled())
    {
        let Some(member) = inventory.member(&binding.spec.cluster) else {
            continue;
        };
        if !selector.matches(&member.meta.labels)? {
            continue;
        }
        let order = sorting_number(member, &stage.sorting_label)?;
        clusters.insert((order, member.meta.name.as_str()));
    }
    Some(clusters.into_iter().map(|(_, name)| name).collect())
}

/// How one stage's clusters differ from those that the run recorded.
#[derive(Debug, Default)]
pub struct StageDifference<'i> {
    /// In the stage now, and not recorded.
    pub came: Vec<&'i str>,
    /// Recorded, and not in the stage now.
    pub left: Vec<&'i str>,
    /// The same clusters in another order.
    pub reordered: bool,
}

impl<'i> StageDifference<'i> {
    /// All clusters that came or left.
    pub fn clusters(&self) -> BTreeSet<&'i str> {
        self.came.iter().chain(&self.left).copied().collect()
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.came.is_empty() && self.left.is_empty() && !self.reordered
    }
}

/// Compares a stage's record with what it would be now.
pub fn compare<'i>(
    inventory: &'i Inventory,
    status: &'i StageStatus,
    stage: &Stage,
) -> Option<StageDifference<'i>> {
    let now = stage_now(inventory, stage)?;
    let recorded = status.clusters.iter();
    let recorded: Vec<&str> = recorded.map(|cluster| cluster.name.as_str()).collect();
    let came = now.iter().copied();
    let came: Vec<_> = came.filter(|name| !recorded.contains(name)).collect();
    let left = recorded.iter();
    let left: Vec<_> = left.copied().filter(|name| !now.contains(name)).collect();
    let reordered = came.is_empty() && left.is_empty() && now != recorded;
    Some(StageDifference {
        came,
        left,
        reordered,
    })
}

/// What changed in the order of a stage that has the same clusters: `den-3 (order=5) now precedes
/// atl-2 (order=7)`. Clusters with the same number go by name.
pub fn reordering(inventory: &Inventory, status: &StageStatus, stage: &Stage) -> Option<String> {
    let now = stage_now(inventory, stage)?;
    let recorded = status.clusters.iter().map(|cluster| cluster.name.as_str());
    let (moved, passed) = now
        .iter()
        .copied()
        .zip(recorded)
        .find(|(now, was)| now != was)?;
    let key = stage.sorting_label.as_str();
    let number = |name: &str| {
        let member = inventory.member(name)?;
        (!key.is_empty()).then(|| sorting_number(member, key))?
    };
    let with = |name: &str| match number(name) {
        Some(number) => format!("{name} ({key}={number})"),
        None => name.to_owned(),
    };
    let tie = number(moved).is_some_and(|order| number(passed) == Some(order));
    let tie = if tie { ", because of its name" } else { "" };
    Some(format!(
        "{} now precedes {}{tie}",
        with(moved),
        with(passed)
    ))
}

/// The stage of a run by its position, with what the run recorded of the strategy.
pub fn stage_at(run: &UpdateRun, index: u64) -> Option<(&StageStatus, Option<&Stage>)> {
    let at = usize::try_from(index).ok()?;
    let status = run.status.stages.get(at)?;
    let spec = run
        .status
        .strategy
        .as_deref()
        .and_then(|strategy| strategy.stages.get(at));
    Some((status, spec))
}

/// The name of the stage in which the run recorded a cluster.
pub fn recorded_stage<'i>(cx: &DiagnosisContext<'i>, cluster: &str) -> Option<&'i str> {
    let run = cx.run()?;
    run.status
        .stages
        .iter()
        .find(|stage| stage.clusters.iter().any(|status| status.name == cluster))
        .map(|stage| stage.name.as_str())
}

/// Where undoing the change of the clusters lets a live run continue, that is the step, with the command that does
/// so.
pub fn undo(
    cx: &DiagnosisContext<'_>,
    mut problem: Problem,
    command: Option<CommandLine>,
) -> Problem {
    if !is_undone_by_undoing(cx) {
        return problem;
    }
    problem.remedies.clear();
    problem.fix_with(run_failure::undo_in_time(cx), command)
}

/// What gives a cluster the label again for which the run's stage selected it, where it is one cluster and one
/// label.
pub fn relabel(cx: &DiagnosisContext<'_>, clusters: &BTreeSet<&str>) -> Option<CommandLine> {
    let cluster = clusters.first().filter(|_| clusters.len() == 1)?;
    let stage = recorded_stage(cx, cluster)?;
    let mut stages = cx.run()?.status.strategy.as_deref()?.stages.iter();
    let selector = stages.find(|it| it.name == stage)?.selector.as_deref()?;
    let has = &cx.inventory.member(cluster)?.meta.labels;
    let other = selector.labels.iter();
    let mut other = other.filter(|(key, wanted)| has.get(*key) != Some(*wanted));
    let (key, wanted) = other.next().filter(|_| selector.expressions.is_empty())?;
    let entry = format!("{key}={wanted}");
    let is_one = other.next().is_none();
    is_one.then(|| steps::label([*cluster], entry).switch("--overwrite"))
}
