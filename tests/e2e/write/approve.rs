//! Which approvals are given, fixed or refused, and what is said of each.

use serde_json::{Value, json};
use test_hub::terminal::has_terminals;

use super::desk::Desk;
use super::{AFTER, ALL, BEFORE, condition, gated, play};
use crate::scene::Scene;

/// A run that waits before its second stage, and that has a gate after it.
fn waiting(scene: &Scene) -> String {
    scene.set(&gated(&[(1, BEFORE), (1, AFTER)]), &ALL);
    scene.run(&scene.name, "Run");
    scene.until_gate()
}

/// Checks that a request carries one approval, and that it is for the generation that it has.
fn counts(request: &Value) {
    let approvals: Vec<_> = request["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|condition| condition["type"] == "Approved")
        .collect();
    assert_eq!(approvals.len(), 1, "{request:#}");
    assert_eq!(approvals[0]["status"], "True");
    assert_eq!(
        approvals[0]["observedGeneration"],
        request["metadata"]["generation"]
    );
}

#[test]
fn what_is_not_open_yet_says_what_it_waits_for() {
    play("approve-early", |scene| {
        scene.set(&gated(&[(1, BEFORE), (2, AFTER)]), &ALL);
        let name = &scene.name;
        scene.run_to_start(name);
        scene
            .does(&["approve", name, "--yes"])
            .ends(1)
            .says("has not requested the approval before stage canary yet: the run was not started")
            .says(&format!("fleet-stage run {name}"));
        scene.does(&["run", name, "--wait=false"]).ends(0);
        let request = format!("{name}-before-canary");
        scene.asked(&request);
        scene
            .does(&["resume", name, "--dry-run"])
            .ends(0)
            .says("is in progress");
        let later = format!("{name}-after-prod");
        for words in [
            vec!["approve", name, "--stage", "prod", "--yes"],
            vec!["approve", name, "--task", "after", "--yes"],
            vec!["approve", &later, "--yes"],
        ] {
            let did = scene.does(&words);
            did.ends(1)
                .says("has not requested the approval after stage prod yet")
                .says("stage canary comes before it")
                .says(&format!("wait {name} --for=approval=prod/after"));
            assert!(scene.seen_request(&later).is_none());
        }
        assert!(condition(&scene.asked(&request), "Approved").is_null());
    });
}

#[test]
fn a_gate_that_is_approved_ahead_is_told() {
    play("approve-ahead", |scene| {
        let (name, request) = (&scene.name, waiting(scene));
        let later = format!("{name}-after-canary");
        scene.leave_request(&later, name, "canary");
        let told =
            format!("{later} is approved already, so {name} will not wait after stage canary");
        // Made alone, it is still a gate at which the run waits.
        let look = ["approve", &request, "--dry-run"];
        scene
            .does(&look)
            .ends(0)
            .is_silent_of(&told)
            .is_silent_of("opens stage prod");
        scene.approve(&later, "True", true);
        scene
            .does(&look)
            .ends(0)
            .says(&told)
            .says("opens stage prod");
        scene
            .does(&["status", &scene.own_run()])
            .answers("and then stage prod");
    });
}

#[test]
fn an_approval_that_is_ignored_is_mended() {
    play("approve-mended", |scene| {
        let request = waiting(scene);
        scene.approve(&request, "True", false);
        let did = scene.does(&["approve", &scene.name, "--yes"]);
        did.ends(0)
            .says("(observedGeneration missing")
            .answers("is approved and accepted");
        counts(&scene.asked(&request));
    });
}

#[test]
fn an_approval_that_is_withheld_is_replaced_by_a_person() {
    play("approve-withheld", |scene| {
        let request = waiting(scene);
        scene.approve(&request, "False", true);
        // A script does not overrule who wrote it.
        let did = scene.does(&["approve", &request, "--yes"]);
        did.ends(1)
            .says("is not True")
            .says("(reviewed by the release team)");
        assert_eq!(
            condition(&scene.asked(&request), "Approved")["status"],
            "False"
        );
        if !has_terminals() {
            return;
        }
        let desk = Desk::at(scene);
        let mut terminal = desk.terminal(&["approve", &request]);
        terminal.until("[y/N] ");
        terminal.types("y\n");
        let (code, shown) = terminal.end();
        assert_eq!(code, 0, "{shown}");
        counts(&scene.asked(&request));
    });
}

#[test]
fn what_another_gave_is_not_given_again() {
    play("approve-given", |scene| {
        let request = waiting(scene);
        scene.approve(&request, "True", true);
        scene.asked(&format!("{}-after-canary", scene.name));
        let before = scene.asked(&request);
        let did = scene.does(&["approve", &request, "--yes"]);
        did.ends(0)
            .answers("was already approved and accepted")
            .is_silent_of("approved ClusterApprovalRequest");
        let after = scene.asked(&request);
        assert_eq!(
            before["metadata"]["resourceVersion"],
            after["metadata"]["resourceVersion"]
        );
        assert_eq!(
            condition(&after, "Approved")["message"],
            "reviewed by the release team"
        );
    });
}

#[test]
fn a_request_of_another_run_opens_nothing() {
    play("approve-foreign", |scene| {
        let request = waiting(scene);
        let name = &scene.name;
        let spec = scene.asked(&request);
        for (own, run, words) in [
            ("stray", name.as_str(), "has no gate with the request"),
            ("orphan", "nobody", "does not exist, so approving"),
        ] {
            let own = format!("{name}-{own}");
            let mut stray = json!({"metadata": {"name": own}});
            stray["apiVersion"] = spec["apiVersion"].clone();
            stray["kind"] = spec["kind"].clone();
            if scene.namespaced {
                stray["metadata"]["namespace"] = json!(scene.namespace);
            }
            stray["spec"] = json!({"parentStageRollout": run, "targetStage": "canary"});
            scene.hub.create(&stray);
            scene.does(&["approve", &own, "--yes"]).ends(1).says(words);
            assert!(condition(&scene.asked(&own), "Approved").is_null());
        }
    });
}

#[test]
fn a_run_that_is_over_asks_for_nothing() {
    play("approve-over", |scene| {
        let request = waiting(scene);
        let name = &scene.name;
        scene.does(&["approve", name, "--yes"]).ends(0);
        let after = format!("{name}-after-canary");
        scene.asked(&after);
        scene.does(&["approve", name, "--yes", "--wait"]).ends(0);
        scene
            .does(&["approve", name, "--yes"])
            .ends(0)
            .answers("were already approved and accepted");
        scene
            .does(&["approve", &request, "--yes"])
            .ends(0)
            .answers("already");
        // One that failed while it waited.
        let failed = format!("{name}-failed");
        scene.run(&failed, "Run");
        scene.asked(&format!("{failed}-before-canary"));
        let placement = scene.placement_path();
        let fewer = json!({"spec": {"policy": {"clusterNames": ["member-1", "member-2"]}}});
        scene.hub.patch(&placement, &fewer);
        scene.until_run(&failed, "Succeeded", "False", "");
        scene
            .does(&["approve", &failed, "--yes"])
            .ends(1)
            .says("has ended (it failed)");
        let request = scene.asked(&format!("{failed}-before-canary"));
        assert!(condition(&request, "Approved").is_null());
    });
}

#[test]
fn the_flags_choose_among_gates() {
    play("approve-flags", |scene| {
        let request = waiting(scene);
        let run = scene.own_run();
        #[rustfmt::skip]
        let cases = [
            (vec!["approve", &request, "--stage", "canary"], 2, "of a run"),
            (vec!["approve", &request, "--all"], 2, "of a run"),
            (vec!["approve", &run, "--stage", "canry"], 6, "did you mean canary?"),
            (vec!["approve", &run, "--stage", "prod"], 1, "has no approval gate at stage prod"),
            (vec!["approve", &run, "--stage", "staging", "--task", "before"], 1, "existing gates: canary/before, canary/after"),
            (vec!["approve", "nothing-of-it"], 6, "nothing-of-it"),
            // Nobody can be asked, and nobody answered for him.
            (vec!["approve", &run], 1, "stdin is not a terminal"),
        ];
        for (words, code, said) in cases {
            scene.does(&words).ends(code).says(said);
        }
        let long = "x".repeat(1025);
        scene
            .does(&["approve", &run, "--yes", "--reason", &long])
            .ends(2);
        assert!(condition(&scene.asked(&request), "Approved").is_null());
        let flags = "--task before --wait=false --field-manager=pipeline --quiet";
        scene
            .types(&format!("approve {run} --all --yes {flags}"))
            .ends(0)
            .answers("is approved");
        let approved = scene.asked(&request);
        counts(&approved);
        let managers = approved["metadata"]["managedFields"].as_array().unwrap();
        assert!(managers.iter().any(|entry| entry["manager"] == "pipeline"));
    });
}

#[test]
fn what_is_shown_and_checked_is_not_done() {
    play("approve-dry", |scene| {
        let request = waiting(scene);
        let name = &scene.name;
        let before = scene.asked(&request);
        let version = &before["metadata"]["resourceVersion"];
        scene
            .does(&["approve", name, "--dry-run=client", "-v"])
            .ends(0)
            .says("would approve")
            .answers("PATCH /apis/placement.kubernetes-fleet.io/v1beta1/")
            .answers("/status\n");
        let shown = scene.types(&format!("approve {name} --dry-run -o json --reason why"));
        let document = shown.ends(0).ran.json();
        assert_eq!(document["metadata"]["resourceVersion"], *version);
        let approved = condition(&document, "Approved");
        assert_eq!(
            approved["observedGeneration"],
            before["metadata"]["generation"]
        );
        assert!(approved["message"].as_str().unwrap().ends_with(": why"));
        let yaml = scene.does(&["approve", name, "--dry-run=client", "-o", "yaml"]);
        yaml.ends(0).answers("type: Approved");
        scene
            .does(&["approve", name, "--dry-run=client", "-o", "name"])
            .ends(0)
            .answers(&request);
        let checked = scene.does(&["approve", name, "--dry-run=server", "-o", "json"]);
        let document = checked.ends(0).says("(checked by the server)").ran.json();
        counts(&document);
        let after = scene.asked(&request);
        assert_eq!(after["metadata"]["resourceVersion"], *version);
        // The object as it is in the end, also after a wait.
        let done = scene.does(&["approve", name, "--yes", "-o", "json"]);
        let document = done.ends(0).ran.json();
        counts(&document);
        assert_eq!(condition(&document, "ApprovalAccepted")["status"], "True");
        assert_eq!(document["result"]["exitCode"], 0);
        assert!(document["result"]["verdict"].is_string());
    });
}

#[test]
fn what_a_run_ends_before_opens_nothing() {
    play("approve-aborts", |scene| {
        let request = waiting(scene);
        let name = &scene.name;
        // Stopped, it is looked at only when it is resumed.
        scene.does(&["stop", name]).ends(0);
        let strategy = json!({"applyStrategy": {"whenToApply": "IfNotDrifted"}});
        let changed = json!({"spec": {"strategy": strategy}});
        scene.hub.patch(&scene.placement_path(), &changed);
        let listed = scene.does(&["approvals", name, "-o", "wide"]);
        listed.ends(0).answers(&format!("diagnose {name}"));
        let did = scene.does(&["approve", &request]);
        did.ends(1)
            .says("opens nothing")
            .says("FS201")
            .says(&format!("although KubeFleet aborts {name}?"));
        assert!(condition(&scene.asked(&request), "Approved").is_null());
        let did = scene.does(&["approve", &request, "--yes"]);
        did.ends(0).says("as soon as it is resumed").says("FS201");
        assert!(!did.ran.err.contains("takes effect"), "{}", did.ran.err);
    });
}

#[test]
fn a_label_that_ends_a_run_is_seen_before_an_approval() {
    play("approve-label", |scene| {
        let key = format!("approve-label-{}", scene.namespaced);
        let label = |value: Value| {
            let path = format!(
                "/apis/cluster.kubernetes-fleet.io/v1beta1/memberclusters/{}",
                ALL[1]
            );
            let labels = json!({"metadata": {"labels": {&key: value}}});
            scene.hub.patch(&path, &labels);
        };
        label(json!("1"));
        let mut stages = gated(&[(1, BEFORE)]);
        stages[1]["sortingLabelKey"] = json!(key);
        scene.set(&stages, &ALL);
        let name = &scene.name;
        scene.run(name, "Run");
        let request = scene.until_gate();
        scene.does(&["stop", name]).ends(0);
        // As if it had waited for long; its snapshot is younger than that, so nothing is sent.
        let mut run = scene.seen_run(name).unwrap();
        let conditions = run["status"]["conditions"].as_array_mut().unwrap();
        for condition in conditions {
            condition["lastTransitionTime"] = json!("2026-01-01T00:00:00Z");
        }
        let status = json!({"status": {"conditions": run["status"]["conditions"]}});
        scene
            .hub
            .patch(&format!("{}/status", scene.run_path(name)), &status);
        let did = scene.does(&["approve", &request]);
        did.ends(1).says("opens stage canary");
        label(Value::Null);
        let did = scene.does(&["approve", &request]);
        did.ends(1).says("opens nothing").says("FS112");
    });
}

#[test]
fn a_cluster_does_not_go_back_unasked() {
    play("approve-back", |scene| {
        scene.set(&gated(&[(1, BEFORE)]), &ALL);
        let name = &scene.name;
        let [first, second] = ["1", "2"].map(|number| format!("{name}-{number}"));
        scene.run_to_gate(&first);
        scene.new_content("2");
        // The first is not over: that is asked, and --yes answers.
        let make = [&["run", &second], &scene.of()[..]].concat();
        scene.does(&make).ends(1).says("stdin is not a terminal");
        assert!(scene.seen_run(&second).is_none());
        scene.does(&[&make[..], &["--yes"]].concat()).ends(0);
        scene.asked(&format!("{second}-before-canary"));
        scene
            .does(&["approve", &first, "--dry-run=client"])
            .ends(0)
            .says("member-1 counts as done, but has snapshot 1 of another run")
            .says("the next clusters get snapshot 0 all the same");
        scene
            .does(&["approve", &first, "--yes"])
            .ends(1)
            .says("the next clusters get snapshot 0 all the same; nothing was sent");
        scene
            .does(&["approve", &second, "--yes", "--wait"])
            .ends(0)
            .says(&format!("other unfinished runs on {name}: {first}"));
        // Now the older one would take its clusters back.
        let request = format!("{first}-before-canary");
        scene
            .does(&["approve", &first, "--yes"])
            .ends(1)
            .says("approving would roll member-2 and member-3 back from snapshot 1 to 0")
            .says("--allow-older");
        assert!(condition(&scene.asked(&request), "Approved").is_null());
        // Stopped and resumed it would do the same.
        scene.does(&["stop", &first]).ends(0);
        scene
            .does(&["resume", &first])
            .ends(1)
            .says("resuming would roll member-2 and member-3 back");
        assert_eq!(scene.seen_run(&first).unwrap()["spec"]["state"], "Stop");
        scene
            .does(&["resume", &first, "--allow-older", "--wait=false"])
            .ends(0);
        scene
            .does(&["approve", &first, "--yes", "--allow-older", "--wait"])
            .ends(0);
    });
}

/// Names that are wrong keep all of it from being sent; a gate that is not open keeps none of the
/// others closed.
#[test]
fn several_are_approved_one_after_the_other() {
    play("approve-several", |scene| {
        let request = waiting(scene);
        let name = &scene.name;
        let later = format!("{name}-2");
        scene.run_to_start(&later);
        scene
            .does(&["approve", name, "no-such-gate", "--yes"])
            .ends(6);
        assert!(condition(&scene.asked(&request), "Approved").is_null());
        let did = scene.does(&["approve", &later, &request, &request, "--yes"]);
        did.ends(1)
            .says(&format!("{later} has not requested the approval"))
            .answers(&format!("{request} is approved and accepted"));
        let told = did.ran.out.matches("is approved and accepted").count();
        assert_eq!(told, 1, "{}", did.ran.out);
        counts(&scene.asked(&request));
    });
}

/// Stages of one name share their requests.
#[test]
fn one_approval_for_two_stages_is_no_scripts_to_give() {
    play("approve-twice", |scene| {
        let mut stages = gated(&[(0, AFTER), (1, AFTER)]);
        stages[1]["name"] = stages[0]["name"].clone();
        scene.set(&stages, &ALL);
        let name = &scene.name;
        scene.run_to_gate(name);
        let shared = "also opens the gates of later stages of the same name: member-2";
        scene
            .does(&["approve", name, "--yes"])
            .ends(1)
            .says(shared)
            .says("nothing was sent");
        let request = format!("{name}-after-staging");
        assert!(condition(&scene.asked(&request), "Approved").is_null());
    });
}

#[test]
fn the_second_stage_of_a_name_opens_what_follows_it() {
    play("approve-second", |scene| {
        let mut stages = gated(&[(0, BEFORE), (1, AFTER)]);
        stages[1]["name"] = stages[0]["name"].clone();
        scene.set(&stages, &ALL);
        let name = &scene.name;
        scene.run_to_gate(name);
        scene.does(&["approve", name, "--yes"]).ends(0);
        scene.asked(&format!("{name}-after-staging"));
        scene
            .does(&["approve", name, "--dry-run=client"])
            .ends(0)
            .says("signs off stage staging: 1 of 1 cluster done")
            .says("opens stage prod: 1 cluster");
        scene.does(&["approve", name, "--yes"]).ends(0);
        scene.until_run(name, "Succeeded", "True", "");
    });
}

#[test]
fn a_bundle_has_the_requests_of_all_runs() {
    play("approve-bundle", |scene| {
        let request = scene.at_gate();
        let second = format!("{}-2", scene.name);
        scene.run_to_gate(&second);
        let placement = scene.placement_word();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bundle.yaml");
        let file = file.to_str().unwrap();
        scene
            .does(&["collect", &placement, "--output-file", file])
            .ends(0);
        for run in [&scene.name, &second] {
            let did = scene.does(&["approvals", run, "-f", file, "-o", "json"]);
            let gates = did.ends(0).ran.json();
            assert_eq!(gates["items"][0]["state"], "Pending", "{gates:#}");
        }
        assert!(condition(&scene.asked(&request), "Approved").is_null());
    });
}
