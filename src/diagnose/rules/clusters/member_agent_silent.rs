//! A member agent has stopped reporting.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::members::{NeededMember, needed};
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Conditions, duration, reasons};
use crate::problems::members::{all_silent_since, last_heard};
use crate::problems::steps;
use jiff::{SignedDuration, Timestamp};

/// No condition changes when an agent is gone: `Joined` stays True, and only the heartbeat grows
/// old. Seen on a real hub.
pub const RULE: Rule = Rule::warning("FS516", "member-agent-silent", Whole(check))
    .reads(&[Concept::MemberCluster])
    .caused_by(&["FS517", "FS518", "FS922"])
    .environment();

/// How far apart two reports of an agent are, as a rule: with less, silence is no silence.
const TWO_REPORTS: SignedDuration = SignedDuration::from_secs(30);

/// For how long an agent is silent of which it is asked whether it comes back.
const FOR_GOOD: SignedDuration = SignedDuration::from_hours(24);

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let needed = needed(cx);
    if let Some(newest) = all_silent_since(cx.inventory.members.iter(), cx.now()) {
        return silent_members(cx, rule, &needed, newest);
    }
    needed
        .iter()
        .filter_map(|needed| {
            let is_meant =
                |it: &&MemberCluster| !it.is_leaving() || needed.is_removal && needed.waits;
            let member = needed.member.filter(is_meant)?;
            finding_on(cx, rule, needed, member)
        })
        .collect()
}

fn finding_on(
    cx: &DiagnosisContext<'_>,
    rule: &Rule,
    needed: &NeededMember<'_>,
    member: &MemberCluster,
) -> Option<Finding> {
    let silent = member.silent_for(cx.now())?;
    let heartbeat = member.heard();
    let name = needed.name;
    let for_long = duration::describe(silent);
    let message = match heartbeat {
        Some(heartbeat) => format!(
            "The member agent of {name} last reported {for_long} ago, at {heartbeat}; it counts as \
             silent after {}.",
            duration::describe(member.silence_limit())
        ),
        None => format!(
            "The member agent of {name} has never reported: the hub has been waiting for it for {for_long}."
        ),
    };
    let mut finding = heard(member, needed.stalls(rule, message));
    let mut look = format!("Check whether the agent's pods run on {name}.");
    if heartbeat.is_some() {
        look += " `Joined` on the hub stays True without them.";
    } else {
        let joined = member.status.conditions.condition(reasons::JOINED);
        finding = finding.condition(&member.object(), joined);
    }
    let finding = finding
        .look_with(look, steps::member_agent(name))
        .fix(format!(
            "Restore {name}, its agent, or its connection to the hub's API server."
        ));
    if !needed.waits {
        return Some(finding);
    }
    let finding = finding.then_continues(cx);
    if silent < FOR_GOOD {
        return Some(finding);
    }
    Some(finding.disrupt(format!(
        "Or remove {name} from the fleet, if it does not come back, and start a new run without it."
    )))
}

fn silent_members(
    cx: &DiagnosisContext<'_>,
    rule: &Rule,
    needed: &[NeededMember<'_>],
    newest: Timestamp,
) -> Vec<Finding> {
    let severity = match cx.verdict {
        // What was rolled out may have changed since, and the hub does not know.
        Verdict::Succeeded => Some(Severity::Info),
        // A run is initialized by the agent that receives the reports.
        Verdict::Initializing => Some(Severity::Warning),
        _ => None,
    };
    if needed.is_empty() && severity.is_none() {
        return Vec::new();
    }
    let waits = needed.iter().any(|needed| needed.waits);
    let silent = duration::describe(cx.now().duration_since(newest));
    // Reports were due when the hub agent wrote that.
    let runs = cx.inventory.runs.iter();
    let mut written = runs.filter_map(UpdateRun::last_write);
    let works = written.any(|it| it.duration_since(newest) > TWO_REPORTS);
    let message = if works {
        format!(
            "No member agent has reported for {silent}, since {newest}; the hub agent, which receives the \
             reports, has worked on update runs since."
        )
    } else {
        format!(
            "No member agent has reported for {silent}, since {newest}: the hub agent, which receives the \
             reports, may be down."
        )
    };
    let mut finding = rule
        .finding(cx.run_object(), message)
        .severity(
            severity
                .filter(|_| needed.is_empty())
                .unwrap_or(Severity::error_if(waits)),
        )
        .root_if(waits)
        .clusters(needed.iter().map(|needed| needed.name));
    let all = cx.inventory.members.iter().filter(|_| needed.is_empty());
    let needed = needed.iter().filter_map(|needed| needed.member);
    for member in needed.chain(all).take(3) {
        finding = heard(member, finding);
    }
    let finding = if works {
        finding.look("Check the member agents, and their connection to the hub's API server.")
    } else {
        let action = "Check whether the hub agent's pods run.";
        finding.look_with(action, steps::hub_agent())
    };
    vec![finding.look("Set the time of the reading with --now, if these objects come from a file.")]
}

fn heard(member: &MemberCluster, finding: Finding) -> Finding {
    let seconds = member.spec.heartbeat_seconds;
    last_heard(finding, member).known(member.object(), "spec.heartbeatPeriodSeconds", seconds)
}
