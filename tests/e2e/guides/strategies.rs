//! Timed waits, percentages, order.

use serde_json::{Value, json};

use super::{LIMIT, WAVE, act, number_members};
use crate::scene::{ALL, play};

/// The clusters of a run's stages, in their order.
fn order(run: &Value) -> Vec<Vec<String>> {
    let stages = run["status"]["stagesStatus"].as_array().unwrap().iter();
    let clusters = |stage: &Value| {
        let clusters = stage["clusters"].as_array().unwrap().iter();
        clusters
            .map(|cluster| cluster["clusterName"].as_str().unwrap().to_owned())
            .collect()
    };
    stages.map(clusters).collect()
}

/// When a condition of the first thing in a list that has it was last changed.
fn since(conditions: &Value, name: &str) -> jiff::Timestamp {
    let conditions = conditions.as_array().unwrap();
    let found = conditions.iter().find(|one| one["type"] == name).unwrap();
    found["lastTransitionTime"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap()
}

#[test]
fn the_order_and_the_pace_are_as_planned() {
    play("guide-pace", |scene| {
        number_members(scene);
        let stages = [json!({
            "name": "all",
            "labelSelector": {},
            "sortingLabelKey": WAVE,
            // Two of three: it is rounded down.
            "maxConcurrency": "70%",
            "afterStageTasks": [{"type": "TimedWait", "waitTime": "3s"}],
        })];
        scene.set(&stages, &ALL);
        act(scene, &[&["plan"], &scene.of()[..]].concat())
            .ends(0)
            .tells(&format!("2 at a time (70%), by label {WAVE}"))
            .tells("1. member-3, member-2")
            .tells("2. member-1")
            .tells("TimedWait of 3s");
        let run = format!("{}-1", scene.name);
        let started = [&["run", &run, "--yes", "--wait", LIMIT], &scene.of()[..]].concat();
        act(scene, &started).ends(0).tells("TimedWait is over");
        let done = scene.hub.read(&scene.run_path(&run)).unwrap();
        assert_eq!(order(&done), [["member-3", "member-2", "member-1"]]);
        let stage = &done["status"]["stagesStatus"][0];
        // Whichever of the two was done first made room for the third.
        let first = [0, 1]
            .map(|at| since(&stage["clusters"][at]["conditions"], "Succeeded"))
            .into_iter()
            .min()
            .unwrap();
        let third = since(&stage["clusters"][2]["conditions"], "Started");
        assert!(third >= first, "{third} {first}");
        let last = since(&stage["clusters"][2]["conditions"], "Succeeded");
        let elapsed = &stage["afterStageTaskStatus"][0]["conditions"];
        let waited = since(elapsed, "WaitTimeElapsed").duration_since(last);
        // Times in a status are whole seconds.
        assert!(waited >= jiff::SignedDuration::from_secs(2), "{waited}");
    });
}

/// Every mistake in a strategy is told before anything is applied, and a run of it refused.
#[test]
fn mistakes_are_told_at_once() {
    play("guide-mistakes", |scene| {
        number_members(scene);
        let staging = json!({"matchLabels": {"environment": "staging"}});
        scene.set(
            &[
                json!({"name": "one", "labelSelector": staging}),
                json!({"name": "two", "labelSelector": staging, "sortingLabelKey": "environment"}),
            ],
            &ALL,
        );
        let plan = [&["plan"], &scene.of()[..]].concat();
        act(scene, &plan)
            .ends(3)
            .tells("FS111")
            .tells("FS112")
            .tells("FS113");
        let run = format!("{}-1", scene.name);
        let started = [&["run", &run, "--yes"], &scene.of()[..]].concat();
        act(scene, &started).ends(3).tells("Nothing was sent");
        assert!(scene.hub.read(&scene.run_path(&run)).is_none());
    });
}
