//! A member agent reports that its cluster is not healthy.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::members::needed;
use crate::words::CommandLine;

/// `Healthy=False` of the agent: the member's API server does not answer its health probe.
/// Source: internalmembercluster/v1beta1/member_controller.go:updateHealth.
pub const RULE: Rule = Rule::warning("FS517", "member-cluster-unhealthy", Whole(check))
    .reads(&[Concept::MemberCluster])
    .caused_by(&["FS518"])
    .environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    needed(cx)
        .iter()
        .filter_map(|needed| {
            let member = needed.member?;
            let healthy = member.unhealthy()?;
            let name = needed.name;
            let why = match healthy.message.trim_end_matches('.') {
                "" => String::new(),
                text => format!(": {text}"),
            };
            let since = healthy
                .since
                .map_or_else(String::new, |since| format!(" since {since}"));
            let message = format!("The member agent reports {name} as unhealthy{since}{why}.");
            let finding = needed
                .stalls(rule, message)
                .condition_at(
                    &member.object(),
                    "status.agentStatus[type=MemberAgent]",
                    healthy,
                )
                .look_with(
                    format!("Check which health check of the API server on {name} fails."),
                    CommandLine::member(name, "get").flag("--raw", "/healthz?verbose"),
                )
                .fix(format!("Fix the control plane of {name}."));
            Some(if needed.waits {
                finding.then_continues(cx)
            } else {
                finding
            })
        })
        .collect()
}
