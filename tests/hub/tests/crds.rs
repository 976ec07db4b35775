//! Our CRDs are KubeFleet's, as far as they go, and a hub takes them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr
)] // a test may fail

use serde_json::{Value, json};
use test_hub::{Crds, Error, Options, TestHub, path_of, published_folder};

/// What the published schemas have and ours leave out, with the reason.
const LEFT_OUT: &[(&str, &str)] = &[];

/// The kinds whose rules, enumerations and lists must be complete.
const COMPLETE: [&str; 6] = [
    "ClusterStagedUpdateRun",
    "StagedUpdateRun",
    "ClusterStagedUpdateStrategy",
    "StagedUpdateStrategy",
    "ClusterApprovalRequest",
    "ApprovalRequest",
];

/// What a field says that a client can notice.
const WORDS: [&str; 16] = [
    "type",
    "format",
    "enum",
    "default",
    "pattern",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-int-or-string",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-preserve-unknown-fields",
];

fn rules(schema: &Value) -> Vec<(String, String)> {
    let tidy = |text: &Value| {
        let words = text.as_str().unwrap_or_default().split_whitespace();
        words.collect::<Vec<_>>().join(" ")
    };
    let rules = schema["x-kubernetes-validations"].as_array();
    let mut rules: Vec<_> = rules
        .into_iter()
        .flatten()
        .map(|rule| (tidy(&rule["rule"]), tidy(&rule["message"])))
        .collect();
    rules.sort();
    rules
}

fn children(schema: &Value) -> Vec<(String, Value)> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let mut children: Vec<_> = properties
        .map(|(name, child)| (format!(".{name}"), child.clone()))
        .collect();
    for (key, suffix) in [("items", "[]"), ("additionalProperties", "{}")] {
        if schema[key].is_object() {
            children.push((suffix.to_owned(), schema[key].clone()));
        }
    }
    children
}

/// Where our schema says something that the published one does not.
fn differences(path: &str, ours: &Value, theirs: &Value, found: &mut Vec<String>) {
    if theirs.is_null() {
        found.push(format!("{path}: not in the published schema"));
        return;
    }
    // What is left open says nothing.
    if ours["x-kubernetes-preserve-unknown-fields"] == true && ours["type"].is_null() {
        return;
    }
    for word in WORDS {
        if ours[word] != theirs[word] {
            found.push(format!(
                "{path}: {word} is {}, not {}",
                ours[word], theirs[word]
            ));
        }
    }
    let sorted = |value: &Value| {
        let mut names: Vec<_> = value
            .as_array()
            .into_iter()
            .flatten()
            .map(ToString::to_string)
            .collect();
        names.sort();
        names
    };
    if sorted(&ours["required"]) != sorted(&theirs["required"]) {
        found.push(format!("{path}: other fields are required"));
    }
    let published = rules(theirs);
    for rule in rules(ours) {
        if !published.contains(&rule) {
            found.push(format!("{path}: there is no rule {rule:?}"));
        }
    }
    let theirs = children(theirs);
    for (name, child) in children(ours) {
        let other = theirs.iter().find(|(known, _)| *known == name);
        let other = other.map_or(Value::Null, |(_, child)| child.clone());
        differences(&format!("{path}{name}"), &child, &other, found);
    }
}

/// What the published schema enforces and ours does not.
fn omissions(path: &str, ours: &Value, theirs: &Value, found: &mut Vec<String>) {
    let own = rules(ours);
    for rule in rules(theirs) {
        if !own.contains(&rule) {
            found.push(format!("{path}: rule {}", rule.0));
        }
    }
    for word in ["enum", "x-kubernetes-list-map-keys"] {
        if !theirs[word].is_null() && ours[word].is_null() {
            found.push(format!("{path}: {word}"));
        }
    }
    let ours = children(ours);
    for (name, child) in children(theirs) {
        let own = ours.iter().find(|(known, _)| *known == name);
        let own = own.map_or(Value::Null, |(_, child)| child.clone());
        omissions(&format!("{path}{name}"), &own, &child, found);
    }
}

fn version<'m>(manifest: &'m Value, name: &str) -> Option<&'m Value> {
    manifest["spec"]["versions"]
        .as_array()?
        .iter()
        .find(|version| version["name"] == name)
}

fn compare(ours: &Value, theirs: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let kind = ours["spec"]["names"]["kind"].as_str().unwrap();
    for key in [
        "kind",
        "plural",
        "singular",
        "listKind",
        "shortNames",
        "categories",
    ] {
        let empty = |value: &Value| value.is_null() || *value == json!([]);
        let (a, b) = (&ours["spec"]["names"][key], &theirs["spec"]["names"][key]);
        if a != b && !(empty(a) && empty(b)) {
            found.push(format!("{kind}: {key} is {a}, not {b}"));
        }
    }
    for key in ["group", "scope"] {
        if ours["spec"][key] != theirs["spec"][key] {
            found.push(format!("{kind}: another {key}"));
        }
    }
    let names = |manifest: &Value| {
        let versions = manifest["spec"]["versions"].as_array().unwrap();
        let mut names: Vec<_> = versions
            .iter()
            .map(|version| {
                format!(
                    "{}/{}/{}",
                    version["name"], version["served"], version["storage"]
                )
            })
            .collect();
        names.sort();
        names
    };
    if names(ours) != names(theirs) {
        found.push(format!(
            "{kind}: versions {:?}, not {:?}",
            names(ours),
            names(theirs)
        ));
    }
    let (Some(own), Some(published)) = (version(ours, "v1beta1"), version(theirs, "v1beta1"))
    else {
        found.push(format!("{kind}: no v1beta1"));
        return found;
    };
    let status = |version: &Value| version["subresources"]["status"].is_object();
    if status(own) != status(published) {
        found.push(format!(
            "{kind}: status is a subresource in one of them only"
        ));
    }
    let (own, published) = (
        &own["schema"]["openAPIV3Schema"],
        &published["schema"]["openAPIV3Schema"],
    );
    differences(kind, own, published, &mut found);
    if COMPLETE.contains(&kind) {
        let mut missing = Vec::new();
        omissions(kind, own, published, &mut missing);
        missing.retain(|one| !LEFT_OUT.iter().any(|(known, _)| one.contains(known)));
        found.extend(missing.iter().map(|one| format!("ours lacks {one}")));
    }
    found
}

#[test]
fn ours_say_what_the_published_ones_say() {
    if published_folder("head").is_none() {
        eprintln!("skipped: KubeFleet's published CRDs are not there");
        return;
    }
    let published = Crds::Published("head".to_owned()).manifests().unwrap();
    let mut found = Vec::new();
    for ours in Crds::Own.manifests().unwrap() {
        let name = &ours["metadata"]["name"];
        let theirs = published
            .iter()
            .find(|other| other["metadata"]["name"] == *name);
        match theirs {
            Some(theirs) => found.extend(compare(&ours, theirs)),
            None => found.push(format!("{name} is not published")),
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_difference_is_noticed() {
    let manifests = Crds::Own.manifests().unwrap();
    let theirs = &manifests[0];
    assert!(compare(theirs, theirs).is_empty());
    let state = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/state";
    let mut ours = theirs.clone();
    ours.pointer_mut(state).unwrap()["enum"] = json!(["Run"]);
    assert_eq!(compare(&ours, theirs).len(), 1);
    let spec = "/spec/versions/0/schema/openAPIV3Schema/properties/spec";
    let mut ours = theirs.clone();
    let rules = ours.pointer_mut(spec).unwrap()["x-kubernetes-validations"].as_array_mut();
    rules.unwrap().remove(0);
    let found = compare(&ours, theirs);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("ours lacks"), "{found:?}");
}

/// A hub without CRDs; `None` when the test is skipped.
async fn hub() -> Option<TestHub> {
    match TestHub::start(&Options::default()).await {
        Ok(hub) => Some(hub),
        Err(Error::Missing(why)) => {
            eprintln!("skipped: {why}");
            None
        }
        Err(error) => panic!("{error}"),
    }
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

#[tokio::test]
async fn a_hub_takes_the_published_and_the_oldest() {
    let Some(hub) = hub().await else { return };
    hub.install(&Crds::OwnAlphaOnly).await.unwrap();
    drop(hub);
    for version in ["head", "v0.3.1", "v0.1.2"] {
        if published_folder(version).is_none() {
            eprintln!("skipped: KubeFleet's published CRDs of {version} are not there");
            continue;
        }
        let hub = self::hub().await.unwrap();
        hub.install(&Crds::Published(version.to_owned()))
            .await
            .unwrap();
    }
}
