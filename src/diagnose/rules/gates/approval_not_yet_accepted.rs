//! An approval that counts was given, and the controller has not taken it.

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::duration;
use crate::rollout::{Gate, Phase};

/// The controller is woken by the approval and takes it within a second or so. Source:
/// updaterun/controller.go:handleApprovalRequestUpdate.
pub const RULE: Rule = Rule::info(
    "FS408",
    "approval-not-yet-accepted",
    RuleSearch::Approval(check),
)
.reads(&[Concept::ApprovalRequest]);

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, gate: &Gate<'_>) -> Option<Finding> {
    let rollout = cx.rollout.as_ref()?;
    // One that the controller owes for too long is told of the controller.
    if rollout.phase != Phase::Executing || cx.outlook.silence.is_some() {
        return None;
    }
    let request = gate.own_request()?;
    let approved = request.approved()?;
    if !request.counts() || request.is_accepted() {
        return None;
    }
    let (object, name) = (request.object(), &request.meta.name);
    // The time is the approver's own word: never before the request, never in the future.
    let lasting = approved
        .since
        .max(request.meta.created)
        .map(|since| cx.now().duration_since(since))
        .filter(|lasting| !lasting.is_negative());
    let ago = lasting.map_or_else(String::new, |lasting| {
        format!(" {} ago", duration::describe(lasting))
    });
    let finding = rule
        .finding(
            &object,
            format!(
                "{name} was approved correctly{ago}; the controller accepts it at its next check."
            ),
        )
        .stage(gate.stage)
        .condition(&object, approved);
    Some(finding.look_with(
        "Wait a minute and check again.",
        cx.command("diagnose").arg(cx.run_object().name),
    ))
}
