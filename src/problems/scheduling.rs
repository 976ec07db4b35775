//! What the scheduler decided about clusters, in words.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use super::prelude::*;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::messages::{FilterReason, ScheduleProblem, parse_decision};
use crate::kubefleet::selector::{ClusterSelectorTerm, LabelSelector, PropertyRequirement};
use crate::kubefleet::snapshot::{Decision as ClusterDecision, PolicySnapshot};
use crate::rollout::near::{NearMiss, near_miss};
use crate::words::{by_key, said_if};

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
    by_key(left_out(policy).map(|decision| {
        let near = near(policy, inventory, decision)
            .map(|(_, near)| format!("has {}, needs {}", near.has, near.wanted));
        let member = inventory.member(&decision.cluster);
        let detail = near
            .or_else(|| by_property(policy, member?, decision))
            .or_else(|| needs(policy, member?).filter(|_| is_for_terms(decision)));
        let detail = match detail {
            Some(detail) => format!(" ({detail})"),
            None if is_heard_again(inventory, decision) => " then, and reports now".to_owned(),
            None => String::new(),
        };
        let why = describe_reason(&decision.reason) + &detail;
        (why, decision.cluster.as_str())
    }))
}

/// What speaks against a cluster that was left out for what it is.
fn filters(decision: &ClusterDecision) -> Vec<FilterReason> {
    match parse_decision(&decision.reason) {
        ScheduleProblem::Unschedulable { reasons } => reasons,
        _ => Vec::new(),
    }
}

/// Whether a cluster was left out because its agent was silent, which reports now. The scheduler does not
/// look again for that. Source: scheduler/watchers/membercluster/watcher.go.
fn is_heard_again(inventory: &Inventory, decision: &ClusterDecision) -> bool {
    let silent = |it: &FilterReason| matches!(it, FilterReason::NoHeartbeat { .. });
    let was_silent = filters(decision).iter().any(silent);
    let member = inventory.member(&decision.cluster);
    let reports =
        |it: &MemberCluster| it.heard().is_some() && it.silent_for(inventory.now).is_none();
    was_silent && member.is_some_and(reports)
}

/// The clusters that were left out because their agents were silent, which report now.
pub fn heard_again<'p>(
    policy: &'p PolicySnapshot,
    inventory: &Inventory,
) -> impl Iterator<Item = &'p str> {
    let again = left_out(policy).filter(|it| is_heard_again(inventory, it));
    again.map(|it| it.cluster.as_str())
}

/// Why a policy does not match a cluster, by the cluster's taints, labels and properties; `None` where
/// these do not tell.
pub fn by_policy(policy: &PolicySnapshot, member: &MemberCluster) -> Option<String> {
    judged(policy, member)?.err()
}

/// Whether a policy surely takes a cluster with these labels, taints, and properties, apart from how
/// many it takes.
pub fn accepts(policy: &PolicySnapshot, member: &MemberCluster) -> bool {
    judged(policy, member) == Some(Ok(()))
}

/// Whether a policy matches a cluster, or why not; `None` where that cannot be judged.
fn judged(policy: &PolicySnapshot, member: &MemberCluster) -> Option<Result<(), String>> {
    if member.is_leaving() {
        return Some(Err(words(&FilterReason::LeftFleet)));
    }
    let mut taints = member.spec.taints.iter();
    if let Some(taint) = taints.find(|taint| !policy.tolerates(taint)) {
        return Some(Err(words(&FilterReason::Taint {
            key: taint.key.clone(),
            value: taint.value.clone(),
            effect: taint.effect.clone(),
        })));
    }
    if let Some(needs) = needs(policy, member) {
        let reason = words(&FilterReason::AffinityMismatch);
        return Some(Err(format!("{reason} ({needs})")));
    }
    by_terms(policy, member)
}

/// `needs env=prod`, where a cluster has the labels of no required term.
fn needs(policy: &PolicySnapshot, member: &MemberCluster) -> Option<String> {
    let wanted = policy.required_labels().map(LabelSelector::describe);
    let wanted: Vec<_> = wanted.collect();
    let is_none = matching(policy, member).next().is_none() && !wanted.is_empty();
    is_none.then(|| format!("needs {}", wanted.join(" or ")))
}

/// Whether a cluster is left out because no required term matches it.
fn is_for_terms(decision: &ClusterDecision) -> bool {
    filters(decision).contains(&FilterReason::AffinityMismatch)
}

/// The required terms whose labels a cluster has.
fn matching<'p>(
    policy: &'p PolicySnapshot,
    member: &MemberCluster,
) -> impl Iterator<Item = &'p ClusterSelectorTerm> {
    policy.required_terms().filter(|term| {
        let labels = term.labels.as_deref();
        labels.is_none_or(|labels| labels.matches(&member.meta.labels) != Some(false))
    })
}

/// Whether one of the terms whose labels a cluster has matches it, or the properties that keep it out;
/// `None` where one may match.
fn by_terms(policy: &PolicySnapshot, member: &MemberCluster) -> Option<Result<(), String>> {
    let judged: Vec<_> = matching(policy, member)
        .map(|term| by_term(term, member))
        .collect();
    if judged.is_empty() || judged.contains(&Some(Ok(()))) {
        return Some(Ok(()));
    }
    let missed: Option<Vec<_>> = judged.into_iter().map(|it| it?.err()).collect();
    Some(Err(missed?.join(" and ")))
}

/// The same of one term.
fn by_term(term: &ClusterSelectorTerm, member: &MemberCluster) -> Option<Result<(), String>> {
    let properties = term.properties.iter().flat_map(|it| &it.expressions);
    let judged: Vec<_> = properties.map(|it| property(it, member)).collect();
    if let Some(missed) = judged.iter().flatten().find(|it| it.is_err()) {
        return Some(missed.clone());
    }
    let labels = term.labels.as_deref();
    let is_known = labels.is_none_or(|labels| labels.matches(&member.meta.labels).is_some());
    (is_known && judged.iter().all(Option::is_some)).then_some(Ok(()))
}

/// What the properties of a cluster say of a decision against it: what is missing now, or what the
/// policy ranks it by.
fn by_property(
    policy: &PolicySnapshot,
    member: &MemberCluster,
    decision: &ClusterDecision,
) -> Option<String> {
    match parse_decision(&decision.reason) {
        ScheduleProblem::Unschedulable { .. } => by_terms(policy, member)?
            .err()
            .filter(|_| is_for_terms(decision)),
        ScheduleProblem::ScoreTooLow => {
            let sorters = policy.sorters(member).filter_map(|sorter| {
                let has = match member.property(&sorter.name).ok()? {
                    Some(has) => format!("has {has}"),
                    None => "does not report it".to_owned(),
                };
                let order = sorter.order.to_ascii_lowercase();
                Some(format!("ranked by {}, {order}: it {has}", sorter.name))
            });
            let sorters: Vec<_> = sorters.collect();
            (!sorters.is_empty()).then(|| sorters.join("; "))
        }
        _ => None,
    }
}

/// Whether a requirement is met where what is there compares so to what is asked for.
type IsMetBy = fn(Ordering) -> bool;

/// The operators of requirements on properties: their signs, and which order meets them.
const OPERATORS: [(&str, &str, IsMetBy); 6] = [
    ("Gt", ">", Ordering::is_gt),
    ("Ge", ">=", Ordering::is_ge),
    ("Eq", "=", Ordering::is_eq),
    ("Ne", "!=", Ordering::is_ne),
    ("Lt", "<", Ordering::is_lt),
    ("Le", "<=", Ordering::is_le),
];

/// Whether a property is as it is asked for, or what it is; `None` where that cannot be judged. A
/// cluster that does not report it is out.
fn property(wanted: &PropertyRequirement, member: &MemberCluster) -> Option<Result<(), String>> {
    let PropertyRequirement {
        name,
        operator,
        values,
    } = wanted;
    let (_, sign, is_met) = OPERATORS.iter().find(|(word, ..)| word == operator)?;
    let value = values.first()?;
    let Some(has) = member.property(name).ok()? else {
        let missing = format!("it does not report property {name}");
        return Some(Err(format!(
            "{missing}, and the policy needs {sign} {value}"
        )));
    };
    let order = quantity(has)?.partial_cmp(&quantity(value)?)?;
    let missed = || format!("property {name} is {has}, and the policy needs {sign} {value}");
    Some(is_met(order).then_some(()).ok_or_else(missed))
}

/// A quantity as Kubernetes writes it: `4`, `500m`, `16Gi`.
fn quantity(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 12] = [
        ("Ki", 1024.0),
        ("Mi", 1_048_576.0),
        ("Gi", 1_073_741_824.0),
        ("Ti", 1_099_511_627_776.0),
        ("Pi", 1_125_899_906_842_624.0),
        ("n", 1e-9),
        ("u", 1e-6),
        ("m", 1e-3),
        ("k", 1e3),
        ("M", 1e6),
        ("G", 1e9),
        ("T", 1e12),
    ];
    let unit = UNITS.iter().find(|(unit, _)| text.ends_with(unit));
    let (number, factor) = match unit {
        Some((unit, factor)) => (text.strip_suffix(unit)?, *factor),
        None => (text, 1.0),
    };
    number.parse::<f64>().ok().map(|number| number * factor)
}

/// A cluster that is left out for its labels, where these are nearly what a term asks for.
fn near<'i>(
    policy: &PolicySnapshot,
    inventory: &'i Inventory,
    decision: &ClusterDecision,
) -> Option<(&'i MemberCluster, NearMiss)> {
    let member = inventory.member(&decision.cluster);
    let member = member.filter(|_| is_for_terms(decision))?;
    let mut terms = policy.required_labels();
    let near = terms.find_map(|labels| near_miss(labels, &member.meta.labels))?;
    Some((member, near))
}

/// `member-3: taint a=b not tolerated; …`, the largest groups first; `None` when every
/// cluster was picked.
pub fn explain(groups: &BTreeMap<String, Vec<&str>>) -> Option<String> {
    const SHOWN: usize = 3;
    let mut sorted: Vec<_> = groups.iter().collect();
    sorted.sort_by_key(|(_, clusters)| Reverse(clusters.len()));
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
pub fn evidence<B: ComposeText>(
    policy: &PolicySnapshot,
    inventory: &Inventory,
    mut finding: B,
) -> B {
    const SHOWN: usize = 8;
    let object = policy.object();
    for decision in left_out(policy).take(SHOWN) {
        let path = format!(
            "status.targetClusters[clusterName={}].reason",
            decision.cluster
        );
        finding = finding.evidence(&object, path, &decision.reason);
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
        ScheduleProblem::Unschedulable { reasons } => reasons,
        ScheduleProblem::ClusterNotFound => return true,
        ScheduleProblem::Picked | ScheduleProblem::ScoreTooLow | ScheduleProblem::Other { .. } => {
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

fn describe_reason(text: &str) -> String {
    match parse_decision(text) {
        ScheduleProblem::Picked => "picked".to_owned(),
        ScheduleProblem::ClusterNotFound => "no such MemberCluster".to_owned(),
        ScheduleProblem::ScoreTooLow => "other clusters were preferred".to_owned(),
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
            let value = said_if(!value.is_empty(), format!("={value}"));
            let effect = said_if(!effect.is_empty(), format!(":{effect}"));
            format!("taint {key}{value}{effect} not tolerated")
        }
        FilterReason::TopologySpread { key } => {
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
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::{MemberCluster, PolicySnapshot, by_policy, is_for_good};
    use crate::kubefleet::object::Object;

    fn objects(policy: &Value, member: &Value) -> (Arc<PolicySnapshot>, Arc<MemberCluster>) {
        let policy = Object::of_type(&json!({
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": "ClusterSchedulingPolicySnapshot",
            "metadata": {"name": "shop-0"}, "spec": {"policy": policy},
        }));
        let mut member = member.clone();
        member["apiVersion"] = "cluster.kubernetes-fleet.io/v1beta1".into();
        member["kind"] = "MemberCluster".into();
        (policy, Object::of_type(&member))
    }

    fn describe_reason(policy: &Value, member: &Value) -> Option<String> {
        let (policy, member) = objects(policy, member);
        by_policy(&policy, &member)
    }

    #[test]
    fn labels_taints_and_properties_tell_why_a_policy_does_not_match() {
        let policy = |term: Value| {
            json!({"placementType": "PickAll",
                "tolerations": [{"key": "gpu", "operator": "Exists"}],
                "affinity": {"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                    {"clusterSelectorTerms": [term]}}}})
        };
        let labels = json!({"labelSelector": {"matchLabels": {"env": "prod"}}});
        let nodes = json!({"labelSelector": {"matchLabels": {"env": "prod"}},
            "propertySelector": {"matchExpressions":
                [{"name": "node-count", "operator": "Ge", "values": ["3"]}]}});
        let member = |env: &str, taint: &str| {
            json!({"metadata": {"name": "m", "labels": {"env": env}},
                "spec": {"taints": [{"key": taint, "value": "a", "effect": "NoSchedule"}]},
                "status": {"properties": {"node-count": {"value": "2"}},
                    "resourceUsage": {"capacity": {"cpu": "8"}, "available": {"cpu": "500m"}}}})
        };
        let property = |name: &str, operator: &str, value: &str| {
            let name = format!("resources.kubernetes-fleet.io/{name}");
            json!({"propertySelector": {"matchExpressions": [
                {"name": name, "operator": operator, "values": [value]}]}})
        };
        let tainted = "taint old=a:NoSchedule not tolerated";
        let labelled = "no required affinity term matches (needs env=prod)";
        let small = "property node-count is 2, and the policy needs >= 3";
        let slow =
            "property resources.kubernetes-fleet.io/total-cpu is 8, and the policy needs > 8";
        let silent = "it does not report property resources.kubernetes-fleet.io/available-memory, and \
                      the policy needs >= 1Gi";
        for (term, env, taint, expected) in [
            (labels.clone(), "prod", "gpu", None),
            (labels.clone(), "prod", "old", Some(tainted)),
            (labels, "dev", "gpu", Some(labelled)),
            (nodes, "prod", "gpu", Some(small)),
            (property("total-cpu", "Gt", "7500m"), "prod", "gpu", None),
            (property("total-cpu", "Gt", "8"), "prod", "gpu", Some(slow)),
            (
                property("available-memory", "Ge", "1Gi"),
                "prod",
                "gpu",
                Some(silent),
            ),
            // The scheduler refuses such a name, so nothing is said of the cluster.
            (property("used-cpu", "Ge", "1"), "prod", "gpu", None),
        ] {
            let found = describe_reason(&policy(term), &member(env, taint));
            assert_eq!(found.as_deref(), expected, "{env} {taint}");
        }
    }

    #[test]
    fn a_decision_is_explained_by_properties() {
        let policy = json!({"placementType": "PickN", "numberOfClusters": 1,
            "affinity": {"clusterAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": [
                    {"propertySelector": {"matchExpressions": [
                        {"name": "node-count", "operator": "Ge", "values": ["3"]}]}}]},
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 10, "preference": {
                        "labelSelector": {"matchLabels": {"env": "prod"}},
                        "propertySorter": {"name": "resources.kubernetes-fleet.io/total-cpu",
                            "sortOrder": "Descending"}}}]}}});
        let mismatch = "ClusterUnschedulable, cluster does not match with any of the required cluster affinity terms";
        let score = "Cluster \"m\" does not score high enough (affinity score: 0, topology spread score: 0)";
        let member = |env: &str, nodes: &str| {
            json!({"metadata": {"name": "m", "labels": {"env": env}},
                "status": {"properties": {"node-count": {"value": nodes}},
                    "resourceUsage": {"capacity": {"cpu": "8"}}}})
        };
        let small = "property node-count is 2, and the policy needs >= 3";
        let ranked = "ranked by resources.kubernetes-fleet.io/total-cpu, descending: it has 8";
        for (reason, member, expected) in [
            (mismatch, member("prod", "2"), Some(small)),
            // It has enough by now.
            (mismatch, member("prod", "3"), None),
            (score, member("prod", "3"), Some(ranked)),
            (score, member("dev", "3"), None),
        ] {
            let decision = crate::kubefleet::snapshot::Decision {
                cluster: "m".to_owned(),
                selected: false,
                reason: reason.to_owned(),
            };
            let (policy, member) = objects(&policy, &member);
            let found = super::by_property(&policy, &member, &decision);
            assert_eq!(found.as_deref(), expected, "{reason} {member:?}");
        }
    }

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
