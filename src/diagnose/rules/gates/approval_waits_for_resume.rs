//! An approval that counts was given while the run is stopped.

use crate::diagnose::rules::prelude::*;
use crate::rollout::Phase;

/// Approvals are taken in state Run only. Source: updaterun/stop.go.
pub const RULE: Rule = Rule::info("FS404", "approval-waits-for-resume", Search::Whole(check))
    .reads(&[Concept::ApprovalRequest])
    .caused_by(&["FS602"]);

fn check(cx: &Context<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(rollout) = cx
        .rollout
        .as_ref()
        .filter(|rollout| matches!(rollout.phase, Phase::Stopped | Phase::Stopping))
    else {
        return Vec::new();
    };
    let run = cx.run_object();
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
        let object = request.object();
        findings.push(
            rule.finding(
                &object,
                format!(
                    "{} is approved correctly, but a stopped run accepts no approvals: it counts \
                     once {} is resumed.",
                    request.meta.name, run.name
                ),
            )
            .stage(gate.stage)
            .condition(&object, approved)
            .evidence(&run, "spec.state", &rollout.run.spec.state)
            .fix_with(
                "Resume the run when the rollout should continue.",
                cx.command("resume").arg(&run.name),
            ),
        );
    }
    findings
}
