//! The run asks for a resource snapshot by something that is no index.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::run_failure;
use crate::kubefleet::names;
use crate::problems::snapshot_index;

/// A word such as `latest`, a snapshot's name or a negative number.
/// Source: updaterun/initialization.go:getResourceSnapshotObjs.
pub const RULE: Rule = Rule::error("FS114", "snapshot-index-invalid", NamedCause(check))
    .reads(&[Concept::ResourceSnapshot])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
    let Cause::SnapshotIndexInvalid { index } = cause else {
        return None;
    };

    let run = cx.run_object();
    let problem = snapshot_index(&run, &cx.placement_object(), index, cx.past(""));
    let list = problem.remedies.clone();
    let mut finding = run_failure::asked(cx, rule, problem);
    finding.remedies.clear();
    // Somebody who writes a snapshot's name means its index.
    let meant = names::snapshot_index(index).filter(|meant| cx.inventory.snapshot(meant).is_some());
    if let Some(meant) = meant {
        let action = format!("Start a new run with index {meant}, if you meant {index}.");
        finding = finding.fix_with(action, cx.fresh_run_command(Some(meant)));
    }
    finding.remedies.extend(list);
    Some(other_content(cx, finding, meant))
}

/// Adds the steps where the index is not meant: another one that exists, or the current content.
pub fn other_content(
    cx: &DiagnosisContext<'_>,
    finding: Finding,
    offered: Option<&str>,
) -> Finding {
    let over = format!("{} has failed for good", cx.run_object().name);
    let indexes = cx.inventory.snapshot_indexes();
    let (finding, or) = match indexes.as_slice() {
        _ if offered.is_some() => (finding, true),
        [] => (finding, false),
        [only] => {
            let only = only.to_string();
            let action = format!(
                "Start a new run with index {only}, the only one, if it is the right one: {over}."
            );
            let command = cx.fresh_run_command(Some(&only));
            (finding.fix_with(action, command), true)
        }
        _ => {
            let action = format!("Start a new run with one of these indexes: {over}.");
            let command = cx.fresh_run_command(Some("INDEX"));
            (finding.fix_with(action, command), true)
        }
    };
    let current = "a new run without an index to roll out the current content instead";
    let action = if or {
        format!("Or start {current}.")
    } else {
        format!("Start {current}: {over}.")
    };
    finding.fix_with(action, cx.fresh_run_command(None))
}
