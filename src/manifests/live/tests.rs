//! What is selected, by selectors and by what the hub has.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{LiveAnswer, LiveQuery, SelectedObjects, ServedKind, select};
use crate::kubefleet::messages::SelectorProblem;
use crate::kubefleet::object::Object;
use crate::kubefleet::placement::Placement;
use crate::query::Outcome;

fn kind(api: &str, kind: &str, is_namespaced: bool) -> ServedKind {
    let (group, version) = api.split_once('/').unwrap_or(("", api));
    ServedKind {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: kind.to_owned(),
        plural: format!("{}s", kind.to_ascii_lowercase()),
        is_namespaced,
        is_preferred: true,
    }
}

fn served() -> Vec<ServedKind> {
    let kinds = [
        ("v1", "Namespace", false),
        ("v1", "ConfigMap", true),
        ("v1", "Pod", true),
        ("v1", "Service", true),
        ("v1", "Endpoints", true),
        ("v1", "Secret", true),
        ("apps/v1", "Deployment", true),
        ("apps/v1", "ReplicaSet", true),
        ("x.io/v1", "Widget", true),
        (ROLE, "ClusterRole", false),
    ];
    let mut kinds: Vec<_> = kinds.map(|(api, it, own)| kind(api, it, own)).into();
    kinds.push(ServedKind {
        is_preferred: false,
        ..kind("x.io/v1beta1", "Widget", true)
    });
    kinds
}

fn object(api: &str, kind: &str, namespace: &str, name: &str) -> Value {
    let mut meta = json!({"name": name, "uid": "1", "resourceVersion": "7", "generation": 2,
        "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"app": name}});
    if !namespace.is_empty() {
        meta["namespace"] = namespace.into();
    }
    json!({"apiVersion": api, "kind": kind, "metadata": meta, "status": {"x": 1}})
}

fn hub() -> Vec<Value> {
    let mut owned = object("apps/v1", "ReplicaSet", "shop", "web-1");
    owned["metadata"]["ownerReferences"] = json!([{"kind": "Deployment"}]);
    let mut leaving = object("v1", "ConfigMap", "shop", "old");
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    let mut token = object("v1", "Secret", "shop", "token");
    token["type"] = "kubernetes.io/service-account-token".into();
    let mut going = object("v1", "Namespace", "", "going");
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    vec![
        going,
        object("v1", "ConfigMap", "going", "settings"),
        object("v1", "Namespace", "", "shop"),
        object("v1", "Namespace", "", "kube-system"),
        object("apps/v1", "Deployment", "shop", "web"),
        object("x.io/v1", "Widget", "shop", "w"),
        object("v1", "ConfigMap", "shop", "settings"),
        object("v1", "ConfigMap", "shop", "kube-root-ca.crt"),
        object("v1", "ConfigMap", "other", "settings"),
        object("v1", "Pod", "shop", "web-1-a"),
        object("v1", "Service", "shop", "web"),
        object("v1", "Endpoints", "shop", "web"),
        object("v1", "Endpoints", "shop", "own"),
        object(ROLE, "ClusterRole", "", "reader"),
        owned,
        leaving,
        token,
    ]
}

fn placement(namespace: &str, selectors: &Value) -> Placement {
    let kind = if namespace.is_empty() {
        "ClusterResourcePlacement"
    } else {
        "ResourcePlacement"
    };
    Arc::unwrap_or_clone(Object::of_type(&json!({
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": kind,
        "metadata": {"name": "shop", "namespace": namespace},
        "spec": {"resourceSelectors": selectors},
    })))
}

/// What is selected where a kind is denied, and how many questions that took.
fn asked_without(
    denied: &str,
    namespace: &str,
    selectors: &Value,
) -> Result<(SelectedObjects, usize), SelectorProblem> {
    let (placement, served, hub) = (placement(namespace, selectors), served(), hub());
    let mut known: BTreeMap<LiveQuery, LiveAnswer> = BTreeMap::new();
    loop {
        let selected = select(&placement, &served, &known)?;
        if selected.needs.is_empty() {
            return Ok((selected, known.len()));
        }
        for query in selected.needs {
            let is_denied = query.kind.kind == denied;
            let objects = hub.iter().filter(|it| !is_denied && query.asks_for(it));
            let answer = LiveAnswer {
                objects: objects.cloned().collect(),
                outcome: if is_denied {
                    Outcome::Denied(String::new())
                } else {
                    Outcome::Listed
                },
            };
            known.insert(query, answer);
        }
    }
}

fn asked(namespace: &str, selectors: &Value) -> Result<(SelectedObjects, usize), SelectorProblem> {
    asked_without("", namespace, selectors)
}

fn selected(namespace: &str, selectors: &Value) -> Result<Vec<String>, SelectorProblem> {
    let (selected, _) = asked(namespace, selectors)?;
    let manifests = selected.manifests.iter();
    Ok(manifests.map(|it| it.identity.describe()).collect())
}

fn selector(api: &str, kind: &str, more: &Value) -> Value {
    let (group, version) = api.split_once('/').unwrap_or(("", api));
    let mut selector = json!({"group": group, "version": version, "kind": kind});
    for (key, value) in more.as_object().into_iter().flatten() {
        selector[key] = value.clone();
    }
    selector
}

fn name(name: &str) -> Value {
    json!({"name": name})
}

const ROLE: &str = "rbac.authorization.k8s.io/v1";

const ALL: [&str; 6] = [
    "Namespace shop",
    "ConfigMap shop/settings",
    "Service shop/web",
    "Deployment shop/web",
    "Endpoints shop/own",
    "Widget shop/w",
];

#[test]
fn a_namespace_comes_with_what_it_holds() {
    let by_name = json!([selector("v1", "Namespace", &name("shop"))]);
    let (found, questions) = asked("", &by_name).unwrap();
    let names = found.manifests.iter();
    let names: Vec<_> = names.map(|it| it.identity.describe()).collect();
    assert_eq!(names, ALL);
    // The namespace, and each namespaced kind that is placed.
    assert_eq!(questions, 8);
    let left_out = found.left_out.iter();
    let left_out: Vec<_> = left_out.map(|it| it.object.describe()).collect();
    let wanted = "ConfigMap shop/kube-root-ca.crt, ConfigMap shop/old, Endpoints shop/web, \
                  ReplicaSet shop/web-1, Secret shop/token";
    assert_eq!(left_out.join(", "), wanted);
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}}});
    assert_eq!(found.manifests[3].value, deployment);
    let labels = json!({"labelSelector": {"matchLabels": {"app": "shop"}}});
    let by_label = json!([selector("v1", "Namespace", &labels)]);
    assert_eq!(selected("", &by_label).unwrap(), ALL);
    // One that is being deleted goes with what it holds.
    let going = json!([selector("v1", "Namespace", &name("going"))]);
    assert_eq!(selected("", &going).unwrap(), [""; 0]);
}

#[test]
fn selectors_select_by_name_by_label_and_by_scope() {
    let only = json!({"name": "shop", "selectionScope": "NamespaceOnly"});
    let with = json!({"name": "shop", "selectionScope": "NamespaceWithResourceSelectors"});
    let labels = |value: &str| json!({"labelSelector": {"matchLabels": {"app": value}}});
    let several = json!([
        selector("apps/v1", "Deployment", &labels("web")),
        selector("v1", "Namespace", &with),
        selector(ROLE, "ClusterRole", &json!({})),
    ]);
    let of_namespace = json!([
        selector("v1", "ConfigMap", &json!({})),
        selector("x.io/v1beta1", "Widget", &name("w")),
        selector("v1", "Pod", &json!({})),
    ]);
    let config = |more: &Value| json!([selector("v1", "ConfigMap", more)]);
    let only = json!([selector("v1", "Namespace", &only)]);
    let all_of_them = "Namespace shop, ClusterRole reader, Deployment shop/web";
    let inside = "ConfigMap shop/settings, Widget shop/w";
    for (namespace, selectors, expected) in [
        ("", only, "Namespace shop"),
        ("", several, all_of_them),
        ("shop", of_namespace, inside),
        ("shop", config(&name("none")), ""),
        ("shop", config(&labels("none")), ""),
    ] {
        let found = selected(namespace, &selectors).unwrap();
        assert_eq!(found.join(", "), expected, "{selectors}");
    }
}

#[test]
fn what_kubefleet_refuses_is_a_problem() {
    let any = json!({});
    let with = json!({"name": "none", "selectionScope": "NamespaceWithResourceSelectors"});
    for (namespace, api, kind, more) in [
        ("", "v1", "Namespace", &name("kube-system")),
        ("", "apps/v1", "Deployment", &any),
        ("", "v1", "Namespace", &with),
        ("", "y.io/v1", "Gadget", &any),
        ("shop", "v1", "Namespace", &name("shop")),
        ("shop", ROLE, "ClusterRole", &any),
        ("shop", "x.io/v2", "Widget", &any),
    ] {
        let selector = selector(api, kind, more);
        let found = selected(namespace, &json!([selector]));
        assert!(found.is_err(), "{namespace} {selector}");
    }
    let twice = selector("v1", "ConfigMap", &name("settings"));
    assert!(selected("shop", &json!([twice, twice])).is_err());
}

#[test]
fn what_the_hub_assigned_is_removed() {
    let service = json!({"apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "web", "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": "{}"}},
        "spec": {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "healthCheckNodePort": 3,
            "ports": [{"port": 80, "nodePort": 30080}]}});
    let plain = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
        "spec": {"ports": [{"port": 80}]}});
    assert_eq!(super::trim::trimmed(&service), plain);
    let mut headless = service;
    headless["spec"]["clusterIP"] = "None".into();
    assert_eq!(super::trim::trimmed(&headless)["spec"]["clusterIP"], "None");
    let labels =
        json!({"job": "x", "controller-uid": "1", "batch.kubernetes.io/controller-uid": "1"});
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "x"},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}}}});
    let selector = &super::trim::trimmed(&job)["spec"]["selector"];
    assert_eq!(selector["matchLabels"], json!({"job": "x"}));
    let mut manual = job;
    manual["spec"]["manualSelector"] = true.into();
    assert_eq!(super::trim::trimmed(&manual), manual);
}

#[test]
fn a_selector_that_matches_nothing_is_found() {
    let found = |namespace: &str, selectors: &Value, denied: &str| {
        let (found, _) = asked_without(denied, namespace, selectors)?;
        Ok::<_, SelectorProblem>((found.unmatched, found.gaps.len()))
    };
    let label = |value: &str| json!({"labelSelector": {"matchLabels": {"app": value}}});
    let own = json!([
        selector("v1", "ConfigMap", &name("settings")),
        selector("v1", "ConfigMap", &name("setings")),
        selector("apps/v1", "Deployment", &label("web")),
        selector("apps/v1", "Deployment", &label("wep")),
        selector("v1", "ConfigMap", &name("old")),
    ]);
    assert_eq!(found("shop", &own, ""), Ok((vec![1, 3], 0)));
    // What could not be read may be there.
    assert_eq!(found("shop", &own, "ConfigMap"), Ok((vec![3], 3)));
    let with = json!({"name": "shop", "selectionScope": "NamespaceWithResourceSelectors"});
    let cluster = json!([
        selector("v1", "ConfigMap", &name("setings")),
        selector("v1", "Namespace", &with),
    ]);
    assert_eq!(found("", &cluster, ""), Ok((vec![0], 0)));
    let none = json!([selector("v1", "Namespace", &name("shoop"))]);
    assert_eq!(found("", &none, ""), Ok((vec![0], 0)));
    let unknown = json!([selector("x.io/v2", "Widget", &name("w"))]);
    assert!(found("shop", &unknown, "").is_err());
}
