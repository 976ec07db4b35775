//! The runs on a placement that was asked about.

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Conditions, reasons};

/// A placement's verdict is that of one run; the others are listed.
pub const RULE: Rule =
    Rule::info("FS804", "runs-on-placement", One(check)).reads(&[Concept::UpdateRun]);

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let chosen = cx
        .run()
        .filter(|_| cx.target().kind.concept() == Concept::Placement)?;
    let others: Vec<_> = cx.inventory.other_runs().collect();
    if others.is_empty() {
        return None;
    }
    let object = cx.placement_object();
    let message = format!(
        "The verdict is that of {}; {} on {}: {}.",
        chosen.meta.name,
        count(others.len(), "other run"),
        object.name,
        enumerate(
            others
                .iter()
                .map(|run| format!("{} ({})", run.meta.name, state(run)))
        ),
    );
    let mut finding = rule.finding(&object, message);
    for run in &others {
        let path = match state(run) {
            "being deleted" => "metadata.deletionTimestamp",
            _ if run.status.conditions.is_empty() => "metadata.name",
            _ => "status.conditions",
        };
        finding = finding.computed(run.object(), &[path], state(run));
    }
    let action = "Check which run rolled out which version, and when.";
    Some(finding.look_with(action, cx.command("history").arg(&object.name)))
}

/// The state of a run in a word or two, from its own conditions.
fn state(run: &UpdateRun) -> &'static str {
    let conditions = &run.status.conditions;
    if run.meta.is_deleting() {
        "being deleted"
    } else if conditions.is_true(reasons::SUCCEEDED) {
        "succeeded"
    } else if conditions.is_false(reasons::SUCCEEDED) {
        "failed"
    } else if conditions.is_false(reasons::INITIALIZED) {
        "could not be initialized"
    } else {
        match conditions
            .condition(reasons::PROGRESSING)
            .map(|c| c.reason.as_str())
        {
            Some(reasons::RUN_WAITING) => "waiting",
            Some(reasons::RUN_STUCK) => "stuck",
            Some(reasons::RUN_STOPPED) => "stopped",
            Some(reasons::RUN_STOPPING) => "stopping",
            Some(_) => "progressing",
            None if conditions.is_true(reasons::INITIALIZED) => "initialized",
            None => "not initialized",
        }
    }
}
