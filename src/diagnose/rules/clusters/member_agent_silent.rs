//! A member agent has stopped reporting.

use crate::diagnose::case::Case;
use crate::diagnose::members::{Needed, needed};
use crate::diagnose::objects::goes_on;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::diagnose::steps;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::{Concept, duration};

/// No condition changes when an agent is gone: `Joined` stays True, and only the heartbeat grows
/// old. Seen on a real hub.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS516",
    name: "member-agent-silent",
    severity: Severity::Warning,
    reads: &[Concept::MemberCluster],
    caused_by: &["FS922"],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let needed = needed(case);
    if all_are_silent(case) {
        return all(case, rule, &needed);
    }
    needed
        .iter()
        .filter_map(|needed| {
            let member = needed.member.filter(|member| !member.is_leaving())?;
            one(case, rule, needed, member)
        })
        .collect()
}

/// Whether no agent at all is heard: then the fault is hardly theirs.
fn all_are_silent(case: &Case<'_>) -> bool {
    let heard_once = || {
        case.inventory.members.iter().filter(|member| {
            member
                .agent()
                .is_some_and(|agent| agent.heartbeat.is_some())
        })
    };
    heard_once().nth(1).is_some()
        && heard_once().all(|member| member.silent_for(case.now()).is_some())
}

fn one(
    case: &Case<'_>,
    rule: &Rule,
    needed: &Needed<'_>,
    member: &MemberCluster,
) -> Option<Finding> {
    let silent = member.silent_for(case.now())?;
    let heartbeat = member.agent()?.heartbeat?;
    let name = needed.name;
    let finding = heard(
        member,
        needed.finding(
            rule,
            format!(
                "The member agent of {name} last reported {} ago, at {heartbeat}; it counts as \
                 silent after {}.",
                duration::describe(silent),
                duration::describe(member.silence_limit())
            ),
        ),
    );
    let finding = finding
        .look(
            format!(
                "Check the agent on {name} and its log. `Joined` on the hub stays True without it."
            ),
            Some(steps::member_agent(name)),
        )
        .fix(
            format!("Restore {name}, its agent, or its connection to the hub's API server."),
            None,
        );
    Some(if needed.waits {
        goes_on(case, finding)
    } else {
        finding
    })
}

fn all(case: &Case<'_>, rule: &Rule, needed: &[Needed<'_>]) -> Vec<Finding> {
    let members = &case.inventory.members;
    let Some(newest) = members
        .iter()
        .filter_map(|member| member.agent()?.heartbeat)
        .max()
    else {
        return Vec::new();
    };
    if needed.is_empty() {
        return Vec::new();
    }
    let waits = needed.iter().any(|needed| needed.unexplained);
    let mut finding = rule
        .finding(
            case.run_object(),
            format!(
                "No member agent has reported for {}, since {newest}: the hub agent, which \
                 receives the reports, may be down.",
                duration::describe(case.now().duration_since(newest))
            ),
        )
        .severity(if waits {
            Severity::Error
        } else {
            Severity::Warning
        })
        .root_if(waits)
        .clusters(needed.iter().map(|needed| needed.name));
    for member in needed.iter().filter_map(|needed| needed.member).take(3) {
        finding = heard(member, finding);
    }
    vec![
        finding
            .look("Check the hub agent and its log.", Some(steps::hub_agent()))
            .look(
                "Set the time of the reading with --now, if these objects come from a file.",
                None,
            ),
    ]
}

fn heard(member: &MemberCluster, finding: Finding) -> Finding {
    let Some(heartbeat) = member.agent().and_then(|agent| agent.heartbeat) else {
        return finding;
    };
    let finding = finding.evidence(
        member.object(),
        "status.agentStatus[type=MemberAgent].lastReceivedHeartbeat",
        heartbeat.to_string(),
    );
    match member.spec.heartbeat_seconds {
        Some(seconds) => finding.evidence(
            member.object(),
            "spec.heartbeatPeriodSeconds",
            seconds.to_string(),
        ),
        None => finding,
    }
}
