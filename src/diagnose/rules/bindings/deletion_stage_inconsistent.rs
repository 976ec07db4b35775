//! A binding that the deletion stage has deleted, or is deleting, is there and stays.

use crate::diagnose::case::Case;
use crate::diagnose::failing;
use crate::diagnose::report::{Finding, Severity, Subject};
use crate::diagnose::rules::Rule;
use crate::kubefleet::messages::Cause;
use crate::kubefleet::{Concept, Kind};

/// Something made the binding again after the run had deleted it.
/// Source: updaterun/execution.go:executeDeleteStage, stop.go:stopDeleteStage.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS304",
    name: "deletion-stage-inconsistent",
    severity: Severity::Error,
    reads: &[Concept::Binding],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    case.causes()
        .filter_map(|cause| match cause {
            Cause::DeletedClusterHasBinding { cluster } => Some((
                cluster,
                format!(
                    "{cluster} had a binding again before the run ended, although the run had \
                     removed the placement from it"
                ),
            )),
            Cause::DeletingBindingNotDeleting { cluster } => Some((
                cluster,
                format!(
                    "The binding for {cluster} was not being deleted, although the run was \
                     removing the placement from it"
                ),
            )),
            _ => None,
        })
        .map(|(cluster, what)| finding(case, rule, cluster, &what))
        .collect()
}

fn finding(case: &Case<'_>, rule: &Rule, cluster: &str, what: &str) -> Finding {
    let binding = case.inventory.binding(cluster);
    let now = match binding {
        Some(binding) if binding.meta.is_deleting() => "; it is being deleted now",
        None if case.inventory.bindings.is_complete() => "; it no longer exists",
        _ => "",
    };
    let subject = binding.map_or_else(
        || Subject::new(Kind::MemberCluster.name(), "", cluster),
        |binding| Subject::from(binding.object()),
    );
    let mut finding =
        failing::finding(case, rule, subject, format!("{what}{now}.")).clusters([cluster]);
    if let Some(deletion) = case
        .rollout
        .iter()
        .flat_map(|rollout| &rollout.stages)
        .find(|stage| stage.deletes)
    {
        finding = finding.stage(deletion.name());
    }
    if let Some(binding) = binding {
        let object = binding.object();
        finding = finding
            .evidence(&object, "spec.state", binding.spec.state.clone())
            .evidence(&object, "metadata.deletionTimestamp", binding.meta.deleted);
        if let Some(created) = binding.meta.created {
            finding = finding.evidence(&object, "metadata.creationTimestamp", created.to_string());
        }
    }
    let finding = finding.look(
        format!(
            "Check whether the placement picks {cluster} again: its policy and the scheduler's \
             decision."
        ),
        Some(case.placement_object().kubectl("get").flag("-o", "yaml")),
    );
    failing::new_run(
        case,
        finding,
        "Start a new run: its stages are computed from the current bindings.",
    )
}
