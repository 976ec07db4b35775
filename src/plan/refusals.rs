//! What the controller would refuse, in the words of a plan. What is wrong, its model finds.

use super::draft::PlanDraft;
use super::{RefusalKind, WarningKind, content};
use crate::controller::{InputFault, InputFinding, MissingInput};
use crate::kubefleet::messages::TaskProblem;
use crate::kubefleet::placement::Placement;
use crate::kubefleet::strategy::{Stage, Strategy};
use crate::problems::{
    Problem, RefusalTense, SortingLabel, StageMap, binding_count, bindings_outdated,
    max_concurrency, no_cluster, no_stage, not_external, not_latest, not_scheduled,
    override_invalid, placement_deleted, placement_missing, several_latest, snapshot_awaited,
    snapshot_index, snapshot_parts_not_found, sorting_label, stage_selector, stage_tasks,
    strategy_missing, two_stages, without_count, without_index,
};
use crate::report::{ComposeText, NotChecked};
use crate::rollout::versions::Version;
use crate::words::capital;

/// Tells what was found wrong.
pub(super) fn refuse(
    draft: &mut PlanDraft<'_>,
    findings: &[InputFinding],
    map: Option<&StageMap<'_>>,
    index: Option<&str>,
) {
    let inventory = draft.inventory;
    let is_deleting = |it: &Placement| it.meta.is_deleting();
    let is_deleted = inventory.placement.present().is_some_and(is_deleting);
    if is_deleted {
        // Its policy snapshots go first, and a run finds none of them.
        let so = "so a run has nothing to roll out";
        let again =
            "If the deletion was a mistake, wait until it finishes and create the placement again.";
        let problem = placement_deleted(inventory, draft.placement(), so).fix(again);
        draft.refuse(RefusalKind::PlacementBeingDeleted, problem);
    }
    for finding in findings {
        match finding {
            InputFinding::Missing(missing) => leave_undecided(draft, missing),
            InputFinding::Fault(InputFault::PolicyMissing, _) if is_deleted => {}
            // One refusal names all the clusters.
            InputFinding::Fault(InputFault::TwoStages, _)
                if draft.has_refused(RefusalKind::ClusterInTwoStages) => {}
            // Nothing tells for certain whether the hub agent waits, and the first one is made in time.
            InputFinding::Fault(InputFault::SnapshotAwaited, _) => {
                if !inventory.snapshots.is_known_empty() {
                    let mut problem =
                        snapshot_awaited(inventory, draft.placement(), draft.placement());
                    problem.message = capital(&problem.message);
                    draft.warn(WarningKind::SnapshotAwaited, problem);
                }
            }
            InputFinding::Fault(fault, _) => {
                let found = of_placement(draft, fault)
                    .or_else(|| of_stage(draft, fault, map?))
                    .or_else(|| of_content(draft, fault, index));
                if let Some((kind, problem)) = found {
                    draft.refuse(kind, problem);
                }
            }
        }
    }
}

/// What was not read and decides. A kind that is told already is not told twice.
fn leave_undecided(draft: &mut PlanDraft<'_>, missing: &MissingInput) {
    draft.undecided = true;
    let what = missing.kind.name();
    if draft.not_checked.iter().all(|gap| gap.what != what) {
        draft
            .not_checked
            .push(NotChecked::new(what, missing.why.clone()).on(missing.clusters.clone()));
    }
}

/// What is wrong with the placement, its policy and its bindings.
fn of_placement(draft: &PlanDraft<'_>, fault: &InputFault) -> Option<(RefusalKind, Problem)> {
    let inventory = draft.inventory;
    let object = draft.placement();
    let policy = inventory.latest_policy();
    Some(match fault {
        InputFault::PlacementMissing => {
            let strategy = draft.strategy_object().name;
            let problem = placement_missing(inventory, object, &strategy, RefusalTense::Now);
            (RefusalKind::PlacementNotFound, problem)
        }
        InputFault::NotExternal => {
            let placement = inventory.placement.present();
            let now = placement.map_or("", Placement::rollout_type);
            let problem = not_external(object, placement, now, RefusalTense::Now);
            (RefusalKind::PlacementNotExternal, problem)
        }
        InputFault::PolicyMissing => {
            let problem = not_latest(inventory, object, RefusalTense::Now);
            (RefusalKind::PolicySnapshotNotFound, problem)
        }
        InputFault::SeveralPolicies(number) => {
            let problem = several_latest(inventory, object, Some(*number), RefusalTense::Now);
            (RefusalKind::PolicySnapshotsSeveral, problem)
        }
        InputFault::PolicyWithoutIndex => {
            let problem = without_index(&policy?.object(), policy, RefusalTense::Now);
            (RefusalKind::PolicySnapshotWithoutIndex, problem)
        }
        InputFault::PolicyWithoutCount => {
            let problem = without_count(inventory, &policy?.object(), policy, RefusalTense::Now);
            (RefusalKind::PolicySnapshotWithoutCount, problem)
        }
        InputFault::NotScheduled => {
            let problem = not_scheduled(inventory, object, policy, RefusalTense::Now);
            (RefusalKind::PlacementNotScheduled, problem)
        }
        InputFault::OutdatedBindings(bindings) => {
            let bindings: Vec<_> = bindings.iter().map(AsRef::as_ref).collect();
            let again =
                "Wait a few seconds and plan again. If it persists, check the hub agent's log.";
            let problem = bindings_outdated(object, &bindings, policy?).look(again);
            (RefusalKind::BindingOutdated, problem)
        }
        InputFault::NoCluster => {
            let problem = no_cluster(inventory, object, policy, RefusalTense::Now);
            (RefusalKind::NoClusterSelected, problem)
        }
        InputFault::ClusterCount { selected, wanted } => {
            let counts = (Some(*selected), Some(*wanted));
            let problem = binding_count(inventory, object, counts, RefusalTense::Now);
            (RefusalKind::BindingCountMismatch, problem)
        }
        InputFault::StrategyMissing => {
            let strategy = draft.strategy_object();
            let problem = strategy_missing(inventory, &strategy, &object.name, RefusalTense::Now);
            (RefusalKind::StrategyNotFound, problem)
        }
        _ => return None,
    })
}

/// What is wrong with the stages. What the schema refuses already is not told twice.
fn of_stage(
    draft: &PlanDraft<'_>,
    fault: &InputFault,
    map: &StageMap<'_>,
) -> Option<(RefusalKind, Problem)> {
    let strategy = draft.strategy?;
    let object = &map.strategy_object;
    Some(match fault {
        InputFault::Task {
            stage,
            before,
            problem,
        } => {
            let problem = task(draft, strategy, *stage, (*before, problem))?;
            (RefusalKind::StageTasksInvalid, problem)
        }
        InputFault::Selector { stage: at, problem } => {
            let stage = strategy.spec.stages.get(*at)?;
            let path = format!("spec.stages[{at}].labelSelector");
            let problem = stage_selector(object, &stage.name, problem, RefusalTense::Now);
            let problem = problem.evidence(object, path, stage.selector.as_deref());
            (RefusalKind::StageSelectorInvalid, problem)
        }
        InputFault::TwoStages => (
            RefusalKind::ClusterInTwoStages,
            two_stages(map, RefusalTense::Now),
        ),
        InputFault::Sorting { stage, clusters } => {
            let stage = strategy.spec.stages.get(*stage)?;
            let problem = sorting(draft, map, stage, clusters)?;
            (RefusalKind::SortingLabelInvalid, problem)
        }
        InputFault::NoStage(clusters) => {
            let names: Vec<_> = clusters.iter().map(String::as_str).collect();
            let problem = no_stage(Some(map), object, &names, names.len(), RefusalTense::Now);
            (RefusalKind::ClusterInNoStage, problem)
        }
        InputFault::MaxConcurrency { stage: at } => {
            let stage = strategy.spec.stages.get(*at)?;
            let is_rejected = draft.is_rejected(*at, "maxConcurrency");
            let stages = &[(*at, stage)];
            let problem = max_concurrency(object, "spec", object, stages, RefusalTense::Now);
            (!is_rejected).then_some((RefusalKind::MaxConcurrencyInvalid, problem))?
        }
        _ => return None,
    })
}

fn task(
    draft: &PlanDraft<'_>,
    strategy: &Strategy,
    at: usize,
    (before, problem): (bool, &TaskProblem),
) -> Option<Problem> {
    let stage = strategy.spec.stages.get(at)?;
    let object = draft.strategy_object();
    let (field, tasks) = stage.tasks(before);
    if draft.is_rejected(at, field) {
        return None;
    }
    let told = stage_tasks(&object, &stage.name, before, problem, RefusalTense::Now);
    let path = format!("spec.stages[{at}].{field}");
    Some(
        match place(problem).and_then(|at| Some((at, tasks.get(at)?))) {
            Some((one, task)) => told.evidence(&object, format!("{path}[{one}]"), task),
            None => told.evidence(&object, path, tasks),
        },
    )
}

fn place(problem: &TaskProblem) -> Option<usize> {
    match problem {
        TaskProblem::TypeNotAllowed { task, .. }
        | TaskProblem::WaitNotAllowed { task }
        | TaskProblem::WaitMissing { task }
        | TaskProblem::WaitNotPositive { task } => usize::try_from((*task)?).ok(),
        _ => None,
    }
}

fn sorting(
    draft: &PlanDraft<'_>,
    map: &StageMap<'_>,
    stage: &Stage,
    clusters: &[String],
) -> Option<Problem> {
    let key = stage.sorting_label.as_str();
    let members = clusters.iter().filter_map(|it| draft.inventory.member(it));
    let members: Vec<_> = members.collect();
    let first = *members.first()?;
    let label = SortingLabel {
        key,
        strategy: &map.strategy_object,
        stage: Some(stage),
        first: (&first.meta.name, first.meta.label(key)),
        members,
    };
    Some(sorting_label(draft.inventory, &label, RefusalTense::Now))
}

/// What is wrong with the content and its overrides. Whether all parts of it exist is told with it.
fn of_content(
    draft: &PlanDraft<'_>,
    fault: &InputFault,
    index: Option<&str>,
) -> Option<(RefusalKind, Problem)> {
    let object = draft.placement();
    let asked = draft.wish.snapshot.as_deref().unwrap_or_default();
    Some(match fault {
        InputFault::IndexInvalid => (
            RefusalKind::SnapshotIndexInvalid,
            snapshot_index(object, object, asked, RefusalTense::Now),
        ),
        InputFault::SnapshotMissing | InputFault::SnapshotPruned => content::missing(draft, asked),
        InputFault::PartsNotFound => {
            let version = Version::of_index(draft.inventory, index?);
            let version = Some(version).filter(Version::exists)?;
            let mut overrides = draft.inventory.overrides.iter();
            let any = overrides.find(|it| it.is_latest())?;
            let problem = snapshot_parts_not_found(object, &version, any);
            (RefusalKind::SnapshotPartsNotFound, problem)
        }
        InputFault::Override {
            snapshot,
            problem,
            clusters,
        } => {
            let problem = override_invalid(snapshot, object, problem, RefusalTense::Now);
            (RefusalKind::OverrideInvalid, problem.clusters(clusters))
        }
        _ => return None,
    })
}
