//! Stopping, resuming and deleting runs.

use serde_json::json;

use super::desk::Desk;
use super::{ALL, BEFORE, condition, gated, play};
use crate::scene::three_stages;

#[test]
fn what_cannot_be_says_why() {
    play("steer-never", |scene| {
        scene.set(&three_stages(), &ALL);
        let name = &scene.name;
        scene.run_to_start(name);
        for (words, said) in [
            (
                ["stop", name],
                "was not started, so there is nothing to stop",
            ),
            (
                ["resume", name],
                "was not started, so there is nothing to resume",
            ),
        ] {
            scene.does(&words).ends(1).says(said);
        }
        assert_eq!(scene.seen_run(name).unwrap()["spec"]["state"], "Initialize");
        scene
            .does(&["run", name, "--wait"])
            .ends(0)
            .answers("Succeeded");
        for (verb, next) in [
            ("run", "run --from"),
            ("stop", "rollback"),
            ("resume", "run --from"),
        ] {
            scene
                .does(&[verb, name])
                .ends(1)
                .says("has succeeded: a finished run cannot be")
                .says(&format!("{next} {name}"));
        }
        for verb in ["run", "stop", "resume", "delete"] {
            scene.does(&[verb, "nothing-of-it"]).ends(6);
        }
        // One that cannot be stopped does not keep another from it; the worst counts.
        let other = format!("{name}-other");
        scene.run_to_start(&other);
        let both = ["delete", name, &other, "--yes"];
        scene.does(&["stop", name, &other]).ends(1);
        scene.does(&both[..]).ends(0);
        assert!(scene.seen_run(name).is_none() && scene.seen_run(&other).is_none());
    });
}

#[test]
fn all_runs_of_a_placement_are_stopped() {
    play("steer-all", |scene| {
        scene.set(&gated(&[(1, BEFORE)]), &ALL);
        let name = &scene.name;
        let [first, second, third] = ["1", "2", "3"].map(|number| format!("{name}-{number}"));
        for run in [&first, &second] {
            scene.run_to_gate(run);
        }
        scene.run_to_start(&third);
        scene.does(&["stop", "--placement", name]).ends(2);
        scene
            .does(&["stop", &first, "--placement", name, "--all"])
            .ends(2);
        scene
            .does(&["stop", "--placement", name, "--all"])
            .ends(0)
            .answers(&first)
            .answers(&second)
            .is_silent_of(&third);
        for run in [&first, &second] {
            let run = scene.seen_run(run).unwrap();
            assert_eq!(condition(&run, "Progressing")["reason"], "UpdateRunStopped");
        }
        scene
            .does(&["stop", "--placement", name, "--all"])
            .ends(0)
            .says("no run on");
        scene
            .does(&["stop", "--placement", "nowhere", "--all"])
            .ends(6);
    });
}

#[test]
fn a_stuck_run_cannot_stop() {
    play("steer-stuck", |scene| {
        scene.set_stuck().run(&scene.name, "Run");
        let name = &scene.name;
        scene.until_run(name, "Progressing", "False", "UpdateRunStuck");
        scene
            .does(&["stop", name])
            .ends(5)
            .says("in flight, and failing: ")
            .says(&format!("diagnose {name}"));
        assert_eq!(scene.seen_run(name).unwrap()["spec"]["state"], "Stop");
        // What applies the run again has the last word.
        let desk = Desk::at(scene);
        let running = desk.start(&["stop", name, "--patience=1h"]);
        desk.until("a watch", |seen| seen.target.contains("watch="));
        let run = json!({"spec": {"state": "Run"}});
        scene.hub.patch(&scene.run_path(name), &run);
        running
            .end()
            .ends(1)
            .says("but something set spec.state back to Run")
            .says("--show-managed-fields");
        scene
            .does(&["delete", name])
            .ends(1)
            .says("is unfinished: deleting it abandons the rollout and rolls nothing back")
            .says("in flight, and failing with snapshot 0")
            .says("stdin is not a terminal");
        scene.does(&["delete", name, "--yes"]).ends(0);
        assert!(scene.seen_run(name).is_none());
    });
}

#[test]
fn a_wait_that_counts_on_is_said() {
    play("steer-timer", |scene| {
        let mut stages = three_stages();
        stages[0]["afterStageTasks"] = json!([{"type": "TimedWait", "waitTime": "1h"}]);
        scene.set(&stages, &ALL);
        let name = &scene.name;
        scene
            .does(&[&["run", name], &scene.of()[..], &["--wait=false"]].concat())
            .ends(0);
        scene.until_waiting(name);
        scene
            .does(&["stop", name])
            .ends(0)
            .says("the wait of 1h after stage staging restarts at the stop");
        // A time limit ends the wait, not the run.
        scene
            .does(&["resume", name, "--wait", "--timeout=2s"])
            .ends(9)
            .says("the timed wait of stage staging started at the stop and ends in")
            .says("is unfinished after 2s");
        assert_eq!(scene.seen_run(name).unwrap()["spec"]["state"], "Run");
    });
}

#[test]
fn what_would_end_a_run_is_said_before_it_is_resumed() {
    play("steer-aborts", |scene| {
        scene.set(&gated(&[(1, BEFORE)]), &ALL);
        let name = &scene.name;
        scene.run_to_gate(name);
        scene.does(&["stop", name]).ends(0);
        let fewer = json!({"spec": {"policy": {"clusterNames": ["member-1", "member-2"]}}});
        scene.hub.patch(&scene.placement_path(), &fewer);
        let kind = if scene.namespaced {
            "ResourcePlacementScheduled"
        } else {
            "ClusterResourcePlacementScheduled"
        };
        scene.until(&scene.placement_path(), "scheduled anew", |placement| {
            let scheduled = condition(placement, kind);
            scheduled["observedGeneration"] == placement["metadata"]["generation"]
                && scheduled["status"] == "True"
        });
        let did = scene.does(&["resume", name]);
        did.ends(1)
            .says("FS2")
            .says("which KubeFleet will then abort?");
        assert_eq!(scene.seen_run(name).unwrap()["spec"]["state"], "Stop");
        scene
            .does(&["resume", name, "--yes", "--wait"])
            .ends(1)
            .says("nothing was sent");
        assert_eq!(scene.seen_run(name).unwrap()["spec"]["state"], "Stop");
    });
}

#[test]
fn what_is_shown_and_checked_is_not_done() {
    play("steer-dry", |scene| {
        scene.set(&gated(&[(1, BEFORE)]), &ALL);
        let name = &scene.name;
        let before = scene.run_to_gate(name);
        scene
            .does(&["stop", name, "--dry-run=client", "-v"])
            .ends(0)
            .answers("application/json-patch+json")
            .answers("/metadata/uid");
        let checked = scene.does(&["stop", name, "--dry-run=server", "-o", "json"]);
        assert_eq!(checked.ends(0).ran.json()["spec"]["state"], "Stop");
        let yaml = scene.does(&["stop", name, "--dry-run=client", "-o", "yaml"]);
        yaml.ends(0).answers("state: Stop");
        scene
            .does(&["delete", name, "--dry-run=client", "-v"])
            .ends(0)
            .answers("DELETE /apis/placement.kubernetes-fleet.io/v1beta1/")
            .answers("preconditions");
        scene.does(&["delete", name, "--dry-run=server"]).ends(0);
        let after = scene.seen_run(name).expect("a dry-run deletes nothing");
        assert_eq!(after["metadata"]["uid"], before["metadata"]["uid"]);
        assert!(after["metadata"]["deletionTimestamp"].is_null());
        assert_eq!(after["spec"]["state"], "Run");
        // Then for good, with the object as the result.
        let stopped = scene.does(&["stop", name, "-o", "json"]).ends(0).ran.json();
        assert_eq!(
            condition(&stopped, "Progressing")["reason"],
            "UpdateRunStopped"
        );
        let result = &stopped["result"];
        assert_eq!(result["verdict"], "Stopped");
        assert_eq!(result["exitCode"], 0);
        assert_eq!(result["nextArgv"][2], "resume");
        scene
            .does(&["resume", name, "-o", "name", "--wait=false"])
            .ends(0)
            .answers(name);
        scene
            .does(&["delete", name, "--yes", "--wait=false"])
            .ends(0)
            .answers("is being deleted");
    });
}
