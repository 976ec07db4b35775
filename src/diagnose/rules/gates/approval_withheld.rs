//! Somebody wrote `Approved=False`, which KubeFleet does not understand as a rejection.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::gate::hold_back;
use crate::rollout::Gate;

/// `Approved=False` means the same as no answer. Source:
/// updaterun/execution.go:handleStageApprovalTask.
pub const RULE: Rule = Rule::warning("FS403", "approval-withheld", RuleSearch::Approval(check))
    .reads(&[Concept::ApprovalRequest])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, gate: &Gate<'_>) -> Option<Finding> {
    let rollout = cx.rollout.as_ref()?;
    let halted = rollout.phase.is_halted();
    let request = gate.own_request()?;
    let approved = request.approved().filter(|approved| !approved.is_true())?;
    if request.is_accepted() {
        return None;
    }
    let (object, name) = (request.object(), &request.meta.name);
    let mut finding = rule
        .finding(
            &object,
            format!(
                "{name} has Approved={}, which KubeFleet treats as unanswered: it does not \
                 reject the gate or fail the run.",
                approved.status.as_str()
            ),
        )
        .root_if(cx.verdict == Verdict::WaitingForApproval)
        .stage(gate.stage)
        .condition(&object, approved);
    if !halted {
        finding = hold_back(cx, finding);
    }
    Some(finding.fix_with(
        "Approve it, if the rollout should continue after all.",
        cx.command("approve").arg(name),
    ))
}
