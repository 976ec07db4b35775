//! An object as a snapshot has it, and its place there.
//!
//! Source: utils/controller/resource_selector_resolver.go:generateRawContent, sortResources.

use serde_json::{Map, Value};

use crate::contents::{Manifest, text};

/// The order of kinds in a snapshot; others come behind.
const ORDER: [&str; 32] = [
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleBinding",
    "Role",
    "RoleBinding",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
];

/// By what the objects of a snapshot are sorted.
pub(super) fn place(manifest: &Manifest) -> (usize, String, String) {
    let identity = &manifest.identity;
    let known = ORDER.iter().position(|kind| *kind == identity.kind);
    let api = &manifest.api_version;
    let version = if known.is_some() {
        api.clone()
    } else if api.contains('/') {
        format!("{api}, Kind={}", identity.kind)
    } else {
        format!("/{api}, Kind={}", identity.kind)
    };
    (
        known.unwrap_or(ORDER.len()),
        version,
        format!("{}/{}", identity.namespace, identity.name),
    )
}

/// What only the hub knows of an object.
const OF_THE_HUB: [&str; 8] = [
    "resourceVersion",
    "generation",
    "uid",
    "selfLink",
    "deletionTimestamp",
    "managedFields",
    "ownerReferences",
    "creationTimestamp",
];

/// An object as a snapshot has it.
pub(super) fn manifest(object: &Value) -> Manifest {
    let trimmed = trimmed(object);
    let bytes = trimmed.to_string().len();
    Manifest::of(trimmed, bytes)
}

/// An object without what is not sent to clusters.
pub(super) fn trimmed(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
        if let Some(meta) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
            trim_meta(meta);
        }
    }
    match (text(&object, &["apiVersion"]), text(&object, &["kind"])) {
        ("v1", "Service") => trim_service(&mut object),
        ("batch/v1", "Job") => trim_job(&mut object),
        _ => {}
    }
    object
}

fn trim_meta(meta: &mut Map<String, Value>) {
    for field in OF_THE_HUB {
        meta.remove(field);
    }
    let Some(annotations) = meta.get_mut("annotations").and_then(Value::as_object_mut) else {
        return;
    };
    annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
    annotations.remove("deployment.kubernetes.io/revision");
    if annotations.is_empty() {
        meta.remove("annotations");
    }
}

fn trim_service(service: &mut Value) {
    let Some(spec) = service.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    let ip = spec.get("clusterIP").and_then(Value::as_str);
    if ip.is_some_and(|ip| ip != "None") {
        spec.remove("clusterIP");
        spec.remove("clusterIPs");
    }
    spec.remove("healthCheckNodePort");
    let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten() {
        if let Some(port) = port.as_object_mut() {
            port.remove("nodePort");
        }
    }
}

fn trim_job(job: &mut Value) {
    if job.pointer("/spec/manualSelector") == Some(&Value::Bool(true)) {
        return;
    }
    let labels = [
        "/spec/selector/matchLabels",
        "/spec/template/metadata/labels",
    ];
    for place in labels {
        if let Some(labels) = job.pointer_mut(place).and_then(Value::as_object_mut) {
            labels.remove("controller-uid");
            labels.remove("batch.kubernetes.io/controller-uid");
        }
    }
    let meta = job.pointer_mut("/spec/template/metadata");
    if let Some(meta) = meta.and_then(Value::as_object_mut) {
        meta.remove("creationTimestamp");
    }
}
