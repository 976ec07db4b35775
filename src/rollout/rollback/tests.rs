use serde_json::{Value, json};

use super::*;
use crate::kubefleet::names;
use crate::rollout::life::tests::{
    OWN, SINCE, at, binding, inventory, member, placement, run, snapshot,
};

/// A run that was taken up at once, began after ten seconds and took a minute.
fn done(name: &str, index: &str, second: i64) -> Value {
    let times = [0, 0, 10, 70].map(|more| Some(second + more));
    run(name, index, times)
}

/// The same, still under way.
fn under_way(name: &str, index: &str, second: i64) -> Value {
    let [taken_up, begun] = [0, 10].map(|more| Some(second + more));
    run(name, index, [taken_up, taken_up, begun, None])
}

/// One that was taken up at once and has not begun.
fn resting(name: &str, index: &str, second: i64) -> Value {
    run(name, index, [Some(second), Some(second), None, None])
}

fn own(index: &str, second: i64) -> Value {
    snapshot(index, OWN, Some(second))
}

/// Where the run that rolled out last goes back to, the index and the run, and what it passes over.
fn good(objects: &[Value]) -> String {
    let all = inventory(objects);
    let told = match last_good(&all, current(&all).unwrap()) {
        Ok(good) => {
            let to = format!("{} of {}", good.index, good.run.meta.name);
            [vec![to], good.passed_over].concat()
        }
        Err(why) => [vec!["nowhere".to_owned()], why].concat(),
    };
    told.join("; ")
}

/// The same without what it passes over.
fn way(objects: &[Value]) -> String {
    good(objects).split("; ").next().unwrap().to_owned()
}

const DAY: i64 = SINCE + 86_400;

/// The run that completed snapshot 0.
fn first() -> Value {
    done("first", "0", DAY + 10)
}

/// The run that completed snapshot 1 after it.
fn second() -> Value {
    done("second", "1", DAY + 110)
}

/// The run that went back to snapshot 0 after both.
fn back() -> Value {
    done("back", "0", DAY + 210)
}

/// The placement with three snapshots, and runs.
fn with_runs(runs: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let snapshots =
        [("0", 0), ("1", 100), ("2", 300)].map(|(index, after)| own(index, DAY + after));
    let before = [placement()].into_iter().chain(snapshots);
    before.chain(runs).collect()
}

/// The latest snapshot was deleted, and the next one got its index: a run with that sent nothing.
#[test]
fn it_does_not_go_back_to_a_snapshot_that_reached_nobody() {
    let back = |second: i64| {
        good(&with_runs([
            done("first", "0", DAY - 200),
            done("second", "1", DAY + second),
            done("again", "1", DAY + 200),
            under_way("third", "2", DAY + 310),
        ]))
    };
    let why = "snapshot 1, which again completed, has not reached clusters to which second had brought another \
               one of its name";
    assert!(back(10).contains(why), "{}", back(10));
    assert_eq!(back(110), "1 of again");
}

#[test]
fn it_goes_back_to_what_was_completed_last_before() {
    let objects = with_runs([
        first(),
        second(),
        under_way("third", "2", DAY + 310),
        // It has not begun.
        resting("later", "2", DAY + 400),
    ]);
    assert_eq!(good(&objects), "1 of second");
    // What ended after the current one began was not before it, and what did not succeed is not good.
    let mut late = objects.clone();
    let ended = |last: i64| {
        let times = [110, 110, 120, last].map(|it| Some(DAY + it));
        run("second", "1", times)
    };
    late[5] = ended(321);
    assert_eq!(way(&late), "0 of first");
    late.remove(4);
    assert_eq!(way(&late), "1 of second", "there is no other");
    late.insert(4, objects[4].clone());
    late[5] = ended(320);
    assert_eq!(way(&late), "1 of second", "at once");
    late[5]["status"]["conditions"][2]["status"] = "False".into();
    assert_eq!(way(&late), "0 of first");
    // The same snapshot again is no way back.
    late[5] = second();
    late[6] = under_way("third", "1", DAY + 310);
    assert_eq!(good(&late), "0 of first");
    late[6] = under_way("third", "2", DAY + 310);
    // Of two, the one that ended last.
    late[5] = done("second", "0", DAY + 110);
    assert_eq!(way(&late), "0 of second");
}

#[test]
fn what_was_only_compared_is_on_no_cluster() {
    let compared = |mut run: Value| {
        run["status"]["appliedStrategy"] = json!({"type": "ReportDiff"});
        run
    };
    let objects = with_runs([
        first(),
        compared(second()),
        done("third", "2", DAY + 310),
        compared(done("fourth", "2", DAY + 410)),
    ]);
    let why = "second only compared snapshot 1";
    assert_eq!(good(&objects), format!("0 of first; {why}"));
    let mut nothing = objects;
    nothing.remove(4);
    assert_eq!(good(&nothing), format!("nowhere; {why}"));
}

/// A run that was not told its snapshot.
fn unpinned(mut run: Value) -> Value {
    run["spec"]["resourceSnapshotIndex"] = "".into();
    run
}

#[test]
fn a_rollback_is_known_by_the_run_before_it_or_by_its_name() {
    let is = |objects: &[Value]| {
        let all = inventory(objects);
        takes_back(&all, current(&all).unwrap(), "web-rollback-")
    };
    let mut objects = vec![
        placement(),
        own("1", DAY),
        own("2", DAY + 100),
        done("first", "1", DAY + 10),
        under_way("second", "2", DAY + 110),
        under_way("back", "1", DAY + 210),
    ];
    assert!(is(&objects));
    // It is made again with another strategy.
    objects.push(done("back-again", "1", DAY + 310));
    assert!(is(&objects));
    // What nobody told its snapshot takes nothing back, and neither does what is newer.
    objects.push(unpinned(under_way("third", "1", DAY + 410)));
    assert!(!is(&objects));
    objects.push(under_way("fourth", "2", DAY + 510));
    assert!(!is(&objects));
    // The run that was taken back is deleted.
    let named = |name: &str| {
        is(&[
            placement(),
            own("1", DAY),
            done("first", "1", DAY + 10),
            done(name, "1", DAY + 210),
        ])
    };
    assert!(named("web-rollback-1-abcdef"));
    assert!(!named("web-2"));
    let mut latest = own("2", DAY + 100);
    latest["metadata"]["labels"]["kubernetes-fleet.io/is-latest-snapshot"] = "true".into();
    let selects = |first: &str| {
        let (first, back) = (
            done("first", first, DAY + 10),
            done("web-2", "1", DAY + 210),
        );
        is(&[placement(), own("1", DAY), latest.clone(), first, back])
    };
    assert!(selects("1"));
    assert!(!selects("0"));
}

#[test]
fn what_was_taken_back_or_never_brought_is_doubted() {
    let of = |runs: [Value; 4], index: &str| doubt(&inventory(&with_runs(runs)), index);
    let with = |other: Value| [first(), second(), back(), other];
    // It waits for the approval of its first stage.
    let waits = || resting("third", "2", DAY + 310);
    let taken = "back rolled snapshot 1 back to snapshot 0";
    assert_eq!(of(with(waits()), "1").as_deref(), Some(taken));
    assert_eq!(of(with(waits()), "0"), None);
    let never = "no run that exists has brought snapshot 2 to a cluster";
    assert_eq!(of(with(waits()), "2").as_deref(), Some(never));
    assert_eq!(of(with(under_way("third", "2", DAY + 310)), "2"), None);
    // Nothing had brought the newer one when the run began.
    let early = [first(), resting("second", "1", DAY + 110), back(), waits()];
    let never = "no run that exists has brought snapshot 1 to a cluster";
    assert_eq!(of(early, "1").as_deref(), Some(never));
}

/// The run that brought what clusters have was deleted: the newest that is left is what was before.
#[test]
fn what_a_deleted_run_brought_is_taken_back() {
    let binding = |member: &str, index: &str| {
        json!({
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "ClusterResourceBinding",
            "metadata": {"name": format!("shop-{member}"), "labels": {"kubernetes-fleet.io/parent-CRP": "shop"}},
            "spec": {
                "state": "Bound", "targetCluster": member,
                "resourceSnapshotName": format!("shop-{index}-snapshot"),
            },
        })
    };
    let goes = |objects: &[Value]| {
        let all = inventory(objects);
        let current = current(&all).unwrap();
        let held = held_of_deleted_run(&all, current);
        let good = last_good_below(&all, current, held).map(|good| good.index.to_owned());
        (held.map(str::to_owned), good.unwrap_or_default())
    };
    let mut objects = vec![
        placement(),
        own("0", DAY),
        own("1", DAY + 100),
        own("2", DAY + 200),
        first(),
        second(),
        binding("member-1", "2"),
        binding("member-2", "1"),
    ];
    assert_eq!(goes(&objects), (Some("2".to_owned()), "1".to_owned()));
    objects[6] = binding("member-1", "1");
    assert_eq!(goes(&objects), (None, "0".to_owned()));
    // The run exists.
    objects[6] = binding("member-1", "2");
    objects.push(under_way("third", "2", DAY + 210));
    assert_eq!(goes(&objects), (None, "1".to_owned()));
}

/// What took a snapshot back.
fn taken(objects: &[Value], index: &str) -> String {
    let back = TakenBack::of(&inventory(objects), index).map(|back| back.to_string());
    back.unwrap_or_default()
}

/// What took snapshot 1 back, and whether the run `rests` would bring it again without being meant to.
fn taken_back(objects: &[Value]) -> (String, bool) {
    let all = inventory(objects);
    let rests = all.run_on("rests").map(|it| TakenBack::for_run(&all, it));
    (taken(objects, "1"), rests.flatten().is_some())
}

#[test]
fn a_run_that_was_made_before_the_way_back_would_bring_the_content_again() {
    let objects = |made: i64| {
        let rests = resting("rests", "1", DAY + made);
        let mut all = with_runs([first(), second(), back(), rests]);
        all.remove(3);
        all
    };
    let back = "ClusterStagedUpdateRun back rolled snapshot 1 back to snapshot 0".to_owned();
    // In one second, too.
    for made in [150, 210] {
        assert_eq!(taken_back(&objects(made)), (back.clone(), true), "{made}");
    }
    // Who makes one afterwards and names the snapshot means it.
    assert_eq!(taken_back(&objects(211)), (back, false));
    // The snapshot was deleted, and another one has its index.
    let mut later = objects(150);
    later[2] = own("1", DAY + 250);
    assert_eq!(taken_back(&later), (String::new(), false));
}

#[test]
fn a_run_that_names_no_snapshot_brings_nothing_again_before_it_is_done() {
    let told = |mut again: Value, named: bool| {
        if !named {
            again["spec"]["resourceSnapshotIndex"] = Value::Null;
        }
        taken_back(&with_runs([first(), second(), back(), again]))
    };
    let back = "ClusterStagedUpdateRun back rolled snapshot 1 back to snapshot 0".to_owned();
    let under_way = || under_way("rests", "1", DAY + 310);
    assert_eq!(told(under_way(), false), (back, true));
    assert_eq!(told(under_way(), true), (String::new(), false));
    let is_done = told(done("rests", "1", DAY + 310), false);
    assert_eq!(is_done, (String::new(), false));
}

#[test]
fn who_goes_further_back_does_not_bring_again_what_was_rolled_back() {
    let told = |first: &str, then: &str| {
        let runs = [
            done("good", "0", DAY + 10),
            done("bad", "2", DAY + 210),
            done("back", first, DAY + 310),
            done("further", then, DAY + 410),
        ];
        taken(&with_runs(runs), "2")
    };
    let back = "ClusterStagedUpdateRun back rolled snapshot 2 back to snapshot 1";
    assert_eq!(told("1", "0"), back);
    assert_eq!(told("1", "1"), back);
    let back = back.replace("to snapshot 1", "to snapshot 0");
    assert_eq!(told("0", "1"), back);
    // Somebody brought it again.
    assert_eq!(told("1", "2"), "");
}

/// What it had taken back by then stays back, and the rest is still to be.
#[test]
fn a_rollback_that_failed_half_way_is_one() {
    let told = |noted: Option<&str>| {
        let mut back = back();
        back["status"]["conditions"][2]["status"] = "False".into();
        if let Some(index) = noted {
            back["metadata"]["annotations"] = json!({crate::kubefleet::run::ROLLED_BACK: index});
        }
        taken(&with_runs([first(), second(), back]), "1")
    };
    let failed = "ClusterStagedUpdateRun back failed to roll snapshot 1 back to snapshot 0";
    assert_eq!(told(Some("1")), failed);
    assert_eq!(told(Some("2")), "");
    assert_eq!(told(None), "");
}

/// Bad content comes back as a snapshot of its own.
#[test]
fn the_content_of_a_snapshot_that_was_rolled_back_is_known_again() {
    let hashed = |index: &str, second: i64, hash: &str| {
        let mut snapshot = own(index, second);
        snapshot["metadata"]["annotations"][names::RESOURCE_HASH] = json!(hash);
        snapshot
    };
    let objects = |last: Value| {
        let mut all = with_runs([first(), second(), back(), last]);
        all[1] = hashed("0", DAY, "good");
        all[2] = hashed("1", DAY + 100, "bad");
        all[3] = hashed("2", DAY + 300, "good");
        all.push(hashed("3", DAY + 400, "bad"));
        all
    };
    let good = objects(done("good", "2", DAY + 310));
    let why = "the content is that of snapshot 1 again: ClusterStagedUpdateRun back rolled snapshot 1 back to \
               snapshot 0";
    assert_eq!(taken(&good, "3"), why);
    assert_eq!(taken(&good, "2"), "");
    // Somebody brought it in spite of that, and it went well.
    assert_eq!(taken(&objects(done("again", "1", DAY + 310)), "3"), "");
    let begun = under_way("again", "1", DAY + 310);
    assert_eq!(taken(&objects(begun), "3"), why);
    // One whose hash nobody noted is like no other.
    for at in [2, 8] {
        let mut unknown = good.clone();
        unknown[at]["metadata"]["annotations"][names::RESOURCE_HASH] = json!("");
        assert_eq!(taken(&unknown, "3"), "", "{at}");
    }
}

/// The correction waits beside the run that is taken back, or a deleted one had brought it.
#[test]
fn what_was_not_yet_brought_is_not_taken_back_with_another() {
    let objects = |back: Option<Value>| {
        let runs = [first(), second()].into_iter().chain(back);
        let others = [
            resting("rests", "2", DAY + 310),
            done("again", "0", DAY + 420),
        ];
        with_runs(runs.chain(others))
    };
    let told = |objects: &[Value]| taken(objects, "2");
    assert_eq!(told(&objects(None)), "");
    // The other one was taken back before.
    let before = told(&objects(Some(back())));
    let back = "ClusterStagedUpdateRun again selected snapshot 0 when snapshot 2 existed, which may have been \
                rolled back";
    assert_eq!(before, back);
    // A cluster tells who sent it something last, also after its conditions were written anew.
    let sent_by = |run: &str| {
        let mut all = objects(Some(super::tests::back()));
        let mut binding = binding("0", DAY);
        let process = "Detected the new changes on the resources and started the rollout process";
        let started = format!("{process}, resourceSnapshotIndex: , updateRun: {run}");
        let since = at(DAY + 900).to_string();
        binding["status"]["conditions"] = json!([
            {"type": "RolloutStarted", "status": "True", "message": started},
            {"type": "Overridden", "status": "True", "lastTransitionTime": since},
        ]);
        all.push(binding);
        told(&all)
    };
    assert_eq!(sent_by("back"), "");
    assert_eq!(sent_by("again"), back);
    // The rollback has noted what it took back; a snapshot that came later is another.
    let noted = |index: &str, made: i64| {
        let mut all = objects(None);
        let key = "kubectl-fleet-stage/rolled-back";
        all[7]["metadata"]["annotations"] = json!({key: index});
        all[3] = own("2", DAY + made);
        told(&all)
    };
    let back = "ClusterStagedUpdateRun again rolled snapshot 2 back to snapshot 0";
    assert_eq!(noted("2", 120), back);
    assert_eq!(noted("3", 120), back);
    assert_eq!(noted("1", 120), "");
    assert_eq!(noted("2", 500), "");
    // One that is still to be made is another, too, and so is that of a placement which was made again.
    let mut next = objects(None);
    next[7]["metadata"]["annotations"] = json!({"kubectl-fleet-stage/rolled-back": "2"});
    let gone = next.remove(3);
    assert_eq!(told(&next), "");
    next.insert(3, gone);
    next[0]["metadata"]["creationTimestamp"] = json!(at(DAY + 440).to_string());
    assert_eq!(told(&next), "");
}

#[test]
fn clusters_tell_what_a_deleted_run_took_back() {
    let told = |has: &str, second: Value, written: i64| {
        let mut all = with_runs([
            first(),
            second,
            resting("rests", "1", DAY + 150),
            resting("next", "2", DAY + 400),
        ]);
        let mut binding = binding(has, DAY);
        let since = at(DAY + written).to_string();
        binding["status"] = json!({"conditions": [
            {"type": "RolloutStarted", "status": "True", "lastTransitionTime": since},
        ]});
        all.push(binding);
        taken_back(&all)
    };
    let back = "every cluster to which ClusterStagedUpdateRun second brought snapshot 1 has snapshot 0 again";
    assert_eq!(told("0", second(), 149), (back.to_owned(), false));
    // The run that rests was made before clusters went back.
    assert_eq!(told("0", second(), 150), (back.to_owned(), true));
    for (has, second) in [
        ("1", second()),
        ("2", second()),
        ("0", under_way("second", "1", DAY + 110)),
        ("0", done("second", "2", DAY + 110)),
    ] {
        assert_eq!(told(has, second, 150).0, "", "{has}");
    }
}

#[test]
fn what_was_taken_back_is_no_way_back() {
    let objects =
        |back: Value| with_runs([first(), second(), back, under_way("third", "2", DAY + 310)]);
    let mut all = objects(back());
    assert_eq!(good(&all), "0 of back");
    // Snapshot 0 is pruned.
    all.remove(1);
    let told = good(&all);
    let told: Vec<_> = told.split("; ").collect();
    let taken = "snapshot 1, which second completed, was taken back: back rolled snapshot 1 back to snapshot 0";
    assert_eq!((told[0], told[2]), ("nowhere", taken), "{told:?}");
    // The same snapshot was completed again afterwards.
    let mut all = objects(back());
    all.push(done("again", "1", DAY + 230));
    *all.get_mut(7).unwrap() = under_way("third", "2", DAY + 330);
    assert_eq!(way(&all), "1 of again");
    // The run that went back is deleted: clusters tell.
    let mut all = objects(resting("rests", "2", DAY + 400));
    all.push(binding("1", DAY));
    assert_eq!(way(&all), "1 of second");
    all.pop();
    all.push(binding("0", DAY));
    let taken = "snapshot 1, which second completed, was taken back: member-1 went back from it to snapshot 0";
    assert_eq!(good(&all), format!("0 of first; {taken}"));
}

#[test]
fn what_is_newer_is_no_way_back() {
    let mut objects = vec![
        placement(),
        own("1", DAY + 100),
        own("9", DAY + 200),
        own("10", DAY + 300),
        done("first", "1", DAY + 110),
        done("second", "9", DAY + 210),
        done("third", "10", DAY + 310),
        done("third-back", "9", DAY + 410),
    ];
    let newer = "snapshot 10, which third completed, is newer than snapshot 9 of third-back";
    assert_eq!(good(&objects), format!("1 of first; {newer}"));
    objects.push(under_way("back-again", "1", DAY + 510));
    assert_eq!(way(&objects), "nowhere");
    assert_eq!(good(&objects).split("; ").count(), 4, "{}", good(&objects));
    // What is newer than that is taken back as before.
    objects.push(own("11", DAY + 600));
    objects.push(done("fourth", "11", DAY + 610));
    objects[8] = done("back-again", "1", DAY + 510);
    assert_eq!(good(&objects), "1 of back-again");
}

#[test]
fn a_run_that_has_not_begun_is_told_from_the_one_before() {
    let idle = resting("later", "2", DAY + 400);
    let with = |others: &[&Value]| {
        let mut all = vec![placement(), own("1", DAY), own("2", DAY + 300)];
        all.push(done("first", "1", DAY + 10));
        all.extend(others.iter().copied().cloned());
        inventory(&all)
    };
    let found = |all: &Inventory| {
        let current = current(all).unwrap();
        not_begun_after(all, current).map(|run| run.meta.name.clone())
    };
    let named = Some("later".to_owned());
    let succeeded = done("second", "2", DAY + 110);
    assert_eq!(found(&with(&[&succeeded, &idle])), named);
    // What was created before the other ended may have been meant to come first.
    let before = resting("later", "2", DAY + 100);
    assert_eq!(found(&with(&[&succeeded, &before])), None);
    // A run that is under way is what there is to take back.
    let goes_on = under_way("second", "2", DAY + 110);
    assert_eq!(found(&with(&[&goes_on, &idle])), None);
    // One that has begun is the current one.
    let mut sits = under_way("later", "2", DAY + 400);
    assert_eq!(found(&with(&[&succeeded, &sits])), None);
    // So is one that sits at a cluster which had the content already and fails with it: no start is noted there.
    sits["status"]["stagesStatus"][0] =
        json!({"stageName": "all", "clusters": [{"clusterName": "member-1"}]});
    let has = |index: &str| {
        let mut has = binding(index, DAY + 350);
        has["status"]["conditions"] = json!([{"type": "RolloutStarted", "status": "True"}]);
        has
    };
    let all = with(&[&succeeded, &sits, &has("2")]);
    assert_eq!(found(&all), None);
    let current = current(&all).unwrap();
    assert_eq!(current.meta.name, "later");
    assert_eq!(first_update(&all, current), Some(at(DAY + 410)));
    let all = with(&[&succeeded, &sits, &has("1")]);
    assert_eq!(found(&all), named);
}

#[test]
fn what_cannot_be_used_is_passed_over() {
    let third = under_way("third", "2", DAY + 310);
    let mut objects = with_runs([first(), second(), third]);
    let says = |objects: &[Value], why: &str| {
        let text = format!("0 of first; snapshot 1, which second completed, {why}");
        assert_eq!(good(objects), text);
    };
    objects[2]["metadata"]["annotations"]["kubernetes-fleet.io/number-of-resource-snapshots"] =
        "3".into();
    says(&objects, "is incomplete: 1 of 3 parts exist");
    objects[2] = own("1", DAY + 200);
    says(
        &objects,
        "no longer exists: the one with its index was created later",
    );
    objects[2] = snapshot("1", "other", Some(DAY + 100));
    says(&objects, "belongs to an earlier placement of the same name");
    objects.remove(2);
    says(&objects, "no longer exists");
    objects.remove(1);
    assert_eq!(way(&objects), "nowhere");
    assert_eq!(good(&objects).split("; ").count(), 3);
}

/// The run that brought it is deleted: nobody knows whether it was good.
#[test]
fn what_no_run_knows_is_said() {
    let objects = with_runs([
        first(),
        under_way("third", "2", DAY + 310),
        run("later", "3", [Some(DAY + 400), None, None, None]),
        run("last", "4", [Some(DAY + 500), None, None, None]),
    ]);
    let unknown = "no run that exists has rolled out snapshot 1";
    assert_eq!(good(&objects), format!("0 of first; {unknown}"));
}

/// Where it is unknown, nothing older is taken in its place.
#[test]
fn what_is_unknown_ends_the_search() {
    let objects = [
        placement(),
        own("0", DAY),
        own("1", DAY + 112),
        own("2", DAY + 300),
        first(),
        second(),
        under_way("third", "2", DAY + 310),
    ];
    let why = "whether the current snapshot 1 is the one that second completed is unknown";
    assert_eq!(good(&objects), format!("nowhere; {why}"));
    // Without the placement only what is certain from the times of the two counts.
    assert_eq!(way(&objects[1..]), "nowhere");
    let mut certain = objects.to_vec();
    certain[2] = own("1", DAY + 100);
    assert_eq!(way(&certain[1..]), "1 of second");
}

/// The placement was deleted and created again under the same name.
#[test]
fn it_never_crosses_a_life_of_the_placement() {
    let before = SINCE - 5_000;
    let mut objects = vec![
        placement(),
        own("0", DAY),
        own("1", DAY + 100),
        done("old-1", "0", before),
        done("old-2", "1", before + 1_000),
    ];
    let all = inventory(&objects);
    assert!(
        current(&all).is_none(),
        "nothing was rolled out in this life"
    );
    let named = all.run_on("old-2").unwrap();
    let why = "an earlier placement of the same name had old-2, and its snapshots are gone";
    assert_eq!(last_good(&all, named).unwrap_err(), [why]);
    // The first run of this life: what is before it is of another.
    objects.push(under_way("new-1", "1", DAY + 110));
    let why = "an earlier placement of the same name had old-2, old-1, and its snapshots are gone";
    assert_eq!(good(&objects), format!("nowhere; {why}"));
    // A run that was taken up before and completed its index in this life had another snapshot.
    objects[4] = run("old-2", "0", [before, before, before, DAY + 50].map(Some));
    assert_eq!(way(&objects), "nowhere");
    // One of this life is good.
    objects.push(done("new-0", "0", DAY + 10));
    assert_eq!(good(&objects), "0 of new-0");
}

#[test]
fn an_earlier_try_is_known_again() {
    let back = || under_way("back", "0", DAY + 500);
    let is_earlier_try = |objects: &[Value]| earlier_try(&inventory(objects), "back").is_some();
    let with = |runs: &[Value]| is_earlier_try(&[&[placement(), own("0", DAY)], runs].concat());
    assert!(with(&[first(), back()]));
    // Nobody else completed it; it is over; it was given no index; its snapshot is gone.
    assert!(!with(&[back()]));
    assert!(!with(&[first(), done("back", "0", DAY + 500)]));
    assert!(!with(&[first(), unpinned(back())]));
    assert!(!is_earlier_try(&[placement(), first(), back()]));
    assert!(!with(&[under_way("first", "0", DAY + 10), back()]));
    // It, or the run that completed the index, is of an earlier life.
    assert!(!with(&[first(), under_way("back", "0", SINCE - 500)]));
    assert!(!with(&[done("first", "0", SINCE - 500), back()]));
    assert!(
        !is_earlier_try(&[own("0", DAY), first(), back()]),
        "the life is not known"
    );
    let all = inventory(&[placement(), own("0", DAY), first(), back()]);
    assert!(earlier_try(&all, "other").is_none());
}

#[test]
fn the_run_that_began_last_is_the_current_one() {
    let all = inventory(&[
        placement(),
        done("a", "0", DAY + 200),
        under_way("b", "1", DAY + 100),
        resting("c", "1", DAY + 300),
    ]);
    assert_eq!(current(&all).unwrap().meta.name, "a");
}

#[test]
fn it_can_go_to_what_belongs_to_the_placement() {
    let all = inventory(&[
        placement(),
        own("10", DAY),
        own("9", DAY),
        snapshot("2", "other", Some(DAY)),
        done("a", "4", DAY + 200),
    ]);
    assert_eq!(destinations(&all), ["9", "10"]);
}

/// A run with what it recorded for its clusters: an override of a namespace.
fn with_override(name: &str, second: i64, snapshot: &str) -> Value {
    let mut made = done(name, "0", second);
    made["status"]["stagesStatus"] = json!([{
        "stageName": "all",
        "clusters": [{
            "clusterName": "member-1",
            "resourceOverrideSnapshots": [{"name": snapshot, "namespace": "shop"}],
        }],
    }]);
    made
}

#[test]
fn a_run_with_other_overrides_is_told_from_one_with_the_same() {
    let objects = [
        placement(),
        own("0", DAY),
        with_override("first", DAY + 10, "web-0"),
        with_override("second", DAY + 110, "web-1"),
        with_override("third", DAY + 210, "web-1"),
    ];
    let all = inventory(&objects);
    let run = |name: &str| all.run_on(name).unwrap();
    let other = |name| with_other_overrides(&all, run(name)).map(|it| it.meta.name.as_str());
    assert_eq!(other("third"), Some("first"));
    assert_eq!(other("second"), Some("first"));
    assert_eq!(other("first"), None);
    // What another cluster has is not compared.
    let mut elsewhere = with_override("fourth", DAY + 310, "web-2");
    elsewhere["status"]["stagesStatus"][0]["clusters"][0]["clusterName"] = json!("member-2");
    let all = inventory(
        &[
            &objects[..2],
            &[with_override("third", DAY, "web-1"), elsewhere],
        ]
        .concat(),
    );
    let fourth = all.run_on("fourth").unwrap();
    assert!(with_other_overrides(&all, fourth).is_none());
}

fn override_snapshot(of: &str, number: usize, latest: bool) -> Value {
    json!({
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": "ResourceOverrideSnapshot",
        "metadata": {
            "name": format!("{of}-{number}"), "namespace": "shop",
            "labels": {
                "kubernetes-fleet.io/is-latest-snapshot": latest.to_string(),
                "kubernetes-fleet.io/parent-resource-override": of,
            },
        },
    })
}

/// What a new run with the snapshot does not have as the last one had it.
fn then(objects: &[Value], index: &str) -> String {
    let then = overrides_then(&inventory(objects), index).map(|then| then.to_string());
    then.unwrap_or_default()
}

#[test]
fn overrides_that_a_new_run_does_not_take_are_named() {
    let snapshot = |number: usize, latest: bool| override_snapshot("web", number, latest);
    let runs = [
        placement(),
        own("0", DAY),
        with_override("first", DAY + 10, "web-0"),
        with_override("second", DAY + 110, "web-1"),
    ];
    // The older snapshot is still there.
    let both = [&runs[..], &[snapshot(0, false), snapshot(1, true)]].concat();
    let is_now = "first had shop/web-0, which is now shop/web-1";
    assert_eq!(then(&both, "0"), is_now);
    // The override was deleted.
    let is_gone = "second had shop/web-1, which no longer exists";
    assert_eq!(then(&runs, "0"), is_gone);
    // It is what both had.
    let same = [&runs[..3], &[snapshot(0, true)]].concat();
    assert_eq!(then(&same, "0"), "");
    // It was another snapshot.
    assert_eq!(then(&same, "1"), "");
}

/// An override that a run recorded in no version is told where a new run takes it.
#[test]
fn overrides_that_were_added_since_are_named() {
    let mut content = own("0", DAY);
    content["spec"]["selectedResources"] = json!([
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "app", "namespace": "shop"}},
    ]);
    let mut member = member("member-1", DAY);
    member["metadata"]["labels"] = json!({"tier": "prod"});
    let over = |name: &str, kind: &str, tier: &str| {
        let mut over = override_snapshot(name, 0, true);
        over["spec"] = json!({"overrideSpec": {
            "resourceSelectors": [{"group": "", "version": "v1", "kind": kind, "name": "app"}],
            "policy": {"overrideRules": [{"overrideType": "Delete", "clusterSelector": {
                "clusterSelectorTerms": [{"labelSelector": {"matchLabels": {"tier": tier}}}],
            }}]},
        }});
        over
    };
    let then = |run: &Value, over: Value| {
        let objects = [
            placement(),
            content.clone(),
            member.clone(),
            run.clone(),
            over,
        ];
        then(&objects, "0")
    };
    let mut bare = with_override("first", DAY + 10, "");
    bare["status"]["stagesStatus"][0]["clusters"][0]["resourceOverrideSnapshots"] = json!([]);
    let added = "was made without shop/keep-0";
    let keep = || over("keep", "ConfigMap", "prod");
    assert_eq!(then(&bare, keep()), format!("first {added}"));
    // For other clusters, and for other objects.
    assert_eq!(then(&bare, over("keep", "ConfigMap", "dev")), "");
    assert_eq!(then(&bare, over("keep", "Secret", "prod")), "");
    // Both at once; and it had this one.
    let changed = with_override("first", DAY + 10, "web-0");
    let both = format!("first had shop/web-0, which no longer exists and {added}");
    assert_eq!(then(&changed, keep()), both);
    let same = with_override("first", DAY + 10, "keep-0");
    assert_eq!(then(&same, keep()), "");
}
