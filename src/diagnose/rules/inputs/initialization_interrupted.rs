//! Something that passes by itself ended the initialization for good.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::run_failure;
use crate::kubefleet::ObjectRef;
use crate::kubefleet::messages::ObjectKey;

/// While it reads overrides the controller takes every error for a final one, also those that it
/// would try again elsewhere; KubeFleet 0.0.1 did so with bindings too.
/// Source: updaterun/initialization.go:recordOverrideSnapshots, collectScheduledClusters.
pub const RULE: Rule = Rule::error("FS120", "initialization-interrupted", NamedCause(check))
    .reads(&[Concept::Binding])
    .environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    if !run_failure::initializing(cx) {
        return None;
    }
    let what = match cause {
        Cause::OverrideFetchFailed { detail } | Cause::ApiServerError { detail } => {
            &format!("`{detail}`")
        }
        Cause::InformerNotSynced { resource } => {
            &format!("the hub agent had not read all {resource} yet")
        }
        Cause::SnapshotNotCreated => "the hub returned no resource snapshot",
        Cause::LatestSnapshotNotFound => "the placement had no latest resource snapshot yet",
        Cause::BindingOldPolicy { binding, state }
        | Cause::BindingNotScheduled { binding, state } => {
            return Some(unsettled(cx, rule, binding, state));
        }
        _ => return None,
    };
    Some(passing(cx, rule, what))
}

fn passing(cx: &DiagnosisContext<'_>, rule: &Rule, what: &str) -> Finding {
    let run = cx.run_object();
    let message = format!(
        "The initialization of {} failed with an error that may be temporary: {what}.",
        run.name
    );
    let finding = run_failure::finding(cx, rule, &run, message);
    finding
        .fix_with(
            format!(
                "Start a new run: {} has failed for good. Nothing else needs a fix unless the error \
                 returns.",
                run.name
            ),
            cx.new_run_command(),
        )
        .look_with(
            "Read the hub agent's log, if the new run fails the same way.",
            cx.agent_log(),
        )
}

/// KubeFleet 0.0.1 failed on a binding that the scheduler was still working on.
fn unsettled(cx: &DiagnosisContext<'_>, rule: &Rule, key: &ObjectKey, state: &str) -> Finding {
    let run = cx.run_object();
    let object: ObjectRef = cx.object(Concept::Binding, &key.name);
    let mut bindings = cx.inventory.bindings.iter();
    let binding = bindings.find(|binding| binding.meta.name == key.name);
    let message = format!(
        "The scheduler was still working on {object} (state {state}) when {} was initialized.",
        run.name
    );
    let mut finding = run_failure::finding(cx, rule, &object, message);
    if let Some(binding) = binding {
        finding = finding
            .clusters([binding.spec.cluster.as_str()])
            .evidence(&object, "spec.state", &binding.spec.state)
            .evidence(
                &object,
                "spec.schedulingPolicySnapshotName",
                &binding.spec.policy_snapshot,
            );
    }
    finding = finding.look(
        "Wait until the placement is scheduled and no binding belongs to an older policy snapshot.",
    );
    run_failure::then_new_run(cx, finding)
}
