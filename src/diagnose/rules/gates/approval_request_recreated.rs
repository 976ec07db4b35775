//! The approval request was deleted, and the controller made a new one without an answer.

use crate::diagnose::rules::prelude::*;
use jiff::SignedDuration;

use crate::kubefleet::{Conditions, duration, reasons};
use crate::rollout::Gate;

/// The task's condition keeps the time of the first request; the object is younger.
/// Source: updaterun/controller.go:handleApprovalRequestDelete.
pub const RULE: Rule = Rule::warning("FS405", "approval-request-recreated", Approval(check))
    .reads(&[Concept::ApprovalRequest])
    .person();

/// The condition is written right after the request: a few seconds apart is the same one.
const SAME: SignedDuration = SignedDuration::from_secs(10);

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, gate: &Gate<'_>) -> Option<Finding> {
    let run = cx.run_object();
    let request = gate.own_request()?;
    let asked = &gate.task.conditions;
    let asked = asked.since(reasons::APPROVAL_REQUEST_CREATED)?;
    let created = request.meta.created?;
    // Any answer, right or wrong, is another rule's business.
    let answered = request.approved().is_some() || request.is_accepted();
    if answered || created.duration_since(asked) <= SAME {
        return None;
    }
    let (object, name) = (request.object(), &request.meta.name);
    let message = format!(
        "{name} is {} newer than the run's record of it: it was deleted and created \
         again, so an approval of the first one no longer counts.",
        duration::describe(created.duration_since(asked))
    );
    Some(
        rule.finding(&object, message)
            .stage(gate.stage)
            .evidence(&object, "metadata.creationTimestamp", created)
            .evidence(
                &run,
                format!(
                    "{}.conditions[type=ApprovalRequestCreated].lastTransitionTime",
                    gate.path()
                ),
                asked,
            )
            .fix_with(
                "Approve it, also if the first one was approved.",
                cx.command("approve").arg(name),
            ),
    )
}
