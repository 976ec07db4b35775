//! The life of a rollout by our commands alone.

use super::{AFTER, ALL, BEFORE, condition, gated, play};

#[test]
fn a_rollout_by_commands_alone() {
    play("write-life", |scene| {
        scene.set(&gated(&[(1, BEFORE), (1, AFTER)]), &ALL);
        let name = &scene.name;
        let [first, second, third] = ["1", "2", "3"].map(|number| format!("{name}-{number}"));
        let plan = scene.does(&[&["plan"], &scene.of()[..]].concat());
        plan.ends(0);
        // Made, and made again: it is the same.
        let init = [&["init", &first], &scene.of()[..]].concat();
        scene.does(&init).ends(0).says("created");
        let made = scene.seen_run(&first).unwrap();
        assert_eq!(made["spec"]["state"], "Initialize");
        assert_eq!(condition(&made, "Initialized")["status"], "True");
        scene
            .does(&init)
            .ends(0)
            .says("already exists with the same spec");
        let again = scene.seen_run(&first).unwrap();
        assert_eq!(again["metadata"]["uid"], made["metadata"]["uid"]);
        assert_eq!(
            again["metadata"]["generation"],
            made["metadata"]["generation"]
        );
        // Started, and started again.
        scene
            .does(&["run", &first])
            .ends(0)
            .says("objects per cluster:")
            .says("created (member-1, member-2, member-3)")
            .says("started");
        scene.does(&["run", &first]).ends(0);
        scene.until_waiting(&first);
        // By request, by run and stage.
        let before = format!("{first}-before-canary");
        scene
            .does(&["approve", &before, "--yes"])
            .ends(0)
            .answers("is approved and accepted");
        let request = scene.seen_request(&before).unwrap();
        let approved = condition(&request, "Approved");
        assert_eq!(approved["status"], "True");
        assert_eq!(
            approved["observedGeneration"],
            request["metadata"]["generation"]
        );
        assert_eq!(condition(&request, "ApprovalAccepted")["status"], "True");
        scene
            .does(&["approve", &before, "--yes"])
            .ends(0)
            .answers("was already approved and accepted");
        scene.asked(&format!("{first}-after-canary"));
        scene
            .does(&[
                "approve", &first, "--stage", "canary", "--task", "after", "--yes",
            ])
            .ends(0);
        scene.until_run(&first, "Succeeded", "True", "");
        // The next content: stopped, approved while it is stopped, resumed.
        scene.new_content("2");
        scene
            .does(&[&["run", &second], &scene.of()[..]].concat())
            .ends(0);
        scene.until_waiting(&second);
        scene.does(&["stop", &second]).ends(0);
        let run = scene.seen_run(&second).unwrap();
        assert_eq!(condition(&run, "Progressing")["reason"], "UpdateRunStopped");
        scene.does(&["stop", &second]).ends(0);
        scene
            .does(&["approve", &second, "--yes"])
            .ends(0)
            .answers("takes effect when");
        scene.does(&["resume", &second]).ends(0);
        scene.asked(&format!("{second}-after-canary"));
        scene
            .does(&[
                "approve",
                &second,
                "--yes",
                "--wait",
                "--reason",
                "looks good",
            ])
            .ends(0);
        let run = scene.seen_run(&second).unwrap();
        assert_eq!(condition(&run, "Succeeded")["status"], "True");
        let request = scene
            .seen_request(&format!("{second}-after-canary"))
            .unwrap();
        let words = condition(&request, "Approved")["message"].as_str().unwrap();
        assert!(
            words.starts_with("approved by ") && words.ends_with(": looks good"),
            "{words}"
        );
        // What changed, and back.
        let placement = scene.placement_word();
        scene
            .does(&["snapshots", "diff", &placement, "0", "1"])
            .ends(0)
            .answers("version");
        let back = format!("rollback {placement} --yes --wait --name {third} --timeout=10m");
        scene.types(&back).ends(4).says("snapshot 0");
        for place in ["before", "after"] {
            scene.asked(&format!("{third}-{place}-canary"));
            scene.does(&["approve", &third, "--yes"]).ends(0);
        }
        scene.does(&["wait", &third, "--for=succeeded"]).ends(0);
        let run = scene.seen_run(&third).unwrap();
        assert_eq!(run["spec"]["resourceSnapshotIndex"], "0");
        // Given up, one and several.
        scene
            .does(&["delete", &first, "--yes"])
            .ends(0)
            .answers("is deleted");
        assert!(scene.seen_run(&first).is_none());
        scene.does(&["delete", &second, &third, "--yes"]).ends(0);
        assert!(scene.seen_run(&second).is_none() && scene.seen_run(&third).is_none());
        scene.does(&["delete", &first, "--yes"]).ends(6);
        scene
            .does(&["delete", &first, &second, "--yes", "--ignore-not-found"])
            .ends(0)
            .says(&first);
    });
}
