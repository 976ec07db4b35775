//! A gate waits for a person.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::back::taken_back;
use crate::diagnose::subjects::gate::{check_failing, hold_back, opens, summarized_gate, unlisted};
use crate::inventory::Sight;
use crate::kubefleet::{duration, reasons};
use crate::rollout::approvals::removed;
use crate::rollout::content::{failing_before, missing_content};
use crate::rollout::rollback::TakenBack;
use crate::rollout::{ClusterState, Phase, Rollout};

/// An approval request without an answer.
pub const RULE: Rule = Rule::info("FS402", "approval-pending", RuleSearch::Live(check))
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

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, rollout: &Rollout<'_>) -> Vec<Finding> {
    let run = cx.run_object();
    let halted = rollout.phase.is_halted();
    // An older agent asked for it, and the one that is there does not work on the run.
    let is_idle = rollout.phase == Phase::Idle;
    let mut findings = Vec::new();
    for gate in rollout.open_approvals() {
        let name = &gate.task.approval_request;
        let object = cx.object(Concept::ApprovalRequest, name);
        let is_unread = matches!(gate.request, Some(Sight::Unknown(_)));
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
        let lasting = duration::lasting(waiting);
        let what = opens(cx, gate);
        let removed = removed(rollout, gate);
        let removes = !removed.is_empty();
        let aborts = cx.outlook.aborts(cx.verdict);
        let message = if is_unread && aborts.is_none() && !halted {
            format!(
                "{name} has been waiting{lasting} for an approval; whether somebody has answered was not \
                 read."
            )
        } else if aborts.is_some() {
            format!(
                "{name} is not approved; an approval does not let {} continue.",
                run.name
            )
        } else if halted || is_idle {
            let begins = if is_idle { "started" } else { "resumed" };
            format!(
                "{name} is not approved yet; once {} is {begins}, approving lets {what}.",
                run.name
            )
        } else if missing_content(rollout).is_some()
            || summarized_gate(cx, rollout).is_some_and(|told| std::ptr::eq(told, gate))
        {
            // The summary says what approving it opens, or why it is not to be approved.
            format!("{name} has been waiting{lasting} for an approval.")
        } else {
            format!("{name} has been waiting{lasting} for an approval; approving lets {what}.")
        };
        let mut finding = rule
            .finding(&object, message)
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
        if let Some(failing) = failing_before(rollout).filter(|_| aborts.is_none()) {
            finding.add_sentence(&format!("{failing}."));
        }
        let approve = Some(cx.command("approve").arg(name));
        findings.push(if aborts.is_some() {
            finding
        } else if let Some(back) = TakenBack::for_run(cx.inventory, rollout.run) {
            taken_back(cx, finding, &back)
        } else if is_idle {
            finding.look("Resolve FS604 first: nothing works on the run.")
        } else if removes {
            let name = cx.run_object().name;
            finding
                .look_with(
                    "Check which clusters lose the placement, and what runs there.",
                    cx.command("status").arg(name),
                )
                .disrupt_with(
                    "Approve only if the workloads there may be deleted: nothing brings them back.",
                    approve,
                )
        } else if halted {
            finding
                .fix_with(
                    "Resume the run when the rollout should continue.",
                    cx.command("resume").arg(&run.name),
                )
                .fix_with(format!("Then approve{}", condition(rollout)), approve)
        } else {
            hold_back(
                cx,
                finding.fix_with(format!("Approve{}", condition(rollout)), approve),
            )
        });
    }
    found_or(findings, || unlisted(cx, rule, true))
}
