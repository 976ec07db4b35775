//! What a member agent reports about a Work: pure functions of the Work and of what is wrong.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::conditions::{self, Condition};
use super::content;
use super::object::Object;
use super::trouble::Trouble;

/// Kinds that are available as soon as they are there.
const DATA: [&str; 18] = [
    "Namespace",
    "Secret",
    "ConfigMap",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ServiceAccount",
    "NetworkPolicy",
    "CSIDriver",
    "CSINode",
    "StorageClass",
    "CSIStorageCapacity",
    "ControllerRevision",
    "IngressClass",
    "LimitRange",
    "ResourceQuota",
    "PriorityClass",
];

/// Kinds whose availability is watched.
const WORKLOADS: [&str; 6] = [
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "Service",
    "CustomResourceDefinition",
    "PodDisruptionBudget",
];

/// What happens to one manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate<'t> {
    Refused(&'t str),
    NotAvailable,
    Untracked,
    Available,
}

/// The status of a Work. Times of conditions that do not change are taken from the old one.
pub(crate) fn report(work: &Value, trouble: Option<&Trouble>, now: Timestamp) -> Value {
    let manifests = work.items("/spec/workload/manifests");
    let fates = fates(manifests, trouble);
    let old = work.items("/status/manifestConditions");
    let reports: Vec<Value> = manifests
        .iter()
        .zip(&fates)
        .enumerate()
        .map(|(ordinal, (manifest, fate))| {
            let identifier = identifier(ordinal, manifest);
            let known = old
                .iter()
                .find(|old| same_resource(&old["identifier"], &identifier))
                .map(|old| conditions::of(old, "/conditions"))
                .unwrap_or_default();
            json!({
                "identifier": identifier,
                "conditions": manifest_conditions(known, manifest, *fate, now),
            })
        })
        .collect();
    json!({
        "conditions": work_conditions(work, &fates, now),
        "manifestConditions": reports,
    })
}

fn fates<'t>(manifests: &[Value], trouble: Option<&'t Trouble>) -> Vec<Fate<'t>> {
    let mut fates: Vec<Fate<'_>> = manifests
        .iter()
        .map(|manifest| {
            let kind = manifest.text("/kind");
            if DATA.contains(&kind) || WORKLOADS.contains(&kind) {
                Fate::Available
            } else {
                Fate::Untracked
            }
        })
        .collect();
    let workload = manifests
        .iter()
        .rposition(|manifest| WORKLOADS.contains(&manifest.text("/kind")));
    let last = manifests.len().checked_sub(1);
    let (victim, fate) = match trouble {
        Some(Trouble::ApplyFails(text)) => (last, Fate::Refused(text)),
        Some(Trouble::NotAvailable | Trouble::Slow(_)) => (workload.or(last), Fate::NotAvailable),
        Some(Trouble::Gone) | None => (None, Fate::Available),
    };
    if let Some(place) = victim.and_then(|victim| fates.get_mut(victim)) {
        *place = fate;
    }
    fates
}

fn identifier(ordinal: usize, manifest: &Value) -> Value {
    let (group, version) = content::group_version(manifest);
    let mut identifier = json!({
        "ordinal": ordinal,
        "version": version,
        "kind": manifest.text("/kind"),
        "resource": content::plural(manifest),
        "name": manifest.name(),
    });
    for (field, text) in [("group", group), ("namespace", manifest.namespace())] {
        if !text.is_empty() {
            identifier[field] = json!(text);
        }
    }
    identifier
}

fn same_resource(one: &Value, other: &Value) -> bool {
    ["group", "version", "kind", "name", "namespace"]
        .iter()
        .all(|field| one.get(field) == other.get(field))
}

fn manifest_conditions(
    mut list: Vec<Condition>,
    manifest: &Value,
    fate: Fate<'_>,
    now: Timestamp,
) -> Vec<Condition> {
    // The generation of the object on the member cluster; plain data has none.
    let generation = i64::from(!DATA.contains(&manifest.text("/kind")));
    if let Fate::Refused(text) = fate {
        let message = format!(
            "Failed to apply the manifest (error: failed to apply the manifest: failed to create \
             manifest object: error returned by the API server: {text})"
        );
        let says = ("False", "ManifestApplyFailed", message.as_str());
        list.retain(|condition| condition.kind == "Applied");
        conditions::set(&mut list, Condition::new("Applied", says, 0), now);
        return list;
    }
    let applied = ("True", "Applied", "Manifest has been applied successfully");
    let available = match fate {
        Fate::NotAvailable => (
            "False",
            "ManifestNotAvailableYet",
            "Manifest is not yet available; Fleet will check again later",
        ),
        Fate::Untracked => (
            "True",
            "NotTrackable",
            "Manifest's availability is not trackable; Fleet assumes that the applied manifest is \
             available",
        ),
        Fate::Available | Fate::Refused(_) => ("True", "Available", "Manifest is available"),
    };
    conditions::set(
        &mut list,
        Condition::new("Applied", applied, generation),
        now,
    );
    conditions::set(
        &mut list,
        Condition::new("Available", available, generation),
        now,
    );
    list
}

fn work_conditions(work: &Value, fates: &[Fate<'_>], now: Timestamp) -> Vec<Condition> {
    let generation = work.generation();
    let mut list = conditions::of_status(work);
    let total = fates.len();
    let count = |test: fn(&Fate<'_>) -> bool| fates.iter().filter(|fate| test(fate)).count();
    let applied = count(|fate| !matches!(fate, Fate::Refused(_)));
    if applied < total {
        let message =
            format!("Failed to apply all manifests ({applied} of {total} manifests are applied)");
        let says = ("False", "SomeManifestsAreNotApplied", message.as_str());
        list.retain(|condition| condition.kind != "Available");
        conditions::set(&mut list, Condition::new("Applied", says, generation), now);
        return list;
    }
    let says = (
        "True",
        "AllManifestsApplied",
        "All the specified manifests have been applied",
    );
    conditions::set(&mut list, Condition::new("Applied", says, generation), now);
    let available = count(|fate| matches!(fate, Fate::Available | Fate::Untracked));
    let some = format!(
        "Some manifests are not available ({available} of {total} manifests are available)"
    );
    let says = if available < total {
        ("False", "SomeManifestsAreNotAvailable", some.as_str())
    } else if fates.contains(&Fate::Untracked) {
        (
            "True",
            "WorkNotTrackable",
            "Some of the applied manifests cannot be tracked for availability",
        )
    } else {
        (
            "True",
            "AllManifestsAvailable",
            "All of the applied manifests are available",
        )
    };
    conditions::set(
        &mut list,
        Condition::new("Available", says, generation),
        now,
    );
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work() -> Value {
        json!({
            "metadata": {"name": "shop-work", "generation": 2},
            "spec": {"workload": {"manifests": [
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
                {"apiVersion": "apps/v1", "kind": "Deployment",
                 "metadata": {"name": "web", "namespace": "shop"}},
                {"apiVersion": "v1", "kind": "ConfigMap",
                 "metadata": {"name": "settings", "namespace": "shop"}},
            ]}},
        })
    }

    fn said(status: &Value, kind: &str) -> Option<(String, String)> {
        conditions::of(status, "/conditions")
            .into_iter()
            .find(|condition| condition.kind == kind)
            .map(|condition| (condition.status, condition.message))
    }

    #[test]
    fn everything_is_available_without_trouble() {
        let status = report(&work(), None, Timestamp::UNIX_EPOCH);
        assert_eq!(said(&status, "Available").unwrap().0, "True");
        let third = &status["manifestConditions"][2];
        assert_eq!(third["identifier"]["resource"], "configmaps");
        assert!(third["conditions"][0].get("observedGeneration").is_none());
        assert_eq!(
            status["manifestConditions"][1]["conditions"][0]["observedGeneration"],
            1
        );
    }

    #[test]
    fn the_workload_is_what_does_not_become_available() {
        let status = report(&work(), Some(&Trouble::NotAvailable), Timestamp::UNIX_EPOCH);
        assert_eq!(
            said(&status, "Available").unwrap(),
            (
                "False".to_owned(),
                "Some manifests are not available (2 of 3 manifests are available)".to_owned()
            )
        );
        let web = &status["manifestConditions"][1];
        assert_eq!(web["conditions"][1]["reason"], "ManifestNotAvailableYet");
    }

    #[test]
    fn nothing_is_said_about_the_availability_of_what_cannot_be_applied() {
        let trouble = Trouble::ApplyFails("namespaces \"shop\" not found".to_owned());
        let status = report(&work(), Some(&trouble), Timestamp::UNIX_EPOCH);
        assert_eq!(
            said(&status, "Applied").unwrap().1,
            "Failed to apply all manifests (2 of 3 manifests are applied)"
        );
        assert_eq!(said(&status, "Available"), None);
        let settings = &status["manifestConditions"][2]["conditions"];
        assert_eq!(settings.as_array().unwrap().len(), 1);
    }

    #[test]
    fn times_stay_while_nothing_changes() {
        let mut work = work();
        work["status"] = report(&work, None, Timestamp::UNIX_EPOCH);
        let later = Timestamp::from_second(60).unwrap();
        assert_eq!(report(&work, None, later), work["status"]);
    }
}
