//! Somebody wrote `Approved=False`, which KubeFleet does not understand as a rejection.

use crate::diagnose::case::Case;
use crate::diagnose::gate::hold_back;
use crate::diagnose::report::{Finding, Severity, Verdict};
use crate::diagnose::rules::Rule;
use crate::kubefleet::Concept;
use crate::rollout::Phase;

/// `Approved=False` means the same as no answer. Source:
/// updaterun/execution.go:handleStageApprovalTask.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS403",
    name: "approval-withheld",
    severity: Severity::Warning,
    reads: &[Concept::ApprovalRequest],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(rollout) = case.rollout.as_ref().filter(|rollout| rollout.is_live()) else {
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
            .root_if(case.verdict == Verdict::WaitingForApproval)
            .stage(gate.stage)
            .condition(&object, "status", approved);
        if !halted {
            finding = hold_back(case, finding);
        }
        findings.push(finding.fix(
            "Approve it, if the rollout should continue after all.",
            Some(case.command("approve").arg(name)),
        ));
    }
    findings
}
