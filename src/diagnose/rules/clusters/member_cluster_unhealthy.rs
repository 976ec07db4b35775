//! A member agent reports that its cluster is not healthy.

use crate::diagnose::case::Case;
use crate::diagnose::members::needed;
use crate::diagnose::objects::goes_on;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::{Concept, Conditions, reasons};
use crate::words::Command;

/// `Healthy=False` of the agent: the member's API server does not answer its health probe.
/// Source: internalmembercluster/v1beta1/member_controller.go:updateHealth.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS517",
    name: "member-cluster-unhealthy",
    severity: Severity::Warning,
    reads: &[Concept::MemberCluster],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    needed(case)
        .iter()
        .filter_map(|needed| {
            let member = needed.member?;
            let healthy = member
                .agent()?
                .conditions
                .condition(reasons::HEALTHY)
                .filter(|healthy| healthy.is_false())?;
            let name = needed.name;
            let why = match healthy.message.trim_end_matches('.') {
                "" => String::new(),
                text => format!(": {text}"),
            };
            let since = healthy
                .since
                .map_or_else(String::new, |since| format!(" since {since}"));
            let finding = needed
                .finding(
                    rule,
                    format!("The member agent reports {name} as unhealthy{since}{why}."),
                )
                .condition(
                    &member.object(),
                    "status.agentStatus[type=MemberAgent]",
                    healthy,
                )
                .look(
                    format!("Check which health check of the API server on {name} fails."),
                    Some(Command::member(name, "get").flag("--raw", "/healthz?verbose")),
                )
                .fix(format!("Fix the control plane of {name}."), None);
            Some(if needed.waits {
                goes_on(case, finding)
            } else {
                finding
            })
        })
        .collect()
}
