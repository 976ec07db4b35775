//! What KubeFleet does not place though it is selected.
//!
//! Source: utils/apiresources.go:NewResourceConfig, utils/common.go:ShouldPropagateNamespace,
//! utils/controller/resource_selector_resolver.go:ShouldPropagateObj. The hub agent's flags may name
//! more kinds and namespaces; these are the defaults.

use serde_json::Value;

use crate::contents::text;
use crate::kubefleet::kind::CLUSTER_GROUP;
use crate::kubefleet::snapshot::is_of_hub;

/// Groups of which nothing is placed.
const GROUPS: &[&str] = &[
    CLUSTER_GROUP,
    "events.k8s.io",
    "coordination.k8s.io",
    "metrics.k8s.io",
];

/// Other kinds that are not placed, by group.
const KINDS: &[(&str, &str)] = &[
    ("", "Event"),
    ("", "Node"),
    ("", "Pod"),
    ("networking.fleet.azure.com", "ServiceImport"),
    ("networking.fleet.azure.com", "TrafficManagerBackend"),
    ("networking.fleet.azure.com", "TrafficManagerProfile"),
];

/// Whether a kind is never placed.
pub(super) fn is_disabled(group: &str, version: &str, kind: &str) -> bool {
    GROUPS.contains(&group)
        || is_of_hub(group, kind)
        || (KINDS.contains(&(group, kind)) && (!group.is_empty() || version == "v1"))
}

/// Whether a kind of KubeFleet's own was placed with its namespace up to 0.3.
pub(super) fn was_placed(group: &str, kind: &str) -> bool {
    let kinds = ["StagedUpdateRun", "StagedUpdateStrategy", "ApprovalRequest"];
    is_of_hub(group, kind) && kinds.contains(&kind)
}

/// Whether a namespace is never placed with what it holds.
pub(super) fn is_reserved(namespace: &str) -> bool {
    namespace == "default" || namespace.starts_with("kube-") || namespace.starts_with("fleet-")
}

/// Why an object is not placed; `services` are those beside Endpoints.
pub(super) fn why_left_out(object: &Value, services: Option<&[&Value]>) -> Option<&'static str> {
    let is_set = |pointer: &str| object.pointer(pointer).is_some_and(|it| !it.is_null());
    if is_set("/metadata/deletionTimestamp") {
        return Some("it is being deleted");
    }
    let owners = object.pointer("/metadata/ownerReferences");
    let is_owned = owners
        .and_then(Value::as_array)
        .is_some_and(|owners| !owners.is_empty());
    let name = text(object, &["metadata", "name"]);
    match (text(object, &["apiVersion"]), text(object, &["kind"])) {
        ("apps/v1", "ReplicaSet" | "ControllerRevision") if is_owned => {
            Some("a workload on the hub owns it")
        }
        ("v1", "ConfigMap") if name == "kube-root-ca.crt" => {
            Some("Kubernetes creates it in every namespace")
        }
        ("v1", "ServiceAccount") if name == "default" => {
            Some("Kubernetes creates it in every namespace")
        }
        ("v1", "Secret") if text(object, &["type"]) == "kubernetes.io/service-account-token" => {
            Some("it is the token of a service account")
        }
        ("v1", "Endpoints")
            if services
                .into_iter()
                .flatten()
                .any(|it| text(it, &["metadata", "name"]) == name) =>
        {
            Some("Kubernetes creates it for the Service of the same name")
        }
        ("discovery.k8s.io/v1", "EndpointSlice")
            if object
                .pointer("/metadata/labels")
                .is_some_and(|it| it.get("endpointslice.kubernetes.io/managed-by").is_some()) =>
        {
            Some("a controller on the hub manages it")
        }
        _ => None,
    }
}
