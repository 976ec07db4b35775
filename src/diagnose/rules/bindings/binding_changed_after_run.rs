//! A binding was changed after a run was done with its cluster, and no run did it.

use crate::diagnose::rules::prelude::*;
use crate::inventory::choose;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Conditions, reasons};
use crate::rollout::rollout_started;
use crate::rollout::sent::{is_kept, sent_before_change, sent_index};

/// Nothing that a binding names is sent before a run has said so for its generation.
/// Source: workgenerator/controller.go:Reconcile.
pub const RULE: Rule = Rule::warning("FS305", "binding-changed-after-run", Whole(check))
    .reads(&[Concept::Binding, Concept::UpdateRun])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let inventory = cx.inventory;
    // Between two writes of its own a run has named its snapshot, and not said so yet.
    let is_of_run = |binding: &Binding| {
        let runs = inventory.runs.iter();
        let mut runs = runs.filter(|run| !choose::is_finished(run));
        runs.any(|run| binding.snapshot_index() == Some(&run.status.snapshot_index))
    };
    let (changed, kept): (Vec<_>, Vec<_>) = inventory
        .staying()
        .map(|it| (it, sent_before_change(inventory, it)))
        .partition(|(_, run)| run.is_some());
    let changed = changed.into_iter().filter(|(it, _)| !is_of_run(it));
    let changed = changed.filter_map(|(it, run)| Some(finding(cx, rule, it, run?)));
    let kept = kept.into_iter().map(|(it, _)| it);
    changed.chain(not_followed(cx, rule, kept)).collect()
}

/// Every change of the policy lets the scheduler write to all bindings.
/// Source: scheduler/framework/frameworkutils.go.
fn not_followed<'i>(
    cx: &DiagnosisContext<'_>,
    rule: &Rule,
    bindings: impl Iterator<Item = &'i Binding>,
) -> Option<Finding> {
    let inventory = cx.inventory;
    if inventory.runs_under_way().next().is_some() {
        return None;
    }
    let is_done = |it: &&Binding| {
        let Some(run) = rollout_started(it).run else {
            return false;
        };
        let run = inventory.run_on(&run).into_iter();
        let mut clusters = run.flat_map(UpdateRun::updated_clusters);
        is_kept(inventory, it) && clusters.all(|of| of.name != it.spec.cluster || of.is_done())
    };
    let kept: Vec<_> = bindings.filter(is_done).collect();
    let first = kept.first()?;
    let clusters: Vec<_> = kept.iter().map(|it| &it.spec.cluster).collect();
    let (binding, was, it) = by_number(
        kept.len(),
        ("binding", "was", "it"),
        ("bindings", "were", "them"),
    );
    let message = format!(
        "The {binding} for {} {was} changed after a run had updated {it}, as by a new policy: KubeFleet \
         sends nothing there, and reports nothing new, until another run.",
        enumerate(&clusters)
    );
    let mut finding = rule
        .finding(first.object(), message)
        .severity(Severity::Info)
        .clusters(clusters.iter().copied());
    for binding in kept.iter().take(3) {
        finding = changed_since(binding, finding);
    }
    Some(match cx.plan_command() {
        Some(plan) => finding.look_with("Preview what the next run would do.", plan),
        None => finding,
    })
}

/// That a binding was changed since a run wrote it.
fn changed_since(binding: &Binding, finding: Finding) -> Finding {
    let (object, conditions) = (binding.object(), &binding.status.conditions);
    finding
        .known(&object, "metadata.generation", binding.meta.generation)
        .condition(&object, conditions.condition(reasons::ROLLOUT_STARTED))
}

fn finding(cx: &DiagnosisContext<'_>, rule: &Rule, binding: &Binding, run: &UpdateRun) -> Finding {
    let (object, cluster) = (binding.object(), &binding.spec.cluster);
    let (had, has) = (&run.status.snapshot_index, &binding.spec.snapshot);
    let message = format!(
        "The binding for {cluster} was changed after {} had updated it: it names {has}, which is not \
         sent before a run writes the binding again. {cluster} keeps snapshot {had}.",
        run.meta.name
    );
    let finding = rule
        .finding(&object, message)
        .root_if(cx.run().is_none())
        .clusters([cluster])
        .evidence(&object, "spec.resourceSnapshotName", has);
    let finding = changed_since(binding, finding)
        .evidence(run.object(), run.snapshot_path(), had)
        .look_with(
            "Check who changed the binding.",
            object.kubectl("get").showing_field_managers(),
        );
    let mut bindings = cx.inventory.bindings.iter();
    let is_alone = bindings.all(|it| sent_index(cx.inventory, it) == Some(had));
    if !is_alone || cx.inventory.runs_under_way().next().is_some() {
        return finding;
    }
    let action = format!(
        "Start a run with snapshot {had}: it writes the binding again, and changes no cluster."
    );
    finding.fix_with(action, cx.fresh_run_command(Some(had)))
}
