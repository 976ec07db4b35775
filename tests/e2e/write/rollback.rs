//! Going back to an older snapshot.

use http::Method;
use serde_json::json;
use test_hub::terminal::has_terminals;
use test_hub::{Fault, Rule};

use super::desk::Desk;
use super::{ALL, BEFORE, condition, flat, gated, play, until_asked};
use crate::scene::Scene;

/// How many runs there are on the scene's placement.
fn runs(scene: &Scene) -> usize {
    let list = scene.hub.read(&scene.run_path("")).unwrap();
    let runs = list["items"].as_array().unwrap().iter();
    runs.filter(|run| run["spec"]["placementName"] == scene.name.as_str())
        .count()
}

/// A run that completed snapshot 0, and one with snapshot 1 that waits.
fn two_runs(scene: &Scene) -> [String; 2] {
    scene.set(&gated(&[(1, BEFORE)]), &ALL).pass_a_second();
    let [first, second] = ["1", "2"].map(|number| format!("{}-{number}", scene.name));
    scene.run_to_gate(&first);
    scene.let_through(&first);
    scene.new_content("2");
    scene.run_to_gate(&second);
    [first, second]
}

/// Runs that completed snapshots 0 and 1, and one with snapshot 2 that waits.
fn three_runs(scene: &Scene) -> [String; 3] {
    let [first, second] = two_runs(scene);
    let third = format!("{}-3", scene.name);
    scene.let_through(&second);
    scene.new_content("3");
    scene.run_to_gate(&third);
    [first, second, third]
}

#[test]
fn a_run_that_is_not_over_is_decided_about() {
    play("rollback-active", |scene| {
        let [first, second] = two_runs(scene);
        let name = &scene.name;
        let placement = scene.placement_word();
        scene
            .does(&["rollback", &placement])
            .ends(1)
            .says(&format!("snapshot 0, which {first} completed"))
            .says(&format!("{second} rolls out snapshot 1"))
            .says("the hub still has the newer resources")
            .says("  1 changed (member-1)")
            .says(&format!(
                "Stop {second}, then roll {name} back to snapshot 0?"
            ));
        scene
            .does(&["rollback", &placement, "--yes"])
            .ends(1)
            .says(&format!(
                "unfinished runs on {name}: {second}; nothing was sent"
            ))
            .says("--active=stop");
        scene
            .does(&["rollback", &first, "--active=keep", "--yes"])
            .ends(1)
            .says(&format!(
                "{first} is not the run that rolled out last: {second} came after it"
            ));
        assert_eq!(runs(scene), 2);
        // Forward, objects change; what is selected now is what the newest snapshot has.
        let forward = format!("{name}-forward");
        let made_of = ["--placement", name, "--strategy", name, "--yes"];
        let run = ["run", &forward, "--diff", "--dry-run=client"];
        scene
            .does(&[&run[..], &made_of[..]].concat())
            .ends(0)
            .says("objects per cluster")
            .says("1 changed")
            .says("+++ snapshot 1: ConfigMap");
        scene
            .does(&["render", &placement, "--snapshot", "live", "--summary"])
            .ends(0);
        // It is stopped; the same again is the same.
        let back = format!("{name}-back");
        let command = format!("rollback {placement} --active=stop --yes --name {back}");
        scene.types(&command).ends(0);
        let made = scene.seen_run(&back).unwrap();
        assert_eq!(made["spec"]["resourceSnapshotIndex"], "0");
        let stopped = scene.seen_run(&second).unwrap();
        assert_eq!(
            condition(&stopped, "Progressing")["reason"],
            "UpdateRunStopped"
        );
        let by_run = format!("rollback {second} --active=stop --yes --name {back}");
        for again in [command, by_run] {
            scene
                .types(&again)
                .ends(0)
                .says("already exists with the same spec");
        }
        assert_eq!(runs(scene), 3);
        let again = scene.seen_run(&back).unwrap();
        assert_eq!(again["metadata"]["uid"], made["metadata"]["uid"]);
        // It goes on beside, or is deleted; the name is made up.
        let beside = format!("{name}-beside");
        let to = format!("rollback {placement} --to 0");
        scene
            .types(&format!("{to} --active=keep --yes --name {beside}"))
            .ends(0);
        assert_eq!(runs(scene), 4);
        let alone = scene.types(&format!("{to} --active=delete --yes -o name"));
        let alone = alone
            .ends(0)
            .ran
            .out
            .trim()
            .rsplit('/')
            .next()
            .unwrap()
            .to_owned();
        assert!(alone.starts_with(&format!("{name}-rollback-0-")), "{alone}");
        assert!(alone.len() <= 63);
        assert_eq!(runs(scene), 2, "the first and the last");
        assert!(scene.seen_run(&alone).is_some());
        // Which is awaited to its end, or to the next that a person has to do.
        scene
            .does(&["wait", &alone, "--for=approval=canary/before"])
            .ends(0);
        scene.does(&["approve", &alone, "--yes", "--wait"]).ends(0);
        scene
            .does(&["delete", &alone, "--dry-run=client"])
            .ends(0)
            .says("snapshot 1 was rolled back by this run: once it is deleted");
        // The newest that another run completed before: there is none but this.
        scene
            .does(&["rollback", &placement, "--yes"])
            .ends(1)
            .says("no run of")
            .says("select one with --to; existing indexes: 0, 1");
    });
}

#[test]
fn where_it_cannot_go_back_to_is_said() {
    play("rollback-never", |scene| {
        scene.set(&gated(&[(1, BEFORE)]), &ALL);
        let placement = scene.placement_word();
        scene
            .does(&["rollback", &placement, "--yes"])
            .ends(1)
            .says("--to");
        scene.does(&["rollback", "nothing-of-it", "--yes"]).ends(6);
        scene.run_to_gate(&scene.name);
        scene
            .does(&["rollback", &placement, "--yes"])
            .ends(1)
            .says("completed a different snapshot before")
            .says("restore the content on the hub, then start a new run");
        scene
            .does(&["rollback", &placement, "--to", "7", "--yes"])
            .ends(6)
            .says("has no snapshot \"7\"");
        let keep = format!("rollback {placement} --to 0 --active=keep --yes");
        scene
            .types(&format!("{keep} --strategy nothing-of-it"))
            .ends(3);
        scene
            .types(&format!("{keep} --dry-run=client -o yaml"))
            .ends(0)
            .answers("resourceSnapshotIndex: \"0\"");
        let dry = format!("rollback {placement} --to 0 --active=stop --dry-run=client");
        scene
            .types(&format!("{dry} -v"))
            .ends(0)
            .answers("PATCH")
            .answers("POST");
        scene
            .types(&format!("{dry} -o yaml"))
            .ends(0)
            .answers("state: Stop\n---\n")
            .answers("state: Run\n");
        assert_eq!(runs(scene), 1);
        assert_eq!(scene.seen_run(&scene.name).unwrap()["spec"]["state"], "Run");
    });
}

#[test]
fn a_stuck_run_is_deleted_or_stays() {
    play("rollback-stuck", |scene| {
        scene.set_stuck().run(&scene.name, "Run");
        scene.until_run(&scene.name, "Progressing", "False", "UpdateRunStuck");
        let placement = scene.placement_word();
        let to = ["rollback", &placement, "--to", "0"];
        scene
            .does(&[&to[..], &["--active=stop", "--yes"]].concat())
            .ends(5)
            .says("is stuck and cannot stop; nothing was sent")
            .says("--active=delete");
        assert_eq!(scene.seen_run(&scene.name).unwrap()["spec"]["state"], "Run");
        scene
            .does(&to)
            .ends(1)
            .says(&format!("Delete {}, then roll", scene.name));
        scene
            .does(
                &[
                    &to[..],
                    &[
                        "--active=delete",
                        "--yes",
                        "--name",
                        &format!("{}-back", scene.name),
                    ],
                ]
                .concat(),
            )
            .ends(0);
        assert!(scene.seen_run(&scene.name).is_none());
        assert_eq!(runs(scene), 1);
    });
}

#[test]
fn a_script_names_the_run_where_a_newer_one_has_not_begun() {
    play("rollback-unclear", |scene| {
        let [first, second] = ["1", "2"].map(|number| format!("{}-{number}", scene.name));
        scene.set(&gated(&[]), &ALL).pass_a_second();
        scene.run(&first, "Run");
        scene.until_run(&first, "Succeeded", "True", "");
        scene.new_content("2");
        scene.pass_a_second();
        let third = format!("{}-3", scene.name);
        scene.run(&second, "Run");
        scene.until_run(&second, "Succeeded", "True", "");
        scene.pass_a_second();
        scene.run(&third, "Initialize");
        let placement = scene.placement_word();
        let why = format!("{third} was created after {second} succeeded, and has not begun");
        scene
            .does(&["rollback", &placement, "--yes"])
            .ends(1)
            .says(&format!("which run to roll back is not clear: {why}"))
            .says("select a snapshot with --to")
            .says(&format!("rollback {second}"));
        assert_eq!(runs(scene), 3);
        // A person is told, and decides.
        scene
            .does(&["rollback", &placement])
            .ends(1)
            .says(&why)
            .says(&format!("{second} rolled out snapshot 1"))
            .says("back to snapshot 0?");
        // Who names the run or the snapshot is sure.
        for flags in [
            format!("{second} --active=keep"),
            format!("{placement} --to 0"),
        ] {
            scene
                .types(&format!("rollback {flags} --yes --dry-run=server"))
                .ends(0);
        }
        assert_eq!(runs(scene), 3);
    });
}

/// A script does not roll out again what was rolled back, unless somebody names the snapshot.
fn brings_it_back(scene: &Scene, why: &str) {
    let run = format!("{}-again", scene.name);
    let words = ["run", &run, "--placement", &scene.name, "--strategy"];
    let words = [&words[..], &[&scene.name, "--yes"]].concat();
    let again = "would roll out again what was rolled back";
    scene.does(&words).ends(1).says(why).says(again);
    // It was made to see which content it gets, and the next try gets what the hub has then.
    assert!(scene.hub.read(&scene.run_path(&run)).is_none());
    let named = [&words[..], &["--snapshot=latest", "--dry-run=client"]].concat();
    scene.does(&named).ends(0);
    if !has_terminals() {
        return;
    }
    // A person is asked, before it is made and of one that exists.
    let desk = Desk::at(scene);
    let declines = |words: &[&str]| {
        let mut terminal = desk.terminal(words);
        until_asked(&terminal, 1);
        terminal.types("n\n");
        let (code, shown) = terminal.end();
        let shown = flat(&shown);
        assert_eq!(code, 1, "{shown}");
        assert!(shown.contains(why), "{shown}");
        assert!(shown.contains(&format!("Start {run}, ")), "{shown}");
    };
    let unattended = words.len() - 1;
    declines(&words[..unattended]);
    assert!(scene.hub.read(&scene.run_path(&run)).is_none());
    scene.does(&[&["init"], &words[1..]].concat()).ends(0);
    declines(&["run", &run]);
    scene.does(&["delete", &run, "--yes"]).ends(0);
}

/// Whoever asks again wants what was asked for: not what lies before it, and not what it took back.
#[test]
fn a_rollback_is_not_rolled_back() {
    play("rollback-again", |scene| {
        let [_, second, third] = three_runs(scene);
        // One beside it has brought nothing yet.
        let rests = format!("{}-rests", scene.name);
        let content = json!({"resourceSnapshotIndex": "2"});
        scene.run_of(&rests, "Stop", &content);
        scene.until_run(&rests, "Progressing", "False", "UpdateRunStopped");
        // Of two runs that began in one second nobody knows which was later.
        scene.pass_a_second();
        let placement = scene.placement_word();
        let back = format!("{}-back", scene.name);
        let again = ["rollback", &placement, "--yes"];
        let beside = [&again[..], &["--active=keep"]].concat();
        scene
            .does(&[&beside[..], &["--name", &back]].concat())
            .ends(0)
            .says(&format!("snapshot 1, which {second} completed"));
        scene.until_waiting(&back);
        brings_it_back(
            scene,
            &format!("{back} rolls snapshot 2 back to snapshot 1"),
        );
        scene
            .does(&[&beside[..], &["--dry-run=client"]].concat())
            .ends(0)
            .says(&format!(
                "{back} already exists with the same spec: continuing with it"
            ));
        // One that names the run that is taken back wants the same.
        scene
            .does(&["rollback", &third, "--yes", "--active=keep"])
            .ends(0)
            .says(&format!(
                "{back} already exists with the same spec: continuing with it"
            ));
        scene.let_through(&back);
        scene
            .does(&["resume", &rests, "--yes"])
            .ends(1)
            .says(&format!("{back} rolled snapshot 2 back to snapshot 1"))
            .says("--snapshot 2");
        scene.does(&["delete", &rests, "--yes"]).ends(0);
        let before = runs(scene);
        brings_it_back(
            scene,
            &format!("{back} rolled snapshot 2 back to snapshot 1"),
        );
        scene
            .does(&beside)
            .ends(1)
            .says(&format!("{back} rolled back to snapshot 1 already"));
        // The same of one that names the run, and no hint that goes further back.
        scene
            .does(&["rollback", &third, "--yes", "--active=keep"])
            .ends(1)
            .says(&format!("{back} rolled back to snapshot 1 already"))
            .is_silent_of(&format!("rollback {back}"));
        assert_eq!(runs(scene), before);
        // What it brought back may be at fault as well.
        let further = format!("rollback {second} --yes --active=keep --dry-run=client");
        scene
            .types(&further)
            .ends(0)
            .says("rolling back to snapshot 0");
        // What a deleted run brought is taken back.
        let fourth = format!("{}-4", scene.name);
        scene.new_content("4");
        scene.run_to_gate(&fourth);
        for run in [&third, &fourth] {
            scene.does(&["delete", run, "--yes"]).ends(0);
        }
        scene
            .does(&[&again[..], &["--dry-run=client"]].concat())
            .ends(0)
            .says(&format!("snapshot 1, which {back} completed"))
            .says("clusters have snapshot 3, of a run that is deleted");
        assert_eq!(runs(scene), before - 1);
        // The policy is not rolled back.
        let fewer = json!({"spec": {"policy": {"clusterNames": ALL[..2]}}});
        scene.hub.patch(&scene.placement_path(), &fewer);
        Scene::pass_a_look();
        scene
            .does(&[&again[..], &["--dry-run=client"]].concat())
            .says(&format!("also removes everything from {}", ALL[2]));
    });
}

/// Selects fewer clusters: a run that counts the others fails at its next look.
fn select_fewer(scene: &Scene) {
    let fewer = json!({"spec": {"policy": {"clusterNames": ALL[..2]}}});
    scene.hub.patch(&scene.placement_path(), &fewer);
}

/// A rollback that stops the run first, by a name.
fn stops<'w>(run: &'w str, back: &'w str) -> [&'w str; 6] {
    ["rollback", run, "--active=stop", "--yes", "--name", back]
}

#[test]
fn a_run_that_fails_at_the_stop_is_in_nobodys_way() {
    play("rollback-doomed", |scene| {
        if !scene.hub.served().obeys_state {
            return;
        }
        let [_, second] = two_runs(scene);
        select_fewer(scene);
        Scene::pass_a_look();
        let back = format!("{}-back", scene.name);
        scene.does(&stops(&second, &back)).ends(0);
        let failed = scene.seen_run(&second).unwrap();
        assert_eq!(condition(&failed, "Succeeded")["status"], "False");
        let made = scene.seen_run(&back).unwrap();
        assert_eq!(made["spec"]["resourceSnapshotIndex"], "0");
    });
}

#[test]
fn a_run_that_fails_before_the_stop_need_not_stop() {
    play("rollback-meanwhile", |scene| {
        if !scene.hub.served().obeys_state {
            return;
        }
        let desk = Desk::at(scene);
        let [_, second] = two_runs(scene);
        let back = format!("{}-back", scene.name);
        // The server is asked whether it takes the stop, then the run is read once more.
        let tried = Rule::new(scene.run_path(&second), Fault::Hold)
            .method(Method::PATCH)
            .times(1);
        desk.does_while(&stops(&second, &back), tried, || {
            select_fewer(scene);
            scene.until_run(&second, "Succeeded", "False", "");
        })
        .ends(0)
        .says("has failed in the meantime, so it need not stop");
        assert!(scene.seen_run(&back).is_some());
    });
}

#[test]
fn what_a_run_has_not_reached_is_no_scripts_to_roll_back() {
    play("rollback-unreached", |scene| {
        let [_, second, third] = three_runs(scene);
        scene.does(&["delete", &second, "--yes"]).ends(0);
        let rollback = ["rollback", &third, "--active=stop", "--yes"];
        scene
            .does(&rollback)
            .ends(1)
            .says(&format!(
                "the rollback would change {} and {}, which {third} has not reached",
                ALL[1], ALL[2]
            ))
            .says("name the snapshot: --to 0");
        scene
            .does(&[&rollback[..], &["--to", "1", "--dry-run=client"]].concat())
            .ends(0);
        // Nothing goes back where nothing is applied.
        let compares = json!({"spec": {"strategy": {"applyStrategy": {"type": "ReportDiff"}}}});
        scene.hub.patch(&scene.placement_path(), &compares);
        scene
            .does(&[&rollback[..], &["--to", "1"]].concat())
            .ends(1)
            .says("only compares (ReportDiff), so a rollback would change no cluster");
    });
}

/// The run that brought what is rolled back may be deleted for it, and others may remain.
#[test]
fn a_rollback_notes_what_it_takes_back() {
    play("rollback-notes", |scene| {
        let [.., third] = three_runs(scene);
        scene.let_through(&third);
        scene.pass_a_second();
        let placement = scene.placement_word();
        let to = ["rollback", &placement, "--to", "0", "--yes"];
        scene.does(&to).ends(0);
        let all = scene.hub.read(&scene.run_path("")).unwrap();
        let key = "kubectl-fleet-stage/rolled-back";
        let mut all = all["items"].as_array().unwrap().iter();
        let back = all.find(|it| {
            it["spec"]["placementName"] == scene.name.as_str()
                && it["metadata"]["annotations"][key] == "2"
        });
        let back = back.expect("a rollback that notes it");
        let back = back["metadata"]["name"].as_str().unwrap().to_owned();
        scene.until_waiting(&back);
        // Whoever asks again without a name gets the same one.
        scene
            .does(&to)
            .ends(0)
            .says(&format!("{back} already exists with the same spec"));
        assert_eq!(runs(scene), 4);
        scene.let_through(&back);
        scene.does(&["delete", &third, "--yes"]).ends(0);
        brings_it_back(
            scene,
            &format!("{back} rolled snapshot 2 back to snapshot 0"),
        );
        // Good content again, and then what was rolled back, as a snapshot of its own.
        let good = format!("{}-good", scene.name);
        scene.new_content("1");
        scene.run_to_gate(&good);
        scene.let_through(&good);
        scene.new_content("3");
        brings_it_back(scene, "content is that of snapshot 2 again");
    });
}
