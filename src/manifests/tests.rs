use std::sync::Arc;

use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::{
    IneffectiveOverride, ObjectRefusal, Override, PlacedOverrides, RenderFault, RenderedClusters,
    SnapshotContent, WorkDelta, WorkGenerator,
};
use crate::contents::{Manifest, ManifestKey};
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::object::Object;
use crate::kubefleet::{Kind, ObjectRef};

const GROUP: &str = "placement.kubernetes-fleet.io/v1beta1";

fn member(name: &str, labels: &Value) -> MemberCluster {
    Arc::unwrap_or_clone(Object::of_type(&json!({
        "apiVersion": "cluster.kubernetes-fleet.io/v1beta1", "kind": "MemberCluster",
        "metadata": {"name": name, "labels": labels},
    })))
}

/// An override snapshot in a namespace, or of the cluster scope without one.
fn over(namespace: &str, name: &str, selects: &[(&str, &str)], rules: &Value) -> Override {
    let selectors = selects.iter().map(|(kind, name)| {
        let group = if *kind == "Deployment" { "apps" } else { "" };
        json!({"group": group, "version": "v1", "kind": kind, "name": name})
    });
    let selectors: Vec<_> = selectors.collect();
    let (kind, key) = if namespace.is_empty() {
        (
            "ClusterResourceOverrideSnapshot",
            "clusterResourceSelectors",
        )
    } else {
        ("ResourceOverrideSnapshot", "resourceSelectors")
    };
    let document = json!({
        "apiVersion": GROUP, "kind": kind,
        "metadata": {"name": format!("{name}-0"), "namespace": namespace,
            "labels": {"kubernetes-fleet.io/is-latest-snapshot": "true"}},
        "spec": {"overrideSpec": {key: selectors, "policy": {"overrideRules": rules}}},
    });
    let text = to_raw_value(&document).unwrap();
    Override::new(Object::of_type(&document), &text)
}

fn on_web(name: &str, rules: &Value) -> Override {
    over("shop", name, &[("Deployment", "web")], rules)
}

fn on_namespace(name: &str, rule: &Value) -> Override {
    over("", name, &[("Namespace", "shop")], &json!([rule]))
}

fn rule(label: Option<(&str, &str)>, patches: &Value) -> Value {
    let selector = match label {
        Some((key, value)) => {
            json!({"clusterSelectorTerms": [{"labelSelector": {"matchLabels": {key: value}}}]})
        }
        None => json!({}),
    };
    match patches {
        Value::Null => json!({"clusterSelector": selector, "overrideType": "Delete"}),
        patches => json!({"clusterSelector": selector, "jsonPatchOverrides": patches}),
    }
}

fn set(path: &str, value: Value) -> Value {
    let mut patches = json!([{"op": "add", "path": path}]);
    patches[0]["value"] = value;
    patches
}

fn deployment() -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"}, "spec": {"replicas": 1}})
}

fn namespace() -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {}}})
}

fn content(objects: &[Value], generator: WorkGenerator) -> SnapshotContent {
    let manifests = objects.iter().map(|it| Manifest::of(it.clone(), 0));
    SnapshotContent::of_parts([manifests.collect()], generator)
}

/// The clusters with the overrides that a new run chooses for them.
fn placed<'m>(
    members: &'m [MemberCluster; 3],
    content: &SnapshotContent,
    overrides: &[Override],
) -> [PlacedOverrides<'m>; 3] {
    let placement = ObjectRef::new(Kind::ClusterResourcePlacement, "", "shop");
    let applicable = PlacedOverrides::applicable(&placement, content, overrides);
    let members = members.each_ref();
    members.map(|member| PlacedOverrides::anew(member, &applicable, overrides))
}

/// What each of three clusters gets, and the faults.
fn rendered(objects: &[Value], overrides: &[Override]) -> (Vec<Vec<Value>>, Vec<RenderFault>) {
    rendered_by(WorkGenerator::Newest, objects, overrides)
}

fn rendered_by(
    generator: WorkGenerator,
    objects: &[Value],
    overrides: &[Override],
) -> (Vec<Vec<Value>>, Vec<RenderFault>) {
    let content = content(objects, generator);
    let members = members();
    let placed = placed(&members, &content, overrides);
    let rendering = RenderedClusters::new(&content, overrides, &placed);
    let values = |at| {
        let manifests = rendering.manifests(at);
        let values = manifests.iter().map(|it| it.manifest.value.clone());
        values.collect()
    };
    let values = (0..members.len()).map(values).collect();
    (values, rendering.faults)
}

fn members() -> [MemberCluster; 3] {
    [
        member("member-1", &json!({"region": "eu"})),
        member("member-2", &json!({"region": "eu", "tier": "gold"})),
        member("member-3", &json!({})),
    ]
}

fn replicas(values: &[Vec<Value>]) -> Vec<Option<i64>> {
    let of = |manifests: &Vec<Value>| {
        manifests
            .iter()
            .find_map(|it| it.pointer("/spec/replicas")?.as_i64())
    };
    values.iter().map(of).collect()
}

#[test]
fn without_overrides_every_cluster_gets_the_snapshot() {
    let objects = [namespace(), deployment()];
    let (values, faults) = rendered(&objects, &[]);
    assert_eq!(values, vec![objects.to_vec(); 3]);
    assert_eq!(faults, []);
}

#[test]
fn a_rule_is_for_the_clusters_that_it_selects() {
    let six = set("/spec/replicas", json!(6));
    let rules = json!([rule(Some(("region", "eu")), &six)]);
    let overrides = [on_web("web", &rules)];
    let (values, _) = rendered(&[deployment()], &overrides);
    assert_eq!(replicas(&values), [Some(6), Some(6), Some(1)]);
    // Near misses: another name, kind, and namespace.
    for (namespace, selector) in [
        ("shop", ("Deployment", "api")),
        ("shop", ("Service", "web")),
        ("other", ("Deployment", "web")),
    ] {
        let overrides = [over(namespace, "web", &[selector], &rules)];
        let (values, _) = rendered(&[deployment()], &overrides);
        assert_eq!(replicas(&values), [Some(1); 3], "{namespace} {selector:?}");
    }
}

/// A selector that is absent means no cluster, an empty one means all, and a term without labels none.
#[test]
fn selectors_of_clusters() {
    let patch = set("/spec/replicas", json!(6));
    let labels = json!({"labelSelector": {}});
    let properties = json!({"propertySelector": {"matchExpressions": []}});
    for (selector, expected) in [
        (Value::Null, [Some(1); 3]),
        (json!({}), [Some(6); 3]),
        (json!({"clusterSelectorTerms": [{}]}), [Some(1); 3]),
        (json!({"clusterSelectorTerms": [labels]}), [Some(6); 3]),
        (json!({"clusterSelectorTerms": [properties]}), [Some(1); 3]),
    ] {
        let rules = json!([{"clusterSelector": selector, "jsonPatchOverrides": patch}]);
        let overrides = [on_web("web", &rules)];
        let (values, _) = rendered(&[deployment()], &overrides);
        assert_eq!(replicas(&values), expected, "{selector}");
    }
}

#[test]
fn later_rules_and_overrides_win() {
    let all = |replicas: i64| rule(None, &set("/spec/replicas", json!(replicas)));
    let gold = rule(Some(("tier", "gold")), &set("/spec/replicas", json!(9)));
    let overrides = [
        // Applied by name, not in the order of the list; those of the cluster scope come first.
        on_web("b", &json!([all(3), gold])),
        on_web("a", &json!([all(2)])),
        on_namespace("z", &rule(None, &json!([]))),
        on_namespace("y", &rule(None, &set("/spec/paused", json!(true)))),
    ];
    let (values, _) = rendered(&[deployment()], &overrides);
    assert_eq!(replicas(&values), [Some(3), Some(9), Some(3)]);
    assert_eq!(values[0][0].pointer("/spec/paused"), Some(&json!(true)));
}

#[test]
fn an_override_of_a_namespace_is_for_everything_in_it() {
    let labelled = rule(None, &set("/metadata/labels", json!({"a": "b"})));
    let overrides = [on_namespace("ns", &labelled)];
    let other = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "c", "namespace": "other"}});
    let (values, faults) = rendered(&[namespace(), deployment(), other], &overrides);
    let labels: Vec<_> = values[0]
        .iter()
        .map(|it| it.pointer("/metadata/labels/a").is_some())
        .collect();
    assert_eq!(labels, [true, true, false]);
    assert_eq!(faults, []);
}

#[test]
fn an_object_that_is_deleted_stays_deleted() {
    let eu = |patches: &Value| rule(Some(("region", "eu")), patches);
    let overrides = [
        on_namespace("a", &eu(&Value::Null)),
        // What cannot be applied to the object does not matter any more.
        on_web("b", &json!([eu(&set("/x/y", json!(1)))])),
    ];
    let (values, faults) = rendered(&[deployment()], &overrides);
    assert_eq!(values.iter().map(Vec::len).collect::<Vec<_>>(), [0, 0, 1]);
    assert_eq!(faults, []);
}

#[test]
fn rules_after_a_deletion_do_not_count() {
    let variable = json!("${MEMBER-CLUSTER-LABEL-KEY-none}");
    let bad = rule(None, &set("/x/y", variable));
    let rules = json!([rule(None, &Value::Null), bad]);
    let overrides = [on_web("a", &rules)];
    let (values, faults) = rendered(&[deployment()], &overrides);
    assert_eq!(values, vec![Vec::<Value>::new(); 3]);
    assert_eq!(faults, []);
}

#[test]
fn an_operation_that_cannot_be_applied_is_named() {
    let patches = json!([
        {"op": "replace", "path": "/spec/replicas", "value": 2},
        {"op": "add", "path": "/spec/template/spec/containers/1", "value": {}},
    ]);
    let rules = json!([
        rule(None, &set("/spec/paused", json!(true))),
        rule(Some(("region", "eu")), &patches),
    ]);
    let overrides = [on_web("web-eu", &rules)];
    let (values, faults) = rendered(&[deployment()], &overrides);
    let said: Vec<_> = faults.iter().map(RenderFault::describe).collect();
    let wanted = "ResourceOverrideSnapshot shop/web-eu-0 cannot be applied to Deployment shop/web: rule 2, \
                  operation 2 (add /spec/template/spec/containers/1): `/spec/template` does not exist";
    assert_eq!(said, [wanted]);
    assert_eq!(faults[0].clusters, ["member-1", "member-2"]);
    assert_eq!(values.iter().map(Vec::len).collect::<Vec<_>>(), [0, 0, 1]);
}

#[test]
fn a_variable_without_a_value_stops_its_clusters_alone() {
    let variable = json!("${MEMBER-CLUSTER-LABEL-KEY-region}");
    let rules = json!([rule(None, &set("/spec/region", variable))]);
    let overrides = [on_web("web", &rules)];
    let (values, faults) = rendered(&[deployment()], &overrides);
    assert_eq!(values[1][0].pointer("/spec/region"), Some(&json!("eu")));
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].clusters, ["member-3"]);
    let said = faults[0].describe();
    assert!(said.ends_with("the cluster has no label region"), "{said}");
}

#[test]
fn clusters_are_grouped_by_what_applies_to_them() {
    let variable = json!("${MEMBER-CLUSTER-NAME}");
    let rules = json!([
        rule(Some(("region", "eu")), &set("/spec/replicas", json!(6))),
        rule(Some(("region", "eu")), &set("/spec/name", variable)),
        rule(Some(("region", "us")), &Value::Null),
    ]);
    let selects = [("Deployment", "web"), ("Service", "web")];
    let overrides = [over("shop", "web-eu", &selects, &rules)];
    let content = content(&[deployment()], WorkGenerator::Newest);
    let members = members();
    let placed = placed(&members, &content, &overrides);
    let rendering = RenderedClusters::new(&content, &overrides, &placed);
    let groups = rendering.groups.iter();
    let groups: Vec<_> = groups.map(|it| (it.clusters.clone(), it.varies)).collect();
    assert_eq!(groups, [(vec![0, 1], true), (vec![2], false)]);
    assert!(!rendering.is_same(0, 1), "each has its own name in it");
    let effects = rendering.effects(&rendering.groups[0]);
    let said = effects.iter().map(|it| {
        let operation = it.operation.as_ref().unwrap();
        let (path, value) = (&operation.path, operation.value.as_ref().unwrap());
        format!("{} {} {path} {value}", it.over, it.rule)
    });
    let said: Vec<_> = said.collect();
    let name = "web-eu 2 /spec/name \"${MEMBER-CLUSTER-NAME}\"";
    assert_eq!(said, ["web-eu 1 /spec/replicas 6", name]);
    let idle = rendering.idle().into_iter();
    let idle: Vec<_> = idle.map(|(over, idle)| (over.name(), idle)).collect();
    let selector = IneffectiveOverride::Selector("v1 Service web".to_owned());
    let rule = IneffectiveOverride::Rule(3);
    assert_eq!(idle, [("web-eu", selector), ("web-eu", rule)]);
}

#[test]
fn values_of_secrets_are_not_in_the_effects() {
    let rules = json!([rule(None, &set("/data/x", json!("c2VjcmV0")))]);
    let overrides = [over("shop", "db", &[("Secret", "db")], &rules)];
    let secret = json!({"apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "db", "namespace": "shop"}, "data": {}});
    let content = content(&[secret], WorkGenerator::Newest);
    let members = members();
    let placed = placed(&members, &content, &overrides);
    let rendering = RenderedClusters::new(&content, &overrides, &placed);
    let effects = rendering.effects(&rendering.groups[0]);
    assert!(!format!("{effects:?}").contains("c2VjcmV0"), "{effects:?}");
}

fn envelope() -> Value {
    json!({"apiVersion": GROUP, "kind": "ResourceEnvelope",
        "metadata": {"name": "web", "namespace": "shop"}, "data": {"web.yaml": deployment()}})
}

#[test]
fn overrides_reach_what_an_envelope_holds() {
    let rules = json!([rule(None, &set("/spec/replicas", json!(6)))]);
    let overrides = [on_web("web", &rules)];
    let (values, _) = rendered(&[envelope()], &overrides);
    assert_eq!(replicas(&values), [Some(6); 3]);
}

/// Up to 0.3.1 an override is for the envelope, and what it holds is opened afterwards.
#[test]
fn older_versions_override_the_envelope_itself() {
    let rules = json!([rule(None, &set("/spec/replicas", json!(6)))]);
    let inside = [on_web("web", &rules)];
    let (values, _) = rendered_by(WorkGenerator::Envelopes, &[envelope()], &inside);
    assert_eq!(replicas(&values), [Some(1); 3]);
    let rules = json!([rule(None, &set("/data/web.yaml/spec/replicas", json!(7)))]);
    let mut whole = over("shop", "web", &[("ResourceEnvelope", "web")], &rules);
    let mut snapshot = (*whole.snapshot).clone();
    snapshot.spec.content.selectors[0].group = "placement.kubernetes-fleet.io".to_owned();
    snapshot.spec.content.selectors[0].version = "v1beta1".to_owned();
    whole.snapshot = Arc::new(snapshot);
    let whole = [whole];
    let (values, _) = rendered_by(WorkGenerator::Envelopes, &[envelope()], &whole);
    assert_eq!(replicas(&values), [Some(7); 3]);
    // One that a run recorded before an upgrade.
    let (content, members) = (content(&[envelope()], WorkGenerator::Newest), members());
    let recorded = members.each_ref().map(|member| PlacedOverrides {
        overrides: vec![0],
        ..PlacedOverrides::none(member)
    });
    let rendering = RenderedClusters::new(&content, &whole, &recorded);
    let idle: Vec<_> = rendering.idle().into_iter().map(|(_, idle)| idle).collect();
    let envelope = "placement.kubernetes-fleet.io/v1beta1 ResourceEnvelope web".to_owned();
    assert_eq!(idle, [IneffectiveOverride::Envelope(envelope)]);
}

#[test]
fn an_envelope_that_cannot_be_opened_stops_every_cluster() {
    let mut envelope = envelope();
    envelope["data"]["web.yaml"]["metadata"]["namespace"] = json!("other");
    for generator in [WorkGenerator::Newest, WorkGenerator::Envelopes] {
        let (_, faults) = rendered_by(generator, &[envelope.clone()], &[]);
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[0].clusters.len(), 3);
        let (said, wanted) = (
            faults[0].describe(),
            "ResourceEnvelope shop/web cannot be opened",
        );
        assert!(said.starts_with(wanted), "{said}");
    }
}

/// What changes in a cluster that has the first of two contents and gets the second.
fn delta(before: &SnapshotContent, after: &SnapshotContent) -> WorkDelta {
    let members = members();
    let placed = [PlacedOverrides::none(&members[0])];
    let [before, after] = [before, after].map(|it| RenderedClusters::new(it, &[], &placed));
    WorkDelta::between(&before.manifests(0), &after.manifests(0))
}

#[test]
fn what_a_cluster_would_not_take_is_told() {
    let object = |version: &str, kind: &str, name: &str| json!({"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "shop"}});
    let (api, name) = ("apiextensions.k8s.io/v1", "widgets.example.com");
    let definition = object(api, "CustomResourceDefinition", name);
    let widget = object("example.com/v1", "Widget", "a");
    let refused = |before: &[&Value], after: &[&Value]| {
        let content = |all: &[&Value]| {
            let all = all.iter().copied().cloned().collect::<Vec<_>>();
            content(&all, WorkGenerator::Newest)
        };
        let delta = delta(&content(before), &content(after));
        assert_eq!(delta.counts.refused, 0);
        let refused = delta.refused.into_iter();
        let refused: Vec<_> = refused.map(|(object, why)| (object.name, why)).collect();
        (refused, delta.counts.created)
    };
    let without = ObjectRefusal::Without(ManifestKey::of(&definition));
    let without = vec![("a".to_owned(), without)];
    let both = [&definition, &widget];
    assert_eq!(refused(&both, &[&widget]), (without, 0));
    assert_eq!(refused(&both, &both), (Vec::new(), 0));
    assert_eq!(refused(&both, &[&deployment()]), (Vec::new(), 1));
    assert_eq!(refused(&[&widget], &[&widget]), (Vec::new(), 0));
    let twice = ObjectRefusal::Twice("ResourceEnvelope shop/web".to_owned());
    let twice = vec![("web".to_owned(), twice)];
    for order in [[&deployment(), &envelope()], [&envelope(), &deployment()]] {
        assert_eq!(refused(&[], &order), (twice.clone(), 1));
    }
    assert_eq!(refused(&[], &[&envelope()]), (Vec::new(), 1));
}

/// The agent tells objects by their version too, and deletes the old one first.
#[test]
fn an_object_in_another_version_is_created_again() {
    let object = |version: &str| json!({"apiVersion": version, "kind": "Widget", "metadata": {"name": "a", "namespace": "shop"}});
    let recreated = |before: &[Value], after: &[Value]| {
        let [before, after] = [before, after].map(|it| content(it, WorkGenerator::Newest));
        let delta = delta(&before, &after);
        assert_eq!(delta.recreated.len(), delta.counts.recreated);
        (delta.counts.recreated, delta.counts.is_none())
    };
    let [old, new] = [object("x.io/v1"), object("x.io/v2")];
    let both = [old.clone(), new.clone()];
    assert_eq!(recreated(&both[..1], &both[1..]), (1, false));
    assert_eq!(recreated(&both[..1], &both[..1]), (0, true));
    assert_eq!(recreated(&both, &both[1..]), (1, false));
    assert_eq!(recreated(&both[1..], &both), (0, false));
    assert_eq!(recreated(&both[..1], &[object("y.io/v1")]), (0, false));
}

/// Each part of a snapshot is a Work of its own, and so is each envelope.
#[test]
fn what_another_work_carries_is_told() {
    let config = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"}});
    let parts = |parts: &str| {
        let manifests = |names: &str| {
            let names = names.split(' ');
            names.map(|name| Manifest::of(config(name), 0)).collect()
        };
        SnapshotContent::of_parts(parts.split('|').map(manifests), WorkGenerator::Newest)
    };
    for (before, after, moved, deleted, is_none) in [
        ("a|b|c", "a|c", "c", 1, false),
        ("a b", "a|b", "b", 0, false),
        ("a b", "b a", "", 0, true),
        ("a|b", "a|b", "", 0, true),
    ] {
        let delta = delta(&parts(before), &parts(after));
        let case = format!("{before} -> {after}");
        let names: Vec<_> = delta.moved.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names.join(" "), moved, "{case}");
        let counts = &delta.counts;
        let numbers = (counts.moved, counts.deleted, counts.is_none());
        assert_eq!(numbers, (names.len(), deleted, is_none), "{case}");
    }
}
