//! Somebody else acts while a question is open: what was agreed to is not what would happen.

use std::collections::BTreeMap;

use serde_json::json;
use test_hub::terminal::Terminal;
use test_hub::waiting;

use super::super::{ALL, BEFORE, flat, gated};
use super::tabled;
use crate::scene::Scene;
use crate::write::desk::Desk;

/// A command that asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Asks {
    Approve,
    Start,
    Make,
    Rollback,
    Delete,
}

pub(super) const ASKS: [(Asks, &str); 5] = [
    (Asks::Approve, "approve"),
    (Asks::Start, "run RUN"),
    (Asks::Make, "run NEW"),
    (Asks::Rollback, "rollback"),
    (Asks::Delete, "delete"),
];

/// What somebody else does meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// Nothing.
    Nothing,
    /// Another run on the placement is made.
    Run,
    /// A cluster gets a newer snapshot.
    Cluster,
    /// The run that it is about, or that is under way beside it, gets another state.
    State,
}

const EVENTS: [(Event, &str); 4] = [
    (Event::Nothing, "nothing"),
    (Event::Run, "another run is created on the placement"),
    (Event::Cluster, "a cluster gets a newer snapshot"),
    (
        Event::State,
        "the run, or one beside it, is stopped or started",
    ),
];

/// What the command does with the answer `y`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cell {
    Sent,
    /// Somebody else did it already.
    Settled,
    AskedAgain,
    Refused,
}

/// The cells of each, in both scopes.
pub(super) type Table = BTreeMap<(Asks, bool), Vec<Cell>>;

/// Tries a question with every event.
pub(super) fn tried(asks: Asks, scene: &Scene) -> Vec<Cell> {
    scene.set(&gated(&[(0, BEFORE)]), &ALL);
    let desk = Desk::at(scene);
    let busy = format!("{}-busy", scene.name);
    scene.run_to_gate(&busy);
    let idle = format!("{}-idle", scene.name);
    scene.run_to_start(&idle);
    let placement = scene.placement_word();
    // What nothing overtakes is sent, and comes last.
    let events = EVENTS.iter().rev();
    let mut cells: Vec<_> = events
        .map(|(event, name)| {
            let new = format!("{}-new", scene.name);
            if asks == Asks::Delete {
                // What was sent before is done.
                again(scene, &idle);
            }
            let words: Vec<&str> = match asks {
                Asks::Approve => vec!["approve", &busy],
                Asks::Start => vec!["run", &idle],
                Asks::Make => [&["run", &new], &scene.of()[..]].concat(),
                Asks::Rollback => vec![
                    "rollback",
                    &placement,
                    "--to",
                    "0",
                    "--name",
                    &new,
                    "--strategy",
                    &scene.name,
                ],
                Asks::Delete => vec!["delete", &idle],
            };
            let words = [&words[..], &["--wait=false"]].concat();
            let what = format!("{asks:?} with {event:?}, namespaced: {}", scene.namespaced);
            let cell = answer(&what, *event, &words, &desk, &busy, &idle);
            eprintln!("{what} ({name}): {cell:?}");
            cell
        })
        .collect();
    cells.reverse();
    assert_eq!(cells[0], Cell::Sent, "{asks:?}");
    cells
}

/// Makes the initialized run again, where it is gone or about to be.
fn again(scene: &Scene, idle: &str) {
    let path = scene.run_path(idle);
    let there = scene.hub.read(&path);
    if there.is_some_and(|run| run["metadata"]["deletionTimestamp"].is_null()) {
        return;
    }
    scene.until_gone(&path, &serde_json::Value::Null);
    scene.run_to_start(idle);
}

/// Answers a question with yes after an event.
#[allow(clippy::too_many_arguments)] // each is another thing
fn answer(
    what: &str,
    event: Event,
    words: &[&str],
    desk: &Desk<'_>,
    busy: &str,
    idle: &str,
) -> Cell {
    let scene = desk.scene;
    desk.proxy.clear().unwrap();
    let mut terminal = desk.terminal(words);
    terminal.until("[y/N] ");
    let undo = happens(event, scene, busy, idle);
    terminal.types("y\n");
    let asked = |terminal: &Terminal| terminal.shown().matches("[y/N] ").count() > 1;
    waiting::until_so(
        || format!("{what}: it asks again or ends"),
        || asked(&terminal) || terminal.has_ended(),
    );
    let again = asked(&terminal);
    if again {
        terminal.types("n\n");
    }
    let (code, shown) = terminal.end();
    let shown = flat(&shown);
    let cell = match (again, code, desk.writes().is_empty()) {
        (true, ..) => Cell::AskedAgain,
        (false, 0, true) => Cell::Settled,
        (false, 0, false) => Cell::Sent,
        (false, ..) => Cell::Refused,
    };
    match cell {
        Cell::Sent => {}
        Cell::Settled => assert!(
            shown.contains("changed while you were asked"),
            "{what}:\n{shown}"
        ),
        Cell::AskedAgain => {
            assert_eq!(code, 1, "{what}:\n{shown}");
            assert!(
                shown.contains("changed while you were asked"),
                "{what}:\n{shown}"
            );
            assert!(shown.contains("nothing was sent"), "{what}:\n{shown}");
        }
        Cell::Refused => {
            assert!([1, 7].contains(&code), "{what}: {code}\n{shown}");
            assert!(shown.contains("nothing was sent"), "{what}:\n{shown}");
        }
    }
    if cell != Cell::Sent {
        assert!(desk.writes().is_empty(), "{what}: {:?}", desk.writes());
    }
    undo();
    cell
}

/// Does what somebody else does; what takes it back.
fn happens<'s>(event: Event, scene: &'s Scene, busy: &str, idle: &str) -> Box<dyn FnOnce() + 's> {
    match event {
        Event::Nothing => Box::new(|| {}),
        Event::Run => {
            let other = format!("{}-other", scene.name);
            scene.run_to_start(&other);
            let path = scene.run_path(&other);
            Box::new(move || {
                scene.hub.delete(&path);
                scene.until_gone(&path, &serde_json::Value::Null);
            })
        }
        Event::Cluster => {
            let (path, before) = scene.a_binding("member-3");
            let newer = format!("{}-7-snapshot", scene.name);
            let set = move |name: &serde_json::Value| {
                scene
                    .hub
                    .patch(&path, &json!({"spec": {"resourceSnapshotName": name}}));
            };
            set(&json!(newer));
            Box::new(move || set(&before["spec"]["resourceSnapshotName"]))
        }
        Event::State => {
            let [busy, idle] = [busy, idle].map(|run| scene.run_path(run));
            // One of them is what each of the commands is about.
            scene.hub.patch(&busy, &json!({"spec": {"state": "Stop"}}));
            scene.hub.patch(&idle, &json!({"spec": {"state": "Run"}}));
            Box::new(move || {
                scene.hub.patch(&busy, &json!({"spec": {"state": "Run"}}));
                // An initialized run cannot be had back from one that was started.
                scene.hub.delete(&idle);
                again(scene, idle.rsplit('/').next().unwrap());
                let busy = busy.rsplit('/').next().unwrap().to_owned();
                scene.until_waiting(&busy);
            })
        }
    }
}

/// The table as the reference has it.
pub(super) fn page(table: &Table) -> String {
    let text = "\n## When someone else is faster than the answer\n\nAt a terminal, someone else acted \
         before the answer `y`. The command reads again what it showed. If anything is different, \
         it says what changed, sends nothing, and asks again, or refuses because a check now says \
         no.\n\n";
    let corner = "what happens in the meantime";
    let rows = EVENTS.map(|(_, name)| name);
    tabled(text, corner, rows, &ASKS, |row, asks| {
        let [cluster, namespaced] = [false, true].map(|scope| table[&(asks, scope)][row]);
        assert_eq!(cluster, namespaced, "{asks:?} in row {row}");
        match cluster {
            Cell::Sent => "sent",
            Cell::Settled => "nothing left to do",
            Cell::AskedAgain => "asked again",
            Cell::Refused => "refused",
        }
    })
}
