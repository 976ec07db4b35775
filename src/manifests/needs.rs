//! What the pods of a workload cannot start without.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::contents::{Identity, Manifest};

/// The kinds of objects that pods need.
pub const NEEDED_KINDS: [&str; 4] = [
    "ConfigMap",
    "Secret",
    "PersistentVolumeClaim",
    "ServiceAccount",
];

/// Where pods name what they need: the list, the reference in one of its items, the field with the
/// name, and the kind.
const REFERENCES: [(&str, &str, &str, &str); 3] = [
    ("volumes", "/configMap", "name", "ConfigMap"),
    ("volumes", "/secret", "secretName", "Secret"),
    (
        "volumes",
        "/persistentVolumeClaim",
        "claimName",
        "PersistentVolumeClaim",
    ),
];
/// The same in what is put together from several sources, and in environments.
const SOURCES: [(&str, &str); 2] = [("/configMap", "ConfigMap"), ("/secret", "Secret")];
const VARIABLES: [(&str, &str); 2] = [
    ("/valueFrom/configMapKeyRef", "ConfigMap"),
    ("/valueFrom/secretKeyRef", "Secret"),
];
const ENVIRONMENTS: [(&str, &str); 2] = [("/configMapRef", "ConfigMap"), ("/secretRef", "Secret")];

/// The objects that the pods of a workload cannot start without, in its namespace. What is optional
/// is left out, and so is what Kubernetes makes in every namespace.
pub fn needs(workload: &Manifest) -> BTreeSet<Identity> {
    let identity = &workload.identity;
    let place = match (identity.group.as_str(), identity.kind.as_str()) {
        ("", "Pod") => "/spec",
        _ => "/spec/template/spec",
    };
    let mut found = BTreeSet::new();
    let Some(pod) = workload.value.pointer(place) else {
        return found;
    };
    let mut take = |reference: Option<&Value>, field: &str, kind: &str| {
        let Some(reference) = reference else { return };
        let optional = reference.get("optional").and_then(Value::as_bool);
        let name = reference.get(field).and_then(Value::as_str);
        let name = name.filter(|name| !name.is_empty() && optional != Some(true));
        found.extend(name.map(|name| Identity {
            kind: kind.to_owned(),
            group: String::new(),
            namespace: identity.namespace.clone(),
            name: name.to_owned(),
        }));
    };
    for (list, place, field, kind) in REFERENCES {
        for item in items(pod, list) {
            take(item.pointer(place), field, kind);
        }
    }
    for volume in items(pod, "volumes") {
        let sources = volume.get("projected");
        for source in sources.into_iter().flat_map(|it| items(it, "sources")) {
            for (place, kind) in SOURCES {
                take(source.pointer(place), "name", kind);
            }
        }
    }
    for container in ["initContainers", "containers"]
        .into_iter()
        .flat_map(|list| items(pod, list))
    {
        for (list, places) in [("env", VARIABLES), ("envFrom", ENVIRONMENTS)] {
            for item in items(container, list) {
                for (place, kind) in places {
                    take(item.pointer(place), "name", kind);
                }
            }
        }
    }
    if pod.get("serviceAccountName").and_then(Value::as_str) != Some("default") {
        take(Some(pod), "serviceAccountName", "ServiceAccount");
    }
    found
}

fn items<'v>(value: &'v Value, list: &str) -> impl Iterator<Item = &'v Value> {
    let list = value.get(list).and_then(Value::as_array);
    list.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::needs;
    use crate::contents::{Identity, Manifest};

    fn names(kind: &str, spec: &serde_json::Value) -> Vec<String> {
        let api = if kind == "Pod" { "v1" } else { "apps/v1" };
        let value = json!({
            "apiVersion": api,
            "kind": kind,
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": spec,
        });
        let needed = needs(&Manifest::of(value, 0));
        needed.iter().map(Identity::describe).collect()
    }

    #[test]
    fn every_reference_of_a_pod_is_found() {
        let pod = json!({
            "serviceAccountName": "robot",
            "volumes": [
                {"name": "a", "configMap": {"name": "site"}},
                {"name": "b", "secret": {"secretName": "tls"}},
                {"name": "c", "persistentVolumeClaim": {"claimName": "data"}},
                {"name": "d", "projected": {"sources": [
                    {"configMap": {"name": "ca"}},
                    {"secret": {"name": "token"}},
                    {"serviceAccountToken": {"path": "token"}},
                ]}},
                {"name": "e", "emptyDir": {}},
            ],
            "initContainers": [{"name": "i", "envFrom": [{"secretRef": {"name": "init"}}]}],
            "containers": [{
                "name": "web",
                "env": [
                    {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "a"}}},
                    {"name": "B", "valueFrom": {"secretKeyRef": {"name": "db", "key": "b"}}},
                    {"name": "C", "value": "c"},
                ],
                "envFrom": [{"configMapRef": {"name": "all"}}],
            }],
        });
        let wanted = [
            "ConfigMap shop/all",
            "ConfigMap shop/ca",
            "ConfigMap shop/settings",
            "ConfigMap shop/site",
            "PersistentVolumeClaim shop/data",
            "Secret shop/db",
            "Secret shop/init",
            "Secret shop/tls",
            "Secret shop/token",
            "ServiceAccount shop/robot",
        ];
        assert_eq!(
            names("Deployment", &json!({"template": {"spec": pod}})),
            wanted
        );
        assert_eq!(names("Pod", &pod), wanted);
    }

    #[test]
    fn what_pods_start_without_is_left_out() {
        let pod = json!({
            "serviceAccountName": "default",
            "imagePullSecrets": [{"name": "registry"}],
            "volumes": [
                {"name": "a", "configMap": {"name": "site", "optional": true}},
                {"name": "b", "secret": {"secretName": "tls", "optional": true}},
                {"name": "c", "secret": {}},
            ],
            "containers": [{
                "name": "web",
                "env": [{"name": "A", "valueFrom": {
                    "configMapKeyRef": {"name": "settings", "key": "a", "optional": true}
                }}],
            }],
        });
        assert!(names("Deployment", &json!({"template": {"spec": pod}})).is_empty());
        assert!(names("Deployment", &json!({"replicas": 1})).is_empty());
        assert!(names("Pod", &json!("odd")).is_empty());
    }
}
