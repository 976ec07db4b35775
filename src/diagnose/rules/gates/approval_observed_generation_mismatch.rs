//! An approval was given, and the controller ignores it: it speaks of another generation.

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::reasons;

/// The controller takes `Approved=True` only when its `observedGeneration` is the request's
/// generation. Source: updaterun/execution.go:handleStageApprovalTask.
pub const RULE: Rule = Rule::error(
    "FS401",
    "approval-observed-generation-mismatch",
    Search::Whole(check),
)
.reads(&[Concept::ApprovalRequest]);

fn check(cx: &Context<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(rollout) = cx.rollout.as_ref().filter(|rollout| rollout.is_live()) else {
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
            .root_if(cx.verdict == Verdict::WaitingForApproval)
            .stage(gate.stage)
            .evidence(
                &object,
                "status.conditions[type=Approved].observedGeneration",
                observed,
            )
            .evidence(&object, "metadata.generation", request.meta.generation)
            .condition(&object, approved)
            .evidence(
                &object,
                format!("status.conditions[type={}]", reasons::APPROVAL_ACCEPTED),
                ABSENT,
            )
            .fix_with(
                "Approve it again: the approval then carries the request's generation.",
                cx.command("approve").arg(name),
            ),
        );
    }
    findings
}
