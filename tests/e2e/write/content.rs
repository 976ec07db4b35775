//! The right content: a run means what the placement selects now.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use test_hub::{Fault, Rule, waiting};

use super::desk::Desk;
use super::{ALL, BEFORE, gated, play};
use crate::scene::{Scene, three_stages};

#[test]
fn a_run_gets_the_content_as_it_is_now() {
    play("content", |scene| {
        scene.set(&three_stages(), &ALL);
        let name = &scene.name;
        let [first, second, third, fourth] =
            ["1", "2", "3", "4"].map(|number| format!("{name}-{number}"));
        scene.run(&first, "Run");
        scene.until_run(&first, "Succeeded", "True", "");
        let index =
            |run: &str| scene.seen_run(run).unwrap()["status"]["resourceSnapshotIndexUsed"].clone();
        assert_eq!(index(&first), "0");
        Scene::pass_a_look();
        scene.content("2");
        let make = |verb: &'static str, run: &str, more: &[&str]| {
            scene.does(&[&[verb, run], &scene.of()[..], more].concat())
        };
        let seen = scene.run_to_start(&second);
        // It was made before, so that nothing is done to it.
        make("run", &second, &[])
            .ends(1)
            .says("the run existed before, so it is left unchanged")
            .says(&format!("run --from {second} --replace"));
        scene
            .does(&["run", &second, "--yes"])
            .ends(1)
            .says("which lacks a change detected at")
            .says(&format!("run --from {second} --replace"));
        scene
            .does(&["run", &second])
            .ends(1)
            .says("Start")
            .says("with the old content?");
        let left = scene.seen_run(&second).unwrap();
        assert_eq!(left["metadata"]["uid"], seen["metadata"]["uid"]);
        assert_eq!(left["spec"]["state"], "Initialize");
        scene.does(&["delete", &second, "--yes"]).ends(0);
        // What is there is taken where that is said.
        make("run", &third, &["--snapshot", "latest", "--wait"]).ends(0);
        let seen = scene.seen_run(&third).unwrap();
        assert_eq!(seen["spec"]["resourceSnapshotIndex"], "0");
        // The new content, as soon as there is a snapshot of it.
        scene.content("3");
        make("run", &fourth, &["--wait", "--timeout=10m"])
            .ends(0)
            .answers("Succeeded");
        assert_eq!(index(&fourth), "1");
    });
}

#[test]
fn a_run_whose_snapshot_comes_too_late_is_deleted_again() {
    play("content-late", |scene| {
        scene.set(&three_stages(), &ALL);
        let [first, second] = ["1", "2"].map(|number| format!("{}-{number}", scene.name));
        scene.run(&first, "Run");
        scene.until_run(&first, "Succeeded", "True", "");
        Scene::pass_a_look();
        scene.content("2");
        let run = [&["run", second.as_str()], &scene.of()[..]].concat();
        scene
            .does(&[&run[..], &["--timeout=10s"]].concat())
            .ends(9)
            .says("got snapshot 0, which lacks a change detected at")
            .says("after --timeout; the run ")
            .says("use a longer --timeout");
        waiting::until_so(
            || format!("{second} is gone"),
            || scene.seen_run(&second).is_none(),
        );
        // The same command finds nothing in its way.
        let again = ["--yes", "--wait", "--timeout=10m"];
        scene.does(&[&run[..], &again].concat()).ends(0);
        let seen = scene.seen_run(&second).unwrap();
        assert_eq!(seen["status"]["resourceSnapshotIndexUsed"], "1");
    });
}

#[test]
fn a_run_is_made_again_for_its_content() {
    play("content-again", |scene| {
        scene.set(&three_stages(), &ALL);
        let name = &scene.name;
        let [first, second, third] = ["1", "2", "3"].map(|number| format!("{name}-{number}"));
        scene.run(&first, "Run");
        scene.until_run(&first, "Succeeded", "True", "");
        Scene::pass_a_look();
        scene.snapshots_are_due();
        scene.content("2");
        let init = [&["init", &second], &scene.of()[..]].concat();
        scene
            .does(&init)
            .ends(0)
            .says("got snapshot 0, which lacks a change detected at")
            .says("s for the new snapshot, then creating the run again")
            .says("again, with snapshot 1");
        let seen = scene.seen_run(&second).unwrap();
        assert_eq!(seen["status"]["resourceSnapshotIndexUsed"], "1");
        assert_eq!(seen["spec"]["state"], "Initialize");
        let asked = &seen["spec"]["resourceSnapshotIndex"];
        assert_eq!(
            asked.as_str().unwrap_or_default(),
            "",
            "it means the current content"
        );
        // It is shown with the snapshot that is still to be made, and not once more.
        scene.content("3");
        let run = [&["run", &third, "--diff", "--yes"], &scene.of()[..]].concat();
        let ran = scene.does(&run);
        ran.ends(0)
            .says("snapshot 0 -> 2")
            .says("+  version: \"3\"")
            .says("again, with snapshot 2");
        let (_, after) = ran.ran.err.split_once("again, with snapshot 2").unwrap();
        assert!(!after.contains("version"), "{after}");
        // What changes after it was shown is started with a warning.
        scene.content("4");
        let fourth = format!("{name}-4");
        let run = [&["run", &fourth, "--yes", "-q"], &scene.of()[..]].concat();
        let created = Rule::new(scene.run_path(""), Fault::Hold)
            .method(Method::POST)
            .times(1);
        let desk = Desk::at(scene);
        desk.does_while(&run, created, || scene.content("5"))
            .ends(0)
            .says("starts with content that its plan did not show");
    });
}

#[test]
fn content_without_objects_is_not_rolled_out_unseen() {
    play("content-empty", |scene| {
        // In the other scope a Namespace is left, and an old hub starts before anybody can look.
        if !scene.namespaced || !scene.hub.served().obeys_state {
            return;
        }
        scene.set(&three_stages(), &ALL);
        let [first, second] = ["1", "2"].map(|number| format!("{}-{number}", scene.name));
        scene.run(&first, "Run");
        scene.until_run(&first, "Succeeded", "True", "");
        Scene::pass_a_look();
        scene.snapshots_are_due();
        let content = format!("/api/v1/namespaces/{}/configmaps/app", scene.namespace);
        scene.hub.delete(&content);
        let make = [&["run", &second], &scene.of()[..], &["--yes"]].concat();
        scene
            .does(&make)
            .ends(1)
            .says("has no objects")
            .says("was not started");
        let seen = scene.seen_run(&second).unwrap();
        assert_eq!(seen["spec"]["state"], "Initialize");
        // A pipeline that repeats its line has not seen it either, under whatever name. The snapshot exists now, and
        // another run is not made for it.
        scene.does(&make).ends(1).says("has no objects");
        let [third, fourth] = ["3", "4"].map(|number| format!("{}-{number}", scene.name));
        let another = [&["run", &third], &scene.of()[..], &["--yes"]].concat();
        scene.does(&another).ends(1).says("has no objects");
        assert!(scene.seen_run(&third).is_none());
        // The hint of a refusal leads here: to name the run is not to know its content.
        let named = scene.does(&["run", &second, "--yes"]);
        named
            .ends(1)
            .says(&format!("has no objects: {second} deletes everything from"));
        assert_eq!(
            scene.seen_run(&second).unwrap()["spec"]["state"],
            "Initialize"
        );
        // Whoever names the snapshot has seen it.
        let another = [&["run", &fourth], &scene.of()[..], &["--yes"]].concat();
        let pinned = [&another[..], &["--snapshot", "1", "--wait"]].concat();
        scene.does(&pinned).ends(0).says("deleted");
    });
}

#[test]
fn an_object_that_kubernetes_refuses_is_named() {
    play("content-frozen", |scene| {
        if !scene.hub.served().obeys_state {
            return;
        }
        scene.set(&three_stages(), &ALL);
        let content = format!("/api/v1/namespaces/{}/configmaps/app", scene.namespace);
        scene.snapshots_are_due();
        scene.hub.patch(&content, &json!({"immutable": true}));
        Scene::pass_a_look();
        let [first, second] = ["1", "2"].map(|number| format!("{}-{number}", scene.name));
        let make = |name: &str| {
            scene.does(&[&["run", name], &scene.of()[..], &["--yes", "--wait"]].concat())
        };
        make(&first).ends(0);
        Scene::pass_a_look();
        scene.hub.delete(&content);
        scene.hub.create(&frozen(scene, "2"));
        let why = "app changes in /data, which Kubernetes does not let change";
        // What a script has just made for nothing goes: its next try gets the content as it is then.
        make(&second).ends(1).says(why).says("try again");
        assert!(scene.seen_run(&second).is_none());
        // A run that waits to be started says the same.
        let init = [&["init", &second], &scene.of()[..], &["--yes"]].concat();
        scene.does(&init).ends(0);
        scene
            .does(&["run", &second, "--yes"])
            .ends(1)
            .says(&format!("{second} would be stuck: ConfigMap"))
            .says(why)
            .says(&format!("run --from {second} --replace"));
        let seen = scene.seen_run(&second).unwrap();
        assert_eq!(seen["spec"]["state"], "Initialize");
        // Once the object is as it was, the step of the refusal leads out.
        Scene::pass_a_look();
        scene.hub.delete(&content);
        scene.hub.create(&frozen(scene, "1"));
        let again = ["run", "--from", &second, "--replace", "--yes", "--wait"];
        scene.does(&again).ends(0);
    });
}

#[test]
fn a_run_that_can_continue_goes_after_the_new_one_was_judged() {
    play("content-replace", |scene| {
        if !scene.hub.served().obeys_state {
            return;
        }
        scene.set(&gated(&[(1, BEFORE)]), &ALL);
        let content = format!("/api/v1/namespaces/{}/configmaps/app", scene.namespace);
        scene.snapshots_are_due();
        scene.hub.patch(&content, &json!({"immutable": true}));
        Scene::pass_a_look();
        let [first, second] = ["1", "2"].map(|number| format!("{}-{number}", scene.name));
        let make = [
            &["run", &first],
            &scene.of()[..],
            &["--yes", "--wait=false"],
        ]
        .concat();
        scene.does(&make).ends(0);
        scene.until_waiting(&first);
        Scene::pass_a_look();
        scene.hub.delete(&content);
        scene.hub.create(&frozen(scene, "2"));
        let replace = |new: &str| {
            scene.types(&format!(
                "run {new} --from {first} --replace --yes --wait=false"
            ))
        };
        replace(&second)
            .ends(1)
            .says("would be stuck: ConfigMap")
            .says(&format!("run --from {first} --replace"))
            .is_silent_of(&format!("deleted ClusterStagedUpdateRun {first}\n"));
        let kept = scene.seen_run(&first).unwrap();
        assert!(kept["metadata"]["deletionTimestamp"].is_null());
        // What was made for its place is gone again.
        assert!(scene.seen_run(&second).is_none());
        // Put right, it takes the place of the first.
        Scene::pass_a_look();
        scene.hub.delete(&content);
        scene.hub.create(&frozen(scene, "1"));
        let third = format!("{}-3", scene.name);
        replace(&third).ends(0);
        assert!(scene.seen_run(&first).is_none());
        assert_eq!(scene.seen_run(&third).unwrap()["spec"]["state"], "Run");
    });
}

#[test]
fn a_script_deletes_no_namespace_that_nobody_named() {
    play("content-namespace", |scene| {
        if scene.namespaced || !scene.hub.served().obeys_state {
            return;
        }
        scene.set(&gated(&[(0, BEFORE)]), &ALL[..1]);
        let [first, second, third] =
            ["1", "2", "3"].map(|number| format!("{}-{number}", scene.name));
        let make = |name: &str, more: &[&str]| {
            scene.does(&[&["run", name, "--yes"], &scene.of()[..], more].concat())
        };
        make(&first, &["--wait=false"]).ends(0);
        scene.until_waiting(&first);
        scene.does(&["approve", &first, "--yes", "--wait"]).ends(0);
        scene.snapshots_are_due();
        Scene::pass_a_look();
        let other = format!("{}-other", scene.namespace);
        scene.hub.create(&json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": other},
        }));
        let selectors = json!([{"group": "", "version": "v1", "kind": "Namespace", "name": other}]);
        let changed = json!({"spec": {"resourceSelectors": selectors}});
        scene.hub.patch(&scene.placement_path(), &changed);
        let lost = format!(
            "Namespace {} is deleted with everything in it from",
            scene.namespace
        );
        make(&second, &["--wait=false"]).ends(1).says(&lost);
        let kept = scene.seen_run(&second).unwrap();
        assert_eq!(kept["spec"]["state"], "Initialize");
        scene.does(&["run", &second]).ends(1).says(&lost);
        // Somebody else starts it: a script does not go on with it either.
        let run = json!({"spec": {"state": "Run"}});
        scene.hub.patch(&scene.run_path(&second), &run);
        scene.until_waiting(&second);
        let approve = ["approve", &second, "--yes"];
        scene.does(&approve).ends(1).says(&lost);
        scene.does(&["stop", &second, "--yes"]).ends(0);
        let resume = ["resume", &second, "--yes"];
        scene.does(&resume).ends(1).says(&lost);
        assert_eq!(scene.seen_run(&second).unwrap()["spec"]["state"], "Stop");
        // A retry names the snapshot, which nobody did.
        let policy = json!({"spec": {"policy": {"clusterNames": ALL[..2]}}});
        scene.hub.patch(&scene.placement_path(), &policy);
        scene.hub.patch(&scene.run_path(&second), &run);
        scene.until_run(&second, "Succeeded", "False", "");
        let named = format!(
            "--snapshot {}",
            kept["status"]["resourceSnapshotIndexUsed"]
                .as_str()
                .unwrap()
        );
        let retry = ["retry", &second, "--yes"];
        scene.does(&retry).ends(1).says(&lost).says(&named);
        assert!(scene.seen_run(&second).is_some());
        let index = kept["status"]["resourceSnapshotIndexUsed"]
            .as_str()
            .unwrap();
        make(&third, &["--snapshot", index]).ends(0);
    });
}

/// Content that must not change.
fn frozen(scene: &Scene, version: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "app", "namespace": scene.namespace},
        "immutable": true,
        "data": {"version": version},
    })
}

/// A run that waited for an approval, and failed for a change of its placement.
fn failed_at_its_gate(scene: &Scene) -> &str {
    scene.set(&gated(&[(1, BEFORE)]), &ALL);
    let first = &scene.name;
    let make = [&["run", first], &scene.of()[..], &["--yes", "--wait=false"]].concat();
    scene.does(&make).ends(0);
    scene.until_waiting(first);
    let strategy =
        json!({"spec": {"strategy": {"applyStrategy": {"whenToApply": "IfNotDrifted"}}}});
    scene.hub.patch(&scene.placement_path(), &strategy);
    scene.until_run(first, "Succeeded", "False", "");
    first
}

#[test]
fn a_retry_does_not_bring_the_snapshot_of_another_placement() {
    play("content-earlier", |scene| {
        let first = failed_at_its_gate(scene);
        scene.hub.delete(&scene.placement_path());
        scene.until_gone(&scene.placement_path(), &Value::Null);
        scene.pass_a_second().content("2");
        scene.placement(&json!({"type": "External"}), &ALL);
        // The new placement's first snapshot has the index of the old one's.
        scene
            .does(&["retry", first, "--yes"])
            .ends(1)
            .says(&format!("snapshot 0 is another one than {first} had"))
            .says(&format!("run --from {first} --replace"));
        assert!(scene.seen_run(first).is_some());
    });
}

#[test]
fn a_retry_does_not_go_without_the_gates_that_the_run_had() {
    play("content-gates", |scene| {
        let first = failed_at_its_gate(scene);
        scene.hub.delete(&scene.strategy_path());
        scene.strategy(&gated(&[]));
        let asked = format!("{first} asked for 1 approval before it reached");
        let strategy = &scene.name;
        let meant = format!("--from {first} --strategy {strategy}");
        scene
            .does(&["retry", first, "--yes"])
            .ends(1)
            .says(&asked)
            .says(&format!("{meant} --snapshot 0 --replace"));
        scene
            .does(&["run", "--from", first, "--yes"])
            .ends(1)
            .says(&asked)
            .says(&meant);
        assert!(scene.seen_run(first).is_some());
    });
}

#[test]
fn a_snapshot_that_was_created_again_is_rolled_out_if_clusters_have_the_same() {
    play("content-twin", |scene| {
        scene.set(&three_stages(), &ALL);
        let [first, second, third] =
            ["1", "2", "3"].map(|number| format!("{}-{number}", scene.name));
        scene.run(&first, "Run");
        scene.until_run(&first, "Succeeded", "True", "");
        // Before that, the clocks of the controller and of the API server leave open which one it was.
        waiting::pass(Duration::from_secs(6));
        let run = |name: &str| {
            scene.does(&[&["run", name], &scene.of()[..], &["--yes", "--wait"]].concat())
        };
        scene.forget_snapshot("0");
        run(&second).ends(0).answers("Succeeded");
        let seen = scene.seen_run(&second).unwrap();
        assert_eq!(seen["status"]["resourceSnapshotIndexUsed"], "0");
        scene.forget_snapshot("0");
        scene.content("2");
        run(&third)
            .ends(1)
            .says("would succeed without sending it")
            .says("change the content or the override once more");
        // Nor does it start one that exists already and names the snapshot.
        let named = ["init", &third, "--snapshot", "0", "--yes"];
        scene.does(&[&named[..], &scene.of()[..]].concat()).ends(0);
        scene.until_run(&third, "Initialized", "True", "");
        scene
            .does(&["run", &third, "--yes"])
            .ends(1)
            .says("would succeed without sending it");
        let seen = scene.seen_run(&third).unwrap();
        assert_eq!(seen["spec"]["state"], "Initialize");
    });
}
