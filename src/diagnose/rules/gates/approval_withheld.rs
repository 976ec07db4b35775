//! Somebody wrote `Approved=False`, which KubeFleet does not understand as a rejection.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::gate::hold_back;
use crate::rollout::{Gate, Rollout, TaskState};

/// `Approved=False` means the same as no answer. Source:
/// updaterun/execution.go:handleStageApprovalTask.
pub const RULE: Rule = Rule::warning("FS403", "approval-withheld", Live(check))
    .reads(&[Concept::ApprovalRequest])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, rollout: &Rollout<'_>) -> Vec<Finding> {
    let found = rollout.gates().filter_map(|gate| of_gate(cx, rule, gate));
    found.collect()
}

fn of_gate(cx: &DiagnosisContext<'_>, rule: &Rule, gate: &Gate<'_>) -> Option<Finding> {
    let halted = cx.rollout.as_ref()?.phase.is_halted();
    let request = gate.own_request()?;
    let approved = request.approved().filter(|approved| !approved.is_true())?;
    let is_late = request.is_accepted();
    if !is_late && gate.state != TaskState::Open || is_late && halted {
        return None;
    }
    let (object, name) = (request.object(), &request.meta.name);
    let status = approved.status.as_str();
    let message = if is_late {
        format!(
            "{name} has Approved={status}, but KubeFleet had accepted an approval before: the run \
             continues."
        )
    } else {
        format!(
            "{name} has Approved={status}, which KubeFleet treats as unanswered: it does not reject the \
             gate or fail the run."
        )
    };
    let mut finding = rule
        .finding(&object, message)
        .root_if(match cx.verdict {
            Verdict::WaitingForApproval => !is_late,
            // What it waits for is no reason to wait with the stop.
            Verdict::WaitingForTimer => is_late,
            _ => false,
        })
        .stage(gate.stage)
        .condition(&object, approved);
    if is_late {
        let finding = finding.condition(&object, request.accepted());
        return Some(hold_back(cx, finding));
    }
    if !halted {
        finding = hold_back(cx, finding);
    }
    let action = "Approve it, if the rollout should continue after all.";
    Some(finding.fix_with(action, cx.command("approve").arg(name)))
}
