//! Another run took over a cluster that this run was working on.

use std::collections::BTreeMap;

use crate::diagnose::case::Case;
use crate::diagnose::failing;
use crate::diagnose::finding::enumerate;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::diagnose::taken::{Winner, describe_state, lost, winner};
use crate::inventory::choose::is_finished;
use crate::kubefleet::{Concept, Conditions, reasons};
use crate::rollout::{ClusterState, Rollout};

/// A run fails when the binding of a cluster in flight no longer asks for what the run wrote. The
/// binding's RolloutStarted names the run that wrote last.
/// Source: updaterun/execution.go:isBindingSyncedWithClusterStatus.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS301",
    name: "preempted-by-another-run",
    severity: Severity::Error,
    reads: &[Concept::Binding, Concept::UpdateRun],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let mut by_winner: BTreeMap<&str, (Winner<'_>, Vec<&str>)> = BTreeMap::new();
    for lost in lost(case) {
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
    let in_flight = case
        .rollout
        .iter()
        .flat_map(Rollout::updated_clusters)
        .filter(|cluster| matches!(cluster.state, ClusterState::Updating | ClusterState::Left));
    for cluster in in_flight {
        if let Some(taker) = cluster.binding.and_then(|binding| winner(case, binding))
            && let Some((_, clusters)) = by_winner.get_mut(taker.name)
            && !clusters.contains(&cluster.name)
        {
            clusters.push(cluster.name);
        }
    }
    by_winner
        .into_values()
        .map(|(winner, clusters)| finding(case, rule, winner, &clusters))
        .collect()
}

fn finding(case: &Case<'_>, rule: &Rule, winner: Winner<'_>, clusters: &[&str]) -> Finding {
    let object = case.object(Concept::UpdateRun, winner.name);
    let snapshot = winner
        .run
        .map(|run| run.status.snapshot_index.as_str())
        .filter(|index| !index.is_empty())
        .map_or_else(String::new, |index| {
            format!(", which rolls out snapshot {index}")
        });
    let state = match winner.run {
        Some(run) => format!(" and {}", describe_state(run)),
        None if case.inventory.runs.is_complete() => " and no longer exists".to_owned(),
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
    let mut finding = failing::finding(
        case,
        rule,
        &object,
        format!(
            "{} {taken} taken over by run {}{snapshot}{link}, while this run was updating {them}.",
            enumerate(clusters),
            winner.name
        ),
    )
    .clusters(clusters.iter().copied());
    finding.stage = stage(case, clusters);
    finding = evidence(case, finding, winner, clusters);
    remedies(case, finding, winner)
}

fn evidence(
    case: &Case<'_>,
    mut finding: Finding,
    winner: Winner<'_>,
    clusters: &[&str],
) -> Finding {
    if let Some(run) = case.run() {
        finding = finding.evidence(
            run.object(),
            run.snapshot_path(),
            run.status.snapshot_index.clone(),
        );
    }
    for cluster in clusters.iter().take(3) {
        let Some(binding) = case.inventory.binding(cluster) else {
            continue;
        };
        finding = finding.evidence(
            binding.object(),
            "spec.resourceSnapshotName",
            binding.spec.snapshot.clone(),
        );
        if let Some(started) = binding
            .status
            .conditions
            .condition(reasons::ROLLOUT_STARTED)
            .filter(|_| winner.named)
        {
            finding = finding.condition(&binding.object(), "status", started);
        }
    }
    if let Some(run) = winner.run {
        finding = finding.evidence(
            run.object(),
            run.snapshot_path(),
            run.status.snapshot_index.clone(),
        );
        let conditions = &run.status.conditions;
        if let Some(condition) = conditions
            .condition(reasons::SUCCEEDED)
            .or_else(|| conditions.condition(reasons::PROGRESSING))
        {
            finding = finding.condition(&run.object(), "status", condition);
        }
    }
    finding
}

fn remedies(case: &Case<'_>, mut finding: Finding, winner: Winner<'_>) -> Finding {
    let name = winner.name;
    let over = winner
        .run
        .is_none_or(|run| is_finished(run) || run.meta.is_deleting());
    let stopped = winner
        .run
        .is_some_and(|run| describe_state(run) == "is stopped");
    if !over && stopped {
        finding = finding.fix(
            format!("Let {name} finish: it has the cluster and is stopped."),
            Some(case.command("resume").arg(name)),
        );
    } else if !over {
        finding = finding.look(
            format!("Let {name} finish: two runs on one placement take clusters from each other."),
            Some(case.command("diagnose").arg(name)),
        );
    }
    failing::new_run(
        case,
        finding,
        if over {
            "Start a new run, if you still want the content of this run: it has failed for good."
        } else {
            "Then start a new run, if anything is left to roll out: this run has failed for good."
        },
    )
}

/// The stage of the clusters, when it is one.
fn stage(case: &Case<'_>, clusters: &[&str]) -> Option<String> {
    let mut stages: Vec<_> = case
        .rollout
        .iter()
        .flat_map(Rollout::updated_clusters)
        .filter(|cluster| clusters.contains(&cluster.name))
        .map(|cluster| cluster.stage)
        .collect();
    stages.dedup();
    match stages.as_slice() {
        [stage] => Some((*stage).to_owned()),
        _ => None,
    }
}
