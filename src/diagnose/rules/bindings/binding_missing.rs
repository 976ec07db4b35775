//! A cluster of the run has no binding.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::run_failure;

/// The stages list a cluster and no binding that is scheduled or bound belongs to it.
/// Source: updaterun/execution.go:executeUpdatingStage, stop.go:stopUpdatingStage.
pub const RULE: Rule = Rule::error("FS303", "binding-missing", NamedCause(check))
    .reads(&[Concept::Binding])
    .caused_by(&["FS205", "FS206"])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    let Cause::BindingMissing {
        cluster,
        stage,
        stopping,
    } = cause
    else {
        return None;
    };

    let binding = cx.inventory.binding(cluster);
    let is_gone = binding.is_none() && cx.inventory.bindings.is_complete();
    let kind = cx.inventory.scope.kind(Concept::Binding).name();
    let when = if *stopping {
        "while the run was being stopped"
    } else {
        "while the run was under way"
    };
    let now = match binding {
        Some(binding) if binding.meta.is_deleting() => ". The remaining one is being deleted",
        Some(binding) if binding.is_unscheduled() => ". The remaining one is Unscheduled",
        Some(_) => ". It has one again, but the run has failed for good",
        None => "",
    };
    let message = format!(
        "{cluster} of stage {stage} had no {kind} to update {when}, so the run failed{now}."
    );
    let mut finding = run_failure::finding(cx, rule, Subject::member(cluster), message)
        .stage(stage)
        .clusters([cluster]);
    if let Some(binding) = binding {
        finding = finding.evidence(binding.object(), "spec.state", &binding.spec.state);
        finding = finding.deleted(binding.object(), binding.meta.deleted);
    } else if is_gone {
        let path = format!("its {kind} with targetCluster {cluster}");
        finding = finding.evidence(cx.placement_object(), path, ABSENT);
    }
    if is_gone || binding.is_some_and(|it| it.meta.is_deleting()) {
        finding = cx.look_for_eviction(finding);
    }
    let finding = finding.look_with(
        "Check which clusters the scheduler picked, and why it rejected the others.",
        cx.of_placement(Concept::PolicySnapshot).flag("-o", "yaml"),
    );
    let action = "Start a new run once the placement is scheduled: its stages are computed from the existing \
                  bindings.";
    Some(finding.next_run(cx, action))
}
