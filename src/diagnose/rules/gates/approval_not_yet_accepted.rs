//! An approval that counts was given, and the controller has not taken it.

use crate::diagnose::rules::prelude::*;
use jiff::SignedDuration;

use crate::kubefleet::duration;
use crate::rollout::Phase;

/// The controller is woken by the approval and takes it within a second or so. Source:
/// updaterun/controller.go:handleApprovalRequestUpdate.
pub const RULE: Rule = Rule::info("FS408", "approval-not-yet-accepted", Search::Whole(check))
    .reads(&[Concept::ApprovalRequest]);

/// An approval wakes the controller, and a run that waits for one is also checked every minute.
/// Source: updaterun/execution.go:stageUpdatingWaitTime.
const OVERDUE: SignedDuration = SignedDuration::from_secs(120);

fn check(cx: &Context<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(rollout) = cx
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
            .map(|since| cx.now().duration_since(since))
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
                        "{name} was approved correctly{ago}; the controller accepts it at its next \
                         check."
                    )
                },
            )
            .severity(if overdue {
                Severity::Warning
            } else {
                Severity::Info
            })
            .stage(gate.stage)
            .condition(&object, approved);
        if overdue {
            finding = finding.look(
                "Check whether the hub agent runs: its log shows what the update run controller \
                 does.",
            );
        } else {
            finding = finding.look_with(
                "Wait a minute and check again.",
                cx.command("diagnose").arg(cx.run_object().name),
            );
        }
        findings.push(finding);
    }
    findings
}
