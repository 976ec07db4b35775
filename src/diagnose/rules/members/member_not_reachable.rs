//! The API server of a member cluster does not answer, and its agent is silent too.

use crate::diagnose::case::Case;
use crate::diagnose::members::needed;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::kubefleet::{Concept, duration};
use crate::member::Closed;
use crate::words::Command;

/// That a cluster cannot be reached from here may be our own network. Together with an agent that
/// has stopped reporting to the hub it says that the cluster itself is away.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS922",
    name: "member-not-reachable",
    severity: Severity::Error,
    reads: &[Concept::MemberCluster],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let looks = &case.inventory.looks;
    needed(case)
        .into_iter()
        .filter_map(|needed| {
            let closed = looks.get(needed.name)?.closed.as_ref()?;
            let Closed::Unreachable(why) = closed else {
                return None;
            };
            let member = needed.member?;
            let silent = member.silent_for(case.now())?;
            let heartbeat = member.agent()?.heartbeat?;
            Some(
                needed
                    .finding(
                        rule,
                        format!(
                            "The API server of {} does not answer, and its agent last reported to \
                             the hub {} ago.",
                            needed.name,
                            duration::describe(silent)
                        ),
                    )
                    .evidence(
                        member.object(),
                        "status.agentStatus[type=MemberAgent].lastReceivedHeartbeat",
                        heartbeat,
                    )
                    .computed(member.object(), &["metadata.name"], why.clone())
                    .look(
                        "Check the cluster's control plane, its nodes, and its network.",
                        Some(Command::member(needed.name, "get").flag("--raw", "/readyz")),
                    )
                    .fix(
                        "Restore the cluster: its agent then continues by itself.",
                        None,
                    )
                    .disrupt(
                        "Or remove its MemberCluster from the fleet and start a new run without \
                         it, if the cluster is lost.",
                        case.new_run_command(),
                    ),
            )
        })
        .collect()
}
