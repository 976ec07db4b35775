//! The run asks for a resource snapshot by something that is no index.

use crate::diagnose::failing;
use crate::diagnose::rules::prelude::*;

/// A word such as `latest`, a snapshot's name or a negative number.
/// Source: updaterun/initialization.go:getResourceSnapshotObjs.
pub const RULE: Rule = Rule::error("FS114", "snapshot-index-invalid", Check::Cause(check))
    .reads(&[Concept::ResourceSnapshot]);

fn check(cx: &Context<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    match cause {
        Cause::SnapshotIndexInvalid { index } => Some(invalid(cx, rule, index)),
        _ => None,
    }
}

fn invalid(cx: &Context<'_>, rule: &Rule, index: &str) -> Finding {
    let run = cx.run_object();
    let placement = &cx.inventory.placement_name;
    let mut finding = failing::finding(
        cx,
        rule,
        &run,
        format!(
            "{run} asks for resource snapshot `{index}`, which is not a whole number of 0 or more."
        ),
    );
    if let Some(run) = cx.run() {
        finding = finding.evidence(
            run.object(),
            "spec.resourceSnapshotIndex",
            run.spec.snapshot_index.clone(),
        );
    }
    // Somebody who writes a snapshot's name means its index.
    let meant = crate::kubefleet::names::snapshot_index(index)
        .filter(|meant| cx.inventory.snapshot(meant).is_some());
    if let (Some(meant), Some(command)) = (meant, cx.new_run_command()) {
        finding = finding.fix_with(
            format!("Start a new run with index {meant}, if you meant {index}."),
            command.flag("--snapshot", meant),
        );
    }
    finding = finding.look_with(
        "List the existing snapshots.",
        cx.command("snapshots").arg(placement),
    );
    finding.fix_with(
        format!(
            "Start a new run with an existing index, or without one for the current content. {} \
             has failed for good, and its index is immutable.",
            run.name
        ),
        cx.new_run_command(),
    )
}
