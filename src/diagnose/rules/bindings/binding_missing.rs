//! A cluster of the run has no binding.

use crate::diagnose::case::Case;
use crate::diagnose::failing;
use crate::diagnose::report::{Finding, Severity, Subject};
use crate::diagnose::rules::Rule;
use crate::kubefleet::messages::Cause;
use crate::kubefleet::{Concept, Kind};

/// The stages list a cluster and no binding that is scheduled or bound belongs to it.
/// Source: updaterun/execution.go:executeUpdatingStage, stop.go:stopUpdatingStage.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS303",
    name: "binding-missing",
    severity: Severity::Error,
    reads: &[Concept::Binding],
    caused_by: &["FS205", "FS206"],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    case.causes()
        .filter_map(|cause| match cause {
            Cause::BindingMissing {
                cluster,
                stage,
                stopping,
            } => Some(finding(case, rule, cluster, stage, *stopping)),
            _ => None,
        })
        .collect()
}

fn finding(case: &Case<'_>, rule: &Rule, cluster: &str, stage: &str, stopping: bool) -> Finding {
    let kind = case.inventory.scope.kind(Concept::Binding).name();
    let when = if stopping {
        "while the run was being stopped"
    } else {
        "while the run was under way"
    };
    let now = match case.inventory.binding(cluster) {
        Some(binding) if binding.meta.is_deleting() => ". The remaining one is being deleted",
        Some(binding) if binding.is_unscheduled() => ". The remaining one is Unscheduled",
        Some(_) => ". It has one again, but the run has failed for good",
        None => "",
    };
    let mut finding = failing::finding(
        case,
        rule,
        Subject::new(Kind::MemberCluster.name(), "", cluster),
        format!(
            "{cluster} of stage {stage} had no {kind} to update {when}, so the run failed{now}."
        ),
    )
    .stage(stage)
    .clusters([cluster]);
    match case.inventory.binding(cluster) {
        Some(binding) => {
            finding = finding.evidence(binding.object(), "spec.state", binding.spec.state.clone());
            if let Some(deleted) = binding.meta.deleted {
                finding = finding.evidence(
                    binding.object(),
                    "metadata.deletionTimestamp",
                    deleted.to_string(),
                );
            }
        }
        None if case.inventory.bindings.is_complete() => {
            finding = finding.evidence(
                case.placement_object(),
                format!("its {kind} with targetCluster {cluster}"),
                "absent",
            );
        }
        None => {}
    }
    let finding = finding.look(
        "Check which clusters the scheduler picked, and why it rejected the others.",
        Some(
            case.of_placement(Concept::PolicySnapshot)
                .flag("-o", "yaml"),
        ),
    );
    failing::new_run(
        case,
        finding,
        "Start a new run once the placement is scheduled: its stages are computed from the \
         existing bindings.",
    )
}
