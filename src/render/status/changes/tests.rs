use crate::diagnose::status::{
    ConditionTruth, GateState, OpenGate, PlacedCluster, RunOverview, Status,
};
use crate::report::{NotChecked, Subject, Verdict};
use crate::rollout::{
    ClusterProgress, ClusterState, Progress, StageProgress, StageState, TaskProgress, TaskState,
    TaskTime,
};

use super::changes;

pub(in crate::render::status) fn cluster(name: &str, state: ClusterState) -> ClusterProgress {
    ClusterProgress {
        name: name.to_owned(),
        state,
        snapshot: None,
        started: Some("2026-01-09T02:00:00Z".parse().unwrap()),
        ended: Some("2026-01-09T02:01:05Z".parse().unwrap()),
    }
}

pub(in crate::render::status) fn task(
    when: TaskTime,
    kind: &str,
    request: Option<&str>,
    state: TaskState,
) -> TaskProgress {
    TaskProgress {
        when,
        kind: kind.to_owned(),
        state,
        approval_request: request.map(str::to_owned),
        since: None,
        ended: None,
        until: (kind == "TimedWait" && state == TaskState::Open)
            .then(|| "2026-01-09T02:30:00Z".parse().unwrap()),
    }
}

pub(in crate::render::status) fn stage(
    name: &str,
    state: StageState,
    clusters: Vec<ClusterProgress>,
    tasks: Vec<TaskProgress>,
) -> StageProgress {
    StageProgress {
        name: name.to_owned(),
        deletes: false,
        state,
        max_concurrency: 2,
        clusters,
        tasks,
        started: Some("2026-01-09T02:00:00Z".parse().unwrap()),
        ended: (state == StageState::Done).then(|| "2026-01-09T02:02:00Z".parse().unwrap()),
    }
}

pub(in crate::render::status) fn gate(approval: GateState) -> OpenGate {
    OpenGate {
        stage: "canary".to_owned(),
        when: TaskTime::Before,
        kind: "Approval".to_owned(),
        since: None,
        until: None,
        approval_request: Some("r-before-canary".to_owned()),
        approval: Some(approval),
        command: None,
    }
}

pub(in crate::render::status) fn status(verdict: Verdict, stages: Vec<StageProgress>) -> Status {
    Status {
        api_version: String::new(),
        kind: String::new(),
        hub: None,
        target: Subject::new("ClusterStagedUpdateRun", "", "r"),
        verdict,
        summary: "it is so.".to_owned(),
        next: None,
        run: Some(RunOverview {
            kind: "ClusterStagedUpdateRun".to_owned(),
            namespace: String::new(),
            name: "r".to_owned(),
            state: Some("Run".to_owned()),
            initialized: true,
            started: true,
            observed: true,
            created: None,
        }),
        progress: Some(Progress {
            placement: "p".to_owned(),
            strategy: "s".to_owned(),
            snapshot: Some("4".to_owned()),
            only_compares: false,
            done: 0,
            total: stages.iter().map(|stage| stage.clusters.len()).sum(),
            stages,
            ended: None,
        }),
        gates: Vec::new(),
        clusters: None,
        expected: None,
        stage_ends: Vec::new(),
        silent_since: None,
        not_checked: Vec::new(),
        as_of: "2026-01-09T02:00:00Z".parse().unwrap(),
    }
}

#[test]
fn nothing_is_said_when_only_time_passes() {
    let before = status(Verdict::Progressing, vec![]);
    let after = Status {
        summary: "it is so for longer.".to_owned(),
        as_of: "2026-01-09T02:00:09Z".parse().unwrap(),
        ..before.clone()
    };
    assert_eq!(changes(&before, &after), [""; 0]);
    assert!(before.is_same_state(&after));
}

#[test]
fn a_run_is_told_from_its_beginning_to_its_end() {
    use ClusterState::{Done, Pending, Updating};
    let canary = |state, clusters: [ClusterState; 3], before, after| {
        let [a, b, c] = clusters;
        stage(
            "canary",
            state,
            vec![cluster("a", a), cluster("b", b), cluster("c", c)],
            vec![
                task(
                    TaskTime::Before,
                    "Approval",
                    Some("r-before-canary"),
                    before,
                ),
                task(TaskTime::After, "TimedWait", None, after),
            ],
        )
    };
    let steps = [
        (Verdict::Initializing, vec![]),
        (
            Verdict::NotStarted,
            vec![canary(
                StageState::Pending,
                [Pending; 3],
                TaskState::Pending,
                TaskState::Pending,
            )],
        ),
        (
            Verdict::WaitingForApproval,
            vec![canary(
                StageState::WaitingBefore,
                [Pending; 3],
                TaskState::Open,
                TaskState::Pending,
            )],
        ),
        (
            Verdict::Progressing,
            vec![canary(
                StageState::Updating,
                [Updating, Updating, Pending],
                TaskState::Done,
                TaskState::Pending,
            )],
        ),
        (
            Verdict::Progressing,
            vec![canary(
                StageState::Updating,
                [Done, Updating, Updating],
                TaskState::Done,
                TaskState::Pending,
            )],
        ),
        (
            Verdict::WaitingForTimer,
            vec![canary(
                StageState::WaitingAfter,
                [Done; 3],
                TaskState::Done,
                TaskState::Open,
            )],
        ),
        (
            Verdict::Succeeded,
            vec![canary(
                StageState::Done,
                [Done; 3],
                TaskState::Done,
                TaskState::Done,
            )],
        ),
    ];
    let steps: Vec<_> = steps
        .into_iter()
        .map(|(verdict, stages)| status(verdict, stages))
        .collect();
    let told: Vec<Vec<String>> = steps
        .windows(2)
        .map(|pair| changes(&pair[0], &pair[1]))
        .collect();
    let wanted: [&[&str]; 6] = [
        &[
            "initialized: 3 clusters in 1 stage, snapshot 4",
            "NotStarted: it is so.",
        ],
        &[
            "stage canary: waits for approval r-before-canary before its clusters",
            "WaitingForApproval: it is so.",
        ],
        &[
            "stage canary: updating",
            "stage canary: approval r-before-canary is accepted",
            "stage canary: a, b updating",
            "Progressing: it is so.",
        ],
        &[
            "stage canary: a done after 1m5s",
            "stage canary: c updating",
        ],
        &[
            "stage canary: TimedWait runs until 2026-01-09T02:30:00Z",
            "stage canary: b, c done",
            "WaitingForTimer: it is so.",
        ],
        &[
            "stage canary: TimedWait is over",
            "stage canary: done after 2m",
            "Succeeded: it is so.",
        ],
    ];
    assert_eq!(told, wanted);
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
        changes(&with(ClusterState::Pending), &with(ClusterState::Done)),
        ["stage prod: m-000, m-001, m-002, m-003, m-004, m-005 and 294 more done"]
    );
}

#[test]
fn answers_to_a_request_are_told() {
    let with = |approval| Status {
        gates: vec![gate(approval)],
        ..status(Verdict::WaitingForApproval, vec![])
    };
    let told = |was, is| changes(&with(was), &with(is));
    assert_eq!(
        told(GateState::Pending, GateState::Ignored),
        [
            "stage canary: r-before-canary is approved for an outdated generation, which KubeFleet \
             ignores"
        ]
    );
    assert_eq!(
        told(GateState::Ignored, GateState::Given),
        ["stage canary: r-before-canary is approved"]
    );
    assert_eq!(told(GateState::Pending, GateState::Pending), [""; 0]);
    let none = status(Verdict::Progressing, vec![]);
    let asked = with(GateState::Pending);
    assert_eq!(
        changes(&none, &asked),
        ["WaitingForApproval: it is so."],
        "the stage's task tells of the question"
    );
}

#[test]
fn what_was_asked_for_is_told() {
    let before = status(Verdict::Progressing, vec![]);
    let mut after = before.clone();
    after.run.as_mut().unwrap().state = Some("Stop".to_owned());
    assert_eq!(
        changes(&before, &after),
        ["update run r: spec.state is Stop (was Run)"]
    );
    after.run.as_mut().unwrap().name = "r2".to_owned();
    assert_eq!(
        changes(&before, &after),
        [
            "update run r2 is now the current one",
            "Progressing: it is so."
        ]
    );
    after.run = None;
    assert_eq!(
        changes(&before, &after),
        ["update run r no longer exists", "Progressing: it is so."]
    );
}

#[test]
fn clusters_of_a_placement_are_told_by_what_they_have() {
    let has = |name: &str, snapshot: Option<&str>, available| PlacedCluster {
        name: name.to_owned(),
        snapshot: snapshot.map(str::to_owned),
        applied: None,
        available,
        diff_reported: None,
        written_by: snapshot.map(|_| "r".to_owned()),
        removing: false,
    };
    let with = |clusters| Status {
        clusters: Some(clusters),
        ..status(Verdict::Progressing, vec![])
    };
    let before = with(vec![
        has("a", Some("3"), Some(ConditionTruth::True)),
        has("b", None, None),
        has("c", None, None),
        has("d", None, None),
    ]);
    let after = with(vec![
        has("a", Some("3"), Some(ConditionTruth::True)),
        has("b", Some("4"), Some(ConditionTruth::True)),
        has("c", Some("4"), Some(ConditionTruth::True)),
    ]);
    assert_eq!(
        changes(&before, &after),
        [
            "b, c: snapshot 4, available, written by r",
            "d: no longer selected"
        ]
    );
}

#[test]
fn what_cannot_be_read_any_more_is_told() {
    let before = status(Verdict::Progressing, vec![]);
    let mut after = before.clone();
    after.not_checked = vec![NotChecked {
        what: "ClusterResourceBinding".to_owned(),
        why: "forbidden: no\u{1b}[31m".to_owned(),
        subject: None,
        clusters: Vec::new(),
    }];
    assert_eq!(
        changes(&before, &after),
        ["not checked: ClusterResourceBinding: forbidden: no\\u{1b}[31m"]
    );
}
