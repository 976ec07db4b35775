//! An approval was given, and the controller ignores it: it speaks of another generation.

use crate::diagnose::case::Case;
use crate::diagnose::report::{Finding, Severity, Verdict};
use crate::diagnose::rules::Rule;
use crate::kubefleet::{Concept, reasons};

/// The controller takes `Approved=True` only when its `observedGeneration` is the request's
/// generation. Source: updaterun/execution.go:handleStageApprovalTask.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS401",
    name: "approval-observed-generation-mismatch",
    severity: Severity::Error,
    reads: &[Concept::ApprovalRequest],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(rollout) = case.rollout.as_ref().filter(|rollout| rollout.is_live()) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for gate in rollout.open_approvals() {
        let Some(request) = gate.own_request() else {
            continue;
        };
        let Some(approved) = request.approved().filter(|approved| approved.is_true()) else {
            continue;
        };
        if request.counts() || request.is_accepted() {
            continue;
        }
        let object = request.object();
        let generation = request.meta.generation.unwrap_or(0);
        let observed = approved.observed_generation;
        let seen = match observed {
            None => "carries no observedGeneration".to_owned(),
            Some(observed) => format!("carries observedGeneration {observed}"),
        };
        let name = &request.meta.name;
        findings.push(
            rule.finding(
                &object,
                format!(
                    "{name} was approved, but the approval {seen} while the request is at \
                     generation {generation}. The controller ignores it silently."
                ),
            )
            .root_if(case.verdict == Verdict::WaitingForApproval)
            .stage(gate.stage)
            .evidence(
                &object,
                "status.conditions[type=Approved].observedGeneration",
                observed,
            )
            .evidence(&object, "metadata.generation", request.meta.generation)
            .condition(&object, "status", approved)
            .evidence(
                &object,
                format!("status.conditions[type={}]", reasons::APPROVAL_ACCEPTED),
                "absent",
            )
            .fix(
                "Approve it again: the approval then carries the request's generation.",
                Some(case.command("approve").arg(name)),
            ),
        );
    }
    findings
}
