//! Reports made by hand, so that their look does not change with the words of a rule.

use kubectl_fleet_stage::report::{
    CausedBy, Effect, Evidence, Finding, NotChecked, Remedy, Report, RunFacts, Severity, Subject,
    Verdict,
};
use kubectl_fleet_stage::rollout::{
    ClusterProgress, ClusterState, GateFacts, GateState, StageProgress, StageState, TaskTime,
};
use kubectl_fleet_stage::words::CommandLine;

pub fn run() -> Subject {
    Subject::new("ClusterStagedUpdateRun", "", "example-run")
}

pub fn finding(code: &str, name: &str, severity: Severity, message: &str) -> Finding {
    Finding {
        code: code.to_owned(),
        name: name.to_owned(),
        fault: None,
        severity,
        root_cause: false,
        caused_by: Vec::new(),
        subject: run(),
        stage: None,
        clusters: Vec::new(),
        message: message.to_owned(),
        evidence: Vec::new(),
        remedies: Vec::new(),
        docs: format!("https://example.test/{code}.html"),
    }
}

fn evidence(object: &Subject, path: &str, value: &str) -> Evidence {
    Evidence {
        cluster: None,
        object: object.clone(),
        path: path.to_owned(),
        value: value.to_owned(),
        computed: false,
    }
}

fn remedy(action: &str, command: Option<CommandLine>, effect: Effect) -> Remedy {
    Remedy::new(action, command, effect)
}

pub fn names(prefix: &str, range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|at| format!("{prefix}-{at:02}")).collect()
}

fn clusters(prefix: &str, states: &[(ClusterState, usize)]) -> Vec<ClusterProgress> {
    let states = states
        .iter()
        .flat_map(|(state, count)| std::iter::repeat_n(*state, *count));
    states
        .enumerate()
        .map(|(at, state)| ClusterProgress {
            name: format!("{prefix}-{at:02}"),
            state,
            snapshot: Some(
                if at == 13 || state == ClusterState::NotReached {
                    "6"
                } else {
                    "7"
                }
                .to_owned(),
            ),
            started: None,
            ended: None,
        })
        .collect()
}

fn task(when: TaskTime, kind: &str, state: GateState, name: Option<&str>) -> GateFacts {
    GateFacts {
        when: Some(when),
        kind: kind.to_owned(),
        state,
        request: name.map(str::to_owned),
        until: (kind == "TimedWait" && state == GateState::Pending)
            .then(|| "2026-01-09T02:30:00Z".parse().unwrap()),
        ..GateFacts::default()
    }
}

fn stage(name: &str, state: StageState, clusters: Vec<ClusterProgress>) -> StageProgress {
    StageProgress {
        name: name.to_owned(),
        state,
        concurrency: 5,
        clusters,
        ..StageProgress::default()
    }
}

/// A run over 30 clusters that is stuck, with a consequence, notes and gaps.
pub fn stuck() -> Report {
    use ClusterState::{Done, NotReached as Pending, Stuck, Updating};
    let summary = "ClusterStagedUpdateRun example-run is stuck (14 of 30 clusters done): Deployment \
                   shop/web was applied but has not become available on 2 clusters for 12m.";
    let mut report = Report::new(run(), Verdict::Stuck, summary.to_owned());
    let mut staging = stage(
        "staging",
        StageState::Done,
        clusters("staging", &[(Done, 2)]),
    );
    staging.gates = vec![
        task(
            TaskTime::After,
            "Approval",
            GateState::Done,
            Some("example-run-after-staging"),
        ),
        task(TaskTime::After, "TimedWait", GateState::Done, None),
    ];
    let states = [(Done, 12), (Stuck, 2), (Updating, 3), (Pending, 9)];
    let mut production = stage(
        "production",
        StageState::Updating,
        clusters("prod", &states),
    );
    production.gates = vec![
        task(
            TaskTime::Before,
            "Approval",
            GateState::Done,
            Some("example-run-before-production"),
        ),
        task(TaskTime::After, "TimedWait", GateState::NotReached, None),
    ];
    let mut removal = stage(
        "kubernetes-fleet.io/deleteStage",
        StageState::NotReached,
        clusters("old", &[(Pending, 2)]),
    );
    removal.deletes = true;
    report.run = Some(RunFacts {
        object: run(),
        placement: "example-placement".to_owned(),
        strategy: "example-strategy".to_owned(),
        snapshot: Some("7".to_owned()),
        done: 14,
        total: 30,
        stages: vec![staging, production, removal],
        ..RunFacts::default()
    });

    let binding = Subject::new(
        "ClusterResourceBinding",
        "",
        "example-placement-prod-12-0f448a5f",
    );
    let work = Subject::new("Work", "fleet-member-prod-12", "example-placement-work");
    let mut root = finding(
        "FS501",
        "workload-not-available",
        Severity::Error,
        "Deployment shop/web was applied but has not become available on 2 clusters for 12m.",
    );
    root.root_cause = true;
    root.stage = Some("production".to_owned());
    root.clusters = names("prod", 12..14);
    root.evidence = vec![
        evidence(
            &binding,
            "status.conditions[type=Available].status",
            "False",
        ),
        evidence(
            &binding,
            "status.conditions[type=Available].message",
            "Work object example-placement-work is not yet available",
        ),
        evidence(
            &work,
            "status.manifestConditions[0].conditions[type=Available].message",
            "",
        ),
    ];
    root.remedies = vec![
        remedy(
            "Look at the pods of prod-12.",
            Some(
                CommandLine::member("prod-12", "get")
                    .arg("pods")
                    .namespace("shop"),
            ),
            Effect::ReadOnly,
        ),
        remedy(
            "Mend shop/web on the hub and roll it out with a new run.",
            Some(CommandLine::fleet("run").flag("--from", "example-run")),
            Effect::Changes,
        ),
        remedy(
            "Go back to the content before.",
            Some(CommandLine::fleet("rollback").arg("example-run")),
            Effect::Disruptive,
        ),
    ];
    let mut echo = finding(
        "FS516",
        "slots-taken",
        Severity::Warning,
        "All 5 slots of stage production are taken, so 9 clusters wait.",
    );
    echo.caused_by = vec![CausedBy {
        code: "FS501".to_owned(),
        subject: run(),
    }];
    echo.clusters = names("prod", 17..26);
    echo.remedies = vec![remedy(
        "Nothing: it ends with its cause.",
        None,
        Effect::ReadOnly,
    )];
    let mut note = finding(
        "FS704",
        "snapshot-about-to-be-pruned",
        Severity::Info,
        "Snapshot 6 is the next to be pruned.",
    );
    note.subject = Subject::new(
        "ClusterResourceSnapshot",
        "",
        "example-placement-6-snapshot",
    );
    report.findings = vec![root, echo, note];
    let gap = |what: &str, why: &str| NotChecked {
        what: what.to_owned(),
        why: why.to_owned(),
        subject: None,
        clusters: Vec::new(),
    };
    report.not_checked = vec![
        gap("ClusterApprovalRequest", "not collected"),
        gap("MemberCluster", "not collected"),
        NotChecked {
            clusters: names("prod", 12..14),
            ..gap(
                "Work",
                "forbidden: cannot list works in fleet-member-prod-12",
            )
        },
    ];
    report.as_of = Some("2026-01-09T02:00:00Z".parse().unwrap());
    report
}

/// A run that waits for an approval and a timer, without any finding but the expected one.
pub fn waiting() -> Report {
    let summary =
        "ClusterStagedUpdateRun example-run waits for an approval (1 of 2 clusters done).";
    let mut report = Report::new(run(), Verdict::WaitingForApproval, summary.to_owned());
    let mut staging = stage(
        "staging",
        StageState::WaitingAfter,
        clusters("staging", &[(ClusterState::Done, 1)]),
    );
    staging.gates = vec![
        task(
            TaskTime::After,
            "Approval",
            GateState::Pending,
            Some("example-run-after-staging"),
        ),
        task(TaskTime::After, "TimedWait", GateState::Pending, None),
    ];
    let canary = stage(
        "canary",
        StageState::NotReached,
        clusters("canary", &[(ClusterState::NotReached, 1)]),
    );
    report.run = Some(RunFacts {
        object: run(),
        placement: "example-placement".to_owned(),
        strategy: "example-strategy".to_owned(),
        snapshot: Some("7".to_owned()),
        done: 1,
        total: 2,
        stages: vec![staging, canary],
        ..RunFacts::default()
    });
    let mut pending = finding(
        "FS402",
        "approval-pending",
        Severity::Info,
        "example-run-after-staging waits for an approval.",
    );
    pending.root_cause = true;
    pending.subject = Subject::new("ClusterApprovalRequest", "", "example-run-after-staging");
    pending.remedies = vec![remedy(
        "Approve.",
        Some(CommandLine::fleet("approve").arg("example-run-after-staging")),
        Effect::Changes,
    )];
    report.findings = vec![pending];
    report
}

/// Text from the cluster at its worst.
pub fn hostile() -> Report {
    let mut report = stuck();
    report.target = Subject::new("StagedUpdateRun", "ns", "x\u{1b}[2J\u{202e}y");
    report.summary = String::from("a\u{1b}]0;title\u{7}b\u{9b}31m\r\nzero\u{200b}width");
    report.run = None;
    let mut cjk = finding(
        "FS501",
        "workload-not-available",
        Severity::Error,
        "映像を取得できません。レジストリの資格情報を確認してから、もう一度お試しください。🚀🚀🚀 🏳\u{fe0f} 이미지를 가져올 수 없습니다 end",
    );
    cjk.clusters = vec!["クラスタ-東京".to_owned(), "cluster|pipe".to_owned()];
    cjk.evidence = vec![Evidence {
        cluster: None,
        object: Subject::new("Pod", "a`b", "<img src=x>"),
        path: "status.`x`".to_owned(),
        value: "back``quote | pipe\nnext <b>line</b> @someone #1 \u{2066}iso\u{2069} ".to_owned()
            + &"long ".repeat(60),
        computed: false,
    }];
    cjk.remedies = vec![remedy(
        "Look at `kubectl get <pods>` and <script>, or `open",
        Some(CommandLine::fleet("status").arg("x\u{1b}[0m\nrm -rf")),
        Effect::ReadOnly,
    )];
    report.findings = vec![cjk];
    report.not_checked = vec![NotChecked {
        what: "Work".to_owned(),
        why: "forbidden\u{1b}[1m: User \"a|b\"".to_owned(),
        subject: Some(Subject::new("Work", "fleet-member-x", "w")),
        clusters: Vec::new(),
    }];
    report
}
