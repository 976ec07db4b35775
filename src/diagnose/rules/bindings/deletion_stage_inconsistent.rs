//! A binding that the deletion stage has deleted, or is deleting, is there and stays.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::run_failure;

/// Something made the binding again after the run had deleted it.
/// Source: updaterun/execution.go:executeDeleteStage, stop.go:stopDeleteStage.
pub const RULE: Rule = Rule::error("FS304", "deletion-stage-inconsistent", NamedCause(check))
    .reads(&[Concept::Binding])
    .environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    let (cluster, what) = match cause {
        Cause::DeletedClusterHasBinding { cluster } => (
            cluster,
            format!(
                "{cluster} had a binding again before the run ended, although the run had removed \
                 the placement from it"
            ),
        ),
        Cause::DeletingBindingNotDeleting { cluster } => (
            cluster,
            format!(
                "The binding for {cluster} was not being deleted, although the run was removing the \
                 placement from it"
            ),
        ),
        _ => return None,
    };
    let binding = cx.inventory.binding(cluster);
    let now = match binding {
        Some(binding) if binding.meta.is_deleting() => "; it is being deleted now",
        None if cx.inventory.bindings.is_complete() => "; it no longer exists",
        _ => "",
    };
    let subject = binding.map_or_else(
        || Subject::member(cluster),
        |binding| Subject::from(binding.object()),
    );
    let mut finding =
        run_failure::finding(cx, rule, subject, format!("{what}{now}.")).clusters([cluster]);
    let mut stages = cx.rollout.iter().flat_map(|rollout| &rollout.stages);
    if let Some(deletion) = stages.find(|stage| stage.deletes) {
        finding = finding.stage(deletion.name());
    }
    if let Some(binding) = binding {
        let object = binding.object();
        finding = finding
            .evidence(&object, "spec.state", &binding.spec.state)
            .evidence(&object, "metadata.deletionTimestamp", binding.meta.deleted)
            .created(&object, binding.meta.created);
    }
    let finding = finding.look_with(
        format!(
            "Check whether the placement picks {cluster} again: its policy and the scheduler's \
             decision."
        ),
        cx.of_placement(Concept::PolicySnapshot).flag("-o", "yaml"),
    );
    let next = "Start a new run: its stages are computed from the current bindings.";
    Some(finding.next_run(cx, next))
}
