//! States as people see them, live: at three widths, with and without color.

use jiff::SignedDuration;
use kubectl_fleet_stage::diagnose::status::{PlacedCluster, Status};
use kubectl_fleet_stage::kubefleet::ConditionStatus;
use kubectl_fleet_stage::render::status::{line, status, verdict};
use kubectl_fleet_stage::report::{NotChecked, RunFacts, Subject, TypeMeta, Verdict};
use kubectl_fleet_stage::rollout::{
    ClusterProgress, ClusterState, GateFacts, GateState, StageEnd, StageProgress, StageState,
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
            snapshot: (state != ClusterState::NotReached).then(|| "7".to_owned()),
            started: (state != ClusterState::NotReached)
                .then(|| "2026-01-09T01:53:48Z".parse().unwrap()),
            ended: None,
        })
        .collect()
}

fn stage(
    name: &str,
    state: StageState,
    clusters: Vec<ClusterProgress>,
    tasks: Vec<GateFacts>,
) -> StageProgress {
    StageProgress {
        name: name.to_owned(),
        state,
        concurrency: 30,
        clusters,
        gates: tasks,
        started: (state != StageState::NotReached).then(|| "2026-01-09T00:40:00Z".parse().unwrap()),
        ended: (state == StageState::Done).then(|| "2026-01-09T01:12:30Z".parse().unwrap()),
        ..StageProgress::default()
    }
}

fn task(when: TaskTime, request: Option<&str>, state: GateState) -> GateFacts {
    GateFacts {
        when: Some(when),
        kind: if request.is_some() {
            "Approval"
        } else {
            "TimedWait"
        }
        .to_owned(),
        state,
        request: request.map(str::to_owned),
        until: (request.is_none() && state == GateState::Pending)
            .then(|| "2026-01-09T02:30:00Z".parse().unwrap()),
        ..GateFacts::default()
    }
}

fn state(verdict: Verdict, summary: &str, stages: Vec<StageProgress>) -> Status {
    let total = stages.iter().map(|stage| stage.clusters.len()).sum();
    Status {
        meta: TypeMeta::new("Status"),
        hub: None,
        target: Subject::new("ClusterStagedUpdateRun", "", "example-run"),
        verdict,
        summary: summary.to_owned(),
        next: None,
        run: Some(RunFacts {
            object: Subject::new("ClusterStagedUpdateRun", "", "example-run"),
            requested_state: Some("Run".to_owned()),
            initialized: true,
            begun: true,
            observed: true,
            placement: "example-placement".to_owned(),
            strategy: "example-strategy".to_owned(),
            snapshot: Some("7".to_owned()),
            done: stages.iter().map(StageProgress::done).sum(),
            total,
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

/// A big fleet in the middle: one stage of 300 clusters behind it, one at work, one ahead.
fn busy() -> Status {
    use ClusterState::{Done, NotReached as Pending, Stuck, Updating};
    let staging = vec![task(TaskTime::After, None, GateState::Done)];
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
                    GateState::Done,
                )],
            ),
            stage(
                "rest",
                StageState::NotReached,
                clusters("rest", &[(Pending, 100)]),
                vec![task(
                    TaskTime::Before,
                    Some("example-run-before-rest"),
                    GateState::NotReached,
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
                task(TaskTime::After, None, GateState::Pending),
                task(
                    TaskTime::After,
                    Some("example-run-after-canary"),
                    GateState::Pending,
                ),
            ],
        )],
    );
    let gate = |kind: &str| GateFacts {
        stage: "canary".to_owned(),
        when: Some(TaskTime::After),
        kind: kind.to_owned(),
        since: Some("2026-01-09T01:12:30Z".parse().unwrap()),
        until: None,
        ..GateFacts::default()
    };
    status.gates = vec![
        GateFacts {
            until: Some("2026-01-09T02:30:00Z".parse().unwrap()),
            ..gate("TimedWait")
        },
        GateFacts {
            request: Some("example-run-after-canary".to_owned()),
            state: GateState::Pending,
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
        undelivered: None,
        name,
        snapshot: snapshot.map(str::to_owned),
        applied: available,
        available,
        diff_reported: None,
        written_by: snapshot.map(|_| run.to_owned()),
        removing: false,
        unselected: false,
    };
    let yes = Some(ConditionStatus::True);
    let mut clusters: Vec<_> = (0..40)
        .map(|at| has(format!("east-{at:03}"), Some("7"), yes, "example-run"))
        .collect();
    clusters.push(has("west-000".to_owned(), Some("6"), yes, "old-run"));
    clusters.push(PlacedCluster {
        undelivered: None,
        applied: yes,
        ..has(
            "west-001".to_owned(),
            Some("7"),
            Some(ConditionStatus::False),
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
    let progress = status.run.as_mut().unwrap();
    "クラスタ\u{1b}[31m".clone_into(&mut progress.placement);
    "\u{202e}yranac".clone_into(&mut progress.stages[0].name);
    "クラスタ-東京\u{200b}".clone_into(&mut progress.stages[0].clusters[0].name);
    progress.stages[0].clusters[0].snapshot = Some("\u{1b}[0m9".to_owned());
    progress.stages[0].gates[1].request = Some("a\nb".to_owned());
    "\u{202e}yranac".clone_into(&mut status.gates[0].stage);
    "\u{202e}yranac".clone_into(&mut status.gates[1].stage);
    status.gates[1].request = Some("a\nb".to_owned());
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
    let progress = case.run.as_mut().unwrap();
    let clusters = clusters("prod", &[(ClusterState::NotReached, 4)]);
    let prod = stage("prod", StageState::NotReached, clusters, Vec::new());
    progress.stages.push(prod);
    let ends = [None, Some("example-run-after-canary")];
    for (stage, after) in progress.stages.iter_mut().zip(ends) {
        stage.ends = Some(StageEnd {
            after_approval: after.map(str::to_owned),
            at_least: SignedDuration::from_secs(130),
            at_most: SignedDuration::from_secs(290),
            ..StageEnd::default()
        });
    }
    insta::assert_snapshot!("status-ends", status(&case, &look(80, false)));
}

#[test]
fn gates_and_timers() {
    insta::assert_snapshot!("status-waiting", status(&waiting(), &look(80, false)));
    let text = status(&waiting(), &look(80, true));
    insta::assert_snapshot!("status-waiting-colour", text.replace('\u{1b}', "ESC"));
    for (approval, words) in [
        (GateState::Withheld, "Approved is not True, which KubeFleet"),
        (GateState::Ignored, "approved, but not for its generation"),
        (GateState::Approved, "approved, not yet reconciled"),
        (GateState::Missing, "does not exist"),
    ] {
        let mut case = waiting();
        case.gates[1].state = approval;
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
