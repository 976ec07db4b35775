//! What the pods of a workload cannot start without.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::contents::{Manifest, ManifestKey};

/// The kinds of objects that pods need.
pub const NEEDED_KINDS: [&str; 4] = [
    "ConfigMap",
    "Secret",
    "PersistentVolumeClaim",
    "ServiceAccount",
];

/// Where an entry of a pod's lists refers to what it needs, and of which kind that is.
const REFERENCES: [(&str, &str); 7] = [
    ("/configMap", "ConfigMap"),
    ("/secret", "Secret"),
    ("/persistentVolumeClaim", "PersistentVolumeClaim"),
    ("/valueFrom/configMapKeyRef", "ConfigMap"),
    ("/valueFrom/secretKeyRef", "Secret"),
    ("/configMapRef", "ConfigMap"),
    ("/secretRef", "Secret"),
];
/// The fields with the name, of which a reference has one.
const NAMES: [&str; 3] = ["name", "secretName", "claimName"];

/// The objects that the pods of a workload cannot start without, in its namespace. What is optional
/// is left out, and so is what Kubernetes makes in every namespace.
pub fn needs(workload: &Manifest) -> BTreeSet<ManifestKey> {
    let identity = &workload.identity;
    let place = match (identity.group.as_str(), identity.kind.as_str()) {
        ("", "Pod") => "/spec",
        _ => "/spec/template/spec",
    };
    let Some(pod) = workload.value.pointer(place) else {
        return BTreeSet::new();
    };
    let volumes = items(pod, "volumes");
    let sources = items(pod, "volumes").filter_map(|it| it.get("projected"));
    let sources = sources.flat_map(|it| items(it, "sources"));
    let containers = items(pod, "initContainers").chain(items(pod, "containers"));
    let variables = containers.flat_map(|it| items(it, "env").chain(items(it, "envFrom")));
    let entries = volumes.chain(sources).chain(variables);
    let references = entries.flat_map(|entry| {
        let references = REFERENCES.iter();
        references.filter_map(|(place, kind)| Some((*kind, needed_name(entry.pointer(place)?)?)))
    });
    let account = pod.get("serviceAccountName").and_then(Value::as_str);
    let account = account.filter(|name| !matches!(*name, "" | "default"));
    let account = account.map(|name| ("ServiceAccount", name));
    let needed = references.chain(account).map(|(kind, name)| ManifestKey {
        kind: kind.to_owned(),
        group: String::new(),
        namespace: identity.namespace.clone(),
        name: name.to_owned(),
    });
    needed.collect()
}

/// The name in a reference that is not optional.
fn needed_name(reference: &Value) -> Option<&str> {
    let is_optional = reference.get("optional").and_then(Value::as_bool) == Some(true);
    let mut names = NAMES
        .iter()
        .filter_map(|field| reference.get(field)?.as_str());
    names.find(|name| !name.is_empty() && !is_optional)
}

fn items<'v>(value: &'v Value, list: &str) -> impl Iterator<Item = &'v Value> {
    let list = value.get(list).and_then(Value::as_array);
    list.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::needs;
    use crate::contents::{Manifest, ManifestKey};

    fn names(kind: &str, spec: &serde_json::Value) -> Vec<String> {
        let api = if kind == "Pod" { "v1" } else { "apps/v1" };
        let value = json!({
            "apiVersion": api,
            "kind": kind,
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": spec,
        });
        let needed = needs(&Manifest::of(value, 0));
        needed.iter().map(ManifestKey::describe).collect()
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
