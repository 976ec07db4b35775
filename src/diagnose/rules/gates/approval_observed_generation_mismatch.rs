//! An approval was given, and the controller ignores it: it speaks of another generation.

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::reasons;
use crate::rollout::Gate;

/// The controller takes `Approved=True` only when its `observedGeneration` is the request's
/// generation. Source: updaterun/execution.go:handleStageApprovalTask.
pub const RULE: Rule = Rule::error(
    "FS401",
    "approval-observed-generation-mismatch",
    Approval(check),
)
.reads(&[Concept::ApprovalRequest])
.person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, gate: &Gate<'_>) -> Option<Finding> {
    let request = gate.own_request()?;
    let approved = request.approved().filter(|approved| approved.is_true())?;
    if request.counts() || request.is_accepted() {
        return None;
    }
    let object = request.object();
    let generation = request.meta.generation.unwrap_or(0);
    let observed = approved.observed_generation;
    let seen = match observed {
        None => "carries no observedGeneration".to_owned(),
        Some(observed) => format!("carries observedGeneration {observed}"),
    };
    let name = &request.meta.name;
    let message = format!(
        "{name} was approved, but the approval {seen} while the request is at \
         generation {generation}. The controller ignores it silently."
    );
    Some(
        rule.finding(&object, message)
            .root_if(cx.verdict == Verdict::WaitingForApproval)
            .stage(gate.stage)
            .observed(&object, approved)
            .evidence(&object, "metadata.generation", request.meta.generation)
            .condition(&object, approved)
            .evidence(
                &object,
                format!("status.conditions[type={}]", reasons::APPROVAL_ACCEPTED),
                ABSENT,
            )
            .fix_with(
                "Approve it again: it then carries the request's generation.",
                cx.command("approve").arg(name),
            ),
    )
}
