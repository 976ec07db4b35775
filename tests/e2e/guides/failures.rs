//! The failures of the troubleshooting guides that are not in `life`: what `diagnose` says of each,
//! and the command that leads out.

use serde_json::json;

use super::{LIMIT, act, diagnosed, index_of};
use crate::scene::{ALL, Scene, one_gate, play, three_stages};

/// A run that waits in its second stage.
fn waiting(scene: &Scene) -> String {
    scene.set(&one_gate(), &ALL);
    let run = format!("{}-1", scene.name);
    let started = [&["run", &run, "--yes", "--wait", LIMIT], &scene.of()[..]].concat();
    act(scene, &started).ends(4);
    run
}

#[test]
fn a_snapshot_does_not_exist() {
    play("guide-index", |scene| {
        scene.set(&three_stages(), &ALL);
        let runs = ["1", "2"].map(|number| format!("{}-{number}", scene.name));
        let [first, second] = &runs;
        // We do not even make such a run.
        let wrong = [&["run", first, "--snapshot", "1", "--yes"], &scene.of()[..]].concat();
        act(scene, &wrong).ends(3).tells("Nothing was sent");
        // Somebody did with kubectl.
        scene.run_of(first, "Run", &json!({"resourceSnapshotIndex": "1"}));
        scene.until_run(first, "Initialized", "False", "");
        act(scene, &["wait", first, "--for=succeeded"]).ends(3);
        let (verdict, findings) = diagnosed(scene, first);
        assert_eq!(verdict, "InitializationFailed");
        assert_eq!(findings, ["FS115"]);
        act(scene, &["run", first]).ends(1).tells("init");
        // The next one, with the content as it is.
        let again = format!("run {second} --from {first} --replace --yes --wait {LIMIT}");
        scene.types(&again).ends(0);
        assert!(scene.hub.read(&scene.run_path(first)).is_none());
        assert_eq!(index_of(scene, second), "0");
    });
}

#[test]
fn the_placement_is_deleted_meanwhile() {
    play("guide-deleted", |scene| {
        let run = waiting(scene);
        scene.hub.delete(&scene.placement_path());
        // KubeFleet looks at a run that waits for an approval once a minute.
        scene.until_run(&run, "Succeeded", "False", "");
        let (verdict, findings) = diagnosed(scene, &run);
        assert_eq!(verdict, "Failed");
        let known = ["FS101", "FS103", "FS206"];
        assert!(
            findings.iter().any(|code| known.contains(&code.as_str())),
            "{findings:?}"
        );
        act(scene, &["resume", &run]).ends(1);
        act(scene, &["delete", &run, "--yes"]).ends(0);
    });
}

#[test]
fn the_apply_strategy_is_changed_meanwhile() {
    play("guide-apply", |scene| {
        let run = waiting(scene);
        act(scene, &["stop", &run]).ends(0);
        let other = json!({"spec": {"strategy": {"applyStrategy": {"type": "ServerSideApply"}}}});
        scene.hub.patch(&scene.placement_path(), &other);
        // Whoever resumes is told what that does.
        act(scene, &["resume", &run])
            .ends(1)
            .tells("FS201")
            .tells("--yes");
        act(scene, &["resume", &run, "--yes"])
            .ends(1)
            .tells("nothing was sent");
        let resumed = json!({"spec": {"state": "Run"}});
        scene.hub.patch(&scene.run_path(&run), &resumed);
        scene.until_run(&run, "Succeeded", "False", "");
        let (verdict, findings) = diagnosed(scene, &run);
        assert_eq!(verdict, "Failed");
        assert!(findings.contains(&"FS201".to_owned()), "{findings:?}");
        // The next one goes by the new strategy.
        let next = format!("{}-2", scene.name);
        act(
            scene,
            &["run", &next, "--from", &run, "--yes", "--wait", LIMIT],
        )
        .ends(4);
    });
}

/// A stuck run cannot stop, is given up, and the next one takes its place.
#[test]
fn a_stuck_run_is_replaced() {
    play("guide-stuck", |scene| {
        scene.set_stuck();
        let runs = ["1", "2"].map(|number| format!("{}-{number}", scene.name));
        let [first, second] = &runs;
        let started = [&["run", first, "--yes"], &scene.of()[..]].concat();
        act(scene, &started).ends(0);
        act(scene, &["wait", first, "--for=succeeded", "--timeout=9m"]).ends(5);
        let (verdict, findings) = diagnosed(scene, first);
        assert_eq!(
            (verdict.as_str(), &findings[..]),
            ("Stuck", &["FS501".to_owned()][..])
        );
        act(scene, &["diagnose", &scene.placement_word()])
            .ends(5)
            .tells("Deployment");
        act(scene, &["stop", first, "--timeout=10m"])
            .ends(5)
            .tells("delete");
        let (_, findings) = diagnosed(scene, first);
        assert!(findings.contains(&"FS603".to_owned()), "{findings:?}");
        let again = ["run", second, "--from", first, "--replace", "--yes"];
        act(scene, &again).ends(0).tells("deleted");
        assert!(scene.hub.read(&scene.run_path(first)).is_none());
        act(scene, &["delete", second, "--yes"]).ends(0);
    });
}

/// A namespaced placement does not bring its namespace.
#[test]
fn the_namespace_is_missing() {
    play("guide-namespace", |scene| {
        if !scene.namespaced {
            return;
        }
        scene.set(&three_stages(), &ALL);
        act(scene, &[&["plan"], &scene.of()[..]].concat())
            .ends(0)
            .tells("FS503")
            .tells("NamespaceOnly");
    });
}

/// Another run takes over a cluster in flight: we ask before that, and say afterwards who it was.
#[test]
fn a_newer_run_overtakes() {
    play("guide-overtaken", |scene| {
        scene.set_stuck();
        let runs = ["1", "2"].map(|number| format!("{}-{number}", scene.name));
        let [first, second] = &runs;
        let started = [&["run", first, "--yes"], &scene.of()[..]].concat();
        act(scene, &started).ends(0);
        scene.new_content("2");
        let newer = [&["run", second], &scene.of()[..]].concat();
        act(scene, &newer).ends(1).tells(first).tells("--yes");
        let newer = [&["run", second, "--yes"], &scene.of()[..]].concat();
        act(scene, &newer).ends(0);
        scene.until_run(first, "Succeeded", "False", "");
        act(scene, &["wait", first, "--for=succeeded"]).ends(3);
        act(scene, &["diagnose", first])
            .ends(3)
            .tells("FS301")
            .tells(second);
        for run in &runs {
            act(scene, &["delete", run, "--yes"]).ends(0);
        }
    });
}
