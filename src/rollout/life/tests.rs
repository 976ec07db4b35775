use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;

/// When the present placement was created; what is before is another life.
pub(crate) const SINCE: i64 = 1_000;

pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_767_924_000 + second).unwrap()
}

fn time(second: impl Into<Option<i64>>) -> Value {
    second
        .into()
        .map_or(Value::Null, |second| json!(at(second).to_string()))
}

fn object(kind: &str, name: &str, created: Option<i64>) -> Value {
    json!({
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": kind,
        "metadata": {"name": name, "uid": format!("uid-of-{name}"), "creationTimestamp": time(created)},
    })
}

pub(crate) fn placement() -> Value {
    object("ClusterResourcePlacement", "shop", Some(SINCE))
}

/// A whole snapshot that belongs to a placement with this uid.
pub(crate) fn snapshot(index: &str, owner: &str, created: Option<i64>) -> Value {
    let name = format!("shop-{index}-snapshot");
    let mut snapshot = object("ClusterResourceSnapshot", &name, created);
    snapshot["metadata"]["labels"] = json!({
        "kubernetes-fleet.io/parent-CRP": "shop",
        "kubernetes-fleet.io/resource-index": index,
    });
    snapshot["metadata"]["annotations"] = json!({
        "kubernetes-fleet.io/resource-hash": "h",
        "kubernetes-fleet.io/number-of-resource-snapshots": "1",
    });
    if !owner.is_empty() {
        snapshot["metadata"]["ownerReferences"] = json!([
            {"kind": "ConfigMap", "uid": "another"},
            {"kind": "ClusterResourcePlacement", "name": "shop", "uid": owner},
        ]);
    }
    snapshot
}

/// A run of one cluster: created, taken up, started, ended.
pub(crate) fn run(name: &str, index: &str, times: [Option<i64>; 4]) -> Value {
    let [created, taken_up, started, ended] = times;
    let mut run = object("ClusterStagedUpdateRun", name, created);
    let condition = |kind: &str, second: Option<i64>| json!({"type": kind, "status": "True", "lastTransitionTime": time(second)});
    let mut conditions = vec![condition("Initialized", taken_up)];
    let mut cluster = Vec::new();
    if started.is_some() {
        conditions.push(condition("Progressing", started));
        cluster.push(condition("Started", started));
    }
    if ended.is_some() {
        conditions.push(condition("Succeeded", ended));
        cluster.push(condition("Succeeded", ended));
    }
    run["spec"] = json!({
        "placementName": "shop", "stagedRolloutStrategyName": "rings", "state": "Run",
        "resourceSnapshotIndex": index,
    });
    run["status"] = json!({
        "resourceSnapshotIndexUsed": index,
        "conditions": conditions,
        "stagesStatus": [{
            "stageName": "all", "startTime": time(started),
            "clusters": [{"clusterName": "member-1", "conditions": cluster}],
        }],
    });
    run
}

pub(crate) const OWN: &str = "uid-of-shop";

pub(crate) fn inventory(objects: &[Value]) -> Inventory {
    let target = crate::kubefleet::Scope::Cluster.object(Concept::Placement, "shop");
    Inventory::around(&target, objects, true, at(9_000))
}

fn only_run(all: &Inventory) -> &UpdateRun {
    all.runs.iter().next().unwrap()
}

fn life_of_run(objects: &[Value]) -> PlacementLife {
    let all = inventory(objects);
    of_run(&all, only_run(&all))
}

/// The same of snapshot 0.
fn life_of_snapshot(objects: &[Value]) -> PlacementLife {
    let all = inventory(objects);
    of_snapshot(&all, all.snapshot("0").unwrap())
}

/// Whether the index of the one run means another snapshot by now.
fn is_run_foreign(objects: &[Value]) -> bool {
    let all = inventory(objects);
    is_foreign(&all, only_run(&all))
}

#[test]
fn a_run_belongs_to_the_placement_that_it_was_computed_from() {
    use PlacementLife::{Earlier, Present, Unknown};
    let [before, same, after] = [Some(SINCE - 1), Some(SINCE), Some(SINCE + 1)];
    for (created, taken_up, life) in [
        (before, before, Earlier),
        (before, same, Unknown),
        (before, after, Present),
        (before, None, Unknown),
        (same, before, Unknown),
        (same, same, Unknown),
        (same, after, Present),
        (same, None, Unknown),
        (after, before, Unknown),
        (after, same, Present),
        (after, after, Present),
        (after, None, Present),
        (None, before, Earlier),
        (None, same, Unknown),
        (None, after, Present),
        (None, None, Unknown),
    ] {
        let times = [created, taken_up, None, None];
        let web = run("web", "0", times);
        assert_eq!(life_of_run(std::slice::from_ref(&web)), Unknown);
        assert_eq!(life_of_run(&[placement(), web]), life, "{times:?}");
    }
}

#[test]
fn a_run_that_has_updated_a_cluster_did_it_after_the_second_in_which_it_was_created() {
    use PlacementLife::{Earlier, Present, Unknown};
    let [before, same, after] = [Some(SINCE - 1), Some(SINCE), Some(SINCE + 1)];
    let late = Some(SINCE + 60);
    for (created, taken_up, life) in [
        (before, before, Earlier),
        (before, same, Unknown),
        (same, before, Present),
        (same, same, Present),
        (same, None, Present),
        (after, before, Unknown),
        (None, same, Unknown),
    ] {
        let done = run("web", "0", [created, taken_up, late, late]);
        let times = format!("{created:?} {taken_up:?}");
        assert_eq!(life_of_run(&[placement(), done.clone()]), life, "{times}");
        // A removal brings nothing, and a cluster that was only begun may still have anything.
        let mut removed = done.clone();
        removed["status"]["deletionStageStatus"] = removed["status"]["stagesStatus"][0].take();
        removed["status"]["stagesStatus"] = json!([]);
        let begun = run("web", "0", [created, taken_up, late, None]);
        for other in [removed, begun] {
            let life = if created == same { Unknown } else { life };
            assert_eq!(life_of_run(&[placement(), other]), life, "{times}");
        }
    }
}

#[test]
fn a_snapshot_belongs_to_its_owner() {
    use PlacementLife::{Earlier, Present, Unknown};
    let [before, same, after] = [Some(SINCE - 1), Some(SINCE), Some(SINCE + 1)];
    for (owner, created, life) in [
        (OWN, before, Present),
        (OWN, None, Present),
        ("other", after, Earlier),
        ("", before, Earlier),
        ("", same, Unknown),
        ("", after, Present),
        ("", None, Unknown),
    ] {
        let it = snapshot("0", owner, created);
        assert_eq!(life_of_snapshot(std::slice::from_ref(&it)), Unknown);
        let found = life_of_snapshot(&[placement(), it]);
        assert_eq!(found, life, "{owner:?} {created:?}");
    }
    // Where uids were taken out, the times are left.
    let mut stripped = placement();
    stripped["metadata"]["uid"] = json!("");
    let found = life_of_snapshot(&[stripped, snapshot("0", "other", after)]);
    assert_eq!(found, Present);
}

#[test]
fn an_index_means_the_snapshot_that_had_it_when_the_run_was_taken_up() {
    use SnapshotMatch::{Another, Same, Unknown};
    let taken_up = SINCE + 100;
    for (created, present, unknown) in [
        (Some(-10), Same, Same),
        (Some(-6), Same, Same),
        (Some(-5), Same, Unknown),
        (Some(0), Same, Unknown),
        (Some(1), Unknown, Unknown),
        (Some(5), Unknown, Unknown),
        (Some(6), Another, Another),
        (None, Unknown, Unknown),
    ] {
        let created = created.map(|second| taken_up + second);
        let web = run("web", "0", [Some(taken_up), Some(taken_up), None, None]);
        let own = snapshot("0", OWN, created);
        let all = inventory(&[placement(), web.clone(), own.clone()]);
        let used = |all: &Inventory| used(all, only_run(all), all.snapshot("0").unwrap());
        assert_eq!(used(&all), present, "{created:?}");
        let all = inventory(&[web, own.clone()]);
        assert_eq!(used(&all), unknown, "{created:?}");
        // A condition without a time decides nothing.
        let timeless = run("web", "0", [Some(taken_up), None, None, None]);
        assert_eq!(used(&inventory(&[placement(), timeless, own])), Unknown);
        // Another index means another snapshot.
        let other = run("web", "1", [Some(taken_up), Some(taken_up), None, None]);
        let one = snapshot("0", OWN, created);
        assert_eq!(used(&inventory(&[placement(), other, one])), Another);
    }
}

#[test]
fn an_earlier_life_has_none_of_the_snapshots_of_today() {
    let before = SINCE - 100;
    let old = || run("web", "0", [Some(before), Some(before), None, None]);
    let used = |all: &Inventory| {
        let (run, it) = (only_run(all), all.snapshot("0").unwrap());
        (used(all, run, it), is_foreign(all, run))
    };
    // Whatever its time says: a snapshot of the present placement.
    let own = snapshot("0", OWN, None);
    let all = inventory(&[placement(), old(), own]);
    assert_eq!(used(&all), (SnapshotMatch::Another, true));
    // One that its placement left behind.
    let left = snapshot("0", "other", Some(before - 10));
    let all = inventory(&[placement(), old(), left]);
    assert_eq!(used(&all), (SnapshotMatch::Same, true));
    assert!(is_run_foreign(&[placement(), old()]));
}

#[test]
fn an_index_is_foreign_where_its_snapshot_came_later() {
    let taken_up = SINCE + 100;
    let web = || run("web", "0", [Some(taken_up), Some(taken_up), None, None]);
    for (created, foreign) in [(taken_up + 60, true), (taken_up + 1, false), (SINCE, false)] {
        let objects = [placement(), web(), snapshot("0", OWN, Some(created))];
        assert_eq!(is_run_foreign(&objects), foreign, "{created}");
    }
    assert!(!is_run_foreign(&[placement(), web()]));
}

/// A member cluster, and when its agent was heard last.
pub(crate) fn member(name: &str, heard: i64) -> Value {
    json!({
        "apiVersion": "cluster.kubernetes-fleet.io/v1beta1",
        "kind": "MemberCluster",
        "metadata": {"name": name},
        "status": {"agentStatus": [
            {"type": "MemberAgent", "lastReceivedHeartbeat": at(heard).to_string()},
        ]},
    })
}

/// A binding of the cluster that the runs have.
pub(crate) fn binding(index: &str, created: i64) -> Value {
    let mut binding = object("ClusterResourceBinding", "shop-member-1", Some(created));
    binding["spec"] = json!({
        "state": "Bound", "targetCluster": "member-1",
        "resourceSnapshotName": format!("shop-{index}-snapshot"),
    });
    binding
}

#[test]
fn nothing_is_said_of_the_present_for_runs_of_an_earlier_life() {
    let old = |index| run("old", index, [100, 100, 110, 170].map(Some));
    let new = |index| run("new", index, [2_000, 2_000, 2_010, 2_070].map(Some));
    let own = || snapshot("0", OWN, Some(1_990));
    let with = |index| {
        inventory(&[
            placement(),
            own(),
            old(index),
            new("0"),
            binding("0", 1_500),
        ])
    };
    let all = with("0");
    let history = crate::rollout::history::history(&all);
    let held = history.runs.iter();
    let held: Vec<_> = held.map(|it| (it.earlier, it.holds.len())).collect();
    assert_eq!(held, [(true, 0), (false, 1)]);
    let versions = crate::rollout::versions::versions(&all);
    let names: Vec<_> = versions[0].runs.iter().map(|run| &run.meta.name).collect();
    assert_eq!(names, ["new"]);
    // An index that only an earlier life had is no version of today, and going from it is no way back.
    let all = with("5");
    assert_eq!(crate::rollout::versions::versions(&all).len(), 1);
    let history = crate::rollout::history::history(&all);
    let mut runs = history.runs.iter();
    assert!(runs.all(|run| run.steps_back.is_empty() && run.replaced.is_empty()));
    // What it has still to do, it does with the snapshot that has the name now.
    let waiting = run("old", "0", [Some(100), Some(100), None, None]);
    let all = inventory(&[placement(), own(), waiting]);
    assert_eq!(crate::rollout::versions::versions(&all)[0].runs.len(), 1);
}

#[test]
fn a_cluster_that_came_back_has_nothing_of_a_run_before() {
    let held = |created| {
        let all = inventory(&[
            placement(),
            snapshot("0", OWN, Some(1_990)),
            run("new", "0", [2_000, 2_000, 2_010, 2_070].map(Some)),
            binding("0", created),
        ]);
        crate::rollout::history::history(&all).runs[0].holds.len()
    };
    assert_eq!((held(1_500), held(2_070), held(2_071)), (1, 1, 0));
}
