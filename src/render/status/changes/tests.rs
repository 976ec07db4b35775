use crate::diagnose::status::{PlacedCluster, Status};
use crate::kubefleet::ConditionStatus;
use crate::report::{NotChecked, RunFacts, Subject, TypeMeta, Verdict};
use crate::rollout::{
    ClusterProgress, ClusterState, GateFacts, GateState, StageProgress, StageState, TaskTime,
};

use super::changes;

pub fn cluster(name: &str, state: ClusterState) -> ClusterProgress {
    ClusterProgress {
        name: name.to_owned(),
        state,
        snapshot: None,
        started: Some("2026-01-09T02:00:00Z".parse().unwrap()),
        ended: Some("2026-01-09T02:01:05Z".parse().unwrap()),
    }
}

pub fn task(when: TaskTime, kind: &str, request: Option<&str>, state: GateState) -> GateFacts {
    GateFacts {
        when: Some(when),
        kind: kind.to_owned(),
        state,
        request: request.map(str::to_owned),
        until: (kind == "TimedWait" && state == GateState::Pending)
            .then(|| "2026-01-09T02:30:00Z".parse().unwrap()),
        ..GateFacts::default()
    }
}

pub fn stage(
    name: &str,
    state: StageState,
    clusters: Vec<ClusterProgress>,
    tasks: Vec<GateFacts>,
) -> StageProgress {
    StageProgress {
        name: name.to_owned(),
        state,
        concurrency: 2,
        clusters,
        gates: tasks,
        started: Some("2026-01-09T02:00:00Z".parse().unwrap()),
        ended: (state == StageState::Done).then(|| "2026-01-09T02:02:00Z".parse().unwrap()),
        ..StageProgress::default()
    }
}

pub fn gate(approval: GateState) -> GateFacts {
    GateFacts {
        stage: "canary".to_owned(),
        when: Some(TaskTime::Before),
        kind: "Approval".to_owned(),
        request: Some("r-before-canary".to_owned()),
        state: approval,
        ..GateFacts::default()
    }
}

pub fn status(verdict: Verdict, stages: Vec<StageProgress>) -> Status {
    Status {
        meta: TypeMeta::new("Status"),
        hub: None,
        target: Subject::new("ClusterStagedUpdateRun", "", "r"),
        verdict,
        summary: "it is so.".to_owned(),
        next: None,
        run: Some(RunFacts {
            object: Subject::new("ClusterStagedUpdateRun", "", "r"),
            requested_state: Some("Run".to_owned()),
            initialized: true,
            begun: true,
            observed: true,
            placement: "p".to_owned(),
            strategy: "s".to_owned(),
            snapshot: Some("4".to_owned()),
            done: 0,
            total: stages.iter().map(|stage| stage.clusters.len()).sum(),
            stages,
            ..RunFacts::default()
        }),
        gates: Vec::new(),
        clusters: None,
        expected: None,
        silent_since: None,
        is_hindered: false,
        not_checked: Vec::new(),
        as_of: "2026-01-09T02:00:00Z".parse().unwrap(),
    }
}

/// What is told of a change, line by line.
fn told(before: &Status, after: &Status) -> String {
    changes(before, after).join("\n")
}

#[test]
fn nothing_is_said_when_only_time_passes() {
    let before = status(Verdict::Progressing, vec![]);
    let after = Status {
        summary: "it is so for longer.".to_owned(),
        as_of: "2026-01-09T02:00:09Z".parse().unwrap(),
        ..before.clone()
    };
    assert_eq!(told(&before, &after), "");
    assert!(before.is_same_state(&after));
}

#[test]
fn a_run_is_told_from_its_beginning_to_its_end() {
    use ClusterState::{Done, NotReached as Pending, Updating};
    use GateState::{Done as Passed, NotReached as Ahead, Pending as Open};
    let canary = |state, clusters: [ClusterState; 3], before, after| {
        let clusters = ["a", "b", "c"].into_iter().zip(clusters);
        let clusters = clusters.map(|(name, state)| cluster(name, state));
        let approval = Some("r-before-canary");
        let tasks = vec![
            task(TaskTime::Before, "Approval", approval, before),
            task(TaskTime::After, "TimedWait", None, after),
        ];
        stage("canary", state, clusters.collect(), tasks)
    };
    let idle = canary(StageState::NotReached, [Pending; 3], Ahead, Ahead);
    let asking = canary(StageState::WaitingBefore, [Pending; 3], Open, Ahead);
    let begun = [Updating, Updating, Pending];
    let begun = canary(StageState::Updating, begun, Passed, Ahead);
    let further = [Done, Updating, Updating];
    let further = canary(StageState::Updating, further, Passed, Ahead);
    let waiting = canary(StageState::WaitingAfter, [Done; 3], Passed, Open);
    let over = canary(StageState::Done, [Done; 3], Passed, Passed);
    let steps = [
        status(Verdict::Initializing, vec![]),
        status(Verdict::NotStarted, vec![idle]),
        status(Verdict::WaitingForApproval, vec![asking]),
        status(Verdict::Progressing, vec![begun]),
        status(Verdict::Progressing, vec![further]),
        status(Verdict::WaitingForTimer, vec![waiting]),
        status(Verdict::Succeeded, vec![over]),
    ];
    let steps = steps.windows(2);
    let told: Vec<_> = steps.map(|step| told(&step[0], &step[1])).collect();
    let wanted = "
initialized: 3 clusters in 1 stage, snapshot 4
NotStarted: it is so.

stage canary: waits for approval r-before-canary before its clusters
WaitingForApproval: it is so.

stage canary: updating
stage canary: approval r-before-canary is accepted
stage canary: a, b updating
Progressing: it is so.

stage canary: a done after 1m5s
stage canary: c updating

stage canary: TimedWait runs until 2026-01-09T02:30:00Z
stage canary: b, c done
WaitingForTimer: it is so.

stage canary: TimedWait is over
stage canary: done after 2m
Succeeded: it is so.";
    assert_eq!(told.join("\n\n"), wanted.trim_start());
}

#[test]
fn what_stays_is_not_told_again_where_stages_share_a_name() {
    let stages = || {
        let of = |state, clusters, approval| {
            let gate = task(TaskTime::Before, "Approval", Some("r-before-a"), approval);
            stage("a", state, vec![cluster("m", clusters)], vec![gate])
        };
        let done = of(StageState::Done, ClusterState::Done, GateState::Done);
        let waiting = of(
            StageState::WaitingBefore,
            ClusterState::NotReached,
            GateState::Pending,
        );
        vec![done, waiting]
    };
    let was = status(Verdict::WaitingForApproval, stages());
    let is = status(Verdict::WaitingForApproval, stages());
    assert_eq!(told(&was, &is), "");
}

#[test]
fn many_clusters_are_one_line() {
    let clusters = |state| {
        (0..300)
            .map(|at| cluster(&format!("m-{at:03}"), state))
            .collect()
    };
    let with = |state| {
        let stages = vec![stage("prod", StageState::Updating, clusters(state), vec![])];
        status(Verdict::Progressing, stages)
    };
    assert_eq!(
        told(&with(ClusterState::NotReached), &with(ClusterState::Done)),
        "stage prod: m-000, m-001, m-002, m-003, m-004, m-005 and 294 more done"
    );
}

#[test]
fn an_approval_that_the_run_has_not_noted_is_told_once() {
    let with = |state, is_unnoted| Status {
        gates: vec![GateFacts {
            is_unnoted,
            ..gate(state)
        }],
        ..status(Verdict::WaitingForApproval, vec![])
    };
    let told = |was| told(&with(was, false), &with(GateState::Accepted, true));
    assert_eq!(told(GateState::Approved), "");
    let approved = "stage canary: r-before-canary is approved";
    assert_eq!(told(GateState::Pending), approved);
}

#[test]
fn answers_to_a_request_are_told() {
    let with = |approval| Status {
        gates: vec![gate(approval)],
        ..status(Verdict::WaitingForApproval, vec![])
    };
    let approved = "stage canary: r-before-canary is approved";
    let ignored = format!("{approved}, but not for its generation, which KubeFleet ignores");
    for (was, is, wanted) in [
        (GateState::Pending, GateState::Ignored, ignored.as_str()),
        (GateState::Ignored, GateState::Approved, approved),
        (GateState::Pending, GateState::Pending, ""),
    ] {
        assert_eq!(told(&with(was), &with(is)), wanted);
    }
    // The stage's task tells of the question.
    let none = status(Verdict::Progressing, vec![]);
    let asked = with(GateState::Pending);
    assert_eq!(told(&none, &asked), "WaitingForApproval: it is so.");
}

#[test]
fn what_was_asked_for_is_told() {
    let before = status(Verdict::Progressing, vec![]);
    let mut after = before.clone();
    after.run.as_mut().unwrap().requested_state = Some("Stop".to_owned());
    let asked = "update run r: spec.state is Stop (was Run)";
    assert_eq!(told(&before, &after), asked);
    after.run.as_mut().unwrap().object.name = "r2".to_owned();
    let other = "update run r2 is now the current one\nProgressing: it is so.";
    assert_eq!(told(&before, &after), other);
    after.run = None;
    let gone = "update run r no longer exists\nProgressing: it is so.";
    assert_eq!(told(&before, &after), gone);
}

#[test]
fn clusters_of_a_placement_are_told_by_what_they_have() {
    let has = |name: &str, snapshot: Option<&str>, available| PlacedCluster {
        undelivered: None,
        name: name.to_owned(),
        snapshot: snapshot.map(str::to_owned),
        applied: None,
        available,
        diff_reported: None,
        written_by: snapshot.map(|_| "r".to_owned()),
        removing: false,
        unselected: false,
    };
    let with = |clusters| Status {
        clusters: Some(clusters),
        ..status(Verdict::Progressing, vec![])
    };
    let before = with(vec![
        has("a", Some("3"), Some(ConditionStatus::True)),
        has("b", None, None),
        has("c", None, None),
        has("d", None, None),
    ]);
    let after = with(vec![
        has("a", Some("3"), Some(ConditionStatus::True)),
        has("b", Some("4"), Some(ConditionStatus::True)),
        has("c", Some("4"), Some(ConditionStatus::True)),
    ]);
    let wanted = "b, c: snapshot 4, available, written by r\nd: no longer selected";
    assert_eq!(told(&before, &after), wanted);
}

#[test]
fn what_cannot_be_read_any_more_is_told() {
    let before = status(Verdict::Progressing, vec![]);
    let mut after = before.clone();
    let gap = NotChecked::new("ClusterResourceBinding", "forbidden: no\u{1b}[31m");
    after.not_checked = vec![gap];
    let wanted = "not checked: ClusterResourceBinding: forbidden: no\\u{1b}[31m";
    assert_eq!(told(&before, &after), wanted);
}
