//! What a cluster was sent, where its binding names something else.

use super::{life, rollout_started};
use crate::inventory::Inventory;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Condition, Conditions, reasons};

/// The run that was done with the cluster of a binding before it was given another snapshot's name, which
/// is not sent before a run says so: the cluster keeps that run's.
/// Source: workgenerator/controller.go:Reconcile.
pub fn sent_before_change<'i>(
    inventory: &'i Inventory,
    binding: &Binding,
) -> Option<&'i UpdateRun> {
    let has = binding.snapshot_index().filter(|_| binding.awaits_run())?;
    let run = inventory.run_on(&rollout_started(binding).run?)?;
    let own = run.status.snapshot_index.as_str();
    let mut clusters = run.status.stages.iter().flat_map(|stage| &stage.clusters);
    let record = clusters.find(|it| it.name == binding.spec.cluster)?;
    let done = record.conditions.condition(reasons::SUCCEEDED)?;
    let is_its = own.is_empty() || own == has || life::is_foreign(inventory, run);
    let is_lost = joined_again(inventory, binding).is_some();
    (done.is_true() && !is_its && !is_lost).then_some(run)
}

/// The condition of that type about what a cluster was sent last.
pub fn reported<'i>(
    inventory: &Inventory,
    binding: &'i Binding,
    kind: &str,
) -> Option<&'i Condition> {
    binding.current(kind).or_else(|| {
        sent_before_change(inventory, binding)?;
        let conditions = &binding.status.conditions;
        let sent = conditions.condition(reasons::ROLLOUT_STARTED)?;
        let of_it = |it: &&Condition| it.observed_generation == sent.observed_generation;
        conditions.condition(kind).filter(of_it)
    })
}

/// The index of the snapshot that a cluster was sent last.
pub fn sent_index<'i>(inventory: &'i Inventory, binding: &'i Binding) -> Option<&'i str> {
    let sent = sent_before_change(inventory, binding);
    let sent = sent.map(|run| run.status.snapshot_index.as_str());
    sent.or_else(|| binding.snapshot_index())
}

/// The MemberCluster that joined again after a run had written a binding: the Works went with the old one,
/// and the scheduler took the binding back. Nothing is sent until a run writes it.
/// Source: workgenerator/controller.go:Reconcile; scheduler/framework/framework.go.
pub fn joined_again<'i>(inventory: &'i Inventory, binding: &Binding) -> Option<&'i MemberCluster> {
    let written = binding
        .status
        .conditions
        .condition(reasons::ROLLOUT_STARTED)?;
    let member = inventory.member(&binding.spec.cluster)?;
    (binding.awaits_run() && member.meta.created? > written.since?).then_some(member)
}
