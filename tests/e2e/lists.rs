//! The commands that list, on a hub: runs that overlap, and what the clusters have in the end.

use serde_json::{Value, json};

use crate::harness::MEMBERS;
use crate::scene::{ALL, Scene, both, one_gate, play, three_stages};

/// What a command prints of the scene's scope, without the runs of other scenes.
fn document(scene: &Scene, arguments: &[&str]) -> Value {
    let words = [arguments, &["-o", "json"]].concat();
    scene.does(&words).ends(0).ran.json()
}

fn kinds(history: &Value) -> Vec<&str> {
    let notes = history["notes"].as_array().unwrap();
    let kinds = notes.iter().map(|note| note["kind"].as_str().unwrap());
    kinds.collect()
}

/// Run 1 waits while run 2 goes through; then run 1 goes on, and puts its older version back.
#[test]
fn an_older_run_that_goes_on_is_seen_in_the_history() {
    play("history", |scene| {
        let (first, second) = (format!("{}-1", scene.name), format!("{}-2", scene.name));
        let placement = scene.placement_word();
        scene.set(&one_gate(), &ALL).run_to_gate(&first);
        let list = document(scene, &["list", "--placement", &placement]);
        let item = &list["items"][0];
        assert_eq!(item["verdict"], "WaitingForApproval", "{list:#}");
        assert_eq!(item["stage"], "canary");
        assert_eq!((&item["done"], &item["total"]), (&json!(1), &json!(3)));

        scene.new_content("2");
        scene.run_to_gate(&second);
        let pending = document(scene, &["approvals", &second, "--pending"]);
        let request = format!("{second}-before-canary");
        assert_eq!(
            pending["items"][0]["request"],
            request.as_str(),
            "{pending:#}"
        );
        assert_eq!(pending["items"][0]["state"], "Pending");
        scene.approve(&request, "True", true);
        scene.until_run(&second, "Succeeded", "True", "");
        let before = document(scene, &["history", &placement]);
        assert!(kinds(&before).contains(&"WouldGoBack"), "{before:#}");

        scene.pass_a_second();
        let request = format!("{first}-before-canary");
        scene.approve(&request, "True", false);
        let ignored = document(scene, &["approvals", &first]);
        assert_eq!(ignored["items"][0]["state"], "Ignored", "{ignored:#}");
        scene.approve(&request, "True", true);
        scene.until_run(&first, "Succeeded", "True", "");
        let accepted = document(scene, &["approvals", &first]);
        assert_eq!(accepted["items"][0]["state"], "Accepted", "{accepted:#}");
        assert_eq!(
            accepted["items"][0]["answer"]["message"],
            "reviewed by the release team"
        );

        let after = document(scene, &["history", &placement]);
        assert_eq!(
            kinds(&after),
            [
                "PutBack",
                "SuccessReplaced",
                "SuccessReplaced",
                "VersionsMixed"
            ],
            "{after:#}"
        );
        assert_eq!(after["notes"][0]["run"], first.as_str());
        assert_eq!(
            after["notes"][0]["clusters"],
            json!([MEMBERS[1].0, MEMBERS[2].0])
        );
        let runs = after["runs"].as_array().unwrap();
        assert_eq!(runs.len(), 2, "{after:#}");
        let holds = |run: &Value| run["stillOn"].clone();
        assert_eq!(holds(&runs[0]), json!([MEMBERS[1].0, MEMBERS[2].0]));
        assert_eq!(holds(&runs[1]), json!([MEMBERS[0].0]));
        versions(scene, &placement, &[&first, &second]);
        strategies(scene, &[&first, &second]);
        from_a_bundle(scene, &placement);
    });
}

fn versions(scene: &Scene, placement: &str, runs: &[&String]) {
    let list = document(scene, &["snapshots", placement]);
    let items = list["items"].as_array().unwrap();
    assert_eq!(items.len(), 2, "{list:#}");
    assert_eq!(items[0]["runs"], json!([runs[0]]));
    assert_eq!(items[1]["runs"], json!([runs[1]]));
    assert_eq!(items[1]["latest"], true);
    assert_eq!(items[0]["survives"], 8);
    assert_eq!(items[1]["clusters"], json!([MEMBERS[0].0]));
    assert!(items[0]["bytes"].as_u64().unwrap() > 50, "{list:#}");
    let diff = document(scene, &["snapshots", "diff", placement, "0", "1"]);
    assert_eq!(diff["changes"].as_array().unwrap().len(), 1, "{diff:#}");
    assert_eq!(diff["changes"][0]["kind"], "ConfigMap");
    let text = diff["changes"][0]["diff"].as_str().unwrap();
    assert!(
        text.contains("\n-  version: \"1\"\n+  version: \"2\"\n"),
        "{text}"
    );
    let shown = document(scene, &["snapshots", "show", placement, "latest"]);
    let manifests = shown["resources"].as_array().unwrap();
    assert!(
        manifests
            .iter()
            .any(|one| one["manifest"]["data"]["version"] == "2"),
        "{shown:#}"
    );
}

fn strategies(scene: &Scene, runs: &[&String]) {
    let shown = document(scene, &["strategies", "show", &scene.name]);
    let users: Vec<_> = shown["strategy"]["usedBy"]
        .as_array()
        .unwrap()
        .iter()
        .map(|user| (user["name"].clone(), user["verdict"].clone()))
        .collect();
    let wanted: Vec<_> = runs
        .iter()
        .map(|run| (json!(run), json!("Succeeded")))
        .collect();
    assert_eq!(users, wanted);
    let gate = &shown["strategy"]["stages"][1]["gates"][0];
    assert_eq!(
        (&gate["when"], &gate["type"]),
        (&json!("before"), &json!("Approval"))
    );
}

/// What was collected says the same as the hub.
fn from_a_bundle(scene: &Scene, placement: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bundle.yaml");
    let file = file.to_str().unwrap();
    let collected = scene.plugin(&["collect"], placement, &["--output-file", file]);
    assert_eq!(collected.code, 0, "{}", collected.err);
    for arguments in [
        vec!["list", "--placement", placement],
        vec!["snapshots", placement],
        vec!["snapshots", "show", placement],
        vec!["snapshots", "diff", placement, "0", "1"],
    ] {
        let live = document(scene, &arguments);
        let mut words = arguments.clone();
        words.extend(["-f", file]);
        assert_eq!(live, document(scene, &words), "{arguments:?}");
    }
    let words = ["history", placement, "-f", file];
    let live = document(scene, &["history", placement]);
    let told = document(scene, &words);
    assert_eq!(live["notes"], told["notes"]);
    assert_eq!(live["clusters"], told["clusters"]);
}

/// A Secret's value is nowhere in what is printed, and that it changed is.
#[test]
fn secrets_of_a_hub_stay_there() {
    for scene in both("secrets") {
        if scene.namespaced {
            // A namespaced placement selects its objects one by one; the other scope is enough.
            continue;
        }
        scene.content("1");
        let secret = |password: &str| {
            json!({
                "apiVersion": "v1", "kind": "Secret",
                "metadata": {"name": "db", "namespace": scene.namespace},
                "stringData": {"password": password},
            })
        };
        scene.hub.create(&secret("first-password"));
        scene.strategy(&three_stages());
        scene.placement(&json!({"type": "External"}), &ALL);
        scene.run(&scene.name, "Run");
        scene.until_run(&scene.name, "Succeeded", "True", "");
        let path = format!("/api/v1/namespaces/{}/secrets/db", scene.namespace);
        scene.hub.patch(
            &path,
            &json!({"stringData": {"password": "second-password"}}),
        );
        scene.new_content("1");
        let placement = scene.placement_word();
        let diff = document(&scene, &["snapshots", "diff", &placement, "0", "1"]);
        assert_eq!(diff["changes"][0]["secrets"], "differ", "{diff:#}");
        // In base64, as a Secret has them.
        let values = ["Zmlyc3QtcGFzc3dvcmQ=", "c2Vjb25kLXBhc3N3b3Jk"];
        for arguments in [
            vec!["snapshots", "diff", &placement, "0", "1"],
            vec!["snapshots", "show", &placement, "0", "-o", "yaml"],
            vec!["snapshots", "show", &placement, "1", "-o", "json"],
        ] {
            let ran = scene.hub.plugin(&arguments);
            for value in values {
                assert!(!ran.out.contains(value), "{arguments:?}: {}", ran.out);
            }
            let asked: Vec<_> = arguments
                .iter()
                .copied()
                .chain(["--show-secrets"])
                .collect();
            let ran = scene.hub.plugin(&asked);
            assert!(
                values.iter().any(|value| ran.out.contains(value)),
                "{}",
                ran.out
            );
        }
        // What was collected is masked: whether it differs, nobody can say any more.
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bundle.yaml");
        let file = file.to_str().unwrap();
        scene.plugin(&["collect"], &placement, &["--output-file", file]);
        let words = ["snapshots", "diff", &placement, "0", "1", "-f", file];
        let ran = scene.hub.plugin(&[&words[..], &["--exit-code"]].concat());
        assert_eq!(ran.code, 7, "{} {}", ran.out, ran.err);
        assert!(
            ran.err.contains("masked when they were collected"),
            "{}",
            ran.err
        );
    }
}
