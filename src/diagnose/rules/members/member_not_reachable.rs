//! The API server of a member cluster does not answer, and its agent is silent too.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::members::needed;
use crate::member::MemberGap;
use crate::problems::members::{last_heard, last_report};
use crate::words::CommandLine;

/// That a cluster cannot be reached from here may be our own network. Together with an agent that
/// has stopped reporting to the hub it says that the cluster itself is away.
pub const RULE: Rule = Rule::error("FS922", "member-not-reachable", Whole(check))
    .reads(&[Concept::MemberCluster])
    .caused_by(&["FS518"])
    .environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let looks = &cx.inventory.looks;
    needed(cx)
        .into_iter()
        .filter_map(|needed| {
            let closed = looks.get(needed.name)?.closed.as_ref()?;
            let MemberGap::Unreachable(why) = closed else {
                return None;
            };
            let member = needed.member?;
            let silent = member.silent_for(cx.now())?;
            let message = format!(
                "The API server of {} does not answer, and its agent {}.",
                needed.name,
                last_report(member, silent)
            );
            Some(
                last_heard(needed.finding(rule, message), member)
                    .computed(member.object(), &["metadata.name"], why.clone())
                    .look_with(
                        "Check the cluster's control plane, its nodes, and its network.",
                        CommandLine::member(needed.name, "get").flag("--raw", "/readyz"),
                    )
                    .fix("Restore the cluster: its agent then continues by itself.")
                    .disrupt(
                        "Or delete its MemberCluster, if the cluster is lost: the fleet then continues \
                         without it.",
                    )
                    .fix_with(
                        "Then start a new run on the clusters that are left.",
                        cx.new_run_command(),
                    ),
            )
        })
        .collect()
}
