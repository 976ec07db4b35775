//! Which member clusters a placement selects, and what that makes of its bindings.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use serde_json::{Value, json};

use super::conditions::{self, Condition, Conditions};
use super::kinds::Scope;
use super::names;
use super::object::{Object, digest};
use super::selector;
use super::snapshots::owner;

/// The clusters that a policy picks, and those that it passed over, with the reason for each.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) picked: Vec<(String, String)>,
    pub(crate) passed: Vec<(String, String)>,
    /// Whether the policy asks for clusters that are not there.
    pub(crate) short: bool,
    scored: bool,
}

/// Picks clusters. Those that the placement has already come first where only some are wanted.
pub(crate) fn decide(placement: &Value, members: &[&Value], bound: &[&str]) -> Decision {
    let policy = placement.pointer("/spec/policy");
    let kind = policy.map_or("", |policy| policy.text("/placementType"));
    if kind == "PickFixed" {
        return fixed(policy.unwrap_or(&Value::Null), members);
    }
    let fitting: Vec<&str> = members
        .iter()
        .filter(|member| eligible(member).is_ok() && affine(policy, member))
        .map(|member| member.name())
        .collect();
    let mut decision = Decision {
        scored: true,
        ..Decision::default()
    };
    let wanted = policy
        .filter(|_| kind == "PickN")
        .and_then(|policy| policy.number("/numberOfClusters"))
        .map(|number| usize::try_from(number).unwrap_or_default());
    let mut ranked = fitting;
    if let Some(wanted) = wanted {
        ranked.sort_by_key(|name| (bound.contains(name), *name));
        ranked.reverse();
        decision.short = ranked.len() < wanted;
        for name in ranked.split_off(wanted.min(ranked.len())) {
            let why = format!(
                "Cluster \"{name}\" does not score high enough (affinity score: 0, topology \
                 spread score: 0)"
            );
            decision.passed.push((name.to_owned(), why));
        }
    }
    for name in ranked {
        let why = format!(
            "Successfully scheduled resources for placement in \"{name}\" (affinity score: 0, \
             topology spread score: 0): picked by scheduling policy"
        );
        decision.picked.push((name.to_owned(), why));
    }
    decision.picked.sort();
    decision
}

fn fixed(policy: &Value, members: &[&Value]) -> Decision {
    let mut decision = Decision::default();
    for name in policy
        .items("/clusterNames")
        .iter()
        .filter_map(Value::as_str)
    {
        match members.iter().find(|member| member.name() == name) {
            None => {
                let why = format!("Specified cluster \"{name}\" is not found");
                decision.passed.push((name.to_owned(), why));
            }
            Some(member) => match eligible(member) {
                Ok(()) => {
                    let why = format!(
                        "Successfully scheduled resources for placement in \"{name}\": picked by \
                         scheduling policy"
                    );
                    decision.picked.push((name.to_owned(), why));
                }
                Err(why) => {
                    let why = format!(
                        "Cluster \"{name}\" is not eligible for resource placement yet: {why}"
                    );
                    decision.passed.push((name.to_owned(), why));
                }
            },
        }
    }
    decision.short = !decision.passed.is_empty();
    decision
}

fn eligible(member: &Value) -> Result<(), &'static str> {
    if member.deleting() {
        return Err("cluster has left the fleet");
    }
    let joined = conditions::of(member, "/status/agentStatus/0/conditions")
        .find("Joined")
        .is_some_and(|joined| joined.status == "True");
    if joined {
        Ok(())
    } else {
        Err("cluster is not connected to the fleet: member agent not online yet")
    }
}

fn affine(policy: Option<&Value>, member: &Value) -> bool {
    let terms = policy.map_or(&[][..], |policy| {
        policy.items(
            "/affinity/clusterAffinity/requiredDuringSchedulingIgnoredDuringExecution/\
             clusterSelectorTerms",
        )
    });
    terms.is_empty()
        || terms
            .iter()
            .any(|term| selector::matches(term.get("labelSelector"), member).unwrap_or_default())
}

/// The hash of a policy. How many clusters are wanted is no part of it.
fn policy_hash(placement: &Value) -> Value {
    let mut policy = placement
        .pointer("/spec/policy")
        .cloned()
        .unwrap_or_default();
    if let Some(fields) = policy.as_object_mut() {
        fields.remove("numberOfClusters");
    }
    json!(ByteString(digest(&policy.to_string()).into_bytes()))
}

/// The latest policy snapshot of a placement: the labelled one, else that with the highest index.
pub(crate) fn latest<'s>(snapshots: &[&'s Value]) -> Option<&'s Value> {
    snapshots
        .iter()
        .find(|snapshot| snapshot.label(names::IS_LATEST) == "true")
        .or_else(|| snapshots.iter().max_by_key(|snapshot| index(snapshot)))
        .copied()
}

fn index(snapshot: &Value) -> i64 {
    snapshot.label(names::POLICY_INDEX).parse().unwrap_or(-1)
}

/// What the latest policy snapshot has to become: itself changed, or a new one.
pub(crate) enum Snapshot {
    Current,
    Changed(Value),
    New(Value),
}

/// Compares the latest policy snapshot with the placement's policy.
pub(crate) fn snapshot(scope: &Scope, placement: &Value, latest: Option<&Value>) -> Snapshot {
    let hash = policy_hash(placement);
    let generation = placement.generation().to_string();
    let wanted = placement
        .number("/spec/policy/numberOfClusters")
        .filter(|_| placement.text("/spec/policy/placementType") == "PickN");
    let annotate = |snapshot: &mut Value| {
        let mut put = |key, value: &str| {
            snapshot.put(&["metadata", "annotations", key], json!(value));
        };
        put(names::PLACEMENT_GENERATION, &generation);
        if let Some(wanted) = wanted {
            put(names::NUMBER_OF_CLUSTERS, &wanted.to_string());
        }
    };
    if let Some(latest) = latest.filter(|latest| latest["spec"]["policyHash"] == hash) {
        let mut new = latest.clone();
        annotate(&mut new);
        new.put(&["metadata", "labels", names::IS_LATEST], json!("true"));
        return if new == *latest {
            Snapshot::Current
        } else {
            Snapshot::Changed(new)
        };
    }
    let number = latest.map_or(0, |latest| index(latest) + 1);
    let kind = scope.kinds().policy_snapshot;
    let mut new = json!({
        "apiVersion": kind.api_version(),
        "kind": kind.name(),
        "metadata": {
            "name": format!("{}-{number}", placement.name()),
            "labels": {
                names::PLACEMENT: placement.name(),
                names::IS_LATEST: "true",
                names::POLICY_INDEX: number.to_string(),
            },
            "ownerReferences": [owner(scope, placement)],
        },
        "spec": {"policyHash": hash},
    });
    let policy = placement
        .pointer("/spec/policy")
        .filter(|policy| policy.is_object());
    if let Some(policy) = policy {
        new["spec"]["policy"] = policy.clone();
    }
    if let Scope::Namespace(namespace) = scope {
        new.put(&["metadata", "namespace"], json!(namespace));
    }
    annotate(&mut new);
    Snapshot::New(new)
}

/// The status of a policy snapshot; nothing when it has it already.
pub(crate) fn status(snapshot: &Value, decision: &Decision, now: jiff::Timestamp) -> Option<Value> {
    let found = decision.picked.len();
    let (status, reason, message) = if decision.short {
        (
            "False",
            "SchedulingPolicyUnfulfilled",
            format!(
                "could not find all clusters needed as specified by the scheduling policy, found \
                 {found} cluster(s) instead"
            ),
        )
    } else {
        (
            "True",
            "SchedulingPolicyFulfilled",
            format!(
                "found all cluster needed as specified by the scheduling policy, found {found} \
                 cluster(s)"
            ),
        )
    };
    let mut list = conditions::of_status(snapshot);
    let says = (status, reason, message.as_str());
    conditions::set(
        &mut list,
        Condition::new("Scheduled", says, snapshot.generation()),
        now,
    );
    let targets: Vec<Value> = decision
        .picked
        .iter()
        .map(|(name, why)| decision.describe(name, why, true))
        .chain(
            decision
                .passed
                .iter()
                .map(|(name, why)| decision.describe(name, why, false)),
        )
        .collect();
    let generation: i64 = snapshot
        .annotation(names::PLACEMENT_GENERATION)
        .parse()
        .unwrap_or_default();
    let status = json!({
        "conditions": list,
        "observedCRPGeneration": generation,
        "targetClusters": targets,
    });
    (snapshot.get("status") != Some(&status)).then_some(status)
}

impl Decision {
    fn describe(&self, cluster: &str, why: &str, selected: bool) -> Value {
        let mut entry = json!({"clusterName": cluster, "reason": why, "selected": selected});
        if self.scored {
            entry["clusterScore"] = json!({"affinityScore": 0, "priorityScore": 0});
        }
        entry
    }
}

/// What has to be done to the bindings of a placement.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Changes {
    pub(crate) create: Vec<Value>,
    pub(crate) update: Vec<Value>,
}

/// Compares the bindings with the decision.
pub(crate) fn reconcile(
    scope: &Scope,
    placement: &Value,
    snapshot: &str,
    decision: &Decision,
    bindings: &[&Value],
) -> Changes {
    let picked: BTreeMap<&str, &str> = decision
        .picked
        .iter()
        .map(|(name, why)| (name.as_str(), why.as_str()))
        .collect();
    let mut changes = Changes::default();
    let mut known = Vec::new();
    for binding in bindings.iter().filter(|binding| !binding.deleting()) {
        let cluster = binding.text("/spec/targetCluster");
        let mut new = (*binding).clone();
        known.push(cluster);
        match picked.get(cluster) {
            Some(why) => {
                if new.text("/spec/state") == "Unscheduled" {
                    let before = new.annotation(names::PREVIOUS_STATE).to_owned();
                    new["spec"]["state"] = json!(before);
                    if let Some(annotations) = new["metadata"]["annotations"].as_object_mut() {
                        annotations.remove(names::PREVIOUS_STATE);
                    }
                }
                new["spec"]["schedulingPolicySnapshotName"] = json!(snapshot);
                new["spec"]["clusterDecision"] = decision.describe(cluster, why, true);
            }
            None if new.text("/spec/state") != "Unscheduled" => {
                let before = new["spec"]["state"].clone();
                new.put(&["metadata", "annotations", names::PREVIOUS_STATE], before);
                new["spec"]["state"] = json!("Unscheduled");
            }
            None => {}
        }
        if new != **binding {
            changes.update.push(new);
        }
    }
    for (cluster, why) in picked {
        if known.contains(&cluster) {
            continue;
        }
        let kind = scope.kinds().binding;
        let suffix = digest(&format!("{}/{cluster}/{snapshot}", placement.uid()));
        let mut new = json!({
            "apiVersion": kind.api_version(),
            "kind": kind.name(),
            "metadata": {
                "name": names::binding(placement.name(), cluster, &suffix),
                "labels": {names::PLACEMENT: placement.name()},
                "finalizers": [names::BINDING_FINALIZER],
            },
            "spec": {
                "state": "Scheduled",
                "resourceSnapshotName": "",
                "schedulingPolicySnapshotName": snapshot,
                "targetCluster": cluster,
                "clusterDecision": decision.describe(cluster, why, true),
            },
        });
        if let Scope::Namespace(namespace) = scope {
            new.put(&["metadata", "namespace"], json!(namespace));
        }
        changes.create.push(new);
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, environment: &str) -> Value {
        json!({
            "metadata": {"name": name, "labels": {"environment": environment}},
            "status": {"agentStatus": [{"conditions": [{
                "type": "Joined", "status": "True", "lastTransitionTime": "2026-11-21T05:03:44Z",
            }]}]},
        })
    }

    fn placement(policy: &Value) -> Value {
        json!({
            "metadata": {"name": "shop", "uid": "u", "generation": 1},
            "spec": {"policy": policy},
        })
    }

    fn names(decision: &Decision) -> Vec<&str> {
        decision
            .picked
            .iter()
            .map(|(name, _)| name.as_str())
            .collect()
    }

    #[test]
    fn each_policy_picks_its_clusters() {
        let members = [member("a", "dev"), member("b", "prod"), member("c", "prod")];
        let members: Vec<&Value> = members.iter().collect();
        let all = decide(
            &placement(&json!({"placementType": "PickAll"})),
            &members,
            &[],
        );
        assert_eq!(names(&all), ["a", "b", "c"]);
        let prod = decide(
            &placement(&json!({
                "placementType": "PickAll",
                "affinity": {"clusterAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": [
                        {"labelSelector": {"matchLabels": {"environment": "prod"}}},
                    ]},
                }},
            })),
            &members,
            &[],
        );
        assert_eq!(names(&prod), ["b", "c"]);
        let fixed = decide(
            &placement(&json!({"placementType": "PickFixed", "clusterNames": ["a", "z"]})),
            &members,
            &[],
        );
        assert_eq!(names(&fixed), ["a"]);
        assert!(fixed.short);
        // Equal scores: the greater name wins, unless another is there already.
        let two = placement(&json!({"placementType": "PickN", "numberOfClusters": 2}));
        assert_eq!(names(&decide(&two, &members, &[])), ["b", "c"]);
        assert_eq!(names(&decide(&two, &members, &["a"])), ["a", "c"]);
    }

    #[test]
    fn a_cluster_that_is_no_longer_picked_is_unscheduled_and_comes_back() {
        let members = [member("a", "dev")];
        let members: Vec<&Value> = members.iter().collect();
        let placement = placement(&json!({"placementType": "PickAll"}));
        let picked = decide(&placement, &members, &[]);
        let created = reconcile(&Scope::Cluster, &placement, "shop-0", &picked, &[]).create;
        assert_eq!(created.len(), 1);
        let none = Decision::default();
        let left = reconcile(&Scope::Cluster, &placement, "shop-1", &none, &[&created[0]]);
        let gone = &left.update[0];
        assert_eq!(gone.text("/spec/state"), "Unscheduled");
        assert_eq!(gone.text("/spec/schedulingPolicySnapshotName"), "shop-0");
        let back = reconcile(&Scope::Cluster, &placement, "shop-2", &picked, &[gone]);
        assert_eq!(back.update[0].text("/spec/state"), "Scheduled");
        assert_eq!(back.update[0].annotation(names::PREVIOUS_STATE), "");
        let again = reconcile(
            &Scope::Cluster,
            &placement,
            "shop-2",
            &picked,
            &[&back.update[0]],
        );
        assert_eq!(again, Changes::default());
    }

    #[test]
    fn the_number_of_clusters_makes_no_new_policy() {
        let with =
            |number: i64| placement(&json!({"placementType": "PickN", "numberOfClusters": number}));
        let Snapshot::New(first) = snapshot(&Scope::Cluster, &with(1), None) else {
            panic!("no snapshot");
        };
        assert_eq!(first.name(), "shop-0");
        assert!(matches!(
            snapshot(&Scope::Cluster, &with(1), Some(&first)),
            Snapshot::Current
        ));
        let Snapshot::Changed(second) = snapshot(&Scope::Cluster, &with(2), Some(&first)) else {
            panic!("a new policy");
        };
        assert_eq!(second.annotation(names::NUMBER_OF_CLUSTERS), "2");
        let other = placement(&json!({"placementType": "PickAll"}));
        assert!(matches!(
            snapshot(&Scope::Cluster, &other, Some(&first)),
            Snapshot::New(_)
        ));
    }
}
