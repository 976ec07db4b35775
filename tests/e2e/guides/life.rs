//! The how-to from the first rollout to clean-up.

use serde_json::json;

use super::{LIMIT, WAVE, act, diagnosed, index_of, number_members, staging_then_canary, versions};
use crate::scene::{AFTER, ALL, Scene, one_gate, play, three_stages};

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
    play("guide-first", |scene| {
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
            .tells("after: TimedWait of 2s")
            .tells(&format!("2 at a time, by label {WAVE}"))
            .tells("1. member-3, member-2");
        scene.strategy(&staging_then_canary());
        act(scene, &["strategies", "show", &scene.name])
            .ends(0)
            .tells("TimedWait 2s");
        // Made, and not begun.
        let run = format!("{}-1", scene.name);
        act(scene, &[&["init", &run], &scene.of()[..]].concat()).ends(0);
        assert_eq!(index_of(scene, &run), "0");
        act(scene, &["status", &run])
            .ends(8)
            .tells("2 not reached: member-3, member-2");
        assert_eq!(versions(scene), ["none"; 3]);
        // Started, to the first gate.
        act(scene, &["run", &run, "--wait", LIMIT])
            .ends(4)
            .tells("TimedWait is over");
        act(scene, &["approvals", &run]).ends(0).tells("pending");
        act(scene, &["approve", &run, "--yes"])
            .ends(0)
            .tells("opens stage canary: 2 clusters, 2 at a time");
        act(scene, &["wait", &run, "--for=approval=canary/after", LIMIT]).ends(0);
        act(scene, &["approve", &run, "--yes", "--wait", LIMIT])
            .ends(0)
            .tells("signs off stage canary: 2 of 2 clusters done");
        // It is everywhere.
        act(scene, &["approvals", &run]).ends(0).tells("accepted");
        act(scene, &["status", &placed]).ends(0);
        assert_eq!(versions(scene), ["0"; 3]);
        act(scene, &["snapshots", &scene.name]).ends(0).tells(&run);
        act(scene, &["history", &scene.name])
            .ends(0)
            .tells("before: approved by");
    });
}

/// The content is changed on the hub: the next run has it, and not the version before.
#[test]
fn a_change_of_the_content() {
    play("guide-change", |scene| {
        scene.set(&three_stages(), &ALL);
        let runs = ["1", "2"].map(|number| format!("{}-{number}", scene.name));
        let [first, second] = &runs;
        let started = [&["run", first, "--yes", "--wait", LIMIT], &scene.of()[..]].concat();
        act(scene, &started).ends(0);
        scene.content("2");
        scene.snapshots_are_due();
        // No snapshot has it yet.
        act(
            scene,
            &["run", second, "--from", first, "--yes", "--wait", LIMIT],
        )
        .ends(0);
        assert_eq!(index_of(scene, second), "1");
        assert_eq!(versions(scene), ["1"; 3]);
        let listed = act(scene, &["snapshots", &scene.name, "-o", "json"])
            .ran
            .json();
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
        .tells("version: \"1\"");
        act(scene, &["snapshots", "diff", &scene.name, "0", "1"])
            .ends(0)
            .tells("- version: \"1\"")
            .tells("+ version: \"2\"");
        for (index, code) in [("0", 3), ("1", 0)] {
            let differs = ["diff", &scene.name, index, "latest", "--exit-code"];
            act(scene, &[&["snapshots"], &differs[..]].concat()).ends(code);
        }
        act(scene, &["history", &scene.name]).ends(0).tells(second);
        // Nothing has changed since: nothing would.
        let ahead = [&["plan"], &scene.of()[..]].concat();
        act(scene, &ahead).ends(0).tells("unchanged at snapshot 1");
    });
}

/// A rollout is paused and goes on; one that was made paused too.
#[test]
fn stop_and_resume() {
    play("guide-pause", |scene| {
        let mut stages = one_gate();
        stages[0][AFTER] = json!([{"type": "TimedWait", "waitTime": "4s"}]);
        scene.set(&stages, &ALL);
        let run = format!("{}-1", scene.name);
        let started = [&["run", &run, "--yes"], &scene.of()[..]].concat();
        act(scene, &started).ends(0);
        act(scene, &["wait", &run, "--for=approval", LIMIT]).ends(0);
        act(scene, &["stop", &run]).ends(0);
        // Stopped twice is stopped.
        act(scene, &["stop", &run]).ends(0);
        act(scene, &["status", &run]).ends(8);
        act(scene, &["wait", &run, "--for=succeeded"]).ends(8);
        act(scene, &["list", "--active"]).ends(0).tells("Stopped");
        act(scene, &["resume", &run]).ends(0);
        act(scene, &["approve", &run, "--yes", "--wait", LIMIT]).ends(0);
        act(scene, &["resume", &run]).ends(1).tells("run");
        // Made in Stop, as somebody did with kubectl: computed, and then stopped.
        let made = format!("{}-2", scene.name);
        scene.run(&made, "Stop");
        scene.until_run(&made, "Progressing", "False", "UpdateRunStopped");
        act(scene, &["diagnose", &made]).ends(8).tells("FS602");
        act(scene, &["resume", &made, "--wait", LIMIT]).ends(4);
        act(scene, &["stop", "--placement", &scene.name, "--all"]).ends(0);
        act(scene, &["status", &made]).ends(8);
    });
}

/// Back to the version before, in one line that a pipeline can repeat.
#[test]
fn a_rollback() {
    play("guide-rollback", |scene| {
        scene.set(&one_gate(), &ALL).pass_a_second();
        let runs = ["1", "2", "back"].map(|number| format!("{}-{number}", scene.name));
        let [first, second, back] = &runs;
        let started = [&["run", first, "--yes"], &scene.of()[..]].concat();
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
            .tells("--active=delete");
        let line = format!("rollback {placed} --active=delete --yes --name {back} --wait {LIMIT}");
        scene
            .types(&line)
            .ends(4)
            .tells("rolling back to snapshot 0")
            .tells("deleted");
        assert!(scene.hub.read(&scene.run_path(second)).is_none());
        // The job is tried again: it is the same run, at the same snapshot.
        let uid =
            |run: &str| scene.hub.read(&scene.run_path(run)).unwrap()["metadata"]["uid"].clone();
        let made = uid(back);
        scene.types(&line).ends(4).tells("continuing with it");
        assert_eq!(uid(back), made);
        assert_eq!(index_of(scene, back), "0");
        act(scene, &["approve", back, "--yes", "--wait", LIMIT]).ends(0);
        assert_eq!(versions(scene), ["0"; 3]);
        // To a version that is named, and to one that is not there.
        let ahead = format!("rollback {placed} --to 1 --yes --dry-run -o json");
        let object = scene.types(&ahead).ends(0).ran.json();
        assert_eq!(object["spec"]["resourceSnapshotIndex"], "1");
        act(scene, &["rollback", &placed, "--to", "7", "--yes"]).ends(6);
    });
}

/// What is left when nobody needs it any more.
#[test]
fn clean_up() {
    play("guide-clean", |scene| {
        scene.set(&one_gate(), &ALL);
        let runs = ["1", "2"].map(|number| format!("{}-{number}", scene.name));
        let [first, second] = &runs;
        let started = [&["run", first, "--yes", "--wait", LIMIT], &scene.of()[..]].concat();
        act(scene, &started).ends(4);
        act(scene, &["strategies", "show", &scene.name, "-o", "json"])
            .ends(0)
            .tells(first);
        // Half way: the one cluster keeps what it has.
        act(scene, &["delete", first]).ends(1).tells("--yes");
        act(scene, &["delete", first, "--yes"])
            .ends(0)
            .tells("clusters that keep snapshot 0 from this run: 1 of 3");
        let request = scene.request_path(&format!("{first}-before-canary"));
        scene.gone(&request);
        assert_eq!(versions(scene), ["0", "none", "none"]);
        let init = [&["init", second], &scene.of()[..]].concat();
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
