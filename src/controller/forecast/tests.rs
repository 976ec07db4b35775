use serde_json::{Value, json};

use super::*;
use crate::kubefleet::strategy::Task;
use crate::kubefleet::{Concept, Scope};

const NOW: &str = "2026-03-02T09:00:00Z";

fn condition(kind: &str, status: &str, ago: i64) -> Value {
    let now: Timestamp = NOW.parse().unwrap();
    let since = now - SignedDuration::from_secs(ago);
    json!({
        "type": kind, "status": status, "reason": kind, "observedGeneration": 1,
        "lastTransitionTime": since.to_string(),
    })
}

/// A cluster that was started, and was done, so long ago.
fn cluster(name: &str, ago: &[i64]) -> Value {
    let conditions = ["Started", "Succeeded"].iter().zip(ago);
    let conditions: Vec<_> = conditions
        .map(|(kind, ago)| condition(kind, "True", *ago))
        .collect();
    json!({"clusterName": name, "conditions": conditions})
}

fn stage(name: &str, clusters: &[Value], conditions: &[Value]) -> Value {
    let after = json!([{"type": "Approval", "approvalRequestName": format!("run-after-{name}")}]);
    json!({
        "stageName": name, "clusters": clusters, "conditions": conditions,
        "afterStageTaskStatus": if name == "two" { after } else { json!([]) },
    })
}

/// Three stages, one cluster at a time; an approval ends the second.
fn inventory(first: &[Value], begun: &[Value], state: &str) -> Inventory {
    let spec = |name: &str| {
        let after = json!([{"type": "Approval"}]);
        json!({"name": name, "afterStageTasks": if name == "two" { after } else { json!([]) }})
    };
    let mut conditions = vec![condition("Initialized", "True", 600)];
    if state == "Run" {
        conditions.push(condition("Progressing", "True", 600));
    }
    let two = [cluster("b", &[]), cluster("c", &[])];
    let run = json!({
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": "ClusterStagedUpdateRun",
        "metadata": {"name": "run", "generation": 1},
        "spec": {"placementName": "web", "stagedRolloutStrategyName": "rings", "state": state},
        "status": {
            "resourceSnapshotIndexUsed": "1",
            "stagedUpdateStrategySnapshot": {"stages": [spec("one"), spec("two"), spec("three")]},
            "stagesStatus": [
                stage("one", first, begun), stage("two", &two, &[]),
                stage("three", &[cluster("d", &[])], &[]),
            ],
            "deletionStageStatus": {"stageName": "deletion", "clusters": []},
            "conditions": conditions,
        },
    });
    let placement = Scope::Cluster.object(Concept::Placement, "web");
    Inventory::around(&placement, &[run], false, NOW.parse().unwrap())
}

/// What is said of each stage.
fn said(inventory: &Inventory) -> Vec<Option<String>> {
    let run = inventory.runs.iter().next().unwrap();
    let times = ClusterTimes::of_placement(inventory).unwrap();
    let ends = forecast(&State::new(inventory, run), times).into_iter();
    ends.map(|end| end.and_then(|end| end.describe())).collect()
}

fn begun() -> [Value; 1] {
    [condition("Progressing", "True", 600)]
}

fn words(words: [&str; 3]) -> Vec<Option<String>> {
    words.map(|it| Some(it.to_owned())).into()
}

#[test]
fn times_are_those_of_clusters_that_are_done() {
    let clusters = [
        cluster("a", &[400, 220]),
        cluster("b", &[200, 80]),
        // It had the content, and it is not done.
        cluster("c", &[70, 70]),
        cluster("d", &[60]),
    ];
    let seconds = |times: ClusterTimes| (times.shortest.as_secs(), times.longest.as_secs());
    let times = ClusterTimes::of_placement(&inventory(&clusters, &begun(), "Run"));
    assert_eq!(times.map(seconds), Some((120, 180)));
    let none = ClusterTimes::of_placement(&inventory(&clusters[2..], &begun(), "Run"));
    assert_eq!(none, None);
}

/// Two clusters one after the other take twice as long; what comes after the approval counts from it.
#[test]
fn a_range_counts_from_now_or_from_the_approval() {
    let clusters = [
        cluster("a", &[400, 220]),
        cluster("e", &[200, 80]),
        cluster("f", &[60]),
    ];
    let said = said(&inventory(&clusters, &begun(), "Run"));
    let wanted = words([
        "ends in up to 3 min",
        "approval due in 4 to 9 min",
        "ends 1 to 4 min after the approval",
    ]);
    assert_eq!(said, wanted);
}

/// After an error the controller looks more often than each 15 seconds.
#[test]
fn clusters_that_were_done_early_may_be_so_again() {
    let clusters = [cluster("a", &[400, 398]), cluster("e", &[300, 280])];
    let said = said(&inventory(&clusters, &begun(), "Run"));
    assert_eq!(said[1].as_deref(), Some("approval due in 2 to 75 s"));
    let end = said[2].as_deref();
    assert_eq!(end, Some("ends 1 to 45 s after the approval"));
}

#[test]
fn a_run_that_was_not_started_counts_from_the_start() {
    let clusters = [cluster("a", &[400, 220]), cluster("e", &[])];
    let said = said(&inventory(&clusters, &[], "Initialize"));
    let wanted = words([
        "ends about 3 min after the start",
        "approval due 8 to 10 min after the start",
        "ends about 3 min after the approval",
    ]);
    assert_eq!(said, wanted);
}

/// A cluster that takes longer than any before has no end that is known, and neither have those after
/// it.
#[test]
fn nothing_is_said_behind_a_cluster_that_takes_longer_than_any_before() {
    let clusters = |ago| [cluster("a", &[400, 220]), cluster("e", &[ago])];
    let said = |ago| said(&inventory(&clusters(ago), &begun(), "Run"));
    assert_eq!(said(185).len(), 3);
    assert_eq!(said(200), Vec::new());
}

/// A timer runs while the approval is asked for: who approves at once waits for it too.
#[test]
fn what_comes_after_an_approval_may_wait_for_a_timer() {
    let clusters = [cluster("a", &[400, 220])];
    let inventory = inventory(&clusters, &begun(), "Run");
    let mut run = UpdateRun::clone(inventory.runs.iter().next().unwrap());
    let wait = Task {
        kind: "TimedWait".to_owned(),
        wait: "20m".to_owned(),
    };
    let stages = &mut run.status.strategy.as_mut().unwrap().stages;
    stages[1].after.push(wait);
    let status = TaskStatus {
        kind: "TimedWait".to_owned(),
        ..TaskStatus::default()
    };
    run.status.stages[1].after.push(status);
    let times = ClusterTimes::of_placement(&inventory).unwrap();
    let ends = forecast(&State::new(&inventory, &run), times).into_iter();
    let said: Vec<_> = ends.map(|end| end.and_then(|end| end.describe())).collect();
    assert_eq!(said[1].as_deref(), Some("approval due in 5 to 7 min"));
    let end = said[2].as_deref();
    assert_eq!(end, Some("ends 2 to 24 min after the approval"));
}

/// A run of one stage with so many clusters, one after the other.
fn run_of(clusters: usize) -> UpdateRun {
    let mut run = UpdateRun::default();
    let clusters = vec![ClusterStatus::default(); clusters];
    run.status.stages.push(StageStatus {
        clusters,
        ..StageStatus::default()
    });
    run
}

#[test]
fn a_stage_of_more_clusters_than_looks_is_not_played() {
    // 200 clusters leave 200 looks.
    assert!(!is_long(&run_of(200)));
    assert!(is_long(&run_of(201)));
    assert!(!is_long(&UpdateRun::default()));
}
