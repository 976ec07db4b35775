use jiff::Timestamp;

use super::{
    AwaitedTask, ClusterProgress, ClusterState, GateFacts, GateState, StagePart, StageProgress,
    StageState, TaskTime, TimeSpan, Timeline, TimelineWaiter,
};

fn at(minute: i64) -> Timestamp {
    Timestamp::from_second(1_767_924_000 + 60 * minute).unwrap()
}

fn cluster(name: &str, state: ClusterState, from: Option<i64>, to: Option<i64>) -> ClusterProgress {
    ClusterProgress {
        name: name.to_owned(),
        state,
        snapshot: None,
        started: from.map(at),
        ended: to.map(at),
    }
}

fn task(when: TaskTime, kind: &str, state: GateState) -> GateFacts {
    GateFacts {
        when: Some(when),
        kind: kind.to_owned(),
        state,
        request: (kind == "Approval").then(|| "web-after-canary".to_owned()),
        ..GateFacts::default()
    }
}

fn stage(name: &str, state: StageState, clusters: Vec<ClusterProgress>) -> StageProgress {
    StageProgress {
        name: name.to_owned(),
        state,
        concurrency: 1,
        started: clusters.iter().filter_map(|one| one.started).min(),
        ended: None,
        clusters,
        ..StageProgress::default()
    }
}

#[allow(clippy::unnecessary_wraps)] // as the fields are
fn span(from: i64, until: i64, open: bool) -> Option<TimeSpan> {
    Some(TimeSpan {
        from: at(from),
        until: at(until),
        open,
    })
}

/// A canary that is done and waits for its approval, and two stages behind it.
fn waiting() -> Vec<StageProgress> {
    let mut canary = stage(
        "canary",
        StageState::WaitingAfter,
        vec![
            cluster("a", ClusterState::Done, Some(0), Some(2)),
            cluster("b", ClusterState::Done, Some(2), Some(5)),
        ],
    );
    let mut wait = task(TaskTime::After, "TimedWait", GateState::Done);
    wait.ended = Some(at(15));
    let mut approval = task(TaskTime::After, "Approval", GateState::Pending);
    approval.since = Some(at(5));
    canary.gates = vec![wait, approval];
    let pending = || vec![cluster("c", ClusterState::NotReached, None, None)];
    vec![
        canary,
        stage("prod", StageState::NotReached, pending()),
        stage("rest", StageState::NotReached, pending()),
    ]
}

#[test]
fn nothing_is_drawn_of_what_has_not_begun() {
    let pending = vec![cluster("a", ClusterState::NotReached, None, None)];
    let progress = vec![stage("canary", StageState::NotReached, pending)];
    assert_eq!(Timeline::new(&progress, None, at(9)), None);
}

#[test]
fn a_gate_is_waited_for_until_now() {
    let progress = waiting();
    let timeline = Timeline::new(&progress, None, at(30)).unwrap();
    assert_eq!((timeline.from, timeline.until), (at(0), at(30)));
    assert!(!timeline.is_over);
    let canary = &timeline.stages[0];
    assert_eq!(canary.span, span(0, 30, true));
    let spans: Vec<_> = canary.steps.iter().map(|step| step.span).collect();
    let updates = [span(0, 2, false), span(2, 5, false)];
    assert_eq!(spans[..2], updates);
    // The wait that is over began when the last cluster was done.
    assert_eq!(spans[2..], [span(5, 15, false), span(5, 30, true)]);
    assert_eq!(timeline.stages[1].span, None);
    // First what is waited for now, the stages behind the one that holds them up among it.
    let waits = timeline.waits.iter().map(|wait| {
        let (TimelineWaiter::Stage(who) | TimelineWaiter::Clusters(who, _)) = &wait.who;
        let on = match &wait.on {
            AwaitedTask::Gate(task) => task.kind.as_str(),
            AwaitedTask::Stage(stage) => stage.name.as_str(),
            AwaitedTask::Clusters(_, names) => names[0],
            AwaitedTask::Slot(_) => "slot",
        };
        (who.name.as_str(), on, wait.open, wait.span)
    });
    let waits: Vec<_> = waits.collect();
    let wanted = [
        ("canary", "Approval", true, span(5, 30, true)),
        ("prod", "canary", true, None),
        ("rest", "prod", true, None),
        ("canary", "TimedWait", false, span(5, 15, false)),
    ];
    assert_eq!(waits, wanted);
}

#[test]
fn a_cluster_waits_for_a_slot_that_another_one_leaves() {
    let clusters = vec![
        cluster("a", ClusterState::Done, Some(0), Some(4)),
        cluster("b", ClusterState::Stuck, Some(0), None),
        cluster("c", ClusterState::Updating, Some(4), None),
        cluster("d", ClusterState::NotReached, None, None),
        cluster("e", ClusterState::Updating, Some(4), None),
    ];
    let mut canary = stage("canary", StageState::Updating, clusters);
    canary.concurrency = 2;
    let progress = vec![canary];
    let timeline = Timeline::new(&progress, None, at(10)).unwrap();
    let steps = &timeline.stages[0].steps;
    for (step, slot, slot_of) in [
        (0, None, None),
        (1, None, None),
        (2, span(0, 4, false), Some("a")),
        (3, span(0, 10, true), None),
    ] {
        let found = (steps[step].slot, steps[step].slot_of);
        assert_eq!(found, (slot, slot_of), "{step}");
    }
    // The slots are in use.
    let slot = timeline.waits.last().unwrap();
    assert_eq!(slot.on, AwaitedTask::Slot(vec!["b", "c", "e"]));
    assert!(matches!(&slot.who, TimelineWaiter::Clusters(_, names) if *names == ["d"]));
    let updates = timeline.waits.iter().filter_map(|wait| match &wait.on {
        AwaitedTask::Clusters(_, names) => Some((names.clone(), wait.span)),
        _ => None,
    });
    let updates: Vec<_> = updates.collect();
    let (first, second) = (span(0, 10, true), span(4, 10, true));
    assert_eq!(updates, [(vec!["b"], first), (vec!["c", "e"], second)]);
}

#[test]
fn a_run_that_is_over_ends_its_timeline() {
    let clusters = vec![
        cluster("a", ClusterState::Done, Some(0), Some(4)),
        cluster("b", ClusterState::Left, Some(4), None),
        cluster("c", ClusterState::NotReached, None, None),
    ];
    let progress = [stage("canary", StageState::AbortedUpdating, clusters)];
    let timeline = Timeline::new(&progress, Some(at(12)), at(5000)).unwrap();
    assert!(timeline.is_over);
    assert_eq!(timeline.until, at(12));
    let steps = &timeline.stages[0].steps;
    assert_eq!(steps[1].span, span(4, 12, false));
    assert_eq!(steps[2].slot, None);
    assert!(timeline.waits.is_empty(), "{:?}", timeline.waits);
}

#[test]
fn a_clock_that_is_behind_turns_nothing_around() {
    let progress = waiting();
    let timeline = Timeline::new(&progress, None, at(-60)).unwrap();
    assert_eq!((timeline.from, timeline.until), (at(0), at(15)));
    for step in timeline.stages.iter().flat_map(|line| &line.steps) {
        if let Some(span) = step.span {
            assert!(span.from <= span.until && span.until <= timeline.until);
        }
        assert!(!matches!(step.what, StagePart::Gate(_)) || step.slot.is_none());
    }
}
