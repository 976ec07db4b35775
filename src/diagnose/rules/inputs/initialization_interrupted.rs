//! Something that passes by itself ended the initialization for good.

use crate::diagnose::case::Case;
use crate::diagnose::failing;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::messages::{Cause, ObjectKey};
use crate::kubefleet::{Concept, ObjectRef};
use crate::words::Command;

/// While it reads overrides the controller takes every error for a final one, also those that it
/// would try again elsewhere; KubeFleet 0.0.1 did so with bindings too.
/// Source: updaterun/initialization.go:recordOverrideSnapshots, collectScheduledClusters.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS120",
    name: "initialization-interrupted",
    severity: Severity::Error,
    reads: &[Concept::Binding],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    if !failing::initializing(case) {
        return Vec::new();
    }
    case.causes()
        .filter_map(|cause| match cause {
            Cause::OverrideFetchFailed { detail } | Cause::ApiServerError { detail } => {
                Some(passing(case, rule, &format!("`{detail}`")))
            }
            Cause::InformerNotSynced { resource } => Some(passing(
                case,
                rule,
                &format!("the hub agent had not read all {resource} yet"),
            )),
            Cause::SnapshotNotCreated { .. } => {
                Some(passing(case, rule, "the hub returned no resource snapshot"))
            }
            Cause::LatestSnapshotNotFound { .. } => Some(passing(
                case,
                rule,
                "the placement had no latest resource snapshot yet",
            )),
            Cause::BindingOldPolicy { binding, state, .. }
            | Cause::BindingNotScheduled { binding, state } => {
                Some(unsettled(case, rule, binding, state))
            }
            _ => None,
        })
        .collect()
}

fn passing(case: &Case<'_>, rule: &Rule, what: &str) -> Finding {
    let run = case.run_object();
    let finding = failing::finding(
        case,
        rule,
        &run,
        format!(
            "The initialization of {} failed with an error that may be temporary: {what}.",
            run.name
        ),
    );
    finding
        .fix(
            format!(
                "Start a new run: {} has failed for good. Nothing else needs a fix unless the \
                 error returns.",
                run.name
            ),
            case.new_run_command(),
        )
        .look(
            "Check the hub agent's log and the hub's API server, if the new run fails the same \
             way.",
            Some(Command::fleet("doctor")),
        )
}

/// KubeFleet 0.0.1 failed on a binding that the scheduler was still working on.
fn unsettled(case: &Case<'_>, rule: &Rule, key: &ObjectKey, state: &str) -> Finding {
    let run = case.run_object();
    let object: ObjectRef = case.object(Concept::Binding, &key.name);
    let binding = case
        .inventory
        .bindings
        .iter()
        .find(|binding| binding.meta.name == key.name);
    let mut finding = failing::finding(
        case,
        rule,
        &object,
        format!(
            "The scheduler was still working on {object} (state {state}) when {} was initialized.",
            run.name
        ),
    );
    if let Some(binding) = binding {
        finding = finding
            .clusters([binding.spec.cluster.as_str()])
            .evidence(&object, "spec.state", binding.spec.state.clone())
            .evidence(
                &object,
                "spec.schedulingPolicySnapshotName",
                binding.spec.policy_snapshot.clone(),
            );
    }
    finding = finding.look(
        "Wait until the placement is scheduled and no binding belongs to an older policy snapshot.",
        None,
    );
    failing::then_new_run(case, finding)
}
