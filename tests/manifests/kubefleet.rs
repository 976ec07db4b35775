//! What KubeFleet's own work generator made of random content, overrides, and clusters.
//!
//! `kubefleet.jsonl` has one case a line: objects, override snapshots, clusters, and what
//! `processOneSelectedResource` of pkg/controllers/workgenerator (e160c1cd) gave for each cluster:
//! manifests and the content of envelopes, or an error.

use std::path::Path;
use std::sync::Arc;

use kubectl_fleet_stage::bundle::{self, Input, ReadLimits};
use kubectl_fleet_stage::contents::Manifest;
use kubectl_fleet_stage::inventory::source::{HubQuery, ObjectSource};
use kubectl_fleet_stage::kubefleet::object::ObjectBody;
use kubectl_fleet_stage::kubefleet::{Concept, Kind, ObjectRef};
use kubectl_fleet_stage::manifests::{
    FaultCause, Override, PlacedOverrides, RenderedClusters, SnapshotContent, WorkGenerator,
};
use serde_json::{Value, json};

const KEEP: &[Concept] = &[Concept::ClusterOverrideSnapshot, Concept::OverrideSnapshot];

/// How many clusters got manifests, and how many an error.
fn compare(case: &Value) -> (usize, usize) {
    let mut documents = case["overrides"].as_array().cloned().unwrap_or_default();
    documents.extend(case["clusters"].as_array().cloned().unwrap_or_default());
    let list = json!({"apiVersion": "v1", "kind": "List", "items": documents}).to_string();
    let input = Input::Stdin(Box::new(std::io::Cursor::new(list.into_bytes())));
    let mut bundle = bundle::read_within(vec![input], KEEP, ReadLimits::default()).unwrap();
    let kinds = [
        Kind::ClusterResourceOverrideSnapshot,
        Kind::ResourceOverrideSnapshot,
        Kind::MemberCluster,
    ];
    let answers = bundle.answer(&kinds.map(|kind| HubQuery::all(kind, "")));
    let objects: Vec<_> = answers
        .iter()
        .flat_map(|it| it.objects.iter().cloned())
        .collect();
    let (mut overrides, mut members) = (Vec::new(), Vec::new());
    for object in &objects {
        match &object.body {
            ObjectBody::Override(snapshot) => {
                let text = bundle.text(&snapshot.object()).unwrap();
                overrides.push(Override::new(Arc::clone(snapshot), text));
            }
            ObjectBody::Member(member) => members.push(Arc::clone(member)),
            _ => {}
        }
    }
    let manifests = case["objects"].as_array().unwrap().iter();
    let manifests: Vec<_> = manifests.map(|it| Manifest::of(it.clone(), 0)).collect();
    let content = SnapshotContent::of_parts([manifests], WorkGenerator::Newest);
    let placement = ObjectRef {
        kind: Kind::ClusterResourcePlacement,
        namespace: String::new(),
        name: "shop".to_owned(),
    };
    let applicable = PlacedOverrides::applicable(&placement, &content, &overrides);
    let placed: Vec<_> = members
        .iter()
        .map(|member| PlacedOverrides::anew(member, &applicable, &overrides))
        .collect();
    let rendering = RenderedClusters::new(&content, &overrides, &placed);
    let (mut right, mut refused) = (0, 0);
    for (at, member) in members.iter().enumerate() {
        let name = &member.meta.name;
        let expected = &case["expected"][name];
        let faults: Vec<_> = rendering
            .faults
            .iter()
            .filter(|fault| fault.clusters.contains(name))
            .collect();
        if let Some(error) = expected["error"].as_str() {
            refused += 1;
            // KubeFleet stops at the first; this finds all.
            let named = faults.iter().any(|fault| match &fault.cause {
                FaultCause::Operation(failing) => error.contains(&failing.over.name),
                _ => true,
            });
            assert!(named, "{name}: {error}\n{faults:?}\n{case}");
            continue;
        }
        assert!(faults.is_empty(), "{name}: {faults:?}\n{case}");
        let mut plain = Vec::new();
        let mut wrapped = serde_json::Map::new();
        for kind in ["ResourceEnvelope", "ClusterResourceEnvelope"] {
            for object in case["objects"].as_array().unwrap() {
                if object["kind"] == kind {
                    let key = format!("{kind} {}", object["metadata"]["name"].as_str().unwrap());
                    wrapped.insert(key, json!([]));
                }
            }
        }
        for rendered in rendering.manifests(at) {
            let value = rendered.manifest.value.clone();
            match &rendered.envelope {
                None => plain.push(value),
                Some(envelope) => {
                    let key = format!("{} {}", envelope.kind, envelope.name);
                    wrapped[&key].as_array_mut().unwrap().push(value);
                }
            }
        }
        assert_eq!(Value::from(plain), expected["manifests"], "{name}: {case}");
        assert_eq!(
            Value::from(wrapped),
            expected["envelopes"],
            "{name}: {case}"
        );
        right += 1;
    }
    (right, refused)
}

#[test]
fn random_cases_give_what_kubefleet_gives() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/manifests/kubefleet.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let (mut right, mut refused) = (0, 0);
    for line in text.lines() {
        let (more, errors) = compare(&serde_json::from_str(line).unwrap());
        right += more;
        refused += errors;
    }
    println!("{right} clusters get the same manifests, {refused} are refused by both");
    assert!(right >= 100 && refused >= 30, "{right} {refused}");
}
