//! Going on with a run would put an older version back on clusters that another run has updated.

use crate::diagnose::case::Case;
use crate::diagnose::finding::enumerate;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::{Concept, Conditions, reasons};
use crate::rollout::{ClusterState, Phase, rollout_started};

/// A cluster that the run has still to reach has a later version, put there after the run was
/// initialized. Nothing fails when it goes back. Measured on a hub; see the decisions.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS703",
    name: "cluster-would-go-back",
    severity: Severity::Warning,
    reads: &[Concept::Binding],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(rollout) = case
        .rollout
        .as_ref()
        .filter(|rollout| rollout.is_live())
    else {
        return Vec::new();
    };
    let run = rollout.run;
    let Ok(own) = run.status.snapshot_index.parse::<u64>() else { return Vec::new() };
    let initialized =
        run.status.conditions.condition(reasons::INITIALIZED).and_then(|condition| condition.since);
    let chosen = !run.spec.snapshot_index.trim().is_empty();
    let mut later = Vec::new();
    for cluster in rollout.updated_clusters().filter(|c| c.state == ClusterState::Pending) {
        let Some(binding) = cluster.binding else { continue };
        let Some(index) = binding.snapshot_index().and_then(|index| index.parse::<u64>().ok()) else {
            continue;
        };
        let written =
            binding.status.conditions.condition(reasons::ROLLOUT_STARTED).and_then(|c| c.since);
        // A run that was given an older index goes back on purpose, unless the later version came
        // after it.
        let after = matches!((written, initialized), (Some(written), Some(at)) if written > at);
        if index > own && (!chosen || after) {
            later.push((cluster.name, index, binding));
        }
    }
    if later.is_empty() {
        return Vec::new();
    }
    let object = run.object();
    let mut writers: Vec<_> =
        later.iter().filter_map(|(_, _, binding)| rollout_started(binding).run).collect();
    writers.sort();
    writers.dedup();
    let by = if writers.is_empty() {
        String::new()
    } else {
        format!(" that {} put there", enumerate(&writers))
    };
    let mut newer: Vec<_> = later.iter().map(|(_, index, _)| *index).collect();
    newer.sort_unstable();
    newer.dedup();
    let newer = match newer.as_slice() {
        [one] => format!("snapshot {one}"),
        several => format!("snapshots {}", enumerate(several.iter().map(u64::to_string))),
    };
    let how = match rollout.phase {
        Phase::Idle => "Starting",
        Phase::Stopped | Phase::Stopping => "Resuming",
        _ if rollout.open_approvals().next().is_some() => "Approving",
        _ => "Going on with",
    };
    let mut finding = rule
        .finding(
            &object,
            format!(
                "{how} {} takes {} back from {newer}{by} to snapshot {own}.",
                object.name,
                enumerate(later.iter().map(|(cluster, _, _)| *cluster)),
            ),
        )
        .clusters(later.iter().map(|(cluster, _, _)| *cluster))
        .evidence(&object, "status.resourceSnapshotIndexUsed", own.to_string());
    for (_, _, binding) in later.iter().take(3) {
        let reference = binding.object();
        finding = finding.evidence(
            &reference,
            "spec.resourceSnapshotName",
            binding.spec.snapshot.clone(),
        );
        if let Some(started) = binding.status.conditions.condition(reasons::ROLLOUT_STARTED) {
            finding = finding.condition(&reference, "status", started);
        }
    }
    if let Some(gate) = rollout.open_approvals().next() {
        finding = finding.stage(gate.stage);
    }
    vec![
        finding
            .disrupt(
                "If the later version is the one that is wanted, delete this run instead: that \
                 changes nothing on the clusters.",
                Some(case.command(&format!("delete {}", object.name))),
            )
            .look(
                "See which run put which version where.",
                Some(case.command(&format!("history {}", case.inventory.placement_name))),
            ),
    ]
}
