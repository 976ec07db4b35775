//! Our CRDs are KubeFleet's, as far as they go, and a hub enforces them. That it takes the others too
//! is seen where a release lives on them (`make versions`).

#![allow(clippy::unwrap_used, clippy::print_stderr)] // a test may fail

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use test_hub::{Crds, Options, TestHub, or_skip, path_of, published_folder};

/// The kinds of staged update runs: ours are like those of old releases too.
const STAGED: [&str; 6] = [
    "ClusterStagedUpdateRun",
    "StagedUpdateRun",
    "ClusterStagedUpdateStrategy",
    "StagedUpdateStrategy",
    "ClusterApprovalRequest",
    "ApprovalRequest",
];

/// What has schemas of its own in it.
const INNER: [&str; 3] = ["properties", "items", "additionalProperties"];

/// A schema's word in a form that can be compared.
fn normal(word: &str, value: &Value) -> Value {
    let tidy = |text: &Value| {
        let words = text.as_str().unwrap_or_default().split_whitespace();
        words.collect::<Vec<_>>().join(" ")
    };
    let mut parts: Vec<String> = match (word, value.as_array()) {
        ("x-kubernetes-validations", Some(rules)) => rules
            .iter()
            .map(|rule| format!("{}: {}", tidy(&rule["message"]), tidy(&rule["rule"])))
            .collect(),
        ("enum" | "required", Some(words)) => words.iter().map(ToString::to_string).collect(),
        _ => return value.clone(),
    };
    parts.sort();
    json!(parts)
}

fn is_open(schema: &Value) -> bool {
    schema["x-kubernetes-preserve-unknown-fields"] == true
}

/// Where two schemas differ. What ours leaves open says nothing.
fn differences(path: &str, ours: &Value, theirs: &Value, found: &mut Vec<String>) {
    match (ours.as_object(), theirs.as_object()) {
        (Some(_), None) => found.push(format!("{path}: not published")),
        (None, Some(_)) => found.push(format!("{path}: ours lacks it")),
        (None, None) => {}
        (Some(_), Some(_)) if is_open(ours) && !is_open(theirs) => {}
        (Some(own), Some(published)) => {
            let words: BTreeSet<&String> = own.keys().chain(published.keys()).collect();
            for word in words.into_iter().filter(|word| *word != "description") {
                let (own, published) = (&ours[word], &theirs[word]);
                if !INNER.contains(&word.as_str()) {
                    let (own, published) = (normal(word, own), normal(word, published));
                    if own != published {
                        found.push(format!("{path}: {word} is {own}, not {published}"));
                    }
                } else if word == "properties" {
                    let fields = own.as_object().into_iter().chain(published.as_object());
                    let names: BTreeSet<&String> =
                        fields.flat_map(|fields| fields.keys()).collect();
                    for name in names {
                        let path = format!("{path}.{name}");
                        differences(&path, &own[name], &published[name], found);
                    }
                } else {
                    differences(&format!("{path}[]"), own, published, found);
                }
            }
        }
    }
}

/// Where two manifests of a kind differ.
fn compare(ours: &Value, theirs: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let (ours, theirs) = (&ours["spec"], &theirs["spec"]);
    let kind = ours["names"]["kind"].as_str().unwrap();
    for key in [
        "/group",
        "/scope",
        "/names/kind",
        "/names/plural",
        "/names/singular",
        "/names/listKind",
        "/names/shortNames",
        "/names/categories",
    ] {
        let (own, published) = (ours.pointer(key), theirs.pointer(key));
        if own != published {
            found.push(format!("{kind}: {key} is {own:?}, not {published:?}"));
        }
    }
    let versions = |manifest: &Value| -> BTreeMap<String, Value> {
        let versions = manifest["versions"].as_array().unwrap().iter();
        versions
            .map(|version| (version["name"].to_string(), version.clone()))
            .collect()
    };
    let (own, published) = (versions(ours), versions(theirs));
    let names: BTreeSet<&String> = own.keys().chain(published.keys()).collect();
    for name in names {
        let (Some(own), Some(published)) = (own.get(name), published.get(name)) else {
            found.push(format!("{kind}: one of them lacks {name}"));
            continue;
        };
        for key in ["served", "storage", "subresources"] {
            if own[key] != published[key] {
                found.push(format!("{kind} {name}: another {key}"));
            }
        }
        let columns = |version: &Value| -> Vec<Value> {
            let columns = version["additionalPrinterColumns"].as_array();
            let mut columns = columns.cloned().unwrap_or_default();
            for column in &mut columns {
                column.as_object_mut().unwrap().remove("description");
            }
            columns
        };
        if columns(own) != columns(published) {
            found.push(format!("{kind} {name}: other columns"));
        }
        let schema = "/schema/openAPIV3Schema";
        let [own, published] = [own, published].map(|version| version.pointer(schema).unwrap());
        differences(&format!("{kind} {name}"), own, published, &mut found);
    }
    found
}

/// Where ours differ from those of a release; `None` where these are not there.
fn against(ours: &Crds, release: &str, kinds: impl Fn(&str) -> bool) -> Option<Vec<String>> {
    if published_folder(release).is_none() {
        eprintln!("skipped: KubeFleet's published CRDs of {release} are not there");
        return None;
    }
    let published = Crds::Published(release.to_owned()).manifests().unwrap();
    let mut found = Vec::new();
    for ours in ours.manifests().unwrap() {
        if !kinds(ours["spec"]["names"]["kind"].as_str().unwrap()) {
            continue;
        }
        let name = &ours["metadata"]["name"];
        let theirs = published
            .iter()
            .find(|other| other["metadata"]["name"] == *name);
        match theirs {
            Some(theirs) => found.extend(compare(&ours, theirs)),
            None => found.push(format!("{name} is not published")),
        }
    }
    Some(found)
}

#[test]
fn ours_say_what_the_published_ones_say() {
    if let Some(found) = against(&Crds::Own, "head", |_| true) {
        assert!(found.is_empty(), "{}", found.join("\n"));
    }
}

#[test]
fn old_ones_of_staged_runs_say_it_too() {
    if let Some(found) = against(&Crds::OwnOld, "v0.1.2", |kind| STAGED.contains(&kind)) {
        assert!(found.is_empty(), "{}", found.join("\n"));
    }
}

fn state(manifest: &Value, version: &str) -> Value {
    let versions = manifest["spec"]["versions"].as_array().unwrap();
    let version = versions.iter().find(|known| known["name"] == version);
    let spec = &version.unwrap()["schema"]["openAPIV3Schema"]["properties"]["spec"];
    spec["properties"]["state"]["enum"].clone()
}

/// What the end-to-end tests of old hubs rest on.
#[test]
fn the_states_of_each_time() {
    let runs = |crds: &Crds| {
        let manifests = crds.manifests().unwrap();
        let runs = |manifest: &Value| manifest["spec"]["names"]["kind"] == "ClusterStagedUpdateRun";
        manifests.into_iter().find(runs).unwrap()
    };
    let main = runs(&Crds::Own);
    assert_eq!(state(&main, "v1"), json!(["Initialize", "Run", "Stop"]));
    assert_eq!(state(&main, "v1alpha1"), Value::Null);
    let old = runs(&Crds::OwnOld);
    let states = json!(["Initialize", "Execute", "Pause", "Abandon"]);
    assert_eq!(state(&old, "v1beta1"), states);
    let alpha = runs(&Crds::OwnAlphaOnly);
    assert_eq!(alpha["spec"]["versions"].as_array().unwrap().len(), 1);
    assert_eq!(state(&alpha, "v1alpha1"), Value::Null);
}

#[test]
fn a_difference_is_noticed() {
    let manifests = Crds::Own.manifests().unwrap();
    let theirs = &manifests[0];
    assert!(compare(theirs, theirs).is_empty());
    let version = "/spec/versions/0";
    let spec = format!("{version}/schema/openAPIV3Schema/properties/spec");
    for (pointer, value) in [
        (format!("{spec}/properties/state/enum"), json!(["Run"])),
        (format!("{spec}/properties/state/default"), json!("Run")),
        (format!("{spec}/properties/more"), json!({"type": "string"})),
        (format!("{spec}/required"), json!([])),
        (format!("{spec}/x-kubernetes-validations"), json!([])),
        (format!("{version}/additionalPrinterColumns"), json!([])),
        (format!("{version}/storage"), json!("no")),
    ] {
        let mut ours = theirs.clone();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        ours.pointer_mut(parent).unwrap()[key] = value;
        assert_eq!(compare(&ours, theirs).len(), 1, "{pointer}");
        assert_eq!(compare(theirs, &ours).len(), 1, "{pointer}");
    }
}

/// A hub without CRDs; `None` when the test is skipped.
async fn hub() -> Option<TestHub> {
    or_skip(TestHub::start(&Options::default()).await)
}

async fn send(
    hub: &TestHub,
    method: &str,
    path: &str,
    form: &str,
    body: &Value,
) -> Result<Value, String> {
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", form)
        .body(serde_json::to_vec(body).unwrap())
        .unwrap();
    let client = hub.client().await.unwrap();
    client
        .request::<Value>(request)
        .await
        .map_err(|error| error.to_string())
}

fn run(state: &str) -> Value {
    json!({
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "ClusterStagedUpdateRun",
        "metadata": {"name": "r"},
        "spec": {"placementName": "p", "stagedRolloutStrategyName": "s", "state": state},
    })
}

#[tokio::test]
async fn a_hub_enforces_ours() {
    let Some(hub) = hub().await else { return };
    hub.install(&Crds::Own).await.unwrap();
    let merge = "application/merge-patch+json";
    let create = "application/json";
    let object = run("Initialize");
    let list = path_of(&object, false).unwrap();
    let path = path_of(&object, true).unwrap();
    send(&hub, "POST", &list, create, &object).await.unwrap();
    for (patch, words) in [
        (
            json!({"state": "Stop"}),
            "cannot transition from Initialize to Stop",
        ),
        (json!({"placementName": "q"}), "placementName is immutable"),
        (
            json!({"resourceSnapshotIndex": "1", "state": "Bogus"}),
            "Unsupported value",
        ),
    ] {
        let error = send(&hub, "PATCH", &path, merge, &json!({"spec": patch}))
            .await
            .unwrap_err();
        assert!(error.contains(words), "{error}");
    }
    let run = send(
        &hub,
        "PATCH",
        &path,
        merge,
        &json!({"spec": {"state": "Run"}}),
    )
    .await
    .unwrap();
    assert_eq!(run["metadata"]["generation"], 2);

    let strategy = json!({
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "StagedUpdateStrategy",
        "metadata": {"name": "s", "namespace": "default"},
        "spec": {"stages": [{"name": "Not-this", "beforeStageTasks": [{"type": "TimedWait"}]}]},
    });
    let list = path_of(&strategy, false).unwrap();
    let error = send(&hub, "POST", &list, create, &strategy)
        .await
        .unwrap_err();
    assert!(error.contains("^[a-z0-9]+$"), "{error}");
    assert!(
        error.contains("BeforeStageTaskType cannot be TimedWait"),
        "{error}"
    );

    let request = json!({
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "ClusterApprovalRequest",
        "metadata": {"name": "a"}, "spec": {"parentStageRollout": "r", "targetStage": "one"},
    });
    let list = path_of(&request, false).unwrap();
    let path = path_of(&request, true).unwrap();
    send(&hub, "POST", &list, create, &request).await.unwrap();
    let condition = |kind: &str| {
        json!({"type": kind, "status": "True", "reason": "Test", "message": "",
               "lastTransitionTime": "2026-01-09T02:00:00Z", "observedGeneration": 1})
    };
    for (manager, kind) in [("controller", "ApprovalAccepted"), ("person", "Approved")] {
        let applied = json!({
            "apiVersion": request["apiVersion"], "kind": request["kind"], "metadata": {"name": "a"},
            "status": {"conditions": [condition(kind)]},
        });
        let path = format!("{path}/status?fieldManager={manager}");
        send(
            &hub,
            "PATCH",
            &path,
            "application/apply-patch+yaml",
            &applied,
        )
        .await
        .unwrap();
    }
    let request = send(&hub, "GET", &path, create, &Value::Null)
        .await
        .unwrap();
    assert_eq!(request["status"]["conditions"].as_array().unwrap().len(), 2);
}
