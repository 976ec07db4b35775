//! An approval that counts was given, and the controller has not taken it.

use crate::diagnose::rules::prelude::*;
use jiff::SignedDuration;

use crate::kubefleet::duration;
use crate::problems::steps;
use crate::rollout::{Gate, Phase};

/// The controller is woken by the approval and takes it within a second or so. Source:
/// updaterun/controller.go:handleApprovalRequestUpdate.
pub const RULE: Rule = Rule::info(
    "FS408",
    "approval-not-yet-accepted",
    Search::Approval(check),
)
.reads(&[Concept::ApprovalRequest]);

/// An approval wakes the controller, and a run that waits for one is also checked every minute.
/// Source: updaterun/execution.go:stageUpdatingWaitTime.
const OVERDUE: SignedDuration = SignedDuration::from_secs(120);

fn check(cx: &Context<'_>, rule: &Rule, gate: &Gate<'_>) -> Option<Finding> {
    let rollout = cx.rollout.as_ref()?;
    if rollout.phase != Phase::Executing {
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
    let overdue = lasting.is_some_and(|lasting| lasting > OVERDUE);
    let ago = lasting.map_or_else(String::new, |lasting| {
        format!(" {} ago", duration::describe(lasting))
    });
    let finding = rule
        .finding(
            &object,
            if overdue {
                format!(
                    "{name} was approved correctly{ago}, but the controller has not accepted \
                     the approval, which it normally does at once."
                )
            } else {
                format!(
                    "{name} was approved correctly{ago}; the controller accepts it at its next \
                     check."
                )
            },
        )
        .severity(Severity::warning_if(overdue))
        .stage(gate.stage)
        .condition(&object, approved);
    Some(if overdue {
        finding.look_with("Check whether the hub agent runs.", steps::hub_agent())
    } else {
        finding.look_with(
            "Wait a minute and check again.",
            cx.command("diagnose").arg(cx.run_object().name),
        )
    })
}
