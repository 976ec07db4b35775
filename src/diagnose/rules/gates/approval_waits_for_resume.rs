//! An approval that counts was given while the run is stopped.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::back::resumed;
use crate::rollout::Gate;

/// Approvals are taken in state Run only. Source: updaterun/stop.go.
pub const RULE: Rule = Rule::info("FS404", "approval-waits-for-resume", Approval(check))
    .reads(&[Concept::ApprovalRequest])
    .caused_by(&["FS602"])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, gate: &Gate<'_>) -> Option<Finding> {
    let rollout = cx.rollout.as_ref()?;
    if !rollout.phase.is_halted() {
        return None;
    }
    let run = cx.run_object();
    let request = gate.own_request()?;
    let approved = request.untaken()?;
    let object = request.object();
    let message = format!(
        "{} is approved correctly, but a stopped run accepts no approvals: it counts once {} is \
         resumed.",
        request.meta.name, run.name
    );
    let finding = rule
        .finding(&object, message)
        .stage(gate.stage)
        .condition(&object, approved)
        .evidence(&run, "spec.state", &rollout.run.spec.state);
    let resume = "Resume the run when the rollout should continue.";
    Some(resumed(cx, finding, resume))
}
