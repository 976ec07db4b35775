//! States as people see them, live: at three widths, with and without color.

use jiff::SignedDuration;
use kubectl_fleet_stage::controller::StageEnd;
use kubectl_fleet_stage::diagnose::status::{
    ConditionTruth, GateState, OpenGate, PlacedCluster, RunOverview, StageForecast, Status,
};
use kubectl_fleet_stage::render::status::{line, status, verdict};
use kubectl_fleet_stage::report::{NotChecked, Subject, Verdict};
use kubectl_fleet_stage::rollout::{
    ClusterProgress, ClusterState, Progress, StageProgress, StageState, TaskProgress, TaskState,
    TaskTime,
};
use kubectl_fleet_stage::words::CommandLine;
use unicode_width::UnicodeWidthStr;

use super::{look, plain, verbose};

fn clusters(prefix: &str, states: &[(ClusterState, usize)]) -> Vec<ClusterProgress> {
    let states = states
        .iter()
        .flat_map(|(state, count)| std::iter::repeat_n(*state, *count));
    states
        .enumerate()
        .map(|(at, state)| ClusterProgress {
            name: format!("{prefix}-{at:03}"),
            state,
            snapshot: (state != ClusterState::Pending).then(|| "7".to_owned()),
            started: (state != ClusterState::Pending)
                .then(|| "2026-01-09T01:53:48Z".parse().unwrap()),
            ended: None,
        })
        .collect()
}

fn stage(
    name: &str,
    state: StageState,
    clusters: Vec<ClusterProgress>,
    tasks: Vec<TaskProgress>,
) -> StageProgress {
    StageProgress {
        name: name.to_owned(),
        deletes: false,
        state,
        max_concurrency: 30,
        clusters,
        tasks,
        started: (state != StageState::Pending).then(|| "2026-01-09T00:40:00Z".parse().unwrap()),
        ended: (state == StageState::Done).then(|| "2026-01-09T01:12:30Z".parse().unwrap()),
    }
}

fn task(when: TaskTime, request: Option<&str>, state: TaskState) -> TaskProgress {
    TaskProgress {
        when,
        kind: if request.is_some() {
            "Approval"
        } else {
            "TimedWait"
        }
        .to_owned(),
        state,
        approval_request: request.map(str::to_owned),
        since: None,
        ended: None,
        until: (request.is_none() && state == TaskState::Open)
            .then(|| "2026-01-09T02:30:00Z".parse().unwrap()),
    }
}

fn state(verdict: Verdict, summary: &str, stages: Vec<StageProgress>) -> Status {
    let total = stages.iter().map(|stage| stage.clusters.len()).sum();
    Status {
        api_version: "kubectl-fleet-stage/v1".to_owned(),
        kind: "Status".to_owned(),
        hub: None,
        target: Subject::new("ClusterStagedUpdateRun", "", "example-run"),
        verdict,
        summary: summary.to_owned(),
        next: None,
        run: Some(RunOverview {
            kind: "ClusterStagedUpdateRun".to_owned(),
            namespace: String::new(),
            name: "example-run".to_owned(),
            state: Some("Run".to_owned()),
            initialized: true,
            started: true,
            observed: true,
            created: None,
        }),
        progress: Some(Progress {
            placement: "example-placement".to_owned(),
            strategy: "example-strategy".to_owned(),
            snapshot: Some("7".to_owned()),
            only_compares: false,
            done: stages.iter().map(StageProgress::done).sum(),
            total,
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

/// A big fleet in the middle: one stage of 300 clusters behind it, one at work, one ahead.
fn busy() -> Status {
    use ClusterState::{Done, Pending, Stuck, Updating};
    let staging = vec![task(TaskTime::After, None, TaskState::Done)];
    let mut status = state(
        Verdict::Stuck,
        "ClusterStagedUpdateRun example-run is stuck (310 of 500 clusters done): west-010 and \
         west-011 of stage west have not finished for 6m12s.",
        vec![
            stage(
                "east",
                StageState::Done,
                clusters("east", &[(Done, 300)]),
                staging,
            ),
            stage(
                "west",
                StageState::Updating,
                clusters(
                    "west",
                    &[(Done, 10), (Stuck, 2), (Updating, 14), (Pending, 74)],
                ),
                vec![task(
                    TaskTime::Before,
                    Some("example-run-before-west"),
                    TaskState::Done,
                )],
            ),
            stage(
                "rest",
                StageState::Pending,
                clusters("rest", &[(Pending, 100)]),
                vec![task(
                    TaskTime::Before,
                    Some("example-run-before-rest"),
                    TaskState::Pending,
                )],
            ),
        ],
    );
    status.next = Some(CommandLine::fleet("diagnose").arg("example-run"));
    status
}

/// An approval and a timer after the same stage.
fn waiting() -> Status {
    use ClusterState::Done;
    let mut status = state(
        Verdict::WaitingForApproval,
        "ClusterStagedUpdateRun example-run waits for an approval.",
        vec![stage(
            "canary",
            StageState::WaitingAfter,
            clusters("canary", &[(Done, 2)]),
            vec![
                task(TaskTime::After, None, TaskState::Open),
                task(
                    TaskTime::After,
                    Some("example-run-after-canary"),
                    TaskState::Open,
                ),
            ],
        )],
    );
    let gate = |kind: &str| OpenGate {
        stage: "canary".to_owned(),
        when: TaskTime::After,
        kind: kind.to_owned(),
        since: Some("2026-01-09T01:12:30Z".parse().unwrap()),
        until: None,
        approval_request: None,
        approval: None,
        command: None,
    };
    status.gates = vec![
        OpenGate {
            until: Some("2026-01-09T02:30:00Z".parse().unwrap()),
            ..gate("TimedWait")
        },
        OpenGate {
            approval_request: Some("example-run-after-canary".to_owned()),
            approval: Some(GateState::Pending),
            command: Some(CommandLine::fleet("approve").arg("example-run-after-canary")),
            ..gate("Approval")
        },
    ];
    status.next = status.gates[1].command.clone();
    status
}

/// A placement whose clusters have different snapshots.
fn placement() -> Status {
    let has = |name: String, snapshot: Option<&str>, available, run: &str| PlacedCluster {
        name,
        snapshot: snapshot.map(str::to_owned),
        applied: available,
        available,
        diff_reported: None,
        written_by: snapshot.map(|_| run.to_owned()),
        removing: false,
    };
    let yes = Some(ConditionTruth::True);
    let mut clusters: Vec<_> = (0..40)
        .map(|at| has(format!("east-{at:03}"), Some("7"), yes, "example-run"))
        .collect();
    clusters.push(has("west-000".to_owned(), Some("6"), yes, "old-run"));
    clusters.push(PlacedCluster {
        applied: yes,
        ..has(
            "west-001".to_owned(),
            Some("7"),
            Some(ConditionTruth::False),
            "example-run",
        )
    });
    clusters.push(has("west-002".to_owned(), None, None, ""));
    Status {
        target: Subject::new("ClusterResourcePlacement", "", "example-placement"),
        clusters: Some(clusters),
        ..busy()
    }
}

/// Text from the cluster at its worst.
fn hostile() -> Status {
    let mut status = waiting();
    status.target = Subject::new("StagedUpdateRun", "ns", "x\u{1b}[2J\u{202e}y");
    "a\u{1b}]0;title\u{7}b\u{9b}31m\r\n映像を取得できません。レジストリの資格情報を確認してから、もう一度お試しください。🚀🚀".clone_into(&mut status.summary);
    let progress = status.progress.as_mut().unwrap();
    "クラスタ\u{1b}[31m".clone_into(&mut progress.placement);
    "\u{202e}yranac".clone_into(&mut progress.stages[0].name);
    "クラスタ-東京\u{200b}".clone_into(&mut progress.stages[0].clusters[0].name);
    progress.stages[0].clusters[0].snapshot = Some("\u{1b}[0m9".to_owned());
    progress.stages[0].tasks[1].approval_request = Some("a\nb".to_owned());
    "\u{202e}yranac".clone_into(&mut status.gates[0].stage);
    "\u{202e}yranac".clone_into(&mut status.gates[1].stage);
    status.gates[1].approval_request = Some("a\nb".to_owned());
    status.gates[1].command = Some(CommandLine::fleet("approve").arg("a\nrm -rf \u{1b}[0m"));
    status.next = status.gates[1].command.clone();
    status.not_checked = vec![NotChecked {
        what: "ClusterResourceBinding".to_owned(),
        why: "forbidden\u{1b}[1m: User \"a|b\"".to_owned(),
        subject: None,
        clusters: Vec::new(),
    }];
    status
}

#[test]
fn states_at_three_widths() {
    for width in [60, 80, 120] {
        for (name, case) in [("busy", busy()), ("placement", placement())] {
            let text = status(&case, &look(width, false));
            for line in text.lines() {
                let is_command = line.contains("kubectl fleet-stage");
                assert!(line.width() <= width || is_command, "{line}");
            }
            insta::assert_snapshot!(format!("status-{name}-{width}"), text);
        }
    }
}

/// A stage says at its end when it ends; one that waits for its tasks does not, and the next one counts
/// from its approval.
#[test]
fn ends_of_stages() {
    let mut case = waiting();
    let progress = case.progress.as_mut().unwrap();
    let clusters = clusters("prod", &[(ClusterState::Pending, 4)]);
    let prod = stage("prod", StageState::Pending, clusters, Vec::new());
    progress.stages.push(prod);
    let end = |stage: &str, after: Option<&str>| StageForecast {
        stage: stage.to_owned(),
        end: StageEnd {
            after_approval: after.map(str::to_owned),
            at_least: SignedDuration::from_secs(130),
            at_most: SignedDuration::from_secs(290),
            ..StageEnd::default()
        },
    };
    case.stage_ends = vec![
        end("canary", None),
        end("prod", Some("example-run-after-canary")),
    ];
    insta::assert_snapshot!("status-ends", status(&case, &look(80, false)));
}

#[test]
fn gates_and_timers() {
    insta::assert_snapshot!("status-waiting", status(&waiting(), &look(80, false)));
    let text = status(&waiting(), &look(80, true));
    insta::assert_snapshot!("status-waiting-colour", text.replace('\u{1b}', "ESC"));
    for (approval, words) in [
        (GateState::Withheld, "Approved is not True, which KubeFleet"),
        (GateState::Ignored, "approved for an outdated generation"),
        (GateState::Given, "approved, not yet reconciled"),
        (GateState::Missing, "does not exist"),
    ] {
        let mut case = waiting();
        case.gates[1].approval = Some(approval);
        let text = status(&case, &look(120, false));
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn hostile_text_in_a_state() {
    let text = status(&hostile(), &look(80, false));
    assert!(!text.chars().any(|c| c != '\n' && c.is_control()));
    assert!(!text.contains(['\u{202e}', '\u{200b}']));
    assert!(!verdict(&hostile()).chars().any(char::is_control));
    insta::assert_snapshot!("status-hostile", text);
}

#[test]
fn colour_changes_nothing_else() {
    for case in [busy(), waiting(), placement(), hostile()] {
        let coloured = status(&case, &look(80, true));
        assert!(coloured.contains('\u{1b}'));
        assert_eq!(plain(&coloured), status(&case, &look(80, false)));
    }
}

#[test]
fn everything_is_shown_on_demand() {
    let text = status(&busy(), &verbose(80));
    for name in ["east-000", "east-299", "west-099", "rest-099"] {
        assert!(text.contains(name), "{name}");
    }
    assert!(text.contains("example-run-before-rest") || text.contains("before: Approval"));
    assert!(!text.contains("-v shows"));
    let text = status(&placement(), &verbose(80));
    assert!(text.contains("east-039"));
}

#[test]
fn few_words_for_a_line() {
    assert_eq!(
        line(&busy()),
        "Stuck, stage west updating, 310/500 clusters done"
    );
    assert_eq!(
        line(&waiting()),
        "WaitingForApproval, stage canary waiting to finish, 2/2 clusters done, 30m left"
    );
}
