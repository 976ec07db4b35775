//! The run asks for a resource snapshot by something that is no index.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::run_failure;
use crate::kubefleet::names;
use crate::problems::snapshot_index;

/// A word such as `latest`, a snapshot's name or a negative number.
/// Source: updaterun/initialization.go:getResourceSnapshotObjs.
pub const RULE: Rule = Rule::error("FS114", "snapshot-index-invalid", Search::Cause(check))
    .reads(&[Concept::ResourceSnapshot])
    .person();

fn check(cx: &Context<'_>, rule: &Rule, cause: &Cause) -> Option<Finding> {
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
        finding = finding.fix_with(
            format!("Start a new run with index {meant}, if you meant {index}."),
            cx.new_run_with(meant),
        );
    }
    finding.remedies.extend(list);
    Some(finding.fix_with(other_index(&run.name), cx.new_run_with("INDEX")))
}

/// The step that is left where no index is meant.
pub fn other_index(run: &str) -> String {
    format!(
        "Start a new run with an existing index, or without one for the current content. {run} has \
         failed for good, and its index is immutable."
    )
}
