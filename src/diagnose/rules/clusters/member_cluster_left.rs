//! A member cluster of an unfinished rollout is leaving the fleet, or has left it.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::members::{NeededMember, needed};
use crate::kubefleet::member::MemberCluster;
use crate::problems::members::{going, leaving, wait_until_gone};
use crate::rollout::ClusterView;

/// The MemberCluster is being deleted, says `Joined=False`, or does not exist.
/// Source: membercluster/v1beta1/membercluster_controller.go.
pub const RULE: Rule = Rule::warning("FS518", "member-cluster-left", Whole(check))
    .reads(&[Concept::MemberCluster])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let mut findings = Vec::new();
    for mut needed in needed(cx) {
        let name = needed.name;
        // A cluster that leaves stops what it waits for on the hub as well: its namespace goes.
        needed.waits |= cx
            .troubles
            .iter()
            .any(|failing| failing.cluster == name && failing.explains(cx.verdict));
        let is_gone = needed.member.is_none() && cx.inventory.member_is_absent(name);
        let leaves = needed.member.is_some_and(MemberCluster::is_leaving);
        if (is_gone || leaves) && needed.is_removal {
            findings.push(abandoned(cx, &needed, rule));
            continue;
        }
        let finding = match needed.member {
            Some(member) if member.is_leaving() => {
                let state = if member.meta.is_deleting() {
                    "is leaving the fleet (its MemberCluster is being deleted)"
                } else {
                    "has left the fleet"
                };
                let message = format!("{name} {state}, but the rollout still needs it.");
                leaving(needed.finding(rule, message), member)
            }
            None if is_gone => needed
                .finding(
                    rule,
                    format!("{name} is no longer in the fleet, but the rollout still needs it."),
                )
                .absent(cx.object(Concept::MemberCluster, name)),
            _ => continue,
        };
        let going = needed.member.filter(|member| member.meta.is_deleting());
        if let Some(member) = going {
            findings.push(once_gone(cx, finding, member));
            continue;
        }
        let lives = cx.rollout.as_ref().filter(|rollout| rollout.is_live());
        let unless = lives.map_or_else(String::new, |rollout| {
            format!(", if {} has failed by then", rollout.run.meta.name)
        });
        let step = format!(
            "Join {name} again, if it should stay. Then start a new run{unless}: it is computed from \
             the clusters that are scheduled at that time."
        );
        findings.push(finding.fix_with(step, cx.new_run_command()));
    }
    findings.extend(done_and_leaving(cx, rule));
    findings
}

/// The steps about a cluster that is being deleted.
fn once_gone(cx: &DiagnosisContext<'_>, mut finding: Finding, member: &MemberCluster) -> Finding {
    let mut all = going(cx.inventory);
    if !all.iter().any(|it| it.meta.name == member.meta.name) {
        all.push(member);
    }
    finding.remedies.extend(wait_until_gone(&all, cx.now()));
    let action = "Then start a new run. To keep the cluster, join it again before.";
    finding.fix_with(action, cx.new_run_command())
}

/// Clusters that a live run is done with, and that are leaving the fleet: the stages must have a place for every
/// binding, and a binding for every place. Source: updaterun/validation.go:validateUpdateStagesStatus.
fn done_and_leaving(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(rollout) = cx.rollout.as_ref().filter(|it| it.is_live()) else {
        return Vec::new();
    };
    let done = rollout.done_clusters();
    let leaving_members = done.filter_map(|it| Some((it, it.member?)));
    let leaving_members = leaving_members.filter(|(_, member)| member.meta.is_deleting());
    let run = &rollout.run.meta.name;
    let finding = |(cluster, member): (&ClusterView<'_>, &MemberCluster)| {
        let name = cluster.name;
        let message = format!(
            "{name} is leaving the fleet (its MemberCluster is being deleted): {run} is done there, and fails \
             all the same once it is gone."
        );
        let object = member.object();
        let finding = rule.finding(&object, message).clusters([name]);
        let finding = leaving(finding.stage(cluster.stage), member);
        once_gone(cx, finding, member)
    };
    leaving_members.map(finding).collect()
}

/// A cluster that left or leaves, of which a run removes the placement: then only the binding is left to remove, and
/// the run does not fail for it. Source: membercluster/v1beta1/membercluster_controller.go:handleDelete;
/// updaterun/validation.go:validateDeleteStageStatus.
fn abandoned(cx: &DiagnosisContext<'_>, needed: &NeededMember<'_>, rule: &Rule) -> Finding {
    let name = needed.name;
    let (state, what) = match needed.member {
        Some(member) if member.meta.is_deleting() => {
            ("is leaving the fleet", "is in the cluster once it has left")
        }
        Some(_) => ("has left the fleet", "runs in the cluster"),
        None => ("is no longer in the fleet", "runs in the cluster"),
    };
    let message =
        format!("{name} {state}: the run removes the binding, and what {what} stays there.");
    let finding = needed.finding(rule, message);
    let finding = finding.severity(Severity::Info);
    let finding = match needed.member {
        Some(member) => leaving(finding, member),
        None => finding.absent(cx.object(Concept::MemberCluster, name)),
    };
    finding.fix("Delete in the cluster itself what should not run there any more.")
}
