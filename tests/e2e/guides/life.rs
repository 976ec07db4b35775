//! The how-to from the first rollout to clean-up.

use serde_json::json;

use super::{
    ALL, LIMIT, WAVE, act, diagnosed, index_of, number_members, of, play, staging_then_canary,
    versions,
};
use crate::scene::{Scene, three_stages};

/// A strategy as the file that somebody is about to apply.
fn strategy_file(scene: &Scene, folder: &std::path::Path) -> String {
    let kind = if scene.namespaced {
        "StagedUpdateStrategy"
    } else {
        "ClusterStagedUpdateStrategy"
    };
    let strategy = json!({
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": kind,
        "metadata": {"name": scene.name},
        "spec": {"stages": staging_then_canary()},
    });
    let file = folder.join("strategy.yaml");
    std::fs::write(&file, strategy.to_string()).unwrap();
    file.to_str().unwrap().to_owned()
}

/// Set up, look, plan, initialize, review, start, approve twice, and see that it has arrived.
#[test]
fn a_first_rollout() {
    play("first", |scene| {
        number_members(scene);
        scene.content("1");
        scene.placement(&json!({"type": "External"}), &ALL);
        let placed = scene.placement_word();
        // Scheduled, and nobody has got anything.
        act(scene, &["status", &placed]).ends(8);
        let (verdict, findings) = diagnosed(scene, &placed);
        assert_eq!(
            (verdict.as_str(), &findings[..]),
            ("NotStarted", &["FS801".to_owned()][..])
        );
        act(scene, &["snapshots", &scene.name]).ends(0);
        // The strategy is looked at before it is applied.
        let folder = tempfile::tempdir().unwrap();
        let file = strategy_file(scene, folder.path());
        let plan = act(
            scene,
            &["plan", "--placement", &scene.name, "--strategy-file", &file],
        );
        plan.ends(0)
            .says("after: TimedWait of 2s")
            .says(&format!("2 at a time, by label {WAVE}"))
            .says("1. member-3, member-2");
        scene.strategy(&staging_then_canary());
        act(scene, &["strategies", "show", &scene.name])
            .ends(0)
            .says("TimedWait 2s");
        // Made, and not begun.
        let run = format!("{}-1", scene.name);
        act(scene, &[&["init", &run], &of(scene)[..]].concat()).ends(0);
        assert_eq!(index_of(scene, &run), "0");
        act(scene, &["status", &run])
            .ends(8)
            .says("2 not reached: member-3, member-2");
        assert_eq!(versions(scene), ["none"; 3]);
        // Started, to the first gate.
        act(scene, &["run", &run, "--wait", LIMIT])
            .ends(4)
            .says("TimedWait is over");
        act(scene, &["approvals", &run]).ends(0).says("pending");
        act(scene, &["approve", &run, "--yes"])
            .ends(0)
            .says("opens stage canary: 2 clusters, 2 at a time");
        act(scene, &["wait", &run, "--for=approval=canary/after", LIMIT]).ends(0);
        act(scene, &["approve", &run, "--yes", "--wait", LIMIT])
            .ends(0)
            .says("signs off stage canary: 2 of 2 clusters done");
        // It is everywhere.
        act(scene, &["approvals", &run]).ends(0).says("accepted");
        act(scene, &["status", &placed]).ends(0);
        assert_eq!(versions(scene), ["0"; 3]);
        act(scene, &["snapshots", &scene.name]).ends(0).says(&run);
        act(scene, &["history", &scene.name])
            .ends(0)
            .says("before: approved by");
    });
}

/// The content is changed on the hub: the next run has it, and not the version before.
#[test]
fn a_change_of_the_content() {
    play("change", |scene| {
        scene.set(&three_stages(), &ALL);
        let runs = ["1", "2"].map(|number| format!("{}-{number}", scene.name));
        let [first, second] = &runs;
        let started = [&["run", first, "--yes", "--wait", LIMIT], &of(scene)[..]].concat();
        act(scene, &started).ends(0);
        scene.content("2");
        // No snapshot has it yet.
        act(
            scene,
            &["run", second, "--from", first, "--yes", "--wait", LIMIT],
        )
        .ends(0);
        assert_eq!(index_of(scene, second), "1");
        assert_eq!(versions(scene), ["1"; 3]);
        let listed = act(scene, &["snapshots", &scene.name, "-o", "json"]).json();
        assert_eq!(
            listed["items"].as_array().map(Vec::len),
            Some(2),
            "{listed}"
        );
        act(
            scene,
            &["snapshots", "show", &scene.name, "0", "-o", "yaml"],
        )
        .ends(0)
        .says("version: \"1\"");
        act(scene, &["snapshots", "diff", &scene.name, "0", "1"])
            .ends(0)
            .says("- version: \"1\"")
            .says("+ version: \"2\"");
        let differs = [
            "snapshots",
            "diff",
            &scene.name,
            "0",
            "latest",
            "--exit-code",
        ];
        act(scene, &differs).ends(3);
        act(
            scene,
            &[
                "snapshots",
                "diff",
                &scene.name,
                "1",
                "latest",
                "--exit-code",
            ],
        )
        .ends(0);
        act(scene, &["history", &scene.name]).ends(0).says(second);
        // Nothing has changed since: nothing would.
        let ahead = [&["plan"], &of(scene)[..]].concat();
        act(scene, &ahead).ends(0).says("unchanged at snapshot 1");
    });
}

/// A rollout is paused and goes on; one that was made paused too.
#[test]
fn stop_and_resume() {
    play("pause", |scene| {
        let mut stages = three_stages();
        stages[0]["afterStageTasks"] = json!([{"type": "TimedWait", "waitTime": "4s"}]);
        stages[1]["beforeStageTasks"] = json!([{"type": "Approval"}]);
        scene.set(&stages, &ALL);
        let run = format!("{}-1", scene.name);
        let started = [&["run", &run, "--yes"], &of(scene)[..]].concat();
        act(scene, &started).ends(0);
        act(scene, &["wait", &run, "--for=approval", LIMIT]).ends(0);
        act(scene, &["stop", &run]).ends(0);
        // Stopped twice is stopped.
        act(scene, &["stop", &run]).ends(0);
        act(scene, &["status", &run]).ends(8);
        act(scene, &["wait", &run, "--for=succeeded"]).ends(8);
        act(scene, &["list", "--active"]).ends(0).says("Stopped");
        act(scene, &["resume", &run]).ends(0);
        act(scene, &["approve", &run, "--yes", "--wait", LIMIT]).ends(0);
        act(scene, &["resume", &run]).ends(1).says("run");
        // Made in Stop, as somebody did with kubectl: computed, and then stopped.
        let made = format!("{}-2", scene.name);
        scene.run(&made, "Stop");
        scene.until_run(&made, "Progressing", "False", "UpdateRunStopped");
        act(scene, &["diagnose", &made]).ends(8).says("FS602");
        act(scene, &["resume", &made, "--wait", LIMIT]).ends(4);
        act(scene, &["stop", "--placement", &scene.name, "--all"]).ends(0);
        act(scene, &["status", &made]).ends(8);
    });
}

/// Back to the version before, in one line that a pipeline can repeat.
#[test]
fn a_rollback() {
    play("rollback", |scene| {
        let mut stages = three_stages();
        stages[1]["beforeStageTasks"] = json!([{"type": "Approval"}]);
        scene.set(&stages, &ALL).pass_a_second();
        let runs = ["1", "2", "back"].map(|number| format!("{}-{number}", scene.name));
        let [first, second, back] = &runs;
        let started = [&["run", first, "--yes"], &of(scene)[..]].concat();
        act(scene, &started).ends(0);
        act(scene, &["wait", first, "--for=approval", LIMIT]).ends(0);
        act(scene, &["approve", first, "--yes", "--wait", LIMIT]).ends(0);
        scene.new_content("2");
        act(
            scene,
            &["run", second, "--from", first, "--yes", "--wait", LIMIT],
        )
        .ends(4);
        assert_eq!(versions(scene), ["1", "0", "0"]);
        // Nothing is ended without being told so.
        let placed = scene.placement_word();
        act(scene, &["rollback", &placed, "--yes"])
            .ends(1)
            .says("--active=delete");
        let line = [
            "rollback",
            &placed,
            "--active=delete",
            "--yes",
            "--name",
            back,
            "--wait",
            LIMIT,
        ];
        act(scene, &line)
            .ends(4)
            .says("rolling back to snapshot 0")
            .says("deleted");
        assert!(scene.hub.read(&scene.run_path(second)).is_none());
        // The job is tried again: it is the same run, at the same snapshot.
        let uid =
            |run: &str| scene.hub.read(&scene.run_path(run)).unwrap()["metadata"]["uid"].clone();
        let made = uid(back);
        act(scene, &line).ends(4).says("continuing with it");
        assert_eq!(uid(back), made);
        assert_eq!(index_of(scene, back), "0");
        act(scene, &["approve", back, "--yes", "--wait", LIMIT]).ends(0);
        assert_eq!(versions(scene), ["0"; 3]);
        // To a version that is named, and to one that is not there.
        let ahead = [
            "rollback",
            &placed,
            "--to",
            "1",
            "--yes",
            "--dry-run",
            "-o",
            "json",
        ];
        let object = act(scene, &ahead).ends(0).json();
        assert_eq!(object["spec"]["resourceSnapshotIndex"], "1");
        act(scene, &["rollback", &placed, "--to", "7", "--yes"]).ends(6);
    });
}

/// What is left when nobody needs it any more.
#[test]
fn clean_up() {
    play("clean", |scene| {
        let mut stages = three_stages();
        stages[1]["beforeStageTasks"] = json!([{"type": "Approval"}]);
        scene.set(&stages, &ALL);
        let runs = ["1", "2"].map(|number| format!("{}-{number}", scene.name));
        let [first, second] = &runs;
        let started = [&["run", first, "--yes", "--wait", LIMIT], &of(scene)[..]].concat();
        act(scene, &started).ends(4);
        act(scene, &["strategies", "show", &scene.name, "-o", "json"])
            .ends(0)
            .says(first);
        // Half way: the one cluster keeps what it has.
        act(scene, &["delete", first]).ends(1).says("--yes");
        act(scene, &["delete", first, "--yes"])
            .ends(0)
            .says("clusters that keep snapshot 0 from this run: 1 of 3");
        let request = scene.request_path(&format!("{first}-before-canary"));
        scene.gone(&request);
        assert_eq!(versions(scene), ["0", "none", "none"]);
        let init = [&["init", second], &of(scene)[..]].concat();
        act(scene, &init).ends(0);
        act(scene, &["delete", second, "--yes"]).ends(0);
        act(scene, &["list", "--placement", &scene.name, "-o", "name"]).ends(0);
        // The strategy, the placement and the namespace are the user's own.
        scene.hub.delete(&scene.placement_path());
        scene.gone(&scene.placement_path());
        act(scene, &["status", &scene.placement_word()]).ends(6);
    });
}

impl Scene {
    /// Waits until an object is gone.
    fn gone(&self, path: &str) {
        self.until_gone(path, &serde_json::Value::Null);
    }
}
