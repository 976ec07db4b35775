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

use crate::harness::{MEMBERS, Ran};
use crate::scene::{Scene, both};

const ALL: [&str; 3] = [MEMBERS[0].0, MEMBERS[1].0, MEMBERS[2].0];

/// A limit for waits of commands that have to end well before it.
const LIMIT: &str = "--timeout=10m";

/// The label by which the stages of these tests order their clusters: the last member is first.
const WAVE: &str = "guides-wave";

/// Plays a scene in both scopes at once: most of the time is spent with waiting.
fn play(name: &str, scene: impl Fn(&Scene) + Sync) {
    let scenes = both(&format!("guide-{name}"));
    std::thread::scope(|scope| {
        for one in &scenes {
            scope.spawn(|| scene(one));
        }
    });
}

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

/// A command of ours, and how it ended.
struct Did {
    command: String,
    ran: Ran,
}

/// Runs a command in the scene's scope.
fn act(scene: &Scene, words: &[&str]) -> Did {
    let mut arguments = words.to_vec();
    if scene.namespaced {
        arguments.extend(["-n", &scene.namespace]);
    }
    Did {
        command: arguments.join(" "),
        ran: scene.hub.plugin(&arguments),
    }
}

impl Did {
    fn all(&self) -> String {
        let Ran { code, out, err } = &self.ran;
        format!("{}\nended with {code}\n{out}\n{err}", self.command)
    }

    /// Checks the exit code.
    fn ends(self, code: i32) -> Self {
        assert_eq!(self.ran.code, code, "{}", self.all());
        self
    }

    /// Checks that it says something, on either stream; line breaks do not count.
    fn says(self, words: &str) -> Self {
        let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let said = format!("{} {}", flat(&self.ran.out), flat(&self.ran.err));
        assert!(said.contains(words), "{words:?} is not in: {}", self.all());
        self
    }

    /// The answer as JSON.
    fn json(&self) -> Value {
        serde_json::from_str(&self.ran.out)
            .unwrap_or_else(|error| panic!("{error}: {}", self.all()))
    }
}

/// The flags that make a run of the scene's placement by its strategy.
fn of(scene: &Scene) -> [&str; 4] {
    ["--placement", &scene.name, "--strategy", &scene.name]
}

/// The snapshot that a run uses.
fn index_of(scene: &Scene, run: &str) -> String {
    let run = scene.hub.read(&scene.run_path(run)).unwrap();
    let index = &run["status"]["resourceSnapshotIndexUsed"];
    index.as_str().unwrap_or_default().to_owned()
}

/// The snapshot that each cluster has, as `status` tells it.
fn versions(scene: &Scene) -> Vec<String> {
    let status = act(scene, &["status", &scene.placement_word(), "-o", "json"]).json();
    let clusters = status["clusters"].as_array().unwrap().iter();
    clusters
        .map(|cluster| cluster["snapshot"].as_str().unwrap_or("none").to_owned())
        .collect()
}

/// The codes of the findings on a run or placement, and the verdict.
fn diagnosed(scene: &Scene, what: &str) -> (String, Vec<String>) {
    let report = act(scene, &["diagnose", what, "-o", "json"]).json();
    let findings = report["findings"].as_array().unwrap().iter();
    (
        report["verdict"].as_str().unwrap().to_owned(),
        findings
            .map(|finding| finding["code"].as_str().unwrap().to_owned())
            .collect(),
    )
}
