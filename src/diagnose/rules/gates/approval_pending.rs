//! A gate waits for a person.

use crate::diagnose::case::Case;
use crate::diagnose::gate::{hold_back, opens, unlisted};
use crate::diagnose::report::{Finding, Severity, Verdict};
use crate::diagnose::rules::Rule;
use crate::diagnose::status::told_gate;
use crate::inventory::Sight;
use crate::kubefleet::{Concept, duration};
use crate::rollout::Phase;

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
    let Some(rollout) = case.rollout.as_ref().filter(|rollout| rollout.is_live()) else {
        return Vec::new();
    };
    let run = case.run_object();
    let halted = matches!(rollout.phase, Phase::Stopped | Phase::Stopping);
    let mut findings = Vec::new();
    for gate in rollout.open_approvals() {
        let name = &gate.task.approval_request;
        let object = case.object(Concept::ApprovalRequest, name);
        let since = match &gate.request {
            Some(Sight::Present(request)) => {
                // Any answer, right or wrong, is another rule's business, and so is a request that
                // is not the run's own.
                if gate.foreign || request.approved().is_some() || request.is_accepted() {
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
        let lasting = waiting.map_or_else(String::new, |waiting| {
            format!(" for {}", duration::describe(waiting))
        });
        let what = opens(case, gate);
        let message = if halted {
            format!(
                "{name} is not approved yet; once {} is resumed, approving lets {what}.",
                run.name
            )
        } else if told_gate(case, rollout).is_some_and(|told| std::ptr::eq(told, gate)) {
            // The summary says what approving it opens.
            format!("{name} has been waiting{lasting} for an approval.")
        } else {
            format!("{name} has been waiting{lasting} for an approval; approving lets {what}.")
        };
        let mut finding = rule
            .finding(&object, message)
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
                finding =
                    finding.evidence(&object, "metadata.creationTimestamp", created.to_string());
            }
        }
        let approve = Some(case.command("approve").arg(name));
        findings.push(if halted {
            finding
                .fix(
                    "Resume the run when the rollout should continue.",
                    Some(case.command("resume").arg(&run.name)),
                )
                .fix("Then approve, if the rollout looks right so far.", approve)
        } else {
            hold_back(
                case,
                finding.fix("Approve, if the rollout looks right so far.", approve),
            )
        });
    }
    if findings.is_empty() {
        findings.extend(unlisted(case, rule, true));
    }
    findings
}
