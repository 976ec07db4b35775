//! The status of a placement, summed up from its bindings.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::conditions::{self, Condition, Conditions};
use super::kinds::Scope;
use super::names;
use super::object::Object;

/// A condition that a rollout goes through, and what is said of it: of one cluster that is not known
/// yet, and, with their number for `#`, of clusters that are not known, have failed, and have done it.
struct StepWords {
    name: &'static str,
    unknown: &'static str,
    pending: (&'static str, &'static str),
    failed: (&'static str, &'static str),
    done: (&'static str, &'static str),
}

/// In order.
#[rustfmt::skip]
const STEPS: [StepWords; 5] = [
    StepWords {
        name: "RolloutStarted",
        unknown: "In the process of deciding whether to roll out some version of the resources or not",
        pending: ("RolloutStartedUnknown", "There are still # cluster(s) in the process of deciding whether to roll out the latest resources or not"),
        failed: ("RolloutNotStartedYet", "The rollout is being blocked by the rollout strategy in # cluster(s)"),
        done: ("RolloutStarted", "All # cluster(s) start rolling out the latest resource"),
    },
    StepWords {
        name: "Overridden",
        unknown: "In the process of overriding the selected resources if there is any override defined",
        pending: ("OverriddenPending", "There are still # cluster(s) in the process of overriding the selected resources if there is any override defined"),
        failed: ("OverriddenFailed", "Failed to override resources in # cluster(s)"),
        done: ("NoOverrideSpecified", "No override rules are configured for the selected resources"),
    },
    StepWords {
        name: "WorkSynchronized",
        unknown: "In the process of creating or updating the work object(s) in the hub cluster",
        pending: ("WorkSynchronizedUnknown", "There are still # cluster(s) in the process of creating or updating the work object(s) in the hub cluster"),
        failed: ("WorkNotSynchronizedYet", "There are # cluster(s) which have not finished creating or updating work(s) yet"),
        done: ("WorkSynchronized", "Work(s) are successfully created or updated in # target cluster(s)' namespaces"),
    },
    StepWords {
        name: "Applied",
        unknown: "In the process of applying the resources on the member cluster",
        pending: ("ApplyPending", "There are still # cluster(s) in the process of applying the resources on the member cluster"),
        failed: ("ApplyFailed", "Failed to apply resources to # cluster(s), please check the `failedPlacements` status"),
        done: ("ApplySucceeded", "The selected resources are successfully applied to # cluster(s)"),
    },
    StepWords {
        name: "Available",
        unknown: "The availability of the selected resources is unknown yet ",
        pending: ("ResourceAvailableUnknown", "There are still # cluster(s) in the process of checking the availability of the selected resources"),
        failed: ("ResourceNotAvailableYet", "The selected resources in # cluster(s) are still not available yet"),
        done: ("ResourceAvailable", "The selected resources in # cluster(s) are available now"),
    },
];

/// What is read to sum up a placement.
pub(crate) struct Parts<'p> {
    pub(crate) policy: &'p Value,
    pub(crate) bindings: Vec<&'p Value>,
    pub(crate) snapshots: Vec<&'p Value>,
}

/// One cluster's part of the status.
struct Cluster {
    name: String,
    index: String,
    conditions: Vec<Condition>,
    failed: Vec<Value>,
}

/// The status of a placement; nothing when it has it already.
pub(crate) fn status(
    scope: &Scope,
    placement: &Value,
    parts: &Parts<'_>,
    now: Timestamp,
) -> Option<Value> {
    let generation = placement.generation();
    let mut list = conditions::of_status(placement);
    let prefix = scope.kinds().placement.name();
    let set = |list: &mut Vec<Condition>, step: &str, (status, reason, message): Said| {
        let says = (status, reason, message.as_str());
        conditions::set(
            list,
            Condition::new(&format!("{prefix}{step}"), says, generation),
            now,
        );
    };
    let scheduled = scheduled(parts.policy, generation);
    let decided = scheduled.0 != "Unknown";
    set(&mut list, "Scheduled", scheduled);
    let clusters = if decided {
        clusters(placement, parts, now)
    } else {
        Vec::new()
    };
    let external = placement.text("/spec/strategy/type") == "External";
    let index = clusters.first().map(|cluster| cluster.index.clone());
    let mut observed = String::new();
    let mut steps: Vec<(&str, Said)> = Vec::new();
    if let (true, Some(index)) = (external && decided, index) {
        match undecided(scope, &clusters, &index) {
            Some(said) => steps.push(("RolloutStarted", said)),
            None => {
                steps = rollout(&clusters);
            }
        }
        if clusters.iter().all(|cluster| cluster.index == index) {
            observed = index;
        }
    } else if !clusters.is_empty() {
        steps = rollout(&clusters);
    }
    list.retain(|condition| {
        let kept = |step: &str| condition.kind == format!("{prefix}{step}");
        kept("Scheduled") || steps.iter().any(|(step, _)| kept(step))
    });
    for (step, said) in steps {
        set(&mut list, step, said);
    }
    let mut status = json!({"conditions": list});
    if !observed.is_empty() {
        let selected = selected(&parts.snapshots, &observed);
        status["observedResourceIndex"] = json!(observed);
        status["selectedResources"] = json!(selected);
    }
    if !clusters.is_empty() {
        status["placementStatuses"] = clusters.iter().map(write).collect();
    }
    (placement.get("status") != Some(&status)).then_some(status)
}

type Said = (&'static str, &'static str, String);

fn scheduled(policy: &Value, generation: i64) -> Said {
    let known = conditions::of_status(policy);
    let current = known.find("Scheduled").filter(|condition| {
        condition.observed_generation >= policy.generation()
            && policy.number("/status/observedCRPGeneration") >= Some(generation)
    });
    match current.map(|condition| (condition.status.as_str(), condition.message.clone())) {
        Some(("True", message)) => ("True", "SchedulingPolicyFulfilled", message),
        Some((_, message)) => ("False", "SchedulingPolicyUnfulfilled", message),
        None => (
            "Unknown",
            "SchedulePending",
            "Scheduling has not completed".to_owned(),
        ),
    }
}

fn clusters(placement: &Value, parts: &Parts<'_>, now: Timestamp) -> Vec<Cluster> {
    let generation = placement.generation();
    let known = placement.items("/status/placementStatuses");
    parts
        .policy
        .items("/status/targetClusters")
        .iter()
        .filter(|decision| decision["selected"] == true)
        .map(|decision| {
            let name = decision.text("/clusterName");
            let mut list = known
                .iter()
                .find(|known| known.text("/clusterName") == name)
                .map(|known| conditions::of(known, "/conditions"))
                .unwrap_or_default();
            let binding = parts.bindings.iter().find(|binding| {
                binding.text("/spec/targetCluster") == name
                    && !binding.deleting()
                    && binding.text("/spec/schedulingPolicySnapshotName") == parts.policy.name()
            });
            let steps = binding.map_or_else(|| vec![unknown(&STEPS[0])], |binding| steps(binding));
            list.retain(|condition| {
                condition.kind == "Scheduled"
                    || steps.iter().any(|(step, _)| condition.kind == *step)
            });
            let why = decision.text("/reason");
            let scheduled = Condition::new("Scheduled", ("True", "Scheduled", why), generation);
            conditions::set(&mut list, scheduled, now);
            for (step, (status, reason, message)) in steps {
                let says = (status.as_str(), reason.as_str(), message.as_str());
                conditions::set(&mut list, Condition::new(step, says, generation), now);
            }
            let snapshot = binding.map_or("", |binding| binding.text("/spec/resourceSnapshotName"));
            Cluster {
                name: name.to_owned(),
                index: parts
                    .snapshots
                    .iter()
                    .find(|known| known.name() == snapshot)
                    .map(|known| known.label(names::RESOURCE_INDEX).to_owned())
                    .unwrap_or_default(),
                conditions: list,
                failed: binding
                    .map(|binding| binding.items("/status/failedPlacements").to_vec())
                    .unwrap_or_default(),
            }
        })
        .collect()
}

type Step = (&'static str, (String, String, String));

/// The steps that a binding has made, up to the first that is not done.
fn steps(binding: &Value) -> Vec<Step> {
    let known = conditions::of_status(binding);
    let mut made = Vec::new();
    for step in &STEPS {
        let current = known.find(step.name).filter(|condition| {
            condition.observed_generation == binding.generation() && condition.status != "Unknown"
        });
        let Some(condition) = current else {
            made.push(unknown(step));
            break;
        };
        let Condition {
            status,
            reason,
            message,
            ..
        } = condition.clone();
        let done = status == "True";
        made.push((step.name, (status, reason, message)));
        if !done {
            break;
        }
    }
    made
}

fn unknown(step: &StepWords) -> Step {
    let (reason, _) = step.pending;
    let said = ["Unknown", reason, step.unknown].map(str::to_owned);
    (step.name, said.into())
}

/// Why nothing can be said about the rollout as a whole.
fn undecided(scope: &Scope, clusters: &[Cluster], index: &str) -> Option<Said> {
    let why = if clusters.iter().any(|cluster| cluster.index != index) {
        "different resource snapshot versions are observed across clusters".to_owned()
    } else if index.is_empty() {
        format!(
            "no resource snapshot name is observed across clusters. To determine rollout status, \
             check the {} resources with spec.placementName matching this placement",
            scope.kinds().run.name()
        )
    } else {
        let unknown = clusters.iter().find(|cluster| {
            cluster
                .conditions
                .find("RolloutStarted")
                .is_none_or(|condition| condition.status == "Unknown")
        })?;
        format!(
            "cluster {} is in RolloutStarted Unknown state",
            unknown.name
        )
    };
    Some((
        "Unknown",
        "RolloutControlledByExternalController",
        format!("Rollout is controlled by an external controller and {why}"),
    ))
}

/// The steps of all clusters together, up to the first that one of them has not made.
fn rollout(clusters: &[Cluster]) -> Vec<(&'static str, Said)> {
    let mut said = Vec::new();
    for step in &STEPS {
        let count = |status: &str| {
            clusters
                .iter()
                .filter(|cluster| {
                    cluster
                        .conditions
                        .find(step.name)
                        .is_some_and(|condition| condition.status == status)
                })
                .count()
        };
        let told = |status, (reason, message): (&'static str, &str), count: usize| {
            let message = message.replace('#', &count.to_string());
            (step.name, (status, reason, message))
        };
        let (unknown, failed) = (count("Unknown"), count("False"));
        if unknown > 0 {
            said.push(told("Unknown", step.pending, unknown));
            break;
        }
        if failed > 0 {
            said.push(told("False", step.failed, failed));
            break;
        }
        said.push(told("True", step.done, count("True")));
    }
    said
}

fn selected(snapshots: &[&Value], index: &str) -> Vec<Value> {
    snapshots
        .iter()
        .filter(|snapshot| snapshot.label(names::RESOURCE_INDEX) == index)
        .flat_map(|snapshot| snapshot.items("/spec/selectedResources"))
        .map(|object| {
            let (group, version) = super::content::group_version(object);
            let mut entry = json!({
                "version": version, "kind": object.text("/kind"), "name": object.name(),
            });
            for (field, text) in [("group", group), ("namespace", object.namespace())] {
                if !text.is_empty() {
                    entry[field] = json!(text);
                }
            }
            entry
        })
        .collect()
}

fn write(cluster: &Cluster) -> Value {
    let mut entry = json!({"clusterName": cluster.name, "conditions": cluster.conditions});
    if !cluster.index.is_empty() {
        entry["observedResourceIndex"] = json!(cluster.index);
    }
    if !cluster.failed.is_empty() {
        entry["failedPlacements"] = json!(cluster.failed);
    }
    entry
}
