//! The objects that a placement selects on the hub, as a resource snapshot holds them.

use std::collections::BTreeSet;

use futures::future;
use serde_json::{Map, Value};

use super::api::{Api, Failure};
use super::halt::{Halt, refuse, user};
use super::kinds::Scope;
use super::object::Object;
use super::selector;

/// A kind of content: version, kind, plural, whether it lives in namespaces, and its place in the
/// order in which KubeFleet applies things.
struct Known(&'static str, &'static str, &'static str, bool, u8);

/// What a namespace is searched for. Pods and the like are made by their owners.
#[rustfmt::skip]
const KNOWN: [Known; 20] = [
    Known("v1", "Namespace", "namespaces", false, 1),
    Known("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", true, 2),
    Known("v1", "ResourceQuota", "resourcequotas", true, 3),
    Known("v1", "LimitRange", "limitranges", true, 4),
    Known("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", true, 5),
    Known("v1", "ServiceAccount", "serviceaccounts", true, 6),
    Known("v1", "Secret", "secrets", true, 7),
    Known("v1", "ConfigMap", "configmaps", true, 8),
    Known("v1", "PersistentVolumeClaim", "persistentvolumeclaims", true, 11),
    Known("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", false, 13),
    Known("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", false, 14),
    Known("rbac.authorization.k8s.io/v1", "Role", "roles", true, 15),
    Known("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", true, 16),
    Known("v1", "Service", "services", true, 17),
    Known("apps/v1", "DaemonSet", "daemonsets", true, 18),
    Known("apps/v1", "Deployment", "deployments", true, 22),
    Known("apps/v1", "StatefulSet", "statefulsets", true, 24),
    Known("batch/v1", "Job", "jobs", true, 25),
    Known("batch/v1", "CronJob", "cronjobs", true, 26),
    Known("networking.k8s.io/v1", "Ingress", "ingresses", true, 28),
];

impl Known {
    fn path(&self, namespace: &str) -> String {
        let root = if self.0.contains('/') { "apis" } else { "api" };
        if self.3 {
            format!("/{root}/{}/namespaces/{namespace}/{}", self.0, self.2)
        } else {
            format!("/{root}/{}/{}", self.0, self.2)
        }
    }
}

/// Reads everything that a placement selects, in the order of a snapshot.
pub(crate) async fn select(
    api: &Api,
    scope: &Scope,
    placement: &Value,
) -> Result<Vec<Value>, Halt> {
    let mut found: Vec<Value> = Vec::new();
    let mut seen = BTreeSet::new();
    for term in placement.items("/spec/resourceSelectors") {
        for object in one(api, scope, placement, term).await? {
            if !seen.insert(identity(&object)) {
                return Err(refuse(&user(&format!(
                    "found duplicate resource {}",
                    print_identity(&object)
                ))));
            }
            found.push(object);
        }
    }
    found.sort_by_cached_key(|object| (order(object), identity(object)));
    Ok(found.iter().map(strip).collect())
}

async fn one(
    api: &Api,
    scope: &Scope,
    placement: &Value,
    term: &Value,
) -> Result<Vec<Value>, Halt> {
    let kind = term.text("/kind");
    let known = KNOWN
        .iter()
        .find(|known| known.1 == kind && known.0 == api_version(term));
    let Some(known) = known else {
        return Err(refuse(&user(&format!(
            "the stand-in does not place objects of {} {kind}",
            api_version(term)
        ))));
    };
    if kind == "Namespace" && *scope != Scope::Cluster {
        return Err(refuse(&user(&format!(
            "invalid placement {}: cannot select cluster-scoped resource Namespace in a \
             resourcePlacement",
            scope.key(placement.name())
        ))));
    }
    let namespace = match scope {
        Scope::Namespace(namespace) => namespace.clone(),
        // Beside a selector that takes a namespace alone, others pick objects in it.
        Scope::Cluster => placement
            .items("/spec/resourceSelectors")
            .iter()
            .find(|other| other.text("/selectionScope") == "NamespaceWithResourceSelectors")
            .map(|other| other.text("/name").to_owned())
            .unwrap_or_default(),
    };
    let mut objects = matching(api, known, &namespace, term).await?;
    let whole = kind == "Namespace"
        && matches!(term.text("/selectionScope"), "" | "NamespaceWithResources");
    if whole {
        let names: Vec<String> = objects
            .iter()
            .map(|object| object.name().to_owned())
            .collect();
        for name in names {
            let kinds = KNOWN.iter().filter(|known| known.3);
            let lists = future::try_join_all(kinds.map(|known| list(api, known, &name))).await?;
            objects.extend(lists.into_iter().flatten());
        }
    }
    Ok(objects)
}

async fn matching(
    api: &Api,
    known: &Known,
    namespace: &str,
    term: &Value,
) -> Result<Vec<Value>, Halt> {
    let mut objects = list(api, known, namespace).await?;
    let name = term.text("/name");
    objects.retain(|object| match term.get("labelSelector") {
        _ if !name.is_empty() => object.name() == name,
        None | Some(Value::Null) => true,
        labels => selector::matches(labels, object).unwrap_or_default(),
    });
    Ok(objects)
}

async fn list(api: &Api, known: &Known, namespace: &str) -> Result<Vec<Value>, Halt> {
    let listed = match api.list_at(&known.path(namespace)).await {
        Err(Failure::NotFound) => Vec::new(),
        Ok(listed) => listed,
        Err(failure) => return Err(Halt::Retry(format!("{failure:?}"))),
    };
    Ok(listed
        .into_iter()
        .map(|mut object| {
            // Items of a list do not name their kind.
            object.put(&["apiVersion"], known.0.into());
            object.put(&["kind"], known.1.into());
            object
        })
        .filter(|object| !made_by_the_cluster(object) && !object.deleting())
        .collect())
}

fn made_by_the_cluster(object: &Value) -> bool {
    match object.text("/kind") {
        "ConfigMap" => object.name() == "kube-root-ca.crt",
        "ServiceAccount" => object.name() == "default",
        "Secret" => object.text("/type") == "kubernetes.io/service-account-token",
        _ => false,
    }
}

fn api_version(term: &Value) -> String {
    match term.text("/group") {
        "" => term.text("/version").to_owned(),
        group => format!("{group}/{}", term.text("/version")),
    }
}

fn order(object: &Value) -> u8 {
    KNOWN
        .iter()
        .find(|known| known.1 == object.text("/kind"))
        .map_or(u8::MAX, |known| known.4)
}

fn identity(object: &Value) -> (String, String, String, String) {
    let text = |pointer| object.text(pointer).to_owned();
    (
        text("/apiVersion"),
        text("/kind"),
        text("/metadata/namespace"),
        text("/metadata/name"),
    )
}

fn print_identity(object: &Value) -> String {
    let (group, version) = group_version(object);
    format!(
        "{{Group:{group} Version:{version} Kind:{} Name:{} Namespace:{} Envelope:<nil>}}",
        object.text("/kind"),
        object.name(),
        object.namespace()
    )
}

/// Group and version of an object.
pub(crate) fn group_version(object: &Value) -> (&str, &str) {
    let both = object.text("/apiVersion");
    both.split_once('/').unwrap_or(("", both))
}

/// The plural of a kind, for the identifiers in a Work's status.
pub(crate) fn plural(object: &Value) -> String {
    let kind = object.text("/kind");
    KNOWN.iter().find(|known| known.1 == kind).map_or_else(
        || format!("{}s", kind.to_lowercase()),
        |known| known.2.to_owned(),
    )
}

/// An object without what only its own cluster knows.
fn strip(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    if let Some(meta) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in [
            "resourceVersion",
            "generation",
            "uid",
            "managedFields",
            "creationTimestamp",
            "ownerReferences",
            "selfLink",
            "deletionTimestamp",
        ] {
            meta.remove(field);
        }
        let annotations = meta.get_mut("annotations").and_then(Value::as_object_mut);
        if let Some(annotations) = annotations {
            annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
            annotations.remove("deployment.kubernetes.io/revision");
            if annotations.is_empty() {
                meta.remove("annotations");
            }
        }
    }
    if object.text("/kind") == "Service"
        && let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut)
    {
        strip_service(spec);
    }
    object
}

fn strip_service(spec: &mut Map<String, Value>) {
    if spec.get("clusterIP").and_then(Value::as_str) != Some("None") {
        spec.remove("clusterIP");
        spec.remove("clusterIPs");
    }
    spec.remove("healthCheckNodePort");
    let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten() {
        if let Some(fields) = port.as_object_mut() {
            fields.remove("nodePort");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_loses_what_only_its_cluster_knows() {
        let object = json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {
                "name": "web", "namespace": "shop", "uid": "1", "resourceVersion": "2",
                "creationTimestamp": "2026-11-21T05:03:44Z", "labels": {"app": "web"},
                "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
            },
            "spec": {"clusterIP": "10.0.0.1", "ports": [{"port": 80, "nodePort": 30000}]},
            "status": {"loadBalancer": {}},
        });
        assert_eq!(
            strip(&object),
            json!({
                "apiVersion": "v1", "kind": "Service",
                "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}},
                "spec": {"ports": [{"port": 80}]},
            })
        );
    }

    #[test]
    fn paths_of_content() {
        assert_eq!(KNOWN[0].path("shop"), "/api/v1/namespaces");
        assert_eq!(
            KNOWN[15].path("shop"),
            "/apis/apps/v1/namespaces/shop/deployments"
        );
    }
}
