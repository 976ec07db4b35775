//! What the hub does for a binding: the Works that it needs, and what their reports amount to.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::conditions::{self, Condition, Conditions};
use super::kinds::{Kind, Scope};
use super::names;
use super::object::Object;

/// KubeFleet lists no more failed objects than this in one binding.
const FAILED_LIMIT: usize = 100;

/// The Works for a binding, from all objects of its resource snapshot.
pub(crate) fn works(scope: &Scope, binding: &Value, snapshots: &[&Value]) -> Vec<Value> {
    let cluster = binding.text("/spec/targetCluster");
    let strategy = binding.pointer("/spec/applyStrategy");
    snapshots
        .iter()
        .map(|snapshot| {
            let placement = snapshot.label(names::PLACEMENT);
            let mut labels = json!({
                names::PLACEMENT: placement,
                names::WORK_BINDING: binding.name(),
                names::WORK_SNAPSHOT_INDEX: snapshot.label(names::RESOURCE_INDEX),
            });
            if let Scope::Namespace(namespace) = scope {
                labels[names::WORK_NAMESPACE] = json!(namespace);
            }
            let mut work = json!({
                "apiVersion": Kind::Work.api_version(),
                "kind": Kind::Work.name(),
                "metadata": {
                    "name": work_name(scope, placement, snapshot.annotation(names::SUBINDEX)),
                    "namespace": names::member_namespace(cluster),
                    "labels": labels,
                    "annotations": {
                        names::WORK_SNAPSHOT: binding.text("/spec/resourceSnapshotName"),
                        names::WORK_CLUSTER_OVERRIDES: names::NO_OVERRIDES,
                        names::WORK_OVERRIDES: names::NO_OVERRIDES,
                    },
                    "finalizers": [names::WORK_FINALIZER],
                },
                "spec": {"workload": {"manifests": snapshot.items("/spec/selectedResources")}},
            });
            if let Some(strategy) = strategy {
                work.put(&["spec", "applyStrategy"], strategy.clone());
            }
            work
        })
        .collect()
}

fn work_name(scope: &Scope, placement: &str, subindex: &str) -> String {
    let base = match scope {
        Scope::Cluster => placement.to_owned(),
        Scope::Namespace(namespace) => format!("{namespace}.{placement}"),
    };
    if subindex.is_empty() {
        format!("{base}-work")
    } else {
        format!("{base}-{subindex}")
    }
}

/// The Work as it should be, when it is not: what only the server or the member knows stays, and so does what was made
/// of snapshots of the same names. Source: workgenerator/controller.go:upsertWork.
pub(crate) fn changed(work: &Value, wanted: &Value) -> Option<Value> {
    let made_of = |work: &Value| {
        [
            work.label(names::WORK_SNAPSHOT_INDEX).to_owned(),
            work.annotation(names::WORK_OVERRIDES).to_owned(),
            work.annotation(names::WORK_CLUSTER_OVERRIDES).to_owned(),
        ]
    };
    let is_kept = made_of(work) == made_of(wanted);
    let mut new = work.clone();
    for field in ["labels", "annotations"] {
        for (key, value) in wanted["metadata"][field].as_object().into_iter().flatten() {
            new.put(&["metadata", field, key], value.clone());
        }
    }
    if !is_kept {
        new["spec"]["workload"] = wanted["spec"]["workload"].clone();
    }
    if let Some(strategy) = wanted.pointer("/spec/applyStrategy") {
        new["spec"]["applyStrategy"] = strategy.clone();
    }
    (new != *work).then_some(new)
}

/// The status of a binding whose snapshot is gone.
pub(crate) fn snapshot_gone(binding: &Value, now: Timestamp) -> Option<Value> {
    let message = "Failed to apply the override rules on the resources: the master resource \
                   snapshot is not found";
    let says = vec![(
        "Overridden",
        ("False", "OverriddenFailed", message.to_owned()),
    )];
    conclude(binding, says, Vec::new(), now)
}

/// A condition to be: its type, then status, reason and message.
type Saying = (&'static str, (&'static str, &'static str, String));

/// The status of a binding that follows from its Works; nothing when it has that status already.
pub(crate) fn status(binding: &Value, works: &[&Value], now: Timestamp) -> Option<Value> {
    let text = str::to_owned;
    let mut says: Vec<Saying> = vec![
        (
            "Overridden",
            (
                "True",
                "NoOverrideSpecified",
                text("No override rules are configured for the selected resources"),
            ),
        ),
        (
            "WorkSynchronized",
            (
                "True",
                "AllWorkSynced",
                text("All of the works are synchronized to the latest"),
            ),
        ),
    ];
    let is = |work: &&&Value, kind: &str, status: &str| {
        conditions::of_status(work).is(kind, status, work.generation())
    };
    let reported = |work: &&&Value| is(work, "Applied", "True") || is(work, "Applied", "False");
    let waiting = works.iter().find(|work| !reported(work));
    let refused = works.iter().find(|work| is(work, "Applied", "False"));
    let unavailable = works.iter().find(|work| !is(work, "Available", "True"));
    let untracked = works.iter().find(|work| {
        conditions::of_status(work)
            .find("Available")
            .is_some_and(|condition| condition.reason == "WorkNotTrackable")
    });
    let mut failed = Vec::new();
    let applied = |reason, message| ("Applied", ("False", reason, message));
    if works.is_empty() || works.iter().all(|work| !reported(&work)) {
        says.push(applied(
            "ApplyInProgress",
            text("Resources are being applied"),
        ));
    } else if let Some(work) = waiting {
        let message = format!(
            "Work object {} has not yet completed the apply op",
            work.name()
        );
        says.push(applied("NotAllWorkHaveBeenApplied", message));
    } else if let Some(work) = refused {
        let message = format!("Work object {} has failed to apply", work.name());
        says.push(applied("NotAllWorkHaveBeenApplied", message));
        failed = failures(works);
    } else {
        let message = text("All corresponding work objects are applied");
        says.push(("Applied", ("True", "AllWorkHaveBeenApplied", message)));
        let available = if let Some(work) = unavailable {
            failed = failures(works);
            let message = format!("Work object {} is not yet available", work.name());
            ("False", "NotAllWorkAreAvailable", message)
        } else if let Some(work) = untracked {
            let message = format!(
                "The availability of work object {} is not trackable",
                work.name()
            );
            ("True", "NotAllWorkAreAvailabilityTrackable", message)
        } else {
            let message = text("All corresponding work objects are available");
            ("True", "AllWorkAreAvailable", message)
        };
        says.push(("Available", available));
    }
    conclude(binding, says, failed, now)
}

/// The objects that are not applied or not available, with the condition that says so.
fn failures(works: &[&Value]) -> Vec<Value> {
    let mut failed = Vec::new();
    for report in works
        .iter()
        .flat_map(|work| work.items("/status/manifestConditions"))
    {
        let conditions = conditions::of(report, "/conditions");
        let bad = ["Applied", "Available"]
            .iter()
            .filter_map(|kind| conditions.find(kind))
            .find(|condition| condition.status == "False");
        let Some(bad) = bad else { continue };
        let mut entry = json!({"condition": bad});
        for field in ["group", "version", "kind", "name", "namespace"] {
            if let Some(value) = report["identifier"].get(field) {
                entry[field] = value.clone();
            }
        }
        failed.push(entry);
    }
    failed.truncate(FAILED_LIMIT);
    failed
}

// The work generator takes all conditions after RolloutStarted away and sets them anew, so all of
// them have the time of the last change.
fn conclude(
    binding: &Value,
    says: Vec<Saying>,
    failed: Vec<Value>,
    now: Timestamp,
) -> Option<Value> {
    let old = conditions::of_status(binding);
    let mut new: Vec<Condition> = old
        .iter()
        .filter(|condition| condition.kind == "RolloutStarted")
        .cloned()
        .collect();
    for (kind, (status, reason, message)) in says {
        let condition = Condition::new(
            kind,
            (status, reason, message.as_str()),
            binding.generation(),
        );
        conditions::set(&mut new, condition, now);
    }
    let same = conditions::say_the_same(&old, &new)
        && binding.items("/status/failedPlacements") == failed.as_slice();
    if same {
        return None;
    }
    let mut status = binding.get("status").cloned().unwrap_or_else(|| json!({}));
    status["conditions"] = json!(new);
    if let Some(fields) = status.as_object_mut() {
        if failed.is_empty() {
            fields.remove("failedPlacements");
        } else {
            fields.insert("failedPlacements".to_owned(), Value::Array(failed));
        }
    }
    Some(status)
}

/// Says that the rollout of a binding has started, and by which run.
pub(crate) fn rollout_started(binding: &mut Value, run: &str, snapshot: &str, now: Timestamp) {
    let mut list = conditions::of_status(binding);
    list.retain(|condition| condition.kind != "RolloutStarted");
    let message = format!(
        "Detected the new changes on the resources and started the rollout process, \
         resourceSnapshotIndex: {snapshot}, updateRun: {run}"
    );
    let says = ("True", "RolloutStarted", message.as_str());
    let condition = Condition::new("RolloutStarted", says, binding.generation());
    conditions::set(&mut list, condition, now);
    binding.put(&["status", "conditions"], json!(list));
}

#[cfg(test)]
mod tests {
    use super::super::agent;
    use super::super::snapshots;
    use super::super::trouble::Trouble;
    use super::*;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn snapshot(scope: &Scope) -> Value {
        let placement = json!({"metadata": {"name": "shop", "uid": "1"}});
        let content = vec![json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "settings", "namespace": "shop"},
        })];
        snapshots::build(scope, &placement, 3, &content)
    }

    fn binding() -> Value {
        let mut binding = json!({
            "metadata": {"name": "shop-m1-0", "generation": 2},
            "spec": {
                "targetCluster": "m1", "resourceSnapshotName": "shop-3-snapshot",
                "applyStrategy": {"type": "ClientSideApply"}, "state": "Bound",
            },
        });
        rollout_started(&mut binding, "run-1", "", NOW);
        binding
    }

    fn says(status: Option<&Value>, kind: &str) -> Option<(String, String)> {
        conditions::of(status?, "/conditions")
            .into_iter()
            .find(|condition| condition.kind == kind)
            .map(|condition| (condition.status, condition.message))
    }

    #[test]
    fn a_work_is_named_after_its_placement() {
        let cluster = works(&Scope::Cluster, &binding(), &[&snapshot(&Scope::Cluster)]);
        assert_eq!(cluster[0].name(), "shop-work");
        assert_eq!(cluster[0].namespace(), "fleet-member-m1");
        assert_eq!(cluster[0].label(names::WORK_SNAPSHOT_INDEX), "3");
        let scope = Scope::Namespace("team".to_owned());
        let namespaced = works(&scope, &binding(), &[&snapshot(&scope)]);
        assert_eq!(namespaced[0].name(), "team.shop-work");
        assert_eq!(namespaced[0].label(names::WORK_NAMESPACE), "team");
        assert_eq!(changed(&cluster[0], &cluster[0]), None);
    }

    #[test]
    fn a_binding_sums_up_its_works() {
        let mut work = works(&Scope::Cluster, &binding(), &[&snapshot(&Scope::Cluster)]).remove(0);
        let silent = status(&binding(), &[&work], NOW);
        assert_eq!(
            says(silent.as_ref(), "Applied"),
            Some(("False".to_owned(), "Resources are being applied".to_owned()))
        );
        assert_eq!(says(silent.as_ref(), "Available"), None);

        work["status"] = agent::report(&work, Some(&Trouble::NotAvailable), NOW);
        let stuck = status(&binding(), &[&work], NOW);
        assert_eq!(
            says(stuck.as_ref(), "Available"),
            Some((
                "False".to_owned(),
                "Work object shop-work is not yet available".to_owned()
            ))
        );
        let failed = stuck.unwrap().items("/failedPlacements").to_vec();
        assert_eq!(failed[0]["condition"]["reason"], "ManifestNotAvailableYet");

        work["status"] = agent::report(&work, None, NOW);
        let mut binding = binding();
        let fine = status(&binding, &[&work], NOW).unwrap();
        assert_eq!(says(Some(&fine), "Available").unwrap().0, "True");
        assert!(fine.get("failedPlacements").is_none());
        binding["status"] = fine;
        assert_eq!(status(&binding, &[&work], NOW), None);
    }
}
