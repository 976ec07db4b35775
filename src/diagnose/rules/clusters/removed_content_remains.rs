//! The run removed the placement from a cluster, and a Work of it is still there.

use crate::diagnose::case::Case;
use crate::diagnose::finding::count;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::diagnose::steps;
use crate::kubefleet::work::Work;
use crate::kubefleet::{Concept, duration, names};
use crate::rollout::{ClusterState, STUCK_AFTER};

/// A binding goes as soon as its Works are asked to go, so that a run counts a cluster as done
/// while the content is still there. Source: workgenerator/controller.go:listAllWorksAssociated.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS527",
    name: "removed-content-remains",
    severity: Severity::Warning,
    reads: &[Concept::Work, Concept::MemberCluster],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(rollout) = &case.rollout else {
        return Vec::new();
    };
    rollout
        .stages
        .iter()
        .filter(|stage| stage.deletes)
        .flat_map(|stage| &stage.clusters)
        .filter(|cluster| cluster.state == ClusterState::Done && cluster.binding.is_none())
        .filter_map(|cluster| one(case, rule, cluster.name, cluster.stage))
        .collect()
}

fn one(case: &Case<'_>, rule: &Rule, cluster: &str, stage: &str) -> Option<Finding> {
    let left: Vec<&Work> = case
        .inventory
        .works
        .iter()
        .filter(|work| work.cluster() == Some(cluster) && work.meta.is_deleting())
        .filter(|work| case.inventory.is_of_placement(work))
        .collect();
    let first = left.iter().min_by_key(|work| work.meta.deleted)?;
    let since = first.meta.deleted?;
    let lasting = case.now().duration_since(since);
    let ours = |work: &&&Work| {
        let mut finalizers = work.meta.finalizers.iter();
        finalizers.any(|finalizer| finalizer.starts_with(names::PREFIX))
    };
    let remains = left.iter().filter(ours).count();
    let works = count(left.len(), "Work");
    let verb = if left.len() == 1 { "is" } else { "are" };
    let what = if remains > 0 {
        "its agent has not removed the content there, which may still run".to_owned()
    } else {
        "finalizers that are not KubeFleet's hold it".to_owned()
    };
    let member = case.inventory.member(cluster);
    let silent = member.and_then(|member| member.silent_for(case.now()));
    let agent = silent.map_or_else(String::new, |silent| {
        format!(
            "; the agent has been silent for {}",
            duration::describe(silent)
        )
    });
    let late = lasting > STUCK_AFTER;
    let mut finding = rule
        .finding(
            first.object(),
            format!(
                "{} counts {cluster} as removed, but {works} of it {verb} still being deleted after \
                 {}: {what}{agent}.",
                case.run_object().name,
                duration::describe(lasting)
            ),
        )
        .severity(if late { Severity::Warning } else { Severity::Info })
        .stage(stage)
        .clusters([cluster]);
    for work in left.iter().take(3) {
        if let Some(deleted) = work.meta.deleted {
            let path = "metadata.deletionTimestamp";
            finding = finding.evidence(work.object(), path, deleted.to_string());
        }
        let finalizers = work.meta.finalizers.join(", ");
        finding = finding.evidence(work.object(), "metadata.finalizers", finalizers);
    }
    if let (Some(member), Some(_)) = (member, silent)
        && let Some(heartbeat) = member.agent().and_then(|agent| agent.heartbeat)
    {
        finding = finding.evidence(
            member.object(),
            "status.agentStatus[type=MemberAgent].lastReceivedHeartbeat",
            heartbeat.to_string(),
        );
    }
    finding = finding.look(
        format!("See what is left for {cluster}."),
        Some(steps::works_for(cluster)),
    );
    Some(if remains > 0 {
        finding.look(
            format!("Look at the agent of {cluster}: it removes the content, then the Work."),
            Some(steps::member_agent(cluster)),
        )
    } else {
        finding.fix(
            "Let whoever set the finalizers remove them.".to_owned(),
            None,
        )
    })
}
