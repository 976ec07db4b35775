//! A gate waits for a person.

use crate::diagnose::gate::opens;
use crate::diagnose::case::Case;
use crate::diagnose::report::{Finding, Severity, Verdict};
use crate::diagnose::rules::Rule;
use crate::inventory::Sight;
use crate::kubefleet::{Concept, duration};

/// An approval request without an answer.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS402",
    name: "approval-pending",
    severity: Severity::Info,
    reads: &[Concept::ApprovalRequest],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(rollout) = case.rollout.as_ref().filter(|rollout| !rollout.is_finished()) else {
        return Vec::new();
    };
    let run = case.run_object();
    let mut findings = Vec::new();
    for gate in rollout.open_approvals() {
        let name = &gate.task.approval_request;
        let object = case.object(Concept::ApprovalRequest, name);
        let since = match &gate.request {
            Some(Sight::Present(request)) => {
                // Any answer, right or wrong, is another rule's business.
                if request.approved().is_some() || request.is_accepted() {
                    continue;
                }
                request.meta.created
            }
            // Its absence is another rule's business.
            Some(Sight::Absent) | None => continue,
            Some(Sight::Unknown(_)) => None,
        };
        let since = since.or_else(|| gate.task.conditions.iter().filter_map(|c| c.since).max());
        let waiting = since.map(|since| case.now().duration_since(since));
        let lasting = waiting
            .map_or_else(String::new, |waiting| format!(" for {}", duration::describe(waiting)));
        let mut finding = rule
            .finding(
                &object,
                format!(
                    "{name} has been waiting{lasting} for a person to approve it; approving lets {}.",
                    opens(case, gate)
                ),
            )
            .root_if(case.verdict == Verdict::WaitingForApproval)
            .stage(gate.stage)
            .evidence(
                &run,
                format!(
                    "status.stagesStatus[stageName={}].{}StageTaskStatus[type=Approval].approvalRequestName",
                    gate.stage,
                    gate.time.as_str()
                ),
                name.clone(),
            );
        if let Some(Sight::Present(request)) = &gate.request {
            finding = finding.evidence(
                &object,
                "status.conditions[type=Approved]",
                "absent".to_owned(),
            );
            if let Some(created) = request.meta.created {
                finding = finding.evidence(&object, "metadata.creationTimestamp", created.to_string());
            }
        }
        findings.push(
            finding
                .fix(
                    "When the rollout so far looks right, approve.",
                    Some(case.command(&format!("approve {name}"))),
                )
                .remedy(
                    "There is no way to reject: to hold the rollout back, stop the run.",
                    Some(case.command(&format!("stop {}", run.name))),
                    crate::diagnose::report::Effect::Changes,
                ),
        );
    }
    findings
}
