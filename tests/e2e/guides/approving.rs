//! Approvals, and those that KubeFleet ignores.

use serde_json::json;

use super::{LIMIT, act, diagnosed};
use crate::scene::{AFTER, ALL, BEFORE, condition, gated, play};

/// An approval that somebody wrote by hand, for another generation, before and after a stage: it is
/// shown as ignored, explained, and fixed.
#[test]
fn an_approval_with_a_wrong_generation() {
    play("guide-generation", |scene| {
        scene.set(&gated(&[(1, BEFORE), (1, AFTER)]), &ALL);
        let run = format!("{}-1", scene.name);
        let started = [&["run", &run, "--yes"], &scene.of()[..]].concat();
        act(scene, &started).ends(0);
        for (task, at) in [("before", 0), ("after", 7)] {
            let gate = format!("--for=approval=canary/{task}");
            act(scene, &["wait", &run, &gate, LIMIT]).ends(0);
            let request = format!("{run}-{task}-canary");
            let path = scene.request_path(&request);
            let approved = json!({
                "type": "Approved", "status": "True", "reason": "approved", "message": "approved",
                "lastTransitionTime": jiff::Timestamp::now().strftime("%FT%TZ").to_string(),
                "observedGeneration": at,
            });
            let patch = json!({"status": {"conditions": [approved]}});
            scene.hub.patch(&format!("{path}/status"), &patch);
            act(scene, &["approvals", &run]).ends(0).tells("ignored");
            let (verdict, findings) = diagnosed(scene, &run);
            assert_eq!(verdict, "WaitingForApproval");
            assert_eq!(findings, ["FS401"]);
            act(
                scene,
                &["approve", &run, "--yes", "--reason", "seen by two"],
            )
            .ends(0)
            .tells("KubeFleet ignores the current approval of")
            .tells("approved and accepted");
            let request = scene.hub.read(&path).unwrap();
            let approved = condition(&request, "Approved");
            let generation = &request["metadata"]["generation"];
            assert_eq!(&approved["observedGeneration"], generation);
            let message = approved["message"].as_str().unwrap();
            assert!(message.contains("seen by two"), "{message}");
            assert_eq!(condition(&request, "ApprovalAccepted")["status"], "True");
        }
        act(scene, &["wait", &run, "--for=succeeded", LIMIT]).ends(0);
        act(scene, &["approvals", &run, "-o", "wide"])
            .ends(0)
            .tells("seen by two");
    });
}

/// An approval that is given while the run is stopped is taken when it goes on.
#[test]
fn an_approval_of_a_stopped_run() {
    play("guide-stopped", |scene| {
        scene.set(&gated(&[(2, BEFORE)]), &ALL);
        let run = format!("{}-1", scene.name);
        let started = [&["run", &run, "--yes", "--wait", LIMIT], &scene.of()[..]].concat();
        act(scene, &started).ends(4);
        act(scene, &["stop", &run]).ends(0);
        act(scene, &["approve", &run, "--yes", "--timeout=20s"]).tells("resume");
        act(scene, &["approvals", &run]).ends(0).tells("approved");
        act(scene, &["diagnose", &run]).ends(8).tells("FS404");
        act(scene, &["resume", &run, "--wait", LIMIT]).ends(0);
    });
}
