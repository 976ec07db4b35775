use std::fmt::Write as _;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use textwrap::core::display_width;

use super::{BarFrame, BarRun, all_bars, bars, meter};
use crate::diagnose::status::Status;
use crate::render::status::changes::tests::{cluster, gate, stage, status};
use crate::render::style::TextPaint;
use crate::report::Verdict;
use crate::rollout::{
    ClusterProgress, ClusterState, GateFacts, GateState, StageProgress, StageState, TaskTime,
};

const PLAIN: BarFrame<'static> = BarFrame {
    wanted: "succeeded",
    away: &[],
    columns: 77,
    rows: 23,
    paint: TextPaint::new(false),
};

fn clusters(prefix: &str, states: &[(usize, ClusterState)]) -> Vec<ClusterProgress> {
    let all = states.iter();
    let all = all.flat_map(|(many, state)| std::iter::repeat_n(*state, *many));
    let named = (1..).zip(all);
    let named = named.map(|(at, state)| cluster(&format!("{prefix}-{at}"), state));
    named.collect()
}

fn drawn(name: &str, state: StageState, states: &[(usize, ClusterState)]) -> StageProgress {
    StageProgress {
        concurrency: 10,
        ..stage(name, state, clusters(name, states), Vec::new())
    }
}

/// Five stages, a thousand clusters, the third stage under way.
fn fleet() -> Status {
    use ClusterState::{Done, NotReached as Pending, Stuck, Updating};
    let stages = vec![
        drawn("staging", StageState::Done, &[(10, Done)]),
        drawn("canary", StageState::Done, &[(90, Done)]),
        drawn(
            "prod-europe",
            StageState::Updating,
            &[(180, Done), (2, Stuck), (6, Updating), (262, Pending)],
        ),
        drawn("prod-america", StageState::NotReached, &[(300, Pending)]),
        drawn(
            "prod-asia-and-everything-else",
            StageState::NotReached,
            &[(150, Pending)],
        ),
    ];
    let mut status = status(Verdict::Stuck, stages);
    if let Some(progress) = &mut status.run {
        progress.done = 280;
    }
    status
}

fn ago(status: &Status, minutes: i64) -> Timestamp {
    status.as_of - SignedDuration::from_mins(minutes)
}

/// A run that waits at two gates of its second stage.
fn gated() -> Status {
    use ClusterState::{Done, NotReached as Pending};
    let stages = vec![
        drawn("staging", StageState::Done, &[(10, Done)]),
        drawn("canary", StageState::WaitingAfter, &[(90, Done)]),
        drawn("prod", StageState::NotReached, &[(900, Pending)]),
    ];
    let mut status = status(Verdict::WaitingForApproval, stages);
    let approval = GateFacts {
        when: Some(TaskTime::After),
        since: Some(ago(&status, 9)),
        request: Some("example-run-after-canary".to_owned()),
        ..gate(GateState::Pending)
    };
    let timer = GateFacts {
        kind: "TimedWait".to_owned(),
        until: Some(status.as_of + SignedDuration::from_mins(12)),
        request: None,
        state: GateState::Pending,
        ..approval.clone()
    };
    status.gates = vec![timer, approval];
    status
}

#[test]
fn a_fleet_is_drawn_at_every_width() {
    let mut shown = String::new();
    for columns in [157, 77, 57, 37, 17] {
        let frame = BarFrame { columns, ..PLAIN };
        for status in [fleet(), gated()] {
            let lines = bars(&status, &frame).join("\n");
            let _ = write!(shown, "-- {columns}\n{lines}\n");
        }
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn stages_around_the_current_one_are_drawn_and_the_others_counted() {
    let mut status = fleet();
    let progress = status.run.as_mut().unwrap();
    let ahead = [(4, ClusterState::NotReached)];
    let others = ('a'..='t').map(|name| format!("later-{name}"));
    let others = others.map(|name| drawn(&name, StageState::NotReached, &ahead));
    progress.stages.extend(others);
    let mut shown = String::new();
    for rows in [1, 2, 3, 4, 5, 8, 12, 40] {
        let frame = BarFrame {
            rows,
            away: &["the hub is away".to_owned()],
            ..PLAIN
        };
        let lines = bars(&status, &frame);
        assert!(lines.len() <= rows, "{rows}: {lines:?}");
        let _ = write!(shown, "-- {rows}\n{}\n", lines.join("\n"));
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn several_runs_share_the_rows() {
    let (first, second) = (fleet(), gated());
    let over = status(Verdict::Succeeded, Vec::new());
    let run = |label, status, is_over| BarRun {
        label,
        status,
        is_over,
    };
    let runs = [
        run("web-7", Some(&first), false),
        run("search-3", Some(&over), true),
        run("eu: shop-14", Some(&second), false),
        run("old-1", None, true),
    ];
    let mut shown = String::new();
    for rows in [1, 2, 4, 6, 9, 12, 24] {
        let frame = BarFrame { rows, ..PLAIN };
        let lines = all_bars(&runs, &["asia"], &frame);
        assert!(lines.len() <= rows, "{rows}: {lines:?}");
        let _ = write!(shown, "-- {rows}\n{}\n", lines.join("\n"));
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn what_a_gate_waits_for_is_said() {
    let mut status = gated();
    let long = format!("{}-after-canary", "release".repeat(12));
    let mut lines = Vec::new();
    for approval in [
        GateState::Pending,
        GateState::Approved,
        GateState::Ignored,
        GateState::Withheld,
        GateState::Missing,
        GateState::Foreign,
        GateState::Unknown,
    ] {
        status.gates.truncate(2);
        status.gates[1].state = approval;
        lines.extend(bars(&status, &PLAIN));
    }
    status.gates[1].request = Some(long);
    lines.extend(bars(&status, &PLAIN));
    lines.retain(|line| line.contains("approval "));
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn colour_follows_the_palette_and_adds_no_text() {
    let painted = BarFrame {
        paint: TextPaint::new(true),
        ..PLAIN
    };
    let lines = bars(&fleet(), &painted);
    let stuck = lines.iter().find(|line| line.contains("2 stuck")).unwrap();
    let red = TextPaint::new(true).error("2 stuck: prod-europe-181, prod-europe-182");
    assert_eq!(*stuck, format!("  {red}"));
    for (painted, plain) in lines.iter().zip(bars(&fleet(), &PLAIN)) {
        assert_eq!(display_width(painted), display_width(&plain));
    }
}

#[test]
fn a_run_without_stages_is_a_line() {
    let mut status = status(Verdict::Initializing, Vec::new());
    let frame = BarFrame {
        wanted: "initialized",
        ..PLAIN
    };
    let line = ["waiting for initialized: Initializing"];
    assert_eq!(bars(&status, &frame), line);
    status.run = None;
    assert_eq!(bars(&status, &frame), line);
}

#[test]
fn text_from_clusters_is_harmless() {
    use ClusterState::Stuck;
    let evil = "x\u{1b}[2J\n\u{202e}y";
    let stage = drawn(evil, StageState::Updating, &[(1, Stuck)]);
    let mut status = status(Verdict::Stuck, vec![stage]);
    status.gates = vec![GateFacts {
        stage: evil.to_owned(),
        request: Some(evil.to_owned()),
        ..gate(GateState::Pending)
    }];
    let away = &[evil.to_owned()];
    let lines = bars(&status, &BarFrame { away, ..PLAIN });
    assert!(lines.len() > 3, "{lines:?}");
    for line in lines {
        assert!(!line.contains(['\u{1b}', '\n', '\u{202e}']), "{line:?}");
    }
}

#[test]
fn a_meter_is_full_only_when_all_is_done() {
    use ClusterState::{Done, NotReached as Pending, Stuck, Updating};
    for (states, shown) in [
        (&[(1, Done)][..], "=========="),
        (&[(1000, Pending)], "----------"),
        (&[(999, Done), (1, Pending)], "=========-"),
        (&[(999, Done), (1, Stuck)], "=========!"),
        (&[(1, Done), (999, Pending)], "=---------"),
        (
            &[(500, Done), (1, Updating), (1, Stuck), (498, Pending)],
            "=====>!---",
        ),
        (&[(5, Done), (5, Updating)], "=====>>>>>"),
        (&[], "----------"),
    ] {
        let stage = drawn("a", StageState::Updating, states);
        let meter = meter::meter(&stage, 10, TextPaint::new(false));
        assert_eq!(meter, shown, "{states:?}");
    }
}

proptest! {
    /// Whatever the terminal, the names and the numbers.
    #[test]
    fn nothing_is_wider_or_higher_than_the_terminal(
        columns in 9usize..200,
        rows in 0usize..30,
        names in prop::collection::vec("[a-z日🚀-]{0,70}", 0..8),
        many in prop::collection::vec(0usize..40, 6),
        at in 0usize..8,
        painted in any::<bool>(),
    ) {
        use ClusterState::{Done, Failed, Left, NotReached as Pending, Stuck, Updating};
        let states = [Done, Failed, Left, Pending, Stuck, Updating];
        let states: Vec<_> = many.into_iter().zip(states).collect();
        let state = |stage: usize| match stage.cmp(&at) {
            std::cmp::Ordering::Less => StageState::Done,
            std::cmp::Ordering::Equal => StageState::Updating,
            std::cmp::Ordering::Greater => StageState::NotReached,
        };
        let stages = names.iter().enumerate();
        let stages = stages.map(|(at, name)| drawn(name, state(at), &states)).collect();
        let mut status = status(Verdict::Progressing, stages);
        status.gates = names.iter().map(|name| GateFacts {
            stage: name.clone(),
            request: Some(name.repeat(2)),
            ..gate(GateState::Pending)
        }).collect();
        let away = names.first().map(std::slice::from_ref).unwrap_or_default();
        let frame = BarFrame { columns, rows, away, wanted: "stage=x", paint: TextPaint::new(painted) };
        let runs: Vec<_> = names.iter().enumerate().map(|(place, label)| BarRun {
            label,
            status: (place != 3).then_some(&status),
            is_over: place % 3 == 1,
        }).collect();
        let pending: Vec<_> = names.iter().map(String::as_str).collect();
        for lines in [bars(&status, &frame), all_bars(&runs, &pending, &frame)] {
            prop_assert!(lines.len() <= rows);
            for line in lines {
                prop_assert!(display_width(&line) <= columns, "{line:?}");
            }
        }
    }
}
