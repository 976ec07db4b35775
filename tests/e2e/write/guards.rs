//! What was not seen or not shown is not done, and a failure in the middle says what is true.

use http::Method;
use serde_json::{Value, json};
use test_hub::terminal::has_terminals;
use test_hub::{Fault, Rule};

use super::desk::Desk;
use super::{ALL, BEFORE, condition, flat, gated, play, until_asked};
use crate::scene::{Scene, three_stages};

/// A run that waits, and a newer one that has put its snapshot on all clusters since.
fn older_and_newer(scene: &Scene) -> [String; 2] {
    scene.set(&gated(&[(1, BEFORE)]), &ALL);
    let [first, second] = ["1", "2"].map(|number| format!("{}-{number}", scene.name));
    scene.run_to_gate(&first);
    scene.new_content("2");
    scene.run_to_gate(&second);
    scene.let_through(&second);
    [first, second]
}

#[test]
fn a_guard_that_cannot_see_refuses() {
    play("guard-blind", |scene| {
        let [first, _] = older_and_newer(scene);
        let desk = Desk::at(scene);
        let request = format!("{first}-before-canary");
        let kind = if scene.namespaced {
            "resourcebindings"
        } else {
            "clusterresourcebindings"
        };
        let blind = |fault| vec![Rule::new(format!("/{kind}?"), fault).method(Method::GET)];
        for (fault, words) in [
            (Fault::Forbidden, "forbidden"),
            (Fault::NotServed, "does not serve this kind"),
            (Fault::Unavailable(None), "503"),
        ] {
            desk.proxy.clear().unwrap();
            desk.proxy.rules(blind(fault.clone()));
            let did = desk.does(&["approve", &request, "--yes", "-q"]);
            did.ends(7)
                .says("which snapshot each cluster has")
                .says(words)
                .says("nothing was sent")
                .says("--allow-older");
            if fault == Fault::Forbidden {
                did.says(&format!("kubectl auth can-i list {kind}.placement"))
                    .says("doctor --rbac approver");
            }
            assert!(desk.writes().is_empty());
        }
        assert!(condition(&scene.asked(&request), "Approved").is_null());
        scene.does(&["stop", &first, "--yes"]).ends(0);
        desk.proxy.clear().unwrap();
        desk.proxy.rules(blind(Fault::Forbidden));
        desk.does(&["resume", &first, "--yes"])
            .ends(7)
            .says("which snapshot each cluster has")
            .says("--allow-older and --allow-unseen");
        assert!(desk.writes().is_empty());
        // Halting is never refused for want of what it only shows.
        let blindly = ["--allow-older", "--allow-unseen", "--wait=false"];
        desk.does(&[&["resume", &first, "--yes"], &blindly[..]].concat())
            .ends(0);
        desk.does(&["stop", &first, "--yes", "--wait=false"])
            .ends(0)
            .says("which snapshot each cluster has is unknown");
    });
}

#[test]
fn content_that_is_gone_is_not_approved() {
    play("guard-gone", |scene| {
        let request = scene.at_gate();
        scene.forget_snapshot("0");
        scene
            .does(&["approve", &request, "--yes"])
            .ends(1)
            .says("no longer exists; nothing was sent");
        assert!(condition(&scene.asked(&request), "Approved").is_null());
    });
}

#[test]
fn a_name_with_an_approval_left_is_not_taken() {
    play("guard-left", |scene| {
        scene.set(&gated(&[(1, BEFORE)]), &ALL);
        let run = format!("{}-1", scene.name);
        let request = format!("{run}-before-canary");
        scene.leave_request(&request, &run, "canary");
        let make = [&["run", &run], &scene.of()[..], &["--yes"]].concat();
        // One that nobody has approved is no gate that is open.
        scene
            .does(&[&make[..], &["--dry-run=client"]].concat())
            .ends(0);
        scene.approve(&request, "True", true);
        scene
            .does(&make)
            .ends(1)
            .says("is left from an earlier run of this name")
            .says("nothing was sent");
        assert!(scene.seen_run(&run).is_none());
    });
}

#[test]
fn keys_typed_before_the_question_are_no_answer() {
    if !has_terminals() {
        return;
    }
    play("guard-typed", |scene| {
        let desk = Desk::at(scene);
        let request = scene.at_gate();
        desk.proxy.clear().unwrap();
        desk.proxy.rules(vec![
            Rule::new("bindings", Fault::Hold)
                .method(Method::GET)
                .times(1),
        ]);
        let mut terminal = desk.terminal(&["approve", &request, "--wait=false"]);
        desk.until_held();
        terminal.types("y\ny\n");
        desk.proxy.release();
        until_asked(&terminal, 1);
        // It has had the time to take them for an answer.
        terminal.until_idle();
        assert!(desk.writes().is_empty(), "{}", terminal.shown());
        terminal.types("n\n");
        let (code, shown) = terminal.end();
        assert_eq!(code, 1, "{shown}");
        // The context is called hub or proxy: the address tells which.
        let shown = flat(&shown);
        assert!(shown.contains("In context proxy: Approve "), "{shown}");
        assert!(condition(&scene.asked(&request), "Approved").is_null());
    });
}

#[test]
fn what_cannot_be_made_is_not_made_room_for() {
    play("guard-replace", |scene| {
        let desk = Desk::at(scene);
        scene.set(&gated(&[(1, BEFORE)]), &ALL);
        let [old, new] = ["old", "new"].map(|word| format!("{}-{word}", scene.name));
        let before = scene.run_to_gate(&old);
        let runs = scene.run_path("");
        let replace = ["run", &new, "--from", &old, "--replace", "--yes", "-q"];
        let create = |from: usize| {
            vec![
                Rule::new(&runs, Fault::Forbidden)
                    .method(Method::POST)
                    .from(from),
            ]
        };
        // The server says so beforehand.
        desk.proxy.rules(create(1));
        desk.does(&replace)
            .ends(7)
            .says("forbidden")
            .says("nothing was changed")
            .says("kubectl auth can-i create");
        let seen = scene.seen_run(&old).unwrap();
        assert_eq!(seen["metadata"]["uid"], before["metadata"]["uid"]);
        assert!(seen["metadata"]["deletionTimestamp"].is_null());
        // It says so only afterwards: the old one goes last.
        desk.proxy.clear().unwrap();
        desk.proxy.rules(create(2));
        desk.does(&replace).ends(7).says("nothing was changed");
        assert!(scene.seen_run(&old).is_some() && scene.seen_run(&new).is_none());
        // In its own place, which is taken until then, it has to go first: then that is told.
        scene
            .does(&["run", &old, "--from", &old, "--replace", "--dry-run=server"])
            .ends(0)
            .says("would create");
        let own = ["run", &old, "--from", &old, "--replace", "--yes", "-q"];
        desk.proxy.clear().unwrap();
        desk.proxy.rules(create(1));
        desk.does(&own).ends(7).says("nothing was changed");
        assert!(scene.seen_run(&old).is_some());
        desk.proxy.clear().unwrap();
        desk.proxy.rules(create(2));
        let did = desk.does(&own);
        let name = &scene.name;
        did.ends(7)
            .says("nothing more was changed")
            .says("already done: deleted ")
            .says(&format!("{old} was not created"))
            .says("complete it with:")
            .says(&format!("run {old} --placement {name} --strategy {name}"))
            .is_silent_of("nothing was changed");
        assert!(scene.seen_run(&old).is_none());
        // As it is printed.
        let of = ["--placement", name, "--strategy", name];
        scene
            .does(&[&["run", &old], &of[..], &["--yes"]].concat())
            .ends(0);
    });
}

#[test]
fn a_run_that_came_meanwhile_is_not_joined() {
    play("guard-joined", |scene| {
        let desk = Desk::at(scene);
        scene.set(&gated(&[(1, BEFORE)]), &ALL);
        let [old, back, other, late] =
            ["old", "back", "other", "late"].map(|word| format!("{}-{word}", scene.name));
        scene.run_to_gate(&old);
        let placement = scene.placement_word();
        // The deletion itself: the first only asks whether it would be done.
        let rule = Rule::new(scene.run_path(&old), Fault::Hold)
            .method(Method::DELETE)
            .from(2)
            .times(1);
        let line = format!("rollback {placement} --to 0 --active=delete --yes --name {back}");
        let words: Vec<_> = line.split(' ').collect();
        let did = desk.does_while(&words, rule, || {
            scene.run_to_gate(&other);
        });
        did.ends(1)
            .says("someone else created a run on")
            .says(&other)
            .says("already done: created ")
            .says(&format!("{back} was not started"))
            .says(&format!("run {back} --allow-older"));
        assert_eq!(
            scene.seen_run(&back).unwrap()["spec"]["state"],
            "Initialize"
        );
        assert!(scene.seen_run(&old).is_none());
        // The same between a run's being made and its being started.
        let new = format!("{}-new", scene.name);
        let make = [&["run", &new], &scene.of()[..], &["--yes"]].concat();
        let rule = Rule::new(scene.run_path(""), Fault::HoldAnswer)
            .method(Method::POST)
            .times(1);
        let did = desk.does_while(&make, rule, || {
            scene.run_to_start(&late);
        });
        did.ends(1)
            .says("someone else created a run on")
            .says(&format!("{new} was not started"))
            .says(&format!("run {new}"));
        assert_eq!(scene.seen_run(&new).unwrap()["spec"]["state"], "Initialize");
    });
}

#[test]
fn a_run_is_not_deleted_for_one_that_the_hub_does_not_start() {
    play("guard-freeze", |scene| {
        let desk = Desk::at(scene);
        scene.set(&gated(&[(1, BEFORE)]), &ALL);
        let [old, back] = ["old", "back"].map(|word| format!("{}-{word}", scene.name));
        scene.run_to_gate(&old);
        let placement = scene.placement_word();
        desk.proxy.clear().unwrap();
        let refused = Rule::new(scene.run_path(&back), Fault::Invalid).method(Method::PATCH);
        desk.proxy.rules(vec![refused]);
        let line = format!("rollback {placement} --to 0 --active=delete --yes --name {back}");
        desk.start(&line.split(' ').collect::<Vec<_>>())
            .end()
            .ends(1)
            .says(&format!("{back} was not started"));
        desk.proxy.rules(Vec::new());
        assert!(scene.seen_run(&old).is_some());
        assert_eq!(
            scene.seen_run(&back).unwrap()["spec"]["state"],
            "Initialize"
        );
    });
}

/// Makes a run of which the strategy has other stages once its plan was shown: it is not started. Its
/// name.
fn changed_since_shown(scene: &Scene, stages: [&[Value]; 2], says: &str) -> String {
    let desk = Desk::at(scene);
    let [shown, then] = stages;
    scene.set(shown, &ALL);
    let new = format!("{}-new", scene.name);
    let make = [&["run", &new], &scene.of()[..], &["--yes"]].concat();
    let rule = Rule::new(scene.run_path(""), Fault::Hold)
        .method(Method::POST)
        .times(1);
    let did = desk.does_while(&make, rule, || {
        scene.hub.delete(&scene.strategy_path());
        scene.strategy(then);
    });
    did.ends(1)
        .says(says)
        .says("which is not what was shown")
        .says(&format!("{new} was not started"));
    assert_eq!(scene.seen_run(&new).unwrap()["spec"]["state"], "Initialize");
    new
}

#[test]
fn a_run_with_other_stages_than_shown_is_not_started() {
    play("guard-stages", |scene| {
        let stages = [&gated(&[(1, BEFORE)])[..], &three_stages()];
        let new = changed_since_shown(scene, stages, "other gates in stage canary");
        // Who has seen it as it is starts it.
        scene.does(&["run", &new, "--yes", "--wait=false"]).ends(0);
    });
}

#[test]
fn a_run_with_more_at_once_than_shown_is_not_started() {
    play("guard-pace", |scene| {
        let all =
            |at_once: Value| json!({"name": "all", "labelSelector": {}, "maxConcurrency": at_once});
        let stages = [&[all(json!(1))][..], &[all(json!("100%"))]];
        changed_since_shown(scene, stages, "3 at a time in stage all");
    });
}

#[test]
fn an_older_snapshot_is_not_started_by_the_way() {
    play("guard-older", |scene| {
        let name = &scene.name;
        scene.set(&three_stages(), &ALL);
        scene.run(name, "Run");
        scene.until_run(name, "Succeeded", "True", "");
        scene.snapshots_are_due();
        scene.content("2");
        let second = format!("{name}-2");
        let again = [&["run", &second], &scene.of()[..], &["--yes", "--wait"]].concat();
        scene.does(&again).ends(0);
        let older = format!("{name}-3");
        let more = ["--snapshot=0", "--yes"];
        let init = [&["init", &older], &scene.of()[..], &more[..]].concat();
        scene.does(&init).ends(0);
        scene
            .does(&["run", &older, "--yes"])
            .ends(1)
            .says("from snapshot 1 to 0")
            .says("--allow-older");
        assert_eq!(
            scene.seen_run(&older).unwrap()["spec"]["state"],
            "Initialize"
        );
    });
}

#[test]
fn a_name_of_two_things_is_asked_about() {
    play("guard-twice", |scene| {
        let request = scene.at_gate();
        scene.run(&request, "Initialize");
        scene
            .does(&["approve", &request, "--yes"])
            .ends(2)
            .says("an update run has the same name");
        assert!(condition(&scene.asked(&request), "Approved").is_null());
        let kind = if scene.namespaced { "areq" } else { "careq" };
        let word = format!("{kind}/{request}");
        scene.does(&["approve", &word, "--yes"]).ends(0);
    });
}

#[test]
fn a_name_that_is_too_long_is_refused() {
    play("guard-long", |scene| {
        scene.set(&three_stages(), &ALL);
        let make = |name: &str| {
            let words = [&["run", name], &scene.of()[..], &["--dry-run=client"]].concat();
            scene.does(&words)
        };
        make(&"r".repeat(63)).ends(0);
        make(&"r".repeat(64)).ends(2).says("at most 63 characters");
        make("X Y").ends(2).says("is no name of an update run");
    });
}

#[test]
fn an_override_that_does_not_fit_is_not_started() {
    play("guard-fits", |scene| {
        let name = &scene.name;
        scene.set(&gated(&[(1, BEFORE)]), &ALL);
        scene.run_to_start(name);
        let over = override_of_namespace(
            scene,
            &json!([
                {"op": "replace", "path": "/spec/absent/field", "value": 1},
            ]),
        );
        scene.hub.create(&over);
        let over = over["metadata"]["name"].clone();
        let run = scene.seen_run(name).unwrap();
        let mut stages = run["status"]["stagesStatus"].clone();
        stages[0]["clusters"][0]["clusterResourceOverrideSnapshots"] = json!([over]);
        let path = format!("{}/status", scene.run_path(name));
        scene
            .hub
            .patch(&path, &json!({"status": {"stagesStatus": stages}}));
        scene
            .does(&["run", name, "--yes"])
            .ends(1)
            .says("starting would block member-1")
            .says("cannot be applied; nothing was sent");
        assert_eq!(scene.seen_run(name).unwrap()["spec"]["state"], "Initialize");
    });
}

#[test]
fn a_binding_that_goes_is_not_written() {
    play("guard-leaving", |scene| {
        let request = scene.at_gate();
        let (path, binding) = scene.a_binding("member-3");
        let mut held = binding["metadata"]["finalizers"].clone();
        match held.as_array_mut() {
            Some(held) => held.push(json!("test.example/stay")),
            None => held = json!(["test.example/stay"]),
        }
        scene
            .hub
            .patch(&path, &json!({"metadata": {"finalizers": held}}));
        scene.hub.delete(&path);
        scene.until(&path, "going", |it| {
            !it["metadata"]["deletionTimestamp"].is_null()
        });
        let gone = "wait until it is gone";
        scene
            .does(&["approve", &request, "--yes"])
            .ends(1)
            .says("which is being deleted")
            .says(gone);
        assert!(condition(&scene.asked(&request), "Approved").is_null());
        let next = format!("{}-next", scene.name);
        let make = [&["run", &next], &scene.of()[..], &["--snapshot=0", "--yes"]].concat();
        scene
            .does(&make)
            .ends(1)
            .says("of member-3 is being deleted")
            .says(gone);
        assert!(scene.seen_run(&next).is_none());
        scene
            .hub
            .patch(&path, &json!({"metadata": {"finalizers": []}}));
    });
}

#[test]
fn a_cluster_that_moved_since_is_not_taken_back() {
    if !has_terminals() {
        return;
    }
    play("guard-moved", |scene| {
        let desk = Desk::at(scene);
        let request = scene.at_gate();
        let mut terminal = desk.terminal(&["approve", &request, "--wait=false"]);
        terminal.until("[y/N] ");
        let (path, _) = scene.a_binding("member-3");
        let newer = format!("{}-7-snapshot", scene.name);
        scene
            .hub
            .patch(&path, &json!({"spec": {"resourceSnapshotName": newer}}));
        terminal.types("y\n");
        let (code, shown) = terminal.end();
        let shown = flat(&shown);
        assert_eq!(code, 1, "{shown}");
        assert!(
            shown.contains("would roll member-3 back from snapshot 7 to 0"),
            "{shown}"
        );
        assert!(shown.contains("changed while you were asked"), "{shown}");
        assert!(desk.writes().is_empty());
        assert!(condition(&scene.asked(&request), "Approved").is_null());
    });
}

#[test]
fn an_override_that_came_later_is_told_to_whom_approves() {
    if !has_terminals() {
        return;
    }
    play("guard-later", |scene| {
        let desk = Desk::at(scene);
        let request = scene.at_gate();
        scene.pass_a_second();
        annotate_by_override(scene);
        let mut terminal = desk.terminal(&["approve", &request, "--wait=false"]);
        terminal.until("[y/N] ");
        terminal.types("n\n");
        let (code, shown) = terminal.end();
        let shown = flat(&shown);
        assert_eq!(code, 1, "{shown}");
        let why = format!(
            "The override {} was added or changed after",
            scene.namespace
        );
        assert!(shown.contains(&why), "{shown}");
        assert!(desk.writes().is_empty());
    });
}

#[test]
fn a_script_does_not_roll_back_for_an_override() {
    play("guard-over", |scene| {
        scene.set(&gated(&[]), &ALL).pass_a_second();
        let [first, second, third] = ["1", "2", "3"].map(|it| format!("{}-{it}", scene.name));
        let done = |run: &str| {
            scene.run(run, "Run");
            scene.until_run(run, "Succeeded", "True", "");
            scene.pass_a_second();
        };
        done(&first);
        scene.new_content("2");
        done(&second);
        annotate_by_override(scene);
        done(&third);
        record_override(scene, &third);
        let back = format!("{}-back", scene.name);
        let rollback = ["rollback", &third, "--yes", "--name", &back];
        scene
            .does(&rollback)
            .ends(1)
            .says(&format!("{third} changed only overrides"))
            .says(&format!("{second} completed the same snapshot 1 before it"))
            .says(&format!("run --from {third}"))
            .says("--to 0");
        assert!(scene.seen_run(&back).is_none());
        scene
            .does(&[&rollback[..], &["--to", "0", "--dry-run=client"]].concat())
            .ends(0);
    });
}

#[test]
fn a_script_does_not_spread_an_override_by_a_rollback() {
    play("guard-spread", |scene| {
        scene.set(&gated(&[(1, BEFORE)]), &ALL).pass_a_second();
        let [first, second] = ["1", "2"].map(|it| format!("{}-{it}", scene.name));
        scene.run_to_gate(&first);
        scene.let_through(&first);
        scene.new_content("2");
        annotate_by_override(scene);
        scene.run_to_gate(&second);
        record_override(scene, &second);
        let rollback = ["rollback", &second, "--yes", "--active=delete"];
        scene
            .does(&rollback)
            .ends(1)
            .says(&format!(
                "the rollback would change {} and {}, which {second} has not reached",
                ALL[1], ALL[2]
            ))
            .says("name the snapshot: --to 0");
        assert!(scene.seen_run(&second).is_some());
        scene
            .does(&[&rollback[..], &["--to", "0", "--dry-run=client"]].concat())
            .ends(0);
    });
}

/// Creates an override that annotates the namespace which a scene brings, on all clusters.
fn annotate_by_override(scene: &Scene) {
    let annotations = json!([
        {"op": "add", "path": "/metadata/annotations", "value": {"tier": "gold"}},
    ]);
    let mut over = override_of_namespace(scene, &annotations);
    over["metadata"]["labels"]["kubernetes-fleet.io/is-latest-snapshot"] = json!("true");
    scene.hub.create(&over);
}

/// Notes in a run that it took that override for all clusters: the stand-in takes none.
fn record_override(scene: &Scene, run: &str) {
    let mut stages = scene.seen_run(run).unwrap()["status"]["stagesStatus"].clone();
    for stage in stages.as_array_mut().unwrap() {
        for cluster in stage["clusters"].as_array_mut().unwrap() {
            cluster["clusterResourceOverrideSnapshots"] = json!([format!("{}-0", scene.namespace)]);
        }
    }
    let path = format!("{}/status", scene.run_path(run));
    let status = json!({"status": {"stagesStatus": stages}});
    scene.hub.patch(&path, &status);
}

/// The first snapshot of an override for all clusters of the namespace that a scene brings.
fn override_of_namespace(scene: &Scene, patches: &Value) -> Value {
    json!({
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": "ClusterResourceOverrideSnapshot",
        "metadata": {
            "name": format!("{}-0", scene.namespace),
            "labels": {"kubernetes-fleet.io/override-index": "0"},
        },
        "spec": {"overrideHash": "aGFzaA==", "overrideSpec": {
            "clusterResourceSelectors": [
                {"group": "", "version": "v1", "kind": "Namespace", "name": scene.namespace},
            ],
            "policy": {"overrideRules": [{
                "clusterSelector": {"clusterSelectorTerms": []},
                "overrideType": "JSONPatch",
                "jsonPatchOverrides": patches,
            }]},
        }},
    })
}
