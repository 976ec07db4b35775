//! A binding was given another snapshot after a run was done with its cluster, and no run did it.

use crate::diagnose::rules::prelude::*;
use crate::inventory::choose;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Conditions, reasons};
use crate::rollout::sent::{sent_before_change, sent_index};

/// Nothing that a binding names is sent before a run has said so for its generation.
/// Source: workgenerator/controller.go:Reconcile.
pub const RULE: Rule = Rule::warning(
    "FS305",
    "binding-changed-after-run",
    RuleSearch::Whole(check),
)
.reads(&[Concept::Binding, Concept::UpdateRun])
.person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let inventory = cx.inventory;
    let bindings = inventory.bindings.iter();
    let bindings = bindings.filter(|it| !it.meta.is_deleting() && !it.is_unscheduled());
    // Between two writes of its own a run has named its snapshot, and not said so yet.
    let is_of_run = |binding: &Binding| {
        let mut runs = inventory
            .runs
            .iter()
            .filter(|run| !choose::is_finished(run));
        runs.any(|run| binding.snapshot_index() == Some(&run.status.snapshot_index))
    };
    bindings
        .filter_map(|it| Some((it, sent_before_change(inventory, it)?)))
        .filter(|(it, _)| !is_of_run(it))
        .map(|(it, run)| finding(cx, rule, it, run))
        .collect()
}

fn finding(cx: &DiagnosisContext<'_>, rule: &Rule, binding: &Binding, run: &UpdateRun) -> Finding {
    let (object, cluster) = (binding.object(), &binding.spec.cluster);
    let (had, has) = (&run.status.snapshot_index, &binding.spec.snapshot);
    let message = format!(
        "The binding for {cluster} was changed after {} had updated it: it names {has}, which is not \
         sent before a run writes the binding again. {cluster} keeps snapshot {had}.",
        run.meta.name
    );
    let conditions = &binding.status.conditions;
    let finding = rule
        .finding(&object, message)
        .root_if(cx.run().is_none())
        .clusters([cluster])
        .evidence(&object, "spec.resourceSnapshotName", has)
        .known(&object, "metadata.generation", binding.meta.generation)
        .condition(&object, conditions.condition(reasons::ROLLOUT_STARTED))
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
    finding.fix_with(
        format!(
            "Start a run with snapshot {had}: it writes the binding again, and changes no cluster."
        ),
        cx.fresh_run_command(Some(had)),
    )
}
