//! An approval that counts was given, and the controller has not taken it.

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::duration;
use crate::rollout::{Gate, Phase, Rollout};

/// The controller is woken by the approval and takes it within a second or so. Source:
/// updaterun/controller.go:handleApprovalRequestUpdate.
pub const RULE: Rule = Rule::info("FS408", "approval-not-yet-accepted", Live(check))
    .reads(&[Concept::ApprovalRequest]);

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, rollout: &Rollout<'_>) -> Vec<Finding> {
    let open = rollout.open_approvals();
    let just_given = open.filter_map(|gate| at_open_gate(cx, rule, rollout, gate));
    let ahead = rollout
        .gates()
        .filter_map(|gate| ahead(rule, rollout, gate));
    just_given.chain(ahead).collect()
}

/// A request that somebody made and approved before the run came to its gate, or that is left from an
/// earlier run of the same name: the controller takes the one that it finds.
fn ahead(rule: &Rule, rollout: &Rollout<'_>, gate: &Gate<'_>) -> Option<Finding> {
    let words = gate.approved_ahead_words(rollout.run)?;
    let request = gate.own_request()?;
    let object = request.object();
    let finding = rule
        .finding(&object, words)
        .severity(Severity::Warning)
        .stage(gate.stage)
        .condition(&object, request.approved()?)
        .created(&object, request.meta.created);
    let inspect = object.kubectl("get").flag("-o", "yaml");
    let finding = finding.look_with("Check who made the request, and when.", inspect);
    let action =
        "Delete the request, if somebody is to decide there: the controller makes another one.";
    Some(finding.fix_with(action, object.kubectl("delete")))
}

fn at_open_gate(
    cx: &DiagnosisContext<'_>,
    rule: &Rule,
    rollout: &Rollout<'_>,
    gate: &Gate<'_>,
) -> Option<Finding> {
    // One that the controller owes for too long is told of the controller.
    if rollout.phase != Phase::Executing || cx.outlook.silence.is_some() {
        return None;
    }
    let request = gate.own_request()?;
    let approved = request.untaken()?;
    let (object, name) = (request.object(), &request.meta.name);
    // The time is the approver's own word: never before the request, never in the future.
    let lasting = approved
        .since
        .max(request.meta.created)
        .map(|since| cx.now().duration_since(since))
        .filter(|lasting| !lasting.is_negative());
    let ago = lasting.map_or_else(String::new, |lasting| {
        format!(" {} ago", duration::describe(lasting))
    });
    let message =
        format!("{name} was approved correctly{ago}; the controller accepts it at its next check.");
    let finding = rule
        .finding(&object, message)
        .stage(gate.stage)
        .condition(&object, approved);
    let action = "Wait a minute and check again.";
    Some(finding.look_with(action, cx.command("diagnose").arg(cx.run_object().name)))
}
