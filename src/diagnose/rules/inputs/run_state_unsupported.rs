//! The run's state is a word of an older KubeFleet.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::run_failure;

/// Runs that KubeFleet 0.1 stored keep their state when the hub agent is upgraded, and the newer
/// controller fails them. Source: updaterun/controller.go:Reconcile.
pub const RULE: Rule = Rule::error("FS123", "run-state-unsupported", NamedCause(check)).person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    let Cause::RunStateUnsupported { state } = cause else {
        return None;
    };

    let run = cx.run_object();
    let now = cx.run().and_then(|run| run.spec.state.clone());
    let verb = if now.as_ref() == Some(state) {
        "is"
    } else {
        "was"
    };
    let message = format!(
        "{run} {verb} in state {state}, which the hub's controller does not support. Supported \
         states: Initialize, Run, Stop."
    );
    let finding = run_failure::finding(cx, rule, &run, message);
    Some(finding.known(&run, "spec.state", now).fix_with(
        format!(
            "Start a new run: {} was created for an older KubeFleet and has failed for good.",
            run.name
        ),
        cx.new_run_command(),
    ))
}
