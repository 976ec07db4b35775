//! Who took over a binding while a run was working on its cluster.

use jiff::Timestamp;

use crate::diagnose::subjects::context::DiagnosisContext;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::messages::Cause;
use crate::kubefleet::run::{RunState, UpdateRun};
use crate::kubefleet::{Conditions, names, reasons};
use crate::rollout::life;
use crate::rollout::rollout_started;

/// A cluster that the run lost while it was working on it.
#[derive(Debug)]
pub struct LostCluster<'c, 'i> {
    pub cluster: &'c str,
    pub stage: &'c str,
    /// The name of the binding that the text gives.
    pub named: Option<&'c str>,
    /// The binding, when it was seen.
    pub binding: Option<&'i Binding>,
    /// The run that has it now, when that can be told.
    pub winner: Option<WinningRun<'i>>,
}

/// The run that took a binding over.
#[derive(Debug, Clone, Copy)]
pub struct WinningRun<'i> {
    pub name: &'i str,
    /// The run, when it was seen.
    pub run: Option<&'i UpdateRun>,
    /// Whether the binding itself names it; else its snapshot gives it away.
    pub named: bool,
}

/// The clusters that the failure names as lost, or the one that a live run is going to end with.
pub fn lost<'c, 'i>(cx: &'c DiagnosisContext<'i>) -> Vec<LostCluster<'c, 'i>> {
    cx.causes()
        .chain(&cx.foreseen)
        .filter_map(|cause| match cause {
            Cause::Preempted {
                cluster,
                stage,
                binding,
            } => Some((cluster, stage, binding)),
            _ => None,
        })
        .map(|(cluster, stage, named)| {
            let binding = cx
                .inventory
                .bindings_of(cluster)
                .find(|binding| named.as_deref() == Some(binding.meta.name.as_str()))
                .or_else(|| cx.inventory.binding(cluster));
            LostCluster {
                cluster,
                stage,
                named: named.as_deref(),
                binding,
                winner: binding.and_then(|binding| winner(cx, binding)),
            }
        })
        .collect()
}

/// The run, other than the case's own, that wrote the binding last.
pub fn winner<'i>(cx: &DiagnosisContext<'i>, binding: &'i Binding) -> Option<WinningRun<'i>> {
    let own = cx.run()?;
    let inventory = cx.inventory;
    if let Some(writer) = rollout_started(binding).run
        && writer != own.meta.name
    {
        let run = inventory.run_on(&writer);
        if let Some(failed) = run.and_then(|run| failed_before(cx, run)) {
            return taken_before(cx, failed, &binding.spec.cluster);
        }
        // The name lives in the condition's text; borrow it from there when the run is unseen.
        let name = run.map_or_else(
            || last_word(binding, &writer),
            |run| Some(run.meta.name.as_str()),
        )?;
        return Some(WinningRun {
            name,
            run,
            named: true,
        });
    }
    let wanted = inventory.wanted_snapshot()?;
    if binding.spec.snapshot.is_empty() || binding.spec.snapshot == wanted {
        return None;
    }
    inventory
        .other_runs()
        .filter(|run| {
            names::master_snapshot(&inventory.placement_name, &run.status.snapshot_index)
                == binding.spec.snapshot
        })
        .filter(|run| may_have_written(run, own, &binding.spec.cluster))
        // Bindings go with their placement: a run on an earlier one never wrote this.
        .filter(|run| !life::is_of_earlier(inventory, run))
        .last()
        .map(|run| WinningRun {
            name: &run.meta.name,
            run: Some(run),
            named: false,
        })
}

/// The run that wrote a binding last, where it was created after the case's own had failed.
pub fn written_later<'i>(cx: &DiagnosisContext<'i>, binding: &Binding) -> Option<&'i UpdateRun> {
    let run = cx.inventory.run_on(&rollout_started(binding).run?)?;
    failed_before(cx, run).map(|_| run)
}

/// When the case's own run failed, if that was before another one was created.
fn failed_before(cx: &DiagnosisContext<'_>, other: &UpdateRun) -> Option<Timestamp> {
    let failed = cx.failure.as_ref()?.condition.since?;
    (other.meta.created? > failed).then_some(failed)
}

/// The run that took a cluster over by a time: the last that began with it until then.
fn taken_before<'i>(
    cx: &DiagnosisContext<'i>,
    failed: Timestamp,
    cluster: &str,
) -> Option<WinningRun<'i>> {
    let own = started(cx.run()?, cluster)?;
    let others = cx.inventory.other_runs();
    let others = others.filter_map(|run| Some((started(run, cluster)?, run)));
    let (_, run) = others
        .filter(|(started, _)| (own..=failed).contains(started))
        .max_by_key(|(started, _)| *started)?;
    Some(WinningRun {
        name: &run.meta.name,
        run: Some(run),
        named: false,
    })
}

fn last_word<'i>(binding: &'i Binding, word: &str) -> Option<&'i str> {
    let message = &binding.condition(reasons::ROLLOUT_STARTED)?.message;
    let at = message.rfind(word)?;
    message.get(at..at + word.len())
}

/// Whether a run can have written the binding of a cluster since another one started there: it was not over by then,
/// and has begun with the cluster, or is to come to it. It writes the binding before it says so itself.
/// Source: updaterun/execution.go:executeUpdatingStage.
fn may_have_written(run: &UpdateRun, own: &UpdateRun, cluster: &str) -> bool {
    let over = run.status.conditions.condition(reasons::SUCCEEDED);
    let over = over.filter(|it| it.is_true() || it.is_false());
    let over = over.and_then(|it| it.since);
    let started = started(own, cluster);
    if over.is_some_and(|over| started.is_some_and(|started| over < started)) {
        return false;
    }
    let moves = over.is_none() && run.spec.wants() == RunState::Run && !run.meta.is_deleting();
    let mut clusters = run.updated_clusters();
    clusters.any(|it| it.name == cluster && (moves || it.conditions.is_true(reasons::STARTED)))
}

fn started(run: &UpdateRun, cluster: &str) -> Option<Timestamp> {
    let mut clusters = run.updated_clusters();
    let own = clusters.find(|it| it.name == cluster)?;
    own.conditions.since(reasons::STARTED)
}

/// Where a run is, as the end of a sentence: `has succeeded`, `is under way`.
pub fn describe_state(run: &UpdateRun) -> &'static str {
    let conditions = &run.status.conditions;
    if run.meta.is_deleting() {
        return "is being deleted";
    }
    if conditions.is_true(reasons::SUCCEEDED) {
        return "has succeeded";
    }
    if conditions.is_false(reasons::SUCCEEDED) || conditions.is_false(reasons::INITIALIZED) {
        return "has failed";
    }
    match conditions.condition(reasons::PROGRESSING) {
        None => "has not started",
        Some(progressing) => match progressing.reason.as_str() {
            reasons::RUN_WAITING => "waits at a gate",
            reasons::RUN_STUCK => "is stuck",
            reasons::RUN_STOPPED => "is stopped",
            reasons::RUN_STOPPING => "is stopping",
            _ => "is under way",
        },
    }
}
