//! Others write in between: what was shown is what is written, or nothing is.

use http::Method;
use serde_json::{Value, json};
use test_hub::{Fault, Rule};

use super::desk::Desk;
use super::{ALL, BEFORE, Did, condition, gated, play};
use crate::scene::{Scene, three_stages};

/// A rule that holds a write before the server hears of it.
fn held(method: Method, path: &str) -> Rule {
    Rule::new(path, Fault::Hold).method(method).times(1)
}

/// A run that waits before its second stage; its request.
fn waiting(scene: &Scene, run: &str) -> String {
    scene.run_to_gate(run);
    let request = format!("{run}-before-canary");
    scene.asked(&request);
    request
}

/// Deletes an object, and waits until another has its name.
fn replace(scene: &Scene, path: &str, again: impl FnOnce()) {
    let uid = scene.hub.read(path).unwrap()["metadata"]["uid"].clone();
    scene.hub.delete(path);
    scene.until_gone(path, &uid);
    again();
    scene.until(path, "made anew", |object| object["metadata"]["uid"] != uid);
}

/// Sets a run's state as another would.
fn set_state(scene: &Scene, run: &str, state: &str) {
    let path = scene.run_path(run);
    scene.hub.patch(&path, &json!({"spec": {"state": state}}));
}

/// Writes the status of a run or a request as a controller would: a new version, and no more.
fn touch(scene: &Scene, path: &str) {
    let before = scene.hub.read(path).unwrap();
    let mut conditions = before["status"]["conditions"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    conditions.push(json!({
        "type": "SeenByTest", "status": "True", "reason": "Test", "message": "seen",
        "lastTransitionTime": "2026-01-09T02:00:00Z", "observedGeneration": 1,
    }));
    let status = json!({"status": {"conditions": conditions}});
    let after = scene.hub.patch(&format!("{path}/status"), &status);
    assert_ne!(
        before["metadata"]["resourceVersion"],
        after["metadata"]["resourceVersion"]
    );
}

#[test]
fn a_request_that_is_another_is_not_approved() {
    play("race-approve", |scene| {
        let desk = Desk::at(scene);
        scene.set(&gated(&[(1, BEFORE)]), &ALL);
        let run = &scene.name;
        let request = waiting(scene, run);
        let path = scene.request_path(&request);
        let rule = || held(Method::PATCH, &path);
        let approve = ["approve", &request, "--yes"];
        let unapproved = |did: &Did, words: &str| {
            did.ends(1)
                .says(words)
                .says("nothing was sent again")
                .says("kubectl-fleet-stage approvals");
            let seen = scene.asked(&request);
            assert!(condition(&seen, "Approved").is_null(), "{seen:#}");
            assert_eq!(desk.arrived().len(), 1);
        };
        // Replaced: the controller makes it anew.
        let did = desk.does_while(&approve, rule(), || replace(scene, &path, || {}));
        unapproved(
            &did,
            "was replaced by another object with the same name since it was shown",
        );
        // Changed, and be it by the controller.
        let did = desk.does_while(&approve, rule(), || touch(scene, &path));
        unapproved(&did, "changed since it was shown");
        // The run and with it the request.
        let did = desk.does_while(&approve, rule(), || {
            replace(scene, &scene.run_path(run), || {
                scene.run_to_gate(run);
                scene.asked(&request);
            });
        });
        unapproved(
            &did,
            "was replaced by another object with the same name since it was shown",
        );
        // Approved by another.
        let did = desk.does_while(&approve, rule(), || scene.approve(&request, "True", true));
        did.ends(1)
            .says("was approved by someone else in the meantime");
        let message = condition(&scene.asked(&request), "Approved")["message"].clone();
        assert_eq!(message, "reviewed by the release team");
        desk.proxy.clear().unwrap();
        desk.does(&approve).ends(0);
        // Gone with its run.
        let other = format!("{run}-other");
        let request = waiting(scene, &other);
        let path = scene.request_path(&request);
        let did = desk.does_while(
            &["approve", &request, "--yes", "--allow-older"],
            held(Method::PATCH, &path),
            || {
                scene.hub.delete(&scene.run_path(&other));
                scene.until_gone(&path, &Value::Null);
            },
        );
        did.ends(6).says("it no longer exists");
    });
}

#[test]
fn an_ignored_approval_is_not_taken_over_when_it_changed() {
    play("race-mend", |scene| {
        let desk = Desk::at(scene);
        scene.set(&gated(&[(1, BEFORE)]), &ALL);
        let other = format!("{}-other", scene.name);
        // Its writer takes it back while it is to be fixed, and where there is none, the first to answer
        // keeps what he wrote: nothing is forced that was not shown.
        for (run, is_approved) in [(&scene.name, true), (&other, false)] {
            let request = waiting(scene, run);
            let path = scene.request_path(&request);
            if is_approved {
                scene.approve(&request, "True", false);
            }
            let did = desk.does_while(
                &["approve", &request, "--yes"],
                held(Method::PATCH, &path),
                || scene.approve(&request, "False", true),
            );
            did.ends(1).says("changed since it was shown");
            assert_eq!(
                condition(&scene.asked(&request), "Approved")["status"],
                "False"
            );
        }
        let patch = &desk.arrived()[0];
        assert!(!patch.target.contains("force"), "{}", patch.target);
    });
}

#[test]
fn a_run_that_is_another_is_not_steered() {
    play("race-steer", |scene| {
        let desk = Desk::at(scene);
        scene.set(&gated(&[(1, BEFORE)]), &ALL);
        let run = &scene.name;
        let path = scene.run_path(run);
        let rule = || held(Method::PATCH, &path);
        waiting(scene, run);
        let state = || scene.seen_run(run).unwrap()["spec"]["state"].clone();
        for (verb, from, other, meanwhile) in [
            ("stop", "Run", "Run", "Stop"),
            ("resume", "Stop", "Stop", "Run"),
            ("run", "Initialize", "Initialize", "Run"),
        ] {
            let anew = |state: &str| {
                replace(scene, &path, || {
                    scene.run(run, state);
                });
                if state == "Run" {
                    scene.until_waiting(run);
                }
                scene.until_run(run, "Initialized", "True", "");
            };
            anew(from);
            let command = [verb, run, "--yes"];
            // Another run of its name, in the very same state.
            let did = desk.does_while(&command, rule(), || anew(other));
            did.ends(1)
                .says("was replaced by another object with the same name since it was shown")
                .says("nothing was sent again");
            assert_eq!(state(), other, "{verb}");
            assert_eq!(desk.arrived().len(), 1, "{verb}");
            // Another person was faster.
            let did = desk.does_while(&command, rule(), || set_state(scene, run, meanwhile));
            did.ends(1).says(&format!(
                "its state was {from} when it was shown and is now {meanwhile}"
            ));
            assert_eq!(state(), meanwhile, "{verb}");
            // What the controller writes is no reason not to.
            anew(from);
            let did = desk.does_while(&command, rule(), || {
                let version = scene.seen_run(run).unwrap()["metadata"]["resourceVersion"].clone();
                let label = json!({"metadata": {"annotations": {"test/seen": verb}}});
                let after = scene.hub.patch(&path, &label);
                assert_ne!(after["metadata"]["resourceVersion"], version);
            });
            did.ends(0);
            assert_eq!(state(), meanwhile, "{verb}");
        }
        // Gone.
        let did = desk.does_while(&["stop", run], rule(), || {
            scene.hub.delete(&path);
            scene.until_gone(&path, &Value::Null);
        });
        did.ends(6).says("it no longer exists; nothing was changed");
    });
}

#[test]
fn a_run_that_is_another_is_not_deleted() {
    play("race-delete", |scene| {
        let desk = Desk::at(scene);
        scene.set(&gated(&[(1, BEFORE)]), &ALL);
        let run = &scene.name;
        let path = scene.run_path(run);
        let rule = || held(Method::DELETE, &path);
        waiting(scene, run);
        let delete = ["delete", run, "--yes"];
        let did = desk.does_while(&delete, rule(), || {
            replace(scene, &path, || {
                scene.run(run, "Run");
            });
        });
        did.ends(1)
            .says("was replaced by another object with the same name since it was shown")
            .says("nothing was sent again");
        let seen = scene.seen_run(run).unwrap();
        assert!(seen["metadata"]["deletionTimestamp"].is_null());
        scene.until_waiting(run);
        let did = desk.does_while(&delete, rule(), || {
            let label = json!({"metadata": {"annotations": {"test/seen": "yes"}}});
            scene.hub.patch(&path, &label);
        });
        did.ends(0);
        assert!(scene.seen_run(run).is_none());
        scene.run_to_start(run);
        let did = desk.does_while(&delete, rule(), || {
            scene.hub.delete(&path);
            scene.until_gone(&path, &Value::Null);
        });
        did.ends(6).says("it no longer exists");
    });
}

#[test]
fn a_name_that_is_taken_meanwhile_is_left_to_who_took_it() {
    play("race-create", |scene| {
        let desk = Desk::at(scene);
        scene.set(&gated(&[(1, BEFORE)]), &ALL);
        let run = &scene.name;
        let runs = scene.run_path("");
        let make = [&["run", run], &scene.of()[..], &["--yes"]].concat();
        // The same and another; neither is ours.
        for more in [json!({}), json!({"resourceSnapshotIndex": "0"})] {
            let did = desk.does_while(&make, held(Method::POST, &runs), || {
                scene.run_of(run, "Initialize", &more);
            });
            did.ends(1).says("already exists");
            scene.until_run(run, "Initialized", "True", "");
            let seen = scene.seen_run(run).unwrap();
            assert_eq!(seen["spec"]["state"], "Initialize");
            assert_eq!(desk.arrived().len(), 1);
            scene.does(&["delete", run, "--yes"]).ends(0);
        }
        // Ours is replaced between being made and being started.
        let path = scene.run_path(run);
        desk.proxy.clear().unwrap();
        // The first read is whether the name is free, the second which content it got.
        let rule = Rule::new(&path, Fault::Hold)
            .method(Method::GET)
            .from(2)
            .times(1);
        let did = desk.does_while(&make, rule, || {
            replace(scene, &path, || {
                scene.run(run, "Initialize");
            });
            scene.until_run(run, "Initialized", "True", "");
        });
        did.ends(1)
            .says("was replaced by another run with the same name in the meantime");
        assert_eq!(scene.seen_run(run).unwrap()["spec"]["state"], "Initialize");
        assert_eq!(desk.arrived().len(), 1, "the creation and nothing else");
    });
}

#[test]
fn a_run_that_is_over_before_it_is_looked_at_has_succeeded() {
    play("race-over", |scene| {
        let desk = Desk::at(scene);
        scene.set(&three_stages(), &ALL);
        let run = &scene.name;
        let first = format!("{run}-first");
        scene.run(&first, "Run");
        scene.until_run(&first, "Succeeded", "True", "");
        let path = scene.run_path(run);
        let make = [
            &["run", run],
            &scene.of()[..],
            &["--snapshot", "0", "--yes", "--request-timeout=3m"],
        ]
        .concat();
        // The first read is whether the name is free, the second whether it has to be started.
        let rule = Rule::new(&path, Fault::Hold)
            .method(Method::GET)
            .from(2)
            .times(1);
        let did = desk.does_while(&make, rule, || {
            scene.until_run(run, "Succeeded", "True", "");
        });
        did.ends(0).says("has succeeded");
        assert_eq!(desk.arrived().len(), 1, "the creation and nothing else");
    });
}

#[test]
fn a_rollback_stops_and_deletes_what_was_shown() {
    play("race-rollback", |scene| {
        let desk = Desk::at(scene);
        scene.set(&gated(&[(1, BEFORE)]), &ALL);
        let run = &scene.name;
        let path = scene.run_path(run);
        waiting(scene, run);
        let placement = scene.placement_word();
        let back = format!("{run}-back");
        for (active, method) in [("stop", Method::PATCH), ("delete", Method::DELETE)] {
            let active = format!("--active={active}");
            let command = [
                "rollback", &placement, "--to", "0", &active, "--yes", "--name", &back,
            ];
            let did = desk.does_while(&command, held(method, &path), || {
                replace(scene, &path, || {
                    scene.run(run, "Run");
                });
                scene.until_waiting(run);
            });
            did.ends(1).says("was replaced by another");
            assert_eq!(scene.seen_run(run).unwrap()["spec"]["state"], "Run");
            assert!(scene.seen_run(&back).is_none());
            assert_eq!(desk.arrived().len(), 1);
        }
    });
}

#[test]
fn a_run_that_someone_starts_is_not_made_again() {
    play("race-content", |scene| {
        let desk = Desk::at(scene);
        scene.set(&gated(&[(1, BEFORE)]), &ALL);
        let [first, second] = ["1", "2"].map(|number| format!("{}-{number}", scene.name));
        let request = waiting(scene, &first);
        scene.approve(&request, "True", true);
        scene.until_run(&first, "Succeeded", "True", "");
        Scene::pass_a_look();
        scene.content("2");
        let path = scene.run_path(&second);
        let make = [&["init", &second], &scene.of()[..]].concat();
        let did = desk.does_while(&make, held(Method::DELETE, &path), || {
            set_state(scene, &second, "Run");
            scene.until_waiting(&second);
        });
        did.ends(1)
            .says("got snapshot 0, which lacks a change detected at")
            .says("changed since it was shown");
        let seen = scene.seen_run(&second).unwrap();
        assert!(seen["metadata"]["deletionTimestamp"].is_null());
    });
}

#[test]
fn a_run_that_ends_meanwhile_is_replaced_all_the_same() {
    play("race-ended", |scene| {
        let desk = Desk::at(scene);
        scene.set(&gated(&[(1, BEFORE)]), &ALL);
        let [first, second] = ["1", "2"].map(|number| format!("{}-{number}", scene.name));
        let request = waiting(scene, &first);
        let run = ["run", &second, "--from", &first, "--replace", "--yes"];
        let made = held(Method::POST, &scene.run_path(""));
        let did = desk.does_while(&run, made, || {
            scene.approve(&request, "True", true);
            scene.until_run(&first, "Succeeded", "True", "");
        });
        did.ends(0);
        assert!(scene.seen_run(&first).is_none());
        let again = desk.does(&run);
        again
            .ends(6)
            .says("if an earlier try has replaced it already");
    });
}

#[test]
fn content_that_changes_once_more_is_shown_once_more() {
    play("race-shown", |scene| {
        scene.snapshots_are_due();
        let desk = Desk::at(scene);
        if !scene.hub.served().obeys_state {
            return;
        }
        scene.set(&gated(&[]), &ALL);
        let [first, second] = ["1", "2"].map(|number| format!("{}-{number}", scene.name));
        scene.run(&first, "Run");
        scene.until_run(&first, "Succeeded", "True", "");
        Scene::pass_a_look();
        scene.content("2");
        let path = scene.run_path("");
        let run = [&["run", &second, "--diff", "--yes"], &scene.of()[..]].concat();
        let did = desk.does_while(&run, held(Method::POST, &path), || {
            scene.content("3");
            Scene::pass_a_look();
        });
        did.ends(0);
        let (before, after) = did.ran.err.split_once("created ").unwrap();
        assert!(before.contains("+  version: \"2\""), "{before}");
        assert!(after.contains("+  version: \"3\""), "{after}");
    });
}

#[test]
fn a_write_that_arrives_late_is_not_denied() {
    play("race-late", |scene| {
        let desk = Desk::at(scene);
        scene.set(&gated(&[(1, BEFORE)]), &ALL);
        let request = waiting(scene, &scene.name);
        let path = scene.request_path(&request);
        desk.proxy.rules(vec![held(Method::PATCH, &path)]);
        let approve = ["approve", &request, "--yes", "--request-timeout=4s"];
        desk.does(&approve)
            .ends(1)
            .says("no answer within 4s")
            .says("shows that nothing was changed so far")
            .says("check it before you try again");
        assert!(condition(&scene.asked(&request), "Approved").is_null());
        // It was on its way all the time.
        desk.proxy.release();
        scene.until(&path, "approved", |request| {
            condition(request, "Approved")["status"] == "True"
        });
        desk.proxy.clear().unwrap();
        desk.does(&["approve", &request, "--yes"]).ends(0);
        assert!(desk.writes().is_empty());
    });
}
