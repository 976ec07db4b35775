//! The run is being deleted.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::verdict;
use crate::problems::steps;
use crate::rollout::Phase;

/// The controller deletes the run's approval requests and lets it go, whatever is in flight;
/// bindings stay as they are. Source: updaterun/controller.go:handleDelete.
pub const RULE: Rule = Rule::info("FS607", "run-being-deleted", One(check))
    .reads(&[Concept::Binding, Concept::ApprovalRequest])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let rollout = cx
        .rollout
        .as_ref()
        .filter(|rollout| rollout.phase == Phase::Deleting)?;
    let run = rollout.run;
    let deleted = run.meta.deleted?;
    let held = verdict::held_deletion(rollout);
    let long = held.is_some();
    let foreign: Vec<_> = run.meta.foreign_finalizers().collect();
    let is_released = !foreign.is_empty() && foreign.len() == run.meta.finalizers.len();
    let held = held.unwrap_or_else(|| "is being deleted".to_owned());
    let held = if is_released {
        format!("{held}, and only {} keeps it", enumerate(&foreign))
    } else {
        held
    };
    let message = format!(
        "{} {held}; its approval requests are deleted with it, and nothing is rolled \
         back{}.",
        run.object(),
        keeps(cx)
    );
    let mut finding = rule
        .finding(run.object(), message)
        .severity(match (long, is_released) {
            (true, _) => Severity::Error,
            (false, true) => Severity::Warning,
            (false, false) => rule.severity,
        })
        .root_if(long)
        .evidence(run.object(), "metadata.deletionTimestamp", deleted)
        .evidence(run.object(), "metadata.finalizers", &run.meta.finalizers);
    if is_released {
        finding = finding.fix(format!(
            "Ask the owner of the finalizer {} to remove it: KubeFleet has removed its own.",
            foreign.join(", ")
        ));
    } else if long {
        let action = "Check whether the hub agent runs: it must remove its finalizer.";
        finding = finding.look_with(action, steps::hub_agent());
    } else {
        let step = "Wait until it is gone.";
        finding = finding.look_with(step, steps::wait_for(&run.object(), "delete"));
    }
    Some(finding.look_with(
        "Check which snapshot each cluster has now.",
        cx.command("status").arg(cx.placement_object().word()),
    ))
}

/// How many clusters have the run's snapshot, as part of a sentence.
fn keeps(cx: &DiagnosisContext<'_>) -> String {
    let Some(wanted) = cx.inventory.wanted_snapshot() else {
        return String::new();
    };
    if !cx.inventory.bindings.is_complete() {
        return String::new();
    }
    let bindings = cx.inventory.bindings.iter();
    let having = bindings
        .filter(|binding| binding.spec.snapshot == wanted)
        .count();
    match having {
        0 => format!(": no cluster has its snapshot {wanted}"),
        1 => format!(": 1 cluster keeps its snapshot {wanted}"),
        _ => format!(": {} keep its snapshot {wanted}", count(having, "cluster")),
    }
}
