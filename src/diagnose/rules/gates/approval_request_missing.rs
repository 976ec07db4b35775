//! The run waits for an approval request that does not exist.

use crate::diagnose::case::Case;
use crate::diagnose::report::{Finding, Severity, Verdict};
use crate::diagnose::rules::Rule;
use crate::inventory::Sight;
use crate::kubefleet::{Concept, Conditions, reasons};
use crate::rollout::Phase;

/// `ApprovalRequestCreated=True` and no such request. The controller creates it again when it checks
/// at the run. Source: updaterun/controller.go:handleApprovalRequestDelete.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS406",
    name: "approval-request-missing",
    severity: Severity::Warning,
    reads: &[Concept::ApprovalRequest],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(rollout) = case.rollout.as_ref().filter(|rollout| rollout.is_live()) else {
        return Vec::new();
    };
    let run = case.run_object();
    let halted = matches!(rollout.phase, Phase::Stopped | Phase::Stopping);
    let mut findings = Vec::new();
    for gate in rollout.open_approvals() {
        if !matches!(gate.request, Some(Sight::Absent)) {
            continue;
        }
        let name = &gate.task.approval_request;
        let object = case.object(Concept::ApprovalRequest, name);
        let base = format!(
            "status.stagesStatus[stageName={}].{}StageTaskStatus[type=Approval]",
            gate.stage,
            gate.time.as_str()
        );
        let when = if halted {
            "is resumed"
        } else {
            "is next checked"
        };
        let mut finding = rule
            .finding(
                &object,
                format!(
                    "{} waits for {name}, which was deleted; the controller creates a new one \
                     when the run {when}.",
                    run.name
                ),
            )
            .root_if(case.verdict == Verdict::WaitingForApproval)
            .stage(gate.stage)
            .evidence(&run, format!("{base}.approvalRequestName"), name.clone());
        if let Some(created) = gate
            .task
            .conditions
            .condition(reasons::APPROVAL_REQUEST_CREATED)
        {
            finding = finding.condition(&run, &base, created);
        }
        findings.push(if halted {
            finding.fix(
                "Resume the run when the rollout should continue; the new request has the same \
                 name.",
                Some(case.command("resume").arg(&run.name)),
            )
        } else {
            let finding = finding.look(
                "Check again in a minute: the new request has the same name.",
                Some(case.command("diagnose").arg(&run.name)),
            );
            if rollout.state_ignored {
                finding
            } else {
                finding.fix(
                    "Stop and resume the run to make the controller check it, if the request does \
                     not appear.",
                    Some(case.command("stop").arg(&run.name)),
                )
            }
        });
    }
    findings
}
