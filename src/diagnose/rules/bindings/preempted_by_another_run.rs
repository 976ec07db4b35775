//! Another run took over a cluster that this run was working on.

use std::collections::BTreeMap;

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::context::WHICH_RUN;
use crate::diagnose::subjects::preemption::{WinningRun, describe_state, lost, winner};
use crate::diagnose::subjects::run_failure;
use crate::inventory::choose::is_finished;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Conditions, reasons};
use crate::problems::steps;
use crate::rollout::{ClusterState, Rollout};

/// A run fails when the binding of a cluster in flight no longer asks for what the run wrote. The
/// binding's RolloutStarted names the run that wrote last.
/// Source: updaterun/execution.go:isBindingSyncedWithClusterStatus.
pub const RULE: Rule = Rule::error("FS301", "preempted-by-another-run", Whole(check))
    .reads(&[Concept::Binding, Concept::UpdateRun])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let mut by_winner: BTreeMap<&str, (WinningRun<'_>, Vec<&str>)> = BTreeMap::new();
    for lost in lost(cx) {
        if let Some(winner) = lost.winner {
            by_winner
                .entry(winner.name)
                .or_insert((winner, Vec::new()))
                .1
                .push(lost.cluster);
        }
    }
    if by_winner.is_empty() {
        return Vec::new();
    }
    // The text names one cluster; others in flight may have been taken too.
    let in_flight = cx.rollout.iter().flat_map(Rollout::updated_clusters);
    let in_flight = in_flight
        .filter(|cluster| matches!(cluster.state, ClusterState::Updating | ClusterState::Left));
    for cluster in in_flight {
        if let Some(taker) = cluster.binding.and_then(|binding| winner(cx, binding))
            && let Some((_, clusters)) = by_winner.get_mut(taker.name)
            && !clusters.contains(&cluster.name)
        {
            clusters.push(cluster.name);
        }
    }
    by_winner
        .into_values()
        .map(|(winner, clusters)| finding(cx, rule, winner, &clusters))
        .collect()
}

fn finding(
    cx: &DiagnosisContext<'_>,
    rule: &Rule,
    winner: WinningRun<'_>,
    clusters: &[&str],
) -> Finding {
    let object = cx.object(Concept::UpdateRun, winner.name);
    let snapshot = winner
        .run
        .map(|run| run.status.snapshot_index.as_str())
        .filter(|index| !index.is_empty())
        .map_or_else(String::new, |index| {
            format!(", which rolls out snapshot {index}")
        });
    let state = match winner.run {
        Some(run) => format!(" and {}", describe_state(run)),
        None if cx.inventory.runs.is_complete() => " and no longer exists".to_owned(),
        None => String::new(),
    };
    let link = if snapshot.is_empty() && !state.is_empty() {
        state.replacen(" and ", ", which ", 1)
    } else {
        state
    };
    let (taken, them) = if clusters.len() > 1 {
        ("were", "them")
    } else {
        ("was", "it")
    };
    let message = format!(
        "{} {taken} taken over by run {}{snapshot}{link}, while this run was updating {them}{}.",
        enumerate(clusters),
        winner.name,
        run_failure::so(cx)
    );
    let mut finding =
        run_failure::finding(cx, rule, &object, message).clusters(clusters.iter().copied());
    finding.stage = stage(cx, clusters);
    finding = evidence(cx, finding, winner, clusters);
    remedies(cx, finding, winner)
}

fn evidence(
    cx: &DiagnosisContext<'_>,
    mut finding: Finding,
    winner: WinningRun<'_>,
    clusters: &[&str],
) -> Finding {
    if let Some(run) = cx.run() {
        finding = finding.snapshot_of(run);
    }
    for cluster in clusters.iter().take(3) {
        let Some(binding) = cx.inventory.binding(cluster) else {
            continue;
        };
        finding = if winner.named {
            finding.written(binding)
        } else {
            finding.snapshot_in(binding)
        };
    }
    if let Some(run) = winner.run {
        finding = finding.snapshot_of(run);
        let conditions = &run.status.conditions;
        finding = finding.condition(
            &run.object(),
            conditions
                .condition(reasons::SUCCEEDED)
                .or_else(|| conditions.condition(reasons::PROGRESSING)),
        );
    }
    finding
}

fn remedies(cx: &DiagnosisContext<'_>, mut finding: Finding, winner: WinningRun<'_>) -> Finding {
    let name = winner.name;
    if cx.failure.is_none() {
        // The other run brings what there is to bring, or has brought it.
        let finding = match winner.run {
            Some(_) => finding.look_with(
                format!("Check {name} instead: it has the cluster now."),
                cx.command("diagnose").arg(name),
            ),
            None => cx.look_at_history(finding),
        };
        if winner.run.is_none() && cx.inventory.runs.is_complete() {
            let step = "Start a new run, if you still want the content of this run: this one cannot continue.";
            return finding.next_run(cx, step);
        }
        let action = format!(
            "Delete {}, which is of no more use: this changes nothing on its clusters.",
            cx.run_object().name
        );
        return finding.disrupt_with(action, cx.command("delete").arg(&cx.run_object().name));
    }
    let over = winner
        .run
        .is_none_or(|run| is_finished(run) || run.meta.is_deleting());
    let is_stopped = |run: &UpdateRun| {
        let progressing = run.condition(reasons::PROGRESSING);
        progressing.is_some_and(|it| it.reason == reasons::RUN_STOPPED)
    };
    if !over && winner.run.is_some_and(is_stopped) {
        finding = finding.fix_with(
            format!("Resume {name}, which has the cluster and is stopped."),
            cx.command("resume").arg(name),
        );
    } else if !over {
        finding = finding.look_with(
            format!("Let {name} finish: two runs on one placement take clusters from each other."),
            cx.command("diagnose").arg(name),
        );
    }
    if let Some(index) = taken_back(cx).filter(|_| over) {
        let done = winner.run.filter(|run| run.has_succeeded());
        let check = match done {
            Some(run) => format!(
                "Check which run rolled out which version: nothing is left to do, if snapshot {} is \
                 to stay.",
                run.status.snapshot_index
            ),
            None => WHICH_RUN.to_owned(),
        };
        return finding.look_with(check, cx.history_command()).disrupt_with(
            format!(
                "Or roll out snapshot {index} with a new run, if you still want the content of \
                 this run: it has failed for good.",
            ),
            cx.run().map(|run| {
                let command = steps::run_from(run).flag("--snapshot", index);
                command.switch("--allow-older")
            }),
        );
    }
    finding.next_run(
        cx,
        if over {
            "Start a new run, if you still want the content of this run: it has failed for good."
        } else {
            "Then start a new run, if anything is left to roll out: this run has failed for good."
        },
    )
}

/// The run's own snapshot, where clusters have another one by now: to roll it out takes them back.
fn taken_back<'i>(cx: &DiagnosisContext<'i>) -> Option<&'i str> {
    let own = cx.run()?.status.snapshot_index.as_str();
    let held = cx.inventory.bindings.iter();
    let held = held.filter_map(Binding::snapshot_index);
    let is_replaced = held.into_iter().any(|index| index != own);
    let mut snapshots = cx.inventory.snapshots.iter();
    let exists = snapshots.any(|it| it.index() == Some(own));
    (is_replaced && exists).then_some(own)
}

fn stage(cx: &DiagnosisContext<'_>, clusters: &[&str]) -> Option<String> {
    let stages = cx.rollout.iter().flat_map(Rollout::updated_clusters);
    let mut stages: Vec<_> = stages
        .filter(|cluster| clusters.contains(&cluster.name))
        .map(|cluster| cluster.stage)
        .collect();
    stages.dedup();
    match stages.as_slice() {
        [stage] => Some((*stage).to_owned()),
        _ => None,
    }
}
