//! The run asks for a resource snapshot by something that is no index.

use crate::diagnose::case::Case;
use crate::diagnose::failing;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::Concept;
use crate::kubefleet::messages::Cause;

/// A word such as `latest`, a snapshot's name or a negative number.
/// Source: updaterun/initialization.go:getResourceSnapshotObjs.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS114",
    name: "snapshot-index-invalid",
    severity: Severity::Error,
    reads: &[Concept::ResourceSnapshot],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    case.causes()
        .filter_map(|cause| match cause {
            Cause::SnapshotIndexInvalid { index } => Some(invalid(case, rule, index)),
            _ => None,
        })
        .collect()
}

fn invalid(case: &Case<'_>, rule: &Rule, index: &str) -> Finding {
    let run = case.run_object();
    let placement = &case.inventory.placement_name;
    let mut finding = failing::finding(
        case,
        rule,
        &run,
        format!(
            "{run} asks for resource snapshot `{index}`, which is not a whole number of 0 or more."
        ),
    );
    if let Some(run) = case.run() {
        finding = finding.evidence(
            run.object(),
            "spec.resourceSnapshotIndex",
            run.spec.snapshot_index.clone(),
        );
    }
    // Somebody who writes a snapshot's name means its index.
    let meant = crate::kubefleet::names::snapshot_index(index)
        .filter(|meant| case.inventory.snapshot(meant).is_some());
    if let (Some(meant), Some(command)) = (meant, case.new_run_command()) {
        finding = finding.fix(
            format!("Start a new run with index {meant}, if you meant {index}."),
            Some(command.flag("--snapshot", meant)),
        );
    }
    finding = finding.look(
        "List the existing snapshots.",
        Some(case.command("snapshots").arg(placement)),
    );
    finding.fix(
        format!(
            "Start a new run with an existing index, or without one for the current content. {} \
             has failed for good, and its index is immutable.",
            run.name
        ),
        case.new_run_command(),
    )
}
