//! An approval that counts was given, and the controller has not taken it.

use jiff::SignedDuration;

use crate::diagnose::case::Case;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::{Concept, duration};
use crate::rollout::Phase;

/// The controller is woken by the approval and takes it within a second or so. Source:
/// updaterun/controller.go:handleApprovalRequestUpdate.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS408",
    name: "approval-not-yet-accepted",
    severity: Severity::Info,
    reads: &[Concept::ApprovalRequest],
    caused_by: &[],
    check,
};

/// An approval wakes the controller, and a run that waits for one is also checked every minute.
/// Source: updaterun/execution.go:stageUpdatingWaitTime.
const OVERDUE: SignedDuration = SignedDuration::from_secs(120);

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(rollout) = case
        .rollout
        .as_ref()
        .filter(|rollout| rollout.phase == Phase::Executing)
    else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for gate in rollout.open_approvals() {
        let Some(request) = gate.own_request() else {
            continue;
        };
        let Some(approved) = request.approved() else {
            continue;
        };
        if !request.counts() || request.is_accepted() {
            continue;
        }
        let (object, name) = (request.object(), &request.meta.name);
        // The time is the approver's own word: never before the request, never in the future.
        let lasting = approved
            .since
            .max(request.meta.created)
            .map(|since| case.now().duration_since(since))
            .filter(|lasting| !lasting.is_negative());
        let overdue = lasting.is_some_and(|lasting| lasting > OVERDUE);
        let ago = lasting.map_or_else(String::new, |lasting| {
            format!(" {} ago", duration::describe(lasting))
        });
        let mut finding = rule
            .finding(
                &object,
                if overdue {
                    format!(
                        "{name} was approved correctly{ago}, but the controller has not accepted \
                         the approval, which it normally does at once."
                    )
                } else {
                    format!(
                        "{name} was approved correctly{ago}; the controller accepts it at its \
                         next check."
                    )
                },
            )
            .severity(if overdue {
                Severity::Warning
            } else {
                Severity::Info
            })
            .stage(gate.stage)
            .condition(&object, "status", approved);
        if overdue {
            finding = finding.look(
                "Check whether the hub agent runs: its log shows what the update run controller \
                 does.",
                None,
            );
        } else {
            finding = finding.look(
                "Wait a minute and check again.",
                Some(case.command("diagnose").arg(case.run_object().name)),
            );
        }
        findings.push(finding);
    }
    findings
}
