//! A gate waits for a person.

use jiff::SignedDuration;

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::back::taken_back;
use crate::diagnose::subjects::changes_ahead::fails_again;
use crate::diagnose::subjects::gate::{check_failing, hold_back, opens, summarized_gate, unlisted};
use crate::inventory::Sight;
use crate::kubefleet::{duration, reasons};
use crate::rollout::approvals::removed;
use crate::rollout::content::{failing_before, missing_content};
use crate::rollout::rollback::TakenBack;
use crate::rollout::{ClusterState, Gate, Phase, Rollout};

/// An approval request without an answer.
pub const RULE: Rule = Rule::info("FS402", "approval-pending", Live(check))
    .reads(&[Concept::ApprovalRequest])
    .person();

/// What to look at before approving, as far as there is something to see.
fn condition(rollout: &Rollout<'_>) -> String {
    let has_done = rollout.clusters().any(|it| it.state == ClusterState::Done);
    let (looks, none) = if has_done {
        (", if the rollout looks right so far", "")
    } else {
        (" to begin the rollout", ": no cluster is done yet")
    };
    // A change there makes the controller abort the run.
    let members = &rollout.inventory.members;
    let members = members.gap.as_ref().filter(|_| members.items.is_empty());
    match members {
        Some(_) => {
            format!("{looks}; whether the labels of its clusters have changed was not read.")
        }
        None => format!("{looks}{none}."),
    }
}

/// Whether an older agent asked for an approval, and the one that is there does not work on the run.
fn is_idle(rollout: &Rollout<'_>) -> bool {
    rollout.phase == Phase::Idle
}

/// What is true of a request that nobody has answered, after so long.
fn message(
    cx: &DiagnosisContext<'_>,
    rollout: &Rollout<'_>,
    gate: &Gate<'_>,
    waiting: Option<SignedDuration>,
) -> String {
    let name = &gate.task.approval_request;
    let run = cx.run_object().name;
    let lasting = duration::lasting(waiting);
    let what = opens(cx, gate);
    let is_unread = matches!(gate.request, Some(Sight::Unknown(_)));
    let aborts = cx.outlook.aborts(cx.verdict);
    let halted = rollout.phase.is_halted();
    if is_unread && aborts.is_none() && !halted {
        format!(
            "{name} has been waiting{lasting} for an approval; whether somebody has answered was not \
             read."
        )
    } else if aborts.is_some() {
        format!("{name} is not approved; an approval does not let {run} continue.")
    } else if halted || is_idle(rollout) {
        let begins = if halted { "resumed" } else { "started" };
        format!("{name} is not approved yet; once {run} is {begins}, approving lets {what}.")
    } else if missing_content(rollout).is_some()
        || summarized_gate(cx, rollout).is_some_and(|told| std::ptr::eq(told, gate))
    {
        // The summary says what approving it opens, or why it is not to be approved.
        format!("{name} has been waiting{lasting} for an approval.")
    } else {
        format!("{name} has been waiting{lasting} for an approval; approving lets {what}.")
    }
}

/// What to do about it; `removes` is whether an approval removes the placement from clusters.
fn remedies(
    cx: &DiagnosisContext<'_>,
    rollout: &Rollout<'_>,
    request: &str,
    removes: bool,
    finding: Finding,
) -> Finding {
    let run = cx.run_object().name;
    let approve = Some(cx.command("approve").arg(request));
    if cx.outlook.aborts(cx.verdict).is_some() {
        finding
    } else if let Some(back) = TakenBack::for_run(cx.inventory, rollout.run) {
        taken_back(cx, finding, &back)
    } else if is_idle(rollout) {
        finding.look("Resolve FS604 first: nothing works on the run.")
    } else if removes {
        finding
            .look_with(
                "Check which clusters lose the placement, and what runs there.",
                cx.command("status").arg(run),
            )
            .disrupt_with(
                "Approve only if the workloads there may be deleted: nothing brings them back.",
                approve,
            )
    } else if rollout.phase.is_halted() {
        finding
            .fix_with(
                "Resume the run when the rollout should continue.",
                cx.command("resume").arg(run),
            )
            .fix_with(format!("Then approve{}", condition(rollout)), approve)
    } else {
        hold_back(
            cx,
            finding.fix_with(format!("Approve{}", condition(rollout)), approve),
        )
    }
}

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, rollout: &Rollout<'_>) -> Vec<Finding> {
    let run = cx.run_object();
    let mut findings = Vec::new();
    for gate in rollout.open_approvals() {
        let name = &gate.task.approval_request;
        let object = cx.object(Concept::ApprovalRequest, name);
        let since = match &gate.request {
            Some(Sight::Present(request)) => {
                // Any answer, right or wrong, is another rule's business, and so is a request that
                // is not the run's own.
                if gate.foreign || request.approved().is_some() || request.is_accepted() {
                    continue;
                }
                request.meta.created
            }
            // Its absence is another rule's business.
            Some(Sight::Absent) | None => continue,
            Some(Sight::Unknown(_)) => None,
        };
        let since = since.or_else(|| gate.task.conditions.iter().filter_map(|c| c.since).max());
        let waiting = since.map(|since| cx.now().duration_since(since));
        let removed = removed(rollout, gate);
        let removes = !removed.is_empty();
        let aborts = cx.outlook.aborts(cx.verdict);
        let mut finding = rule
            .finding(&object, message(cx, rollout, gate, waiting))
            .root_if(cx.verdict == Verdict::WaitingForApproval)
            .stage(gate.stage)
            .clusters(removed.iter().copied())
            .evidence(&run, format!("{}.approvalRequestName", gate.path()), name);
        if let Some(Sight::Present(request)) = &gate.request {
            finding = finding.evidence(&object, "status.conditions[type=Approved]", ABSENT);
            finding = finding.created(&object, request.meta.created);
            // Types are compared to the letter. Source: k8s.io/apimachinery/pkg/api/meta/conditions.go.
            let mut written = request.status.conditions.iter();
            let misspelled = written.find(|it| it.kind.eq_ignore_ascii_case(reasons::APPROVED));
            if let Some(misspelled) = misspelled {
                let (kind, right) = (&misspelled.kind, reasons::APPROVED);
                finding.add_sentence(&format!(
                    "It has a condition of type {kind}, which KubeFleet does not read: the type is {right}."
                ));
                finding = finding.condition(&object, misspelled);
            }
        }
        if !removes {
            finding = check_failing(cx, finding);
        }
        // What is certain is a step of its own.
        let failing = match fails_again(cx, true) {
            Some(_) => None,
            None => fails_again(cx, false).or_else(|| failing_before(rollout)),
        };
        if let Some(failing) = failing.filter(|_| aborts.is_none()) {
            finding.add_sentence(&format!("{failing}."));
        }
        findings.push(remedies(cx, rollout, name, removes, finding));
    }
    found_or(findings, || unlisted(cx, rule, true))
}
