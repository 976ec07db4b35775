//! Somebody wrote `Approved=False`, which KubeFleet does not understand as a rejection.

use crate::diagnose::gate::hold_back;
use crate::diagnose::rules::prelude::*;
use crate::rollout::Phase;

/// `Approved=False` means the same as no answer. Source:
/// updaterun/execution.go:handleStageApprovalTask.
pub const RULE: Rule = Rule::warning("FS403", "approval-withheld", Search::Whole(check))
    .reads(&[Concept::ApprovalRequest]);

fn check(cx: &Context<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(rollout) = cx.rollout.as_ref().filter(|rollout| rollout.is_live()) else {
        return Vec::new();
    };
    let halted = matches!(rollout.phase, Phase::Stopped | Phase::Stopping);
    let mut findings = Vec::new();
    for gate in rollout.open_approvals() {
        let Some(request) = gate.own_request() else {
            continue;
        };
        let Some(approved) = request.approved().filter(|approved| !approved.is_true()) else {
            continue;
        };
        if request.is_accepted() {
            continue;
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
        findings.push(finding.fix_with(
            "Approve it, if the rollout should continue after all.",
            cx.command("approve").arg(name),
        ));
    }
    findings
}
