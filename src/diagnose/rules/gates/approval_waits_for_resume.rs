//! An approval that counts was given while the run is stopped.

use crate::diagnose::case::Case;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::Concept;
use crate::rollout::Phase;

/// Approvals are taken in state Run only. Source: updaterun/stop.go.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS404",
    name: "approval-waits-for-resume",
    severity: Severity::Info,
    reads: &[Concept::ApprovalRequest],
    caused_by: &["FS602"],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(rollout) = case
        .rollout
        .as_ref()
        .filter(|rollout| matches!(rollout.phase, Phase::Stopped | Phase::Stopping))
    else {
        return Vec::new();
    };
    let run = case.run_object();
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
            .condition(&object, "status", approved)
            .evidence(
                &run,
                "spec.state",
                rollout.run.spec.state.clone().unwrap_or_default(),
            )
            .fix(
                "Resume the run when the rollout should continue.",
                Some(case.command("resume").arg(&run.name)),
            ),
        );
    }
    findings
}
