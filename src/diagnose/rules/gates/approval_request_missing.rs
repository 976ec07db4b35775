//! The run waits for an approval request that does not exist.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::back::resumed;
use crate::inventory::Sight;
use crate::kubefleet::{Conditions, duration, reasons};
use crate::rollout::{Gate, LOOK_EVERY, Rollout};

/// `ApprovalRequestCreated=True` and no such request. The controller creates it again when it checks
/// at the run. Source: updaterun/controller.go:handleApprovalRequestDelete.
pub const RULE: Rule = Rule::warning("FS406", "approval-request-missing", Live(check))
    .reads(&[Concept::ApprovalRequest])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, rollout: &Rollout<'_>) -> Vec<Finding> {
    let gone = rollout.open_approvals();
    let gone = gone.filter_map(|gate| deleted(cx, rule, gate));
    let unmade = rollout.unrequested_approvals();
    gone.chain(unmade.filter_map(|gate| not_created(cx, rule, gate)))
        .collect()
}

/// A request that the controller does not get created: it tries again ever more rarely, and only its log
/// says why. Source: updaterun/execution.go:handleStageApprovalTask.
fn not_created(cx: &DiagnosisContext<'_>, rule: &Rule, gate: &Gate<'_>) -> Option<Finding> {
    let run = cx.run_object();
    let rollout = cx.rollout.as_ref()?;
    let lasting = cx.now().duration_since(rollout.asks_since(gate)?);
    if lasting < LOOK_EVERY {
        return None;
    }
    let name = &gate.task.approval_request;
    let message = format!(
        "{} has waited for {} to ask for {name}: KubeFleet's hub agent has not created that request, and \
         tries again ever more rarely.",
        run.name,
        duration::describe(lasting)
    );
    let path = format!("{}.approvalRequestName", gate.path());
    let mut finding = rule
        .finding(cx.object(Concept::ApprovalRequest, name), message)
        .stage(gate.stage)
        .evidence(&run, path, name)
        .condition(&run, rollout.progressing());
    finding.root_cause = cx.verdict == Verdict::Stuck;
    Some(
        finding
            .look_with(
                "Read the hub agent's log, which says why: an admission policy, a quota, or a \
                 permission.",
                cx.agent_log(),
            )
            .fix("Change what refuses it, or ask who may."),
    )
}

fn deleted(cx: &DiagnosisContext<'_>, rule: &Rule, gate: &Gate<'_>) -> Option<Finding> {
    let rollout = cx.rollout.as_ref()?;
    let run = cx.run_object();
    let halted = rollout.phase.is_halted();
    if !matches!(gate.request, Some(Sight::Absent)) {
        return None;
    }
    let name = &gate.task.approval_request;
    let object = cx.object(Concept::ApprovalRequest, name);
    let base = gate.path();
    let when = if halted {
        "is resumed"
    } else {
        "is next checked"
    };
    let message = format!(
        "{} waits for {name}, which was deleted; the controller creates a new one when \
         the run {when}.",
        run.name
    );
    let mut finding = rule
        .finding(&object, message)
        .root_if(cx.verdict == Verdict::WaitingForApproval)
        .stage(gate.stage)
        .evidence(&run, format!("{base}.approvalRequestName"), name);
    finding = finding.condition_at(
        &run,
        &base,
        gate.task
            .conditions
            .condition(reasons::APPROVAL_REQUEST_CREATED),
    );
    Some(if halted {
        let resume =
            "Resume the run when the rollout should continue; the new request has the same name.";
        resumed(cx, finding, resume)
    } else {
        let action = "Check again in a minute: the new request has the same name.";
        let finding = finding.look_with(action, cx.command("diagnose").arg(&run.name));
        let mut timers = rollout.open_timers().filter(|it| it.stage == gate.stage);
        if rollout.state_ignored {
            finding
        } else if let Some(until) = timers.find_map(Gate::until) {
            finding.look(format!(
                "Wait until {until}, if it does not appear: the controller checks the run when the timed wait is \
                 over. A stop would restart that."
            ))
        } else {
            finding
                .fix_with(
                    "Stop the run to make the controller check it, if the request does not appear.",
                    cx.command("stop").arg(&run.name),
                )
                .fix_with("Then resume it.", cx.command("resume").arg(&run.name))
        }
    })
}
