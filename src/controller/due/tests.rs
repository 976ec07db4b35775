use jiff::SignedDuration;
use serde_json::{Value, json};

use super::*;
use crate::inventory::Inventory;
use crate::kubefleet::{Concept, Scope};

const NOW: &str = "2026-03-02T09:00:00Z";

fn ago(seconds: i64) -> String {
    let now: Timestamp = NOW.parse().unwrap();
    (now - SignedDuration::from_secs(seconds)).to_string()
}

fn condition(kind: &str, seconds: i64) -> Value {
    json!({
        "type": kind, "status": "True", "reason": kind, "observedGeneration": 1,
        "lastTransitionTime": ago(seconds),
    })
}

/// A cluster: so many seconds ago it was started, noted as done, and available.
type Times = [Option<i64>; 3];

fn inventory(stages: &[&[Times]], failing: &[&str]) -> Inventory {
    let (mut clusters, mut bindings) = (0..9, Vec::new());
    let (mut specs, mut statuses) = (Vec::new(), Vec::new());
    for (at, stage) in stages.iter().enumerate() {
        let name = format!("stage-{at}");
        let mut status = Vec::new();
        for [started, ended, available] in *stage {
            let cluster = format!("member-{}", clusters.next().unwrap());
            let kinds = [("Started", started), ("Succeeded", ended)].into_iter();
            let conditions = kinds.filter_map(|(kind, ago)| Some(condition(kind, (*ago)?)));
            let conditions: Vec<_> = conditions.collect();
            status.push(json!({"clusterName": cluster, "conditions": conditions}));
            let seen = started.iter();
            let mut seen: Vec<_> = seen.map(|it| condition("RolloutStarted", *it)).collect();
            seen.extend(available.map(|it| condition("Available", it)));
            if failing.contains(&&*cluster) {
                seen.push(json!({
                    "type": "Applied", "status": "False", "reason": "ApplyFailed", "observedGeneration": 1,
                    "lastTransitionTime": ago(60),
                }));
            }
            bindings.push(json!({
                "apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "ClusterResourceBinding",
                "metadata": {
                    "name": cluster, "generation": 1,
                    "labels": {"kubernetes-fleet.io/parent-CRP": "web"},
                },
                "spec": {
                    "state": "Bound", "targetCluster": cluster,
                    "resourceSnapshotName": if started.is_some() { "web-1-snapshot" } else { "" },
                },
                "status": {"conditions": seen},
            }));
        }
        let is_done = stage.iter().all(|[_, ended, _]| ended.is_some());
        let last = stage.iter().filter_map(|[_, ended, _]| *ended).min();
        let conditions = last
            .filter(|_| is_done)
            .map(|ago| condition("Succeeded", ago));
        let conditions: Vec<_> = conditions.into_iter().collect();
        specs.push(json!({"name": name, "maxConcurrency": 2}));
        statuses.push(json!({"stageName": name, "clusters": status, "conditions": conditions}));
    }
    let run = json!({
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": "ClusterStagedUpdateRun",
        "metadata": {"name": "run", "generation": 1},
        "spec": {"placementName": "web", "stagedRolloutStrategyName": "rings", "state": "Run"},
        "status": {
            "resourceSnapshotIndexUsed": "1",
            "stagedUpdateStrategySnapshot": {"stages": specs},
            "stagesStatus": statuses,
            "conditions": [condition("Initialized", 600), condition("Progressing", 600)],
        },
    });
    bindings.push(run);
    let placement = Scope::Cluster.object(Concept::Placement, "web");
    Inventory::around(&placement, &bindings, true, NOW.parse().unwrap())
}

/// The clusters that slow the next look, when the last one was, and how many seconds it takes at most.
fn slows(stages: &[&[Times]]) -> String {
    let inventory = inventory(stages, &[]);
    let run = inventory.runs.iter().next().unwrap();
    let now: Timestamp = NOW.parse().unwrap();
    let said = slowed(&State::new(&inventory, run)).map(|look| {
        let since = now.duration_since(look.since).as_secs();
        let (clusters, pace) = (look.clusters.join(" "), look.pace.as_secs());
        format!("{clusters}: {since} {pace}")
    });
    said.unwrap_or_default()
}

const fn done(started: i64, ended: i64, available: i64) -> Times {
    [Some(started), Some(ended), Some(available)]
}

const AHEAD: Times = [None, None, None];

#[test]
fn a_row_of_errors_lasts_until_a_look_that_asks_for_a_time() {
    // What was in error was noted 20 seconds ago, and the next stage begins after as long as all that took.
    assert_eq!(slows(&[&[done(120, 20, 25)], &[AHEAD]]), "member-0: 20 100");
    // It was available soon, and noted late.
    assert_eq!(slows(&[&[done(120, 20, 110)], &[AHEAD]]), "");
    // What changed after it was noted does not tell when it was available: only a long time was an error.
    assert_eq!(slows(&[&[done(40, 20, 10)], &[AHEAD]]), "");
    assert_eq!(slows(&[&[done(120, 20, 10)], &[AHEAD]]), "member-0: 20 100");
    // A look that started a cluster and has no slot left ends the row.
    let started = |ago: i64| [Some(ago), None, None];
    let earlier = done(300, 200, 205);
    assert_eq!(slows(&[&[earlier], &[started(20), started(20)]]), "");
    assert_eq!(slows(&[&[earlier], &[started(20)]]), "");
    // One that left a slot free met a conflict: the wait before it doubles.
    let conflict: &[&[Times]] = &[&[done(300, 100, 105)], &[started(20), AHEAD]];
    assert_eq!(slows(conflict), "member-0: 20 160");
    // It started nothing since, so that a look that asked for a time may have come.
    let ended: &[Times] = &[started(80), done(80, 20, 75), AHEAD];
    assert_eq!(slows(&[&[earlier], ended]), "");
    // In the same stage: what the look noted was in error, and one of two slots is free.
    let same: &[&[Times]] = &[&[done(80, 20, 25), done(80, 20, 78), AHEAD, started(20)]];
    assert_eq!(slows(same), "member-0: 20 60");
    // What the look found done when it began takes a slot.
    let found = done(20, 20, 400);
    let found = [done(80, 20, 25), found, started(20), AHEAD];
    assert_eq!(slows(&[&found]), "");
}

#[test]
fn a_cluster_in_error_slows_the_look_at_others() {
    let pace = |failing: &[&str]| {
        let started = [Some(90), None, None];
        let noted = done(90, 20, 22);
        let inventory = inventory(&[&[started, noted, AHEAD]], failing);
        let run = inventory.runs.iter().next().unwrap();
        let (since, pace, _) = last_change(&State::new(&inventory, run));
        let now: Timestamp = NOW.parse().unwrap();
        (
            now.duration_since(since).as_secs(),
            pace.saturating_sub(pace::PROMPT).as_secs(),
        )
    };
    assert_eq!(pace(&[]), (20, 15));
    // As long as the error had lasted at the last look.
    assert_eq!(pace(&["member-0"]), (20, 70));
}
