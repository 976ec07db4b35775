//! The procedures of KubeFleet's how-tos, and the failures of its troubleshooting guides, by our
//! commands. What a guide does with kubectl to objects that are the user's own, a test does too.

mod approving;
mod failures;
mod life;
mod pages;
mod pipeline;
mod strategies;
mod systems;

use serde_json::{Value, json};

use crate::harness::Did;
use crate::scene::{ALL, Scene};

/// A limit for waits of commands that have to end well before it.
const LIMIT: &str = "--timeout=10m";

/// The label by which the stages of these tests order their clusters: the last member is first.
const WAVE: &str = "guides-wave";

/// Labels the members so that their order is another than that of their names.
fn number_members(scene: &Scene) {
    for (at, member) in ALL.iter().rev().enumerate() {
        let path = format!("/apis/cluster.kubernetes-fleet.io/v1beta1/memberclusters/{member}");
        let labels = json!({"metadata": {"labels": {WAVE: at.to_string()}}});
        scene.hub.patch(&path, &labels);
    }
}

/// The stages of the how-to: one cluster and a wait, then two by number, with a gate on each side.
fn staging_then_canary() -> [Value; 2] {
    let rest = json!({"key": "environment", "operator": "In", "values": ["canary", "prod"]});
    [
        json!({
            "name": "staging",
            "labelSelector": {"matchLabels": {"environment": "staging"}},
            "maxConcurrency": "30%",
            "afterStageTasks": [{"type": "TimedWait", "waitTime": "2s"}],
        }),
        json!({
            "name": "canary",
            "labelSelector": {"matchExpressions": [rest]},
            "sortingLabelKey": WAVE,
            "maxConcurrency": 2,
            "beforeStageTasks": [{"type": "Approval"}],
            "afterStageTasks": [{"type": "Approval"}],
        }),
    ]
}

/// Runs a command in the scene's scope.
fn act(scene: &Scene, words: &[&str]) -> Did {
    scene.does(words)
}

/// The snapshot that a run uses.
fn index_of(scene: &Scene, run: &str) -> String {
    let run = scene.hub.read(&scene.run_path(run)).unwrap();
    let index = &run["status"]["resourceSnapshotIndexUsed"];
    index.as_str().unwrap_or_default().to_owned()
}

/// The snapshot that each cluster has, as `status` tells it.
fn versions(scene: &Scene) -> Vec<String> {
    let status = act(scene, &["status", &scene.placement_word(), "-o", "json"])
        .ran
        .json();
    let clusters = status["clusters"].as_array().unwrap().iter();
    clusters
        .map(|cluster| cluster["snapshot"].as_str().unwrap_or("none").to_owned())
        .collect()
}

/// The codes of the findings on a run or placement, and the verdict.
fn diagnosed(scene: &Scene, what: &str) -> (String, Vec<String>) {
    let report = act(scene, &["diagnose", what, "-o", "json"]).ran.json();
    let findings = report["findings"].as_array().unwrap().iter();
    (
        report["verdict"].as_str().unwrap().to_owned(),
        findings
            .map(|finding| finding["code"].as_str().unwrap().to_owned())
            .collect(),
    )
}
