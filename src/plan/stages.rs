//! The stages of the strategy, and the clusters in them.

use super::draft::Draft;
use super::{
    ClusterChange, PlannedCluster, PlannedStage, PlannedTask, Refusal, RefusalKind, Warning,
    WarningKind, strategy,
};
use crate::kubefleet::binding::Binding;
use crate::kubefleet::selector::LabelSelector;
use crate::kubefleet::strategy::{Stage, Strategy, Task};
use crate::kubefleet::{Kind, names};
use crate::problems::steps::{label, show_labels};
use crate::report::Build;
use crate::rollout::placing::{Placed, Placing, sorting_number};
use crate::rollout::rollout_started;
use crate::words::{count, enumerate};

/// Values that are shown of many.
const SHOWN: usize = 6;

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
    let placing = Placing::new(inventory, &strategy.spec);
    two_stages(draft, &placing);
    sorting(draft, &placing);
    nowhere(draft, &placing);
    unclear(draft, &placing);
    computed.stages = stages(draft, strategy, Some(&placing), then);
    // Who is in no stage as far as can be seen may be in this one.
    if !placing.clusters.is_empty() && placing.unclear().next().is_none() {
        empty(draft, &computed.stages);
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

fn two_stages(draft: &mut Draft<'_>, placing: &Placing<'_>) {
    let clusters: Vec<_> = placing.twice().map(|(placed, _)| placed.name).collect();
    if clusters.is_empty() {
        return;
    }
    let object = draft.strategy_object();
    let listed = enumerate(placing.twice().map(|(placed, stages)| {
        let stages: Vec<_> = stages.iter().map(|stage| stage.name.as_str()).collect();
        format!("{} ({})", placed.name, stages.join(" + "))
    }));
    let verb = if clusters.len() == 1 { "is" } else { "are" };
    let concerned = |stage: &Stage| {
        let mut twice = placing.twice();
        twice.any(|(_, stages)| stages.iter().any(|other| other.name == stage.name))
    };
    let mut refusal = Refusal::new(
        RefusalKind::ClusterInTwoStages,
        &object,
        format!(
            "{} {verb} in more than one stage of {object}: {listed}.",
            count(clusters.len(), "cluster")
        ),
    )
    .clusters(clusters);
    refusal = labels(refusal, placing.twice().map(|(placed, _)| placed));
    for (at, stage) in placing.strategy.stages.iter().enumerate() {
        if concerned(stage) {
            let path = format!("spec.stages[{at}].labelSelector");
            refusal = refusal.evidence(&object, path, stage.selector.as_deref());
        }
    }
    draft.refusals.push(refusal.fix(
        "Make the stages' selectors exclude each other, or relabel the clusters. An empty selector \
         (`{}`) selects every cluster.",
    ));
}

fn nowhere(draft: &mut Draft<'_>, placing: &Placing<'_>) {
    let clusters: Vec<_> = placing.nowhere().map(|placed| placed.name).collect();
    if clusters.is_empty() {
        return;
    }
    let object = draft.strategy_object();
    let verb = if clusters.len() == 1 { "is" } else { "are" };
    let gone: Vec<_> = placing
        .nowhere()
        .filter(|placed| placed.member.is_none())
        .map(|placed| placed.name)
        .collect();
    let tail = match gone.len() {
        0 => String::new(),
        1 => format!("; MemberCluster {} does not exist", enumerate(&gone)),
        _ => format!("; the MemberClusters {} do not exist", enumerate(&gone)),
    };
    let mut refusal = Refusal::new(
        RefusalKind::ClusterInNoStage,
        &object,
        format!(
            "{} {verb} in no stage of {object}: {}{tail}.",
            count(clusters.len(), "cluster"),
            enumerate(&clusters)
        ),
    )
    .clusters(clusters);
    refusal = labels(refusal, placing.nowhere());
    for (at, stage) in placing.strategy.stages.iter().take(SHOWN).enumerate() {
        let path = format!("spec.stages[{at}].labelSelector");
        refusal = refusal.evidence(&object, path, stage.selector.as_deref());
    }
    draft.refusals.push(refusal.fix_with(
        "Label the clusters so that exactly one stage selects each, extend the strategy, or narrow \
         the placement's policy.",
        label("NAME", "KEY=VALUE"),
    ));
}

/// Adds the labels of clusters as evidence.
fn labels<'p>(mut refusal: Refusal, placed: impl Iterator<Item = &'p Placed<'p>>) -> Refusal {
    for member in placed.filter_map(|placed| placed.member).take(SHOWN) {
        refusal = refusal.evidence(member.object(), "metadata.labels", &member.meta.labels);
    }
    refusal
}

fn sorting(draft: &mut Draft<'_>, placing: &Placing<'_>) {
    for stage in &placing.strategy.stages {
        let key = stage.sorting_label.as_str();
        let unsorted: Vec<_> = placing
            .in_order(stage)
            .into_iter()
            .filter_map(|placed| placed.member)
            .filter(|member| sorting_number(member, key).is_none())
            .collect();
        if unsorted.is_empty() {
            continue;
        }
        let object = draft.strategy_object();
        let listed = enumerate(unsorted.iter().map(|member| {
            let value = member.meta.label(key);
            let value = value.map_or_else(|| "not set".to_owned(), |value| format!("{value:?}"));
            format!("{} ({value})", member.meta.name)
        }));
        let has = if unsorted.len() == 1 { "has" } else { "have" };
        let mut refusal = Refusal::new(
            RefusalKind::SortingLabelInvalid,
            &object,
            format!(
                "Stage {} sorts by the label {key}, but {} {has} no whole number in it: {listed}.",
                stage.name,
                count(unsorted.len(), "cluster")
            ),
        )
        .stage(&stage.name)
        .clusters(unsorted.iter().map(|member| member.meta.name.as_str()));
        for member in unsorted.iter().take(SHOWN) {
            let value = member.meta.label(key).unwrap_or("absent");
            refusal = refusal.evidence(member.object(), format!("metadata.labels[{key}]"), value);
        }
        draft.refusals.push(refusal.fix_with(
            "Set the label to a whole number on each of them, or remove `sortingLabelKey` from the \
             stage, which then sorts by name.",
            label("NAME", format!("{key}=NUMBER")).switch("--overwrite"),
        ));
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

fn empty(draft: &mut Draft<'_>, stages: &[PlannedStage]) {
    let object = draft.strategy_object();
    for (at, stage) in stages.iter().enumerate() {
        if !stage.clusters.is_empty() {
            continue;
        }
        let gates = stage.before.len().saturating_add(stage.after.len());
        let tail = if gates == 0 {
            String::new()
        } else {
            format!(
                ", and so are its {}; up to KubeFleet 0.3.1 {} run anyway",
                if gates == 1 { "task" } else { "tasks" },
                if gates == 1 { "it is" } else { "they are" },
            )
        };
        let warning = Warning::new(
            WarningKind::StageEmpty,
            &object,
            format!("Stage {} has no clusters and is skipped{tail}.", stage.name),
        )
        .stage(&stage.name)
        .evidence(
            &object,
            format!("spec.stages[{at}].labelSelector"),
            stage.selector.as_deref().unwrap_or("no selector"),
        )
        .look_with(
            "If it should have clusters, compare their labels with its selector.",
            show_labels(),
        );
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
