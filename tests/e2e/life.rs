//! The states of a rollout, as a hub makes them, and what the plugin says of each.

use serde_json::{Value, json};

use crate::scene::{AFTER, ALL, Scene, gated, one_gate, play, stage, three_stages};

/// Three stages, of which one has something more.
fn with(place: usize, key: &str, value: Value) -> Vec<Value> {
    let mut stages = three_stages();
    stages[place][key] = value;
    stages
}

#[test]
fn a_rollout_that_goes_well() {
    play("success", |scene| {
        scene.set(&three_stages(), &ALL).run(&scene.name, "Run");
        scene.until_run(&scene.name, "Succeeded", "True", "");
        scene.check(&scene.name, "Succeeded", 0, &[]);
    });
}

#[test]
fn an_approval_is_awaited_and_given() {
    play("approval", |scene| {
        scene.set(&one_gate(), &ALL);
        scene.run_to_gate(&scene.name);
        scene.check(&scene.name, "WaitingForApproval", 4, &["FS402*"]);
        let request = format!("{}-before-canary", scene.name);
        scene.approve(&request, "True", false);
        scene.check(&scene.name, "WaitingForApproval", 4, &["FS401*"]);
        scene.approve(&request, "False", true);
        scene.check(&scene.name, "WaitingForApproval", 4, &["FS403*"]);
        scene.approve(&request, "True", true);
        scene.until_run(&scene.name, "Succeeded", "True", "");
        scene.check(&scene.name, "Succeeded", 0, &[]);
    });
}

#[test]
fn an_approval_after_a_stage() {
    play("after", |scene| {
        scene.set(&gated(&[(0, AFTER)]), &ALL);
        scene.run_to_gate(&scene.name);
        scene.check(&scene.name, "WaitingForApproval", 4, &["FS402*"]);
    });
}

#[test]
fn a_timer_runs() {
    play("timer", |scene| {
        let wait = json!([{"type": "TimedWait", "waitTime": "1h"}]);
        scene.set(&with(0, AFTER, wait), &ALL);
        scene.run_to_gate(&scene.name);
        scene.check(&scene.name, "WaitingForTimer", 0, &["FS407*"]);
    });
}

#[test]
fn a_run_that_nobody_started() {
    play("initialized", |scene| {
        scene.set(&three_stages(), &ALL).run_to_start(&scene.name);
        scene.check(&scene.name, "NotStarted", 8, &["FS601*"]);
    });
}

#[test]
fn a_run_is_stopped_and_resumed() {
    play("stopped", |scene| {
        scene.set(&one_gate(), &ALL);
        scene.run_to_gate(&scene.name);
        let path = scene.run_path(&scene.name);
        scene.hub.patch(&path, &json!({"spec": {"state": "Stop"}}));
        scene.until_run(&scene.name, "Progressing", "False", "UpdateRunStopped");
        let report = scene.plugin(&["diagnose"], &scene.own_run(), &["-o", "json"]);
        assert_eq!(report.json()["verdict"], "Stopped");
        assert_eq!(report.code, 8);
        scene.hub.patch(&path, &json!({"spec": {"state": "Run"}}));
        scene.until_waiting(&scene.name);
        scene.check(&scene.name, "WaitingForApproval", 4, &["FS402*"]);
    });
}

#[test]
fn a_workload_does_not_become_available() {
    play("stuck", |scene| {
        scene.set_stuck().run(&scene.name, "Run");
        scene.until_run(&scene.name, "Progressing", "False", "UpdateRunStuck");
        scene.check(&scene.name, "Stuck", 5, &["FS501*"]);
    });
}

/// Fails to initialize, and says why.
fn refused(scene: &Scene, code: &str) {
    scene.run(&scene.name, "Run");
    scene.until_run(&scene.name, "Initialized", "False", "");
    let root = format!("{code}*");
    scene.check(&scene.name, "InitializationFailed", 3, &[&root]);
}

#[test]
fn a_strategy_is_missing() {
    play("no-strategy", |scene| {
        scene.content("1");
        scene.placement(&json!({"type": "External"}), &ALL);
        refused(scene, "FS108");
    });
}

#[test]
fn a_placement_is_not_external() {
    play("rolling", |scene| {
        scene.content("1");
        scene.strategy(&three_stages());
        scene.placement(&json!({"type": "RollingUpdate"}), &ALL);
        refused(scene, "FS102");
    });
}

#[test]
fn a_cluster_is_in_no_stage() {
    play("no-stage", |scene| {
        scene.set(&three_stages()[..1], &ALL);
        refused(scene, "FS113");
    });
}

#[test]
fn a_cluster_is_in_two_stages() {
    play("two-stages", |scene| {
        let mut stages = three_stages();
        stages.push(stage("again", "canary"));
        scene.set(&stages, &ALL);
        refused(scene, "FS111");
    });
}

#[test]
fn a_sorting_label_is_no_number() {
    play("sorting", |scene| {
        scene.set(&with(0, "sortingLabelKey", json!("environment")), &ALL);
        refused(scene, "FS112");
    });
}

#[test]
fn an_index_does_not_exist() {
    play("index", |scene| {
        scene.set(&three_stages(), &ALL);
        scene.run_of(&scene.name, "Run", &json!({"resourceSnapshotIndex": "7"}));
        scene.until_run(&scene.name, "Initialized", "False", "");
        scene.check(&scene.name, "InitializationFailed", 3, &["FS115*"]);
    });
}

#[test]
fn an_older_run_puts_its_snapshot_back() {
    play("older", |scene| {
        scene.set(&one_gate(), &ALL);
        let (first, second) = (format!("{}-1", scene.name), format!("{}-2", scene.name));
        scene.run_to_gate(&first);
        scene.new_content("2");
        scene.run_to_gate(&second);
        scene.let_through(&second);
        scene.let_through(&first);
        scene.check(&second, "Succeeded", 0, &["FS702"]);
    });
}

#[test]
fn a_newer_run_takes_a_cluster_away() {
    play("preempted", |scene| {
        scene.set_stuck();
        let (first, second) = (format!("{}-1", scene.name), format!("{}-2", scene.name));
        scene.run(&first, "Run");
        scene.until_run(&first, "Progressing", "True", "");
        scene.new_content("2");
        scene.run(&second, "Run");
        scene.until_run(&first, "Succeeded", "False", "");
        scene.check(&first, "Failed", 3, &["FS301*"]);
    });
}

#[test]
fn the_first_run_after_a_change_takes_the_old_content() {
    play("delayed", |scene| {
        scene.set(&three_stages(), &ALL);
        let (first, second) = (format!("{}-1", scene.name), format!("{}-2", scene.name));
        scene.run(&first, "Run");
        scene.until_run(&first, "Succeeded", "True", "");
        scene.content("2");
        scene.run(&second, "Run");
        scene.until_run(&second, "Succeeded", "True", "");
        scene.check(&second, "Succeeded", 0, &["FS701"]);
    });
}
