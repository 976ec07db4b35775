//! The life of a release on whatever the hub serves: the same commands on KubeFleet as it is now, as
//! it was, and before `spec.state` meant anything. The `Makefile` runs this on each.

use crate::harness::Ran;
use crate::scene::{AFTER, ALL, Scene, gated, play};

/// Runs the plugin in a scene's scope, and checks how it ends.
fn does(scene: &Scene, words: &[&str], code: i32) -> Ran {
    let did = scene.does(words);
    did.ends(code);
    did.ran
}

/// What an old hub cannot do is refused, and said.
fn refused(scene: &Scene, words: &[&str]) {
    scene.does(words).ends(1).says("spec.state");
}

#[test]
fn a_release_lives_on_what_the_hub_serves() {
    play("version", live);
}

fn live(scene: &Scene) {
    let obeys = scene.hub.served().obeys_state;
    scene.set(&gated(&[(1, AFTER)]), &ALL);
    let name = scene.name.as_str();
    let placement = scene.placement_word();
    let [first, second, third, back] = ["1", "2", "3", "back"].map(|end| format!("{name}-{end}"));
    let of = scene.of();
    does(scene, &["doctor"], 0);
    does(scene, &[&["plan"], &of[..]].concat(), 0);
    let init = [&["init", first.as_str(), "--yes"], &of[..]].concat();
    if obeys {
        does(scene, &init, 0);
        does(scene, &["run", &first, "--yes"], 0);
    } else {
        refused(scene, &init);
        does(
            scene,
            &[&["run", first.as_str(), "--yes"], &of[..]].concat(),
            0,
        );
    }
    gate(scene, &first);
    if obeys {
        does(scene, &["stop", &first], 0);
        does(scene, &["resume", &first, "--wait=false"], 0);
    } else {
        refused(scene, &["stop", &first]);
        refused(scene, &["resume", &first]);
    }
    approve(scene, &first);
    scene.new_content("2");
    does(scene, &["run", &second, "--from", &first, "--yes"], 0);
    gate(scene, &second);
    let replace = ["run", &third, "--from", &second, "--replace", "--yes"];
    does(scene, &replace, 0);
    assert!(scene.hub.read(&scene.run_path(&second)).is_none());
    gate(scene, &third);
    approve(scene, &third);
    let versions = does(scene, &["snapshots", &placement, "-o", "json"], 0).json();
    assert_eq!(
        versions["items"].as_array().unwrap().len(),
        2,
        "{versions:#}"
    );
    does(scene, &["snapshots", "diff", &placement, "0", "1"], 0);
    does(
        scene,
        &["rollback", &placement, "--yes", "--name", &back],
        0,
    );
    gate(scene, &back);
    approve(scene, &back);
    let history = does(scene, &["history", &placement, "-o", "json"], 0).json();
    assert_eq!(history["runs"].as_array().unwrap().len(), 3, "{history:#}");
    // The same is said from a file.
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("bundle.yaml");
    let bundle = bundle.to_str().unwrap();
    does(scene, &["collect", &back, "--output-file", bundle, "-q"], 0);
    let live = does(scene, &["diagnose", &back, "-o", "json"], 0).json();
    let offline = does(scene, &["diagnose", &back, "-f", bundle, "-o", "json"], 0).json();
    assert_eq!(live["verdict"], "Succeeded", "{live:#}");
    assert_eq!(live["findings"], offline["findings"]);
    for run in [&first, &third, &back] {
        does(scene, &["delete", run, "--yes"], 0);
    }
}

/// Waits for the gate, and finds it in the list of approvals.
fn gate(scene: &Scene, run: &str) {
    does(
        scene,
        &["wait", run, "--for=approval=canary", "--timeout=10m"],
        0,
    );
    let gates = scene.does(&["approvals", run, "--pending", "-o", "name"]);
    gates.ends(0).answers(&format!("{run}-after-canary"));
    does(scene, &["status", run], 4);
}

fn approve(scene: &Scene, run: &str) {
    does(
        scene,
        &["approve", run, "--yes", "--wait", "--timeout=10m"],
        0,
    );
    does(scene, &["status", run], 0);
}
