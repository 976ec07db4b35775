//! Making runs: what is refused before anything is sent, and names that exist.

use serde_json::json;

use super::{ALL, BEFORE, condition, gated, play};
use crate::scene::{stage, three_stages};

#[test]
fn what_kubefleet_would_refuse_is_not_sent() {
    play("launch-refused", |scene| {
        scene.set(&three_stages()[..1], &ALL);
        let name = &scene.name;
        for verb in ["init", "run"] {
            scene
                .does(&[&[verb, name], &scene.of()[..], &["--yes"]].concat())
                .ends(3)
                .says("KubeFleet would refuse")
                .says("Nothing was sent.")
                .says("plan --placement");
        }
        scene
            .does(&[&["run", name], &scene.of()[..], &["--snapshot", "7"]].concat())
            .ends(3);
        let unknown = format!("init {name} --placement {name} --strategy nothing-of-it");
        scene.types(&unknown).ends(3);
        assert!(scene.seen_run(name).is_none());
    });
}

#[test]
fn a_name_that_exists_is_gone_on_with_or_refused() {
    play("launch-exists", |scene| {
        scene.set(&gated(&[(1, BEFORE)]), &ALL);
        let name = &scene.name;
        let other = format!("{name}-strategy");
        let mut all = stage("all", "staging");
        all["labelSelector"] = json!({});
        let mut strategy = scene.hub.read(&scene.strategy_path()).unwrap();
        strategy["metadata"] = json!({"name": other});
        if scene.namespaced {
            strategy["metadata"]["namespace"] = json!(scene.namespace);
        }
        strategy["spec"]["stages"] = json!([all]);
        scene.hub.create(&strategy);
        let make = [&["run", name], &scene.of()[..]].concat();
        scene.does(&make).ends(0);
        let made = scene.until_waiting(name);
        // The same: it goes on, also with --snapshot latest where no index was written.
        for more in [&[][..], &["--wait=false"], &["--snapshot", "latest"]] {
            scene
                .does(&[&make, more].concat())
                .ends(0)
                .says("already exists with the same spec: continuing with it");
        }
        // Another.
        scene
            .does(&["run", name, "--placement", name, "--strategy", &other])
            .ends(1)
            .says(&format!(
                "already exists with a different spec: strategy is {name}, not {other}"
            ));
        scene
            .does(&[&make[..], &["--snapshot", "0"]].concat())
            .ends(1)
            .says("snapshot is the current content, not 0");
        let seen = scene.seen_run(name).unwrap();
        assert_eq!(seen["metadata"]["uid"], made["metadata"]["uid"]);
        assert_eq!(seen["spec"], made["spec"]);
        // Over.
        scene.does(&["approve", name, "--yes", "--wait"]).ends(0);
        scene
            .does(&make)
            .ends(1)
            .says("already exists and has succeeded (snapshot 0)");
        let placement = scene.placement_word();
        scene
            .does(&["rollback", &placement, "--yes", "--name", name])
            .ends(1)
            .says("already exists and has succeeded (snapshot 0)");
    });
}

#[test]
fn an_approval_that_the_strategy_no_longer_asks_for_is_said() {
    play("launch-gates", |scene| {
        scene.set(&gated(&[(1, BEFORE)]), &ALL);
        let [first, second] = ["1", "2"].map(|number| format!("{}-{number}", scene.name));
        scene.run_to_gate(&first);
        let replace = ["run", &second, "--from", &first, "--replace"];
        let dropped = "asks for none now";
        scene.does(&replace).ends(1).is_silent_of(dropped);
        let ungated = json!({"spec": {"stages": gated(&[])}});
        scene.hub.patch(&scene.strategy_path(), &ungated);
        scene
            .does(&replace)
            .ends(1)
            .says(&format!("{first} asked for 1 approval before it reached"))
            .says(dropped);
    });
}

#[test]
fn a_run_after_another() {
    play("launch-from", |scene| {
        scene.set(&gated(&[(1, BEFORE)]), &ALL);
        let name = &scene.name;
        let [first, second] = ["1", "2"].map(|number| format!("{name}-{number}"));
        scene.run_to_gate(&first);
        scene.does(&["run", &first, "--from", &first]).ends(2);
        scene
            .does(&["run", &second, "--from", "nothing-of-it"])
            .ends(6);
        scene.does(&["run", &second, "--strategy", name]).ends(2);
        // Beside the first: that is a question.
        scene
            .does(&["run", &second, "--from", &first])
            .ends(1)
            .says("is unfinished?");
        scene
            .does(&["run", &second, "--from", &first, "--replace"])
            .ends(1)
            .says("deleting it abandons the rollout")
            .says(&format!("Delete {first} and start {second}?"));
        assert!(scene.seen_run(&first).is_some() && scene.seen_run(&second).is_none());
        let dry = format!("run {second} --from {first} --replace --dry-run=client -v");
        let dry = scene.types(&dry);
        dry.ends(0).answers("DELETE").answers("POST");
        assert!(scene.seen_run(&first).is_some() && scene.seen_run(&second).is_none());
        if scene.hub.served().obeys_state {
            // A command that was ended between its two writes has left this.
            scene.run_to_start(&second);
        }
        scene
            .does(&["run", &second, "--from", &first, "--replace", "--yes"])
            .ends(0);
        assert!(scene.seen_run(&first).is_none());
        scene.until_waiting(&second);
        // In its own place.
        let before = scene.seen_run(&second).unwrap();
        scene
            .does(&["run", &second, "--from", &second, "--replace", "--yes"])
            .ends(0);
        let after = scene.seen_run(&second).unwrap();
        assert_ne!(before["metadata"]["uid"], after["metadata"]["uid"]);
        assert_eq!(
            before["spec"]["placementName"],
            after["spec"]["placementName"]
        );
        // The same for one that is not started, and for a plan; a name is made where none is given.
        let third = format!("{name}-3");
        scene
            .does(&["plan", "--from", &second])
            .ends(0)
            .answers(name);
        let quiet = scene.does(&["init", &third, "--from", &second, "--yes", "-q"]);
        quiet.ends(0);
        assert!(!quiet.ran.err.contains("initialized"), "{}", quiet.ran.err);
        let made = scene.seen_run(&third).unwrap();
        assert_eq!(made["spec"]["state"], "Initialize");
        assert_eq!(
            made["spec"]["placementName"],
            after["spec"]["placementName"]
        );
        assert_eq!(
            made["spec"]["stagedRolloutStrategyName"],
            after["spec"]["stagedRolloutStrategyName"]
        );
        scene
            .does(&["init", "--from", &second, "--dry-run=client", "-o", "name"])
            .ends(0)
            .answers(&format!("/{second}-"));
    });
}

#[test]
fn what_is_shown_and_checked_is_not_done() {
    play("launch-dry", |scene| {
        scene.set(&three_stages(), &ALL);
        let name = &scene.name;
        for verb in ["init", "run"] {
            let make = [&[verb, name], &scene.of()[..]].concat();
            let shown = scene.does(&[&make[..], &["--dry-run=client", "-v"]].concat());
            shown.ends(0).answers("POST /apis/");
            let shown = scene.does(&[&make[..], &["--dry-run=client", "-o", "json"]].concat());
            let document = shown.ends(0).ran.json();
            assert_eq!(document["spec"]["state"], "Initialize");
            assert_eq!(document["metadata"]["name"], name.as_str());
            // What is printed is what a hub takes.
            let checked = scene.does(&[&make[..], &["--dry-run=server", "-o", "json"]].concat());
            let document = checked.ends(0).ran.json();
            assert_eq!(document["spec"]["placementName"], name.as_str());
            assert!(scene.seen_run(name).is_none());
        }
        // Names for scripts.
        let done = scene.does(&[&["init", name], &scene.of()[..], &["-o", "name"]].concat());
        assert!(done.ends(0).ran.out.trim().ends_with(&format!("/{name}")));
        let done = scene.does(&["run", name, "--wait", "-o", "json"]);
        let run = done.ends(0).ran.json();
        assert_eq!(condition(&run, "Succeeded")["status"], "True");
        assert!(run["metadata"]["managedFields"].is_null());
        assert_eq!(run["result"]["verdict"], "Succeeded");
        assert_eq!(run["result"]["exitCode"], 0);
    });
}
