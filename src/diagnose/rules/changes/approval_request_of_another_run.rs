//! An approval request with the name that the run needs belongs to another run or stage.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::run_failure;
use crate::inventory::choose::is_finished;
use crate::kubefleet::ObjectRef;
use crate::rollout::{Rollout, TaskState};

/// Requests are found by name, and their spec cannot be changed.
/// Source: updaterun/execution.go:handleStageApprovalTask.
pub const RULE: Rule = Rule::error("FS209", "approval-request-of-another-run", Run(check))
    .reads(&[Concept::ApprovalRequest])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, rollout: &Rollout<'_>) -> Vec<Finding> {
    let own = rollout.run.meta.name.as_str();
    let mut findings: Vec<_> = cx
        .causes()
        .filter_map(|cause| match cause {
            Cause::ApprovalWrongTarget {
                request,
                run,
                stage,
                want_stage,
            } => {
                let object = cx.object(Concept::ApprovalRequest, &request.name);
                let mut finding = run_failure::finding(
                    cx,
                    rule,
                    &object,
                    sentence(&object, own, (&run.name, stage), "so the run failed"),
                );
                finding.stage.clone_from(want_stage);
                let delete = "Delete it: its own run does not wait for it.";
                Some(finish(cx, finding, &object, (&run.name, delete)))
            }
            _ => None,
        })
        .collect();
    if run_failure::live_run(cx).is_none() {
        return findings;
    }
    for gate in rollout.gates() {
        let Some(request) = gate.request.as_ref().and_then(|request| request.present()) else {
            continue;
        };
        if gate.state == TaskState::Done || !gate.foreign {
            continue;
        }
        let waits = gate.state == TaskState::Open && cx.verdict == Verdict::WaitingForApproval;
        let object = request.object();
        let theirs = (request.spec.run.as_str(), request.spec.stage.as_str());
        let so = match gate.state {
            TaskState::Open => run_failure::will_fail(cx),
            _ => "so the run will fail when it reaches that gate".to_owned(),
        };
        let finding = rule
            .finding(&object, sentence(&object, own, theirs, &so))
            .severity(Severity::Warning)
            .root_if(waits)
            .stage(gate.stage);
        let delete = "Delete it before the run reaches the gate: its own run does not wait for it, and \
                      the controller then creates the right one.";
        findings.push(finish(cx, finding, &object, (theirs.0, delete)));
    }
    findings
}

fn sentence(object: &ObjectRef, own: &str, (run, stage): (&str, &str), so: &str) -> String {
    let whose = if run == own {
        format!("another stage ({stage})")
    } else {
        format!("run {run}, stage {stage}")
    };
    format!("{object} has the name that this run needs for a gate but belongs to {whose}, {so}.")
}

/// Whether the run that a request belongs to surely does not need it: it is this one, over, or gone.
fn is_unneeded(cx: &DiagnosisContext<'_>, owner: &str) -> bool {
    let inventory = cx.inventory;
    match inventory.run_on(owner) {
        Some(run) => run.meta.name == cx.run_object().name || is_finished(run),
        None => inventory.is_run_gone(&cx.object(Concept::UpdateRun, owner)),
    }
}

fn finish(
    cx: &DiagnosisContext<'_>,
    mut finding: Finding,
    object: &ObjectRef,
    (owner, delete): (&str, &str),
) -> Finding {
    if let Some(request) = cx.inventory.approval(&object.name).present() {
        if request.spec.run != cx.run_object().name {
            finding = finding.evidence(object, "spec.parentStageRollout", &request.spec.run);
        }
        finding = finding.evidence(object, "spec.targetStage", &request.spec.stage);
    }
    let finding = if is_unneeded(cx, owner) {
        let look = "Check the request: it is of no use to its own run any more.";
        finding
            .look_with(look, object.kubectl("get").flag("-o", "yaml"))
            .disrupt_with(delete, object.kubectl("delete"))
    } else {
        let action =
            format!("Check whether {owner} exists and still waits for it: do not delete it then.");
        finding.look_with(action, cx.command("status").arg(owner))
    };
    let step = "Start a new run under a name that was never used: requests are named after the run and the \
                stage.";
    finding.next_run(cx, step)
}
