//! Fields that Kubernetes does not let change once an object exists.

use serde_json::Value;

use super::defaults::may_be_same;
use crate::contents::{ManifestKey, text};

/// Kind, group, and the fields that must stay: one line per kind.
#[rustfmt::skip]
const FIELDS: &[(&str, &str, &[&str])] = &[
    ("Deployment", "apps", &["/spec/selector"]),
    ("ReplicaSet", "apps", &["/spec/selector"]),
    ("DaemonSet", "apps", &["/spec/selector"]),
    ("StatefulSet", "apps", &["/spec/selector", "/spec/serviceName", "/spec/podManagementPolicy", "/spec/volumeClaimTemplates"]),
    ("Job", "batch", &["/spec/selector", "/spec/template", "/spec/completionMode"]),
    ("RoleBinding", "rbac.authorization.k8s.io", &["/roleRef"]),
    ("ClusterRoleBinding", "rbac.authorization.k8s.io", &["/roleRef"]),
    ("Secret", "", &["/type"]),
    ("Service", "", &["/spec/clusterIP"]),
    ("PersistentVolumeClaim", "", &["/spec/accessModes", "/spec/storageClassName", "/spec/volumeMode", "/spec/volumeName", "/spec/selector", "/spec/dataSource"]),
    ("RuntimeClass", "node.k8s.io", &["/handler"]),
    ("StorageClass", "storage.k8s.io", &["/provisioner", "/parameters", "/reclaimPolicy", "/volumeBindingMode"]),
    ("PriorityClass", "scheduling.k8s.io", &["/value", "/preemptionPolicy"]),
    ("CustomResourceDefinition", "apiextensions.k8s.io", &["/spec/scope", "/spec/group"]),
];

/// The first field that changes although it must not, as a JSON pointer.
pub(super) fn changed(before: &Value, after: &Value) -> Option<String> {
    let ManifestKey { kind, group, .. } = ManifestKey::of(after);
    let (_, _, fields) = FIELDS
        .iter()
        .find(|(other, its, _)| *other == kind && *its == group)
        .copied()
        .unwrap_or_default();
    let differs = |field: &&&str| {
        let old = before.pointer(field);
        // A value that is left out may be the default that the object has.
        let both = old.zip(after.pointer(field));
        both.is_some_and(|(old, new)| !may_be_same(old, new))
    };
    if let Some(field) = fields.iter().find(differs) {
        return Some((*field).to_owned());
    }
    if kind == "Service" && group.is_empty() && headless_changes(before, after) {
        return Some("/spec/clusterIP".to_owned());
    }
    let frozen = before.get("immutable") == Some(&Value::Bool(true));
    if !(frozen && group.is_empty() && matches!(kind.as_str(), "ConfigMap" | "Secret")) {
        return None;
    }
    // The one is the other in another spelling.
    if before.get("stringData").is_some() != after.get("stringData").is_some() {
        return None;
    }
    let fields = ["/data", "/binaryData", "/stringData", "/immutable"];
    let differs = |field: &&&str| before.pointer(field) != after.pointer(field);
    fields.iter().find(differs).map(|field| (*field).to_owned())
}

/// Whether a Service that has an address is to have none, or one without is to be of a type that needs one.
fn headless_changes(before: &Value, after: &Value) -> bool {
    let address = |service| text(service, &["spec", "clusterIP"]);
    let kind = |service| text(service, &["spec", "type"]);
    let becomes = address(before).is_empty() && address(after) == "None";
    let ceases = address(before) == "None" && address(after).is_empty();
    becomes && kind(before) != "ExternalName"
        || ceases && matches!(kind(after), "LoadBalancer" | "NodePort")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::changed;

    fn deployment(app: &str, replicas: u8) -> Value {
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": app}}}})
    }

    fn config(immutable: bool, value: &str, label: &str) -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "immutable": immutable,
            "metadata": {"labels": {"x": label}}, "data": {"a": value}})
    }

    #[test]
    fn a_field_that_must_stay_is_named() {
        let (old, new) = (deployment("web", 1), deployment("shop", 1));
        assert_eq!(changed(&old, &new).as_deref(), Some("/spec/selector"));
        let old = config(true, "1", "");
        for (new, field) in [
            (config(true, "2", ""), "/data"),
            (config(false, "1", ""), "/immutable"),
        ] {
            assert_eq!(changed(&old, &new).as_deref(), Some(field));
        }
    }

    /// A Service of a type, `headless` without an address.
    fn service(words: &str) -> Value {
        let (headless, kind) = words.rsplit_once(' ').unwrap_or(("", words));
        let mut service = json!({"apiVersion": "v1", "kind": "Service", "spec": {"type": kind}});
        if headless == "headless" {
            service["spec"]["clusterIP"] = json!("None");
        }
        service
    }

    #[test]
    fn a_service_keeps_its_address_or_keeps_none() {
        for (old, new, is_refused) in [
            ("ClusterIP", "headless ClusterIP", true),
            ("headless ClusterIP", "LoadBalancer", true),
            ("headless ClusterIP", "ClusterIP", false),
            ("ExternalName", "headless ClusterIP", false),
            ("ClusterIP", "LoadBalancer", false),
        ] {
            let field = is_refused.then_some("/spec/clusterIP");
            let found = changed(&service(old), &service(new));
            assert_eq!(found.as_deref(), field, "{old} {new}");
        }
    }

    #[test]
    fn other_changes_are_fine() {
        for (old, new) in [
            (deployment("web", 1), deployment("web", 2)),
            (config(false, "1", ""), config(false, "2", "")),
            (config(true, "1", "a"), config(true, "1", "b")),
            (
                json!({"apiVersion": "v1", "kind": "Secret", "immutable": true, "data": {"a": "YQ=="}}),
                json!({"apiVersion": "v1", "kind": "Secret", "immutable": true, "stringData": {"a": "a"}}),
            ),
            (
                json!({"apiVersion": "x.io/v1", "kind": "Deployment", "spec": {"selector": 1}}),
                json!({"apiVersion": "x.io/v1", "kind": "Deployment", "spec": {"selector": 2}}),
            ),
        ] {
            assert_eq!(changed(&old, &new), None, "{old} {new}");
        }
    }
}
