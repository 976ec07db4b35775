//! What the scheduler decided about clusters, in words.

use crate::report::Compose;
use std::collections::BTreeMap;

use crate::inventory::Inventory;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::messages::{FilterReason, ScheduleProblem, parse_decision};
use crate::kubefleet::snapshot::{Decision as ClusterDecision, PolicySnapshot};
use crate::rollout::near::{NearMiss, near_miss};
use crate::words::enumerate;

/// The clusters that the policy did not pick.
fn left_out(policy: &PolicySnapshot) -> impl Iterator<Item = &ClusterDecision> {
    policy.status.decisions.iter().filter(|it| !it.selected)
}

/// The names of the clusters that the policy did not pick.
pub fn names_left_out(policy: &PolicySnapshot) -> impl Iterator<Item = &str> {
    left_out(policy).map(|decision| decision.cluster.as_str())
}

/// Clusters that the policy did not pick, by the reason in our words.
pub fn not_picked<'p>(
    policy: &'p PolicySnapshot,
    inventory: &Inventory,
) -> BTreeMap<String, Vec<&'p str>> {
    let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for decision in left_out(policy) {
        let near = near(policy, inventory, decision)
            .map(|(_, near)| format!(" (has {}, needs {})", near.has, near.wanted));
        let why = why(&decision.reason) + &near.unwrap_or_default();
        groups.entry(why).or_default().push(&decision.cluster);
    }
    groups
}

/// A cluster that is left out for its labels, where these are nearly what a term asks for.
fn near<'i>(
    policy: &PolicySnapshot,
    inventory: &'i Inventory,
    decision: &ClusterDecision,
) -> Option<(&'i MemberCluster, NearMiss)> {
    let for_labels = match parse_decision(&decision.reason) {
        ScheduleProblem::Unschedulable { reasons } => {
            reasons.contains(&FilterReason::AffinityMismatch)
        }
        _ => false,
    };
    let member = inventory.member(&decision.cluster).filter(|_| for_labels)?;
    let mut terms = policy.required_labels();
    let near = terms.find_map(|labels| near_miss(labels, &member.meta.labels))?;
    Some((member, near))
}

/// `member-3: taint a=b not tolerated; …`, the largest groups first; `None` when every
/// cluster was picked.
pub fn explain(groups: &BTreeMap<String, Vec<&str>>) -> Option<String> {
    const SHOWN: usize = 3;
    let mut sorted: Vec<_> = groups.iter().collect();
    sorted.sort_by_key(|(_, clusters)| std::cmp::Reverse(clusters.len()));
    let mut parts: Vec<_> = sorted
        .iter()
        .take(SHOWN)
        .map(|(reason, clusters)| format!("{}: {reason}", enumerate(*clusters)))
        .collect();
    if sorted.len() > SHOWN {
        let rest: usize = sorted.iter().skip(SHOWN).map(|(_, list)| list.len()).sum();
        parts.push(format!("{rest} more for other reasons"));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Adds the reasons as the snapshot has them.
pub fn evidence<B: Compose>(policy: &PolicySnapshot, inventory: &Inventory, mut finding: B) -> B {
    const SHOWN: usize = 8;
    let object = policy.object();
    for decision in left_out(policy).take(SHOWN) {
        finding = finding.evidence(
            &object,
            format!(
                "status.targetClusters[clusterName={}].reason",
                decision.cluster
            ),
            &decision.reason,
        );
        if let Some((member, _)) = near(policy, inventory, decision) {
            finding = finding.evidence(member.object(), "metadata.labels", &member.meta.labels);
        }
    }
    finding
}

/// The clusters that the scheduler leaves out until somebody changes a label, a taint, or the
/// policy, with the reason: waiting does not bring them.
pub fn left_out_for_good<'p>(
    policy: &'p PolicySnapshot,
    inventory: &Inventory,
) -> BTreeMap<String, Vec<&'p str>> {
    let mut groups = not_picked(policy, inventory);
    for clusters in groups.values_mut() {
        clusters.retain(|cluster| {
            let decisions = policy.status.decisions.iter();
            decisions
                .filter(|decision| !decision.selected && decision.cluster == *cluster)
                .any(|decision| is_for_good(&decision.reason))
        });
    }
    groups.retain(|_, clusters| !clusters.is_empty());
    groups
}

fn is_for_good(text: &str) -> bool {
    let reasons = match parse_decision(text) {
        ScheduleProblem::NotEligible { reason, .. } => vec![reason],
        ScheduleProblem::Unschedulable { reasons } => reasons,
        ScheduleProblem::ClusterNotFound { .. } => return true,
        ScheduleProblem::Picked { .. }
        | ScheduleProblem::ScoreTooLow { .. }
        | ScheduleProblem::Other { .. } => {
            return false;
        }
    };
    reasons.iter().any(|reason| match reason {
        FilterReason::LeftFleet
        | FilterReason::AffinityMismatch
        | FilterReason::Taint { .. }
        | FilterReason::TopologySpread { .. }
        | FilterReason::NamespaceMissing => true,
        FilterReason::AgentNotOnline
        | FilterReason::NoHeartbeat { .. }
        | FilterReason::AgentNotJoined
        | FilterReason::HealthUnknown
        | FilterReason::Unhealthy { .. }
        | FilterReason::NamespacesUnknown
        | FilterReason::AlreadyPlaced
        | FilterReason::Other { .. } => false,
    })
}

/// The step where waiting for the scheduler does not help; `None` where it may.
pub fn not_by_waiting(for_good: &BTreeMap<String, Vec<&str>>) -> Option<String> {
    let reasons = explain(for_good)?;
    Some(format!(
        "Change what excludes clusters, or ask for fewer: waiting does not help ({reasons})."
    ))
}

fn why(text: &str) -> String {
    match parse_decision(text) {
        ScheduleProblem::Picked { .. } => "picked".to_owned(),
        ScheduleProblem::NotEligible { reason, .. } => words(&reason),
        ScheduleProblem::ClusterNotFound { .. } => "no such MemberCluster".to_owned(),
        ScheduleProblem::ScoreTooLow { .. } => "other clusters were preferred".to_owned(),
        ScheduleProblem::Unschedulable { reasons } => {
            let words: Vec<_> = reasons.iter().map(words).collect();
            words.join(" and ")
        }
        ScheduleProblem::Other { text } if text.is_empty() => "reason unknown".to_owned(),
        ScheduleProblem::Other { text } => format!("`{text}`"),
    }
}

fn words(reason: &FilterReason) -> String {
    let ago = |minutes: &Option<u64>| {
        minutes.map_or_else(String::new, |minutes| format!(" for {minutes}m"))
    };
    match reason {
        FilterReason::LeftFleet => "left the fleet".to_owned(),
        FilterReason::AgentNotOnline => "member agent has never reported".to_owned(),
        FilterReason::NoHeartbeat { minutes } => {
            format!("member agent silent{}", ago(minutes))
        }
        FilterReason::AgentNotJoined => "member agent has not joined".to_owned(),
        FilterReason::HealthUnknown => "member agent has not reported its health".to_owned(),
        FilterReason::Unhealthy { minutes } => {
            format!("member agent unhealthy{}", ago(minutes))
        }
        FilterReason::AffinityMismatch => "no required affinity term matches".to_owned(),
        FilterReason::Taint { key, value, effect } => {
            let value = if value.is_empty() {
                String::new()
            } else {
                format!("={value}")
            };
            let effect = if effect.is_empty() {
                String::new()
            } else {
                format!(":{effect}")
            };
            format!("taint {key}{value}{effect} not tolerated")
        }
        FilterReason::TopologySpread { key, .. } => {
            format!("the spread constraint on {key} would be violated")
        }
        FilterReason::NamespacesUnknown => "namespaces not reported".to_owned(),
        FilterReason::NamespaceMissing => "the placement's namespace is missing there".to_owned(),
        FilterReason::AlreadyPlaced => "the placement is there already".to_owned(),
        FilterReason::Other { text } => format!("`{text}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::is_for_good;

    #[test]
    fn only_what_somebody_has_to_change_keeps_a_cluster_out_for_good() {
        for text in [
            "ClusterUnschedulable, taint &{Key:maintenance Value:true Effect:NoSchedule} cannot be tolerated",
            "ClusterUnschedulable, target namespace does not exist on cluster",
        ] {
            assert!(is_for_good(text), "{text}");
        }
        for text in [
            "ClusterUnschedulable, cluster is not connected to the fleet: no recent heartbeat \
             signals (last received 12.40 minutes ago)",
            "Successfully scheduled resources for placement in \"member1\" (affinity score: 0, \
             topology spread score: 0): picked by scheduling policy",
            "",
        ] {
            assert!(!is_for_good(text), "{text}");
        }
    }
}
