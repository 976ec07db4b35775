//! Nothing on the hub has touched the run since it was created.

use super::initialization_retried::{is_seen, overdue};
use crate::diagnose::rules::prelude::*;
use crate::kubefleet::{duration, names};
use crate::words::CommandLine;

/// The first thing that the controller does is to add its finalizer.
/// Source: updaterun/controller.go:Reconcile, cmd/hubagent/workload/setup.go.
pub const RULE: Rule =
    Rule::error("FS122", "controller-not-responding", Search::One(check)).environment();

fn check(cx: &Context<'_>, rule: &Rule) -> Option<Finding> {
    let age = overdue(cx).filter(|_| !is_seen(cx))?;
    let run = cx.run_object();
    let flags = if run.namespace.is_empty() {
        "`--enable-staged-update-run-apis`"
    } else {
        "`--enable-staged-update-run-apis` and `--enable-resource-placement`"
    };
    Some(
        rule.finding(
            &run,
            format!(
                "No controller has processed {run} in the {} since its creation: it has no \
                 finalizer and no status.",
                duration::describe(age)
            ),
        )
        .root()
        .evidence(
            &run,
            format!("metadata.finalizers[{}]", names::RUN_FINALIZER),
            ABSENT,
        )
        .evidence(&run, "status.conditions", ABSENT)
        .look_with(
            "Check whether the hub agent runs and serves update runs.",
            CommandLine::fleet("doctor"),
        )
        .fix(format!(
            "Start the hub agent with {flags}: it then picks up this run by itself."
        )),
    )
}
