//! Which approvals a new run does without, though the run had them that it is made of.

use std::collections::BTreeMap;

use super::{StageDefinition, TaskTime};
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Conditions, reasons};
use crate::words::count;

/// How many approvals come before each cluster of a run.
pub type ApprovalsBefore = BTreeMap<String, usize>;

/// The same of stages and their clusters, in the order of the run.
fn approvals_before<'s, C: Iterator<Item = &'s str>>(
    stages: impl Iterator<Item = (StageDefinition, C)>,
) -> ApprovalsBefore {
    let (mut before, mut all) = (0_usize, BTreeMap::new());
    for (stage, clusters) in stages {
        let approvals = |when| {
            let gates = stage.gates(when);
            gates.filter(|gate| gate.kind == "Approval").count()
        };
        before = approvals(TaskTime::Before).saturating_add(before);
        all.extend(clusters.map(|cluster| (cluster.to_owned(), before)));
        before = approvals(TaskTime::After).saturating_add(before);
    }
    all
}

/// The same of a run, once its stages are computed.
pub fn approvals_of(run: &UpdateRun) -> Option<ApprovalsBefore> {
    let status = &run.status;
    let stages = &status.strategy.as_deref()?.stages;
    let stages = stages.iter().map(StageDefinition::new);
    let clusters = status.stages.iter();
    let clusters = clusters.map(|it| it.clusters.iter().map(|it| it.name.as_str()));
    Some(approvals_before(stages.zip(clusters)))
}

/// Where a new run with the same strategy reaches a cluster after fewer approvals than this one would, as a
/// clause.
pub fn dropped_gate(run: &UpdateRun, now: &ApprovalsBefore) -> Option<String> {
    let is_initialized = run.status.conditions.is_true(reasons::INITIALIZED);
    let then = approvals_of(run).filter(|_| is_initialized)?;
    let (cluster, asked, asks) = then.into_iter().find_map(|(cluster, asked)| {
        let asks = *now.get(&cluster).filter(|asks| **asks < asked)?;
        Some((cluster, asked, asks))
    })?;
    let asks = match asks {
        0 => "none".to_owned(),
        several => several.to_string(),
    };
    Some(format!(
        "{} asked for {} before it reached {cluster}, and {} asks for {asks} now",
        run.meta.name,
        count(asked, "approval"),
        run.spec.strategy
    ))
}
