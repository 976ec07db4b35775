//! Every write with everything that can go wrong with it: never another write than what was shown,
//! never twice, never without an end, and words that say whether it happened.
//!
//! Every read behind a preview with everything that can go wrong with it, and every question that
//! somebody else overtakes: what was not seen is not written.
//!
//! The tables are `docs/reference/faults.md`; `cargo xtask faults` writes it.

mod hanging;
mod overtaken;
mod reads;

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::path::Path;
use std::sync::Mutex;

use http::Method;
use serde_json::{Value, json};
use test_hub::terminal::has_terminals;
use test_hub::{Fault, Rule};

use super::desk::{Desk, interrupt};
use super::{ALL, BEFORE, Did, condition, gated};
use crate::scene::{Scene, both, cluster_scoped};

/// How many commands are under way at once.
const AT_ONCE: usize = 4;
/// Asks for the table to be written.
const WRITE: &str = "FLEET_STAGE_WRITE_FAULTS";

/// A write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Deed {
    Approve,
    Start,
    Make,
    Init,
    Stop,
    Resume,
    Rollback,
    Delete,
}

const DEEDS: [(Deed, &str); 8] = [
    (Deed::Approve, "approve"),
    (Deed::Start, "run RUN"),
    (Deed::Make, "run NEW"),
    (Deed::Init, "init"),
    (Deed::Stop, "stop"),
    (Deed::Resume, "resume"),
    (Deed::Rollback, "rollback"),
    (Deed::Delete, "delete"),
];

/// What goes wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mishap {
    Forbidden,
    Missing,
    Conflict,
    Invalid,
    TooMany,
    Internal,
    ResetBefore,
    Replaced,
    Meanwhile,
    ResetAfter,
    Late,
    Interrupt,
}

/// In an order in which what is left behind can be used again as long as possible.
#[rustfmt::skip]
const MISHAPS: [(Mishap, &str); 12] = [
    (Mishap::Forbidden, "403: it is forbidden"),
    (Mishap::Missing, "404: it no longer exists"),
    (Mishap::Conflict, "409: it was changed, or already exists"),
    (Mishap::Invalid, "422: it is invalid"),
    (Mishap::TooMany, "429: the hub is busy"),
    (Mishap::Internal, "500: the hub fails"),
    (Mishap::ResetBefore, "the connection is closed before the server applies the request"),
    (Mishap::Replaced, "another object takes the name in the meantime"),
    (Mishap::Meanwhile, "someone else is faster"),
    (Mishap::ResetAfter, "the connection is closed after the server applied the request"),
    (Mishap::Late, "the server applies the request but answers too late"),
    (Mishap::Interrupt, "an interrupt while the server applies the request"),
];

/// How a command ended, and whether the hub did what it asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cell {
    code: i32,
    done: bool,
}

/// What a command is about.
struct Subject {
    /// The run; of one that is to be made the name.
    run: String,
    /// The object that is written, which may not exist.
    path: String,
    /// The object as it was.
    before: Option<Value>,
}

impl Deed {
    const fn makes(self) -> bool {
        matches!(self, Self::Make | Self::Init | Self::Rollback)
    }

    /// The method of its write.
    fn method(self) -> Method {
        match self {
            Self::Approve | Self::Start | Self::Stop | Self::Resume => Method::PATCH,
            Self::Make | Self::Init | Self::Rollback => Method::POST,
            Self::Delete => Method::DELETE,
        }
    }

    /// The state from which it starts.
    const fn from(self) -> &'static str {
        match self {
            Self::Start | Self::Delete => "Initialize",
            Self::Resume => "Stop",
            _ => "Run",
        }
    }

    /// The state that it sets, and that others set behind its back.
    const fn to(self) -> &'static str {
        match self {
            Self::Stop => "Stop",
            _ => "Run",
        }
    }

    /// Sets the scene for it: of a rollback there is a snapshot to go back to.
    fn set(self, scene: &Scene) {
        scene.set(&gated(&[(0, BEFORE)]), &ALL);
        if self == Self::Rollback {
            let first = format!("{}-first", scene.name);
            scene.run_to_start(&first);
        }
    }

    /// Makes a run that is ready for it, or ensures that the name is free.
    fn prepare(self, scene: &Scene, number: usize) -> Subject {
        let run = format!("{}-{number}", scene.name);
        if self.makes() {
            return Subject {
                path: scene.run_path(&run),
                run,
                before: None,
            };
        }
        self.ready(scene, &run);
        let path = match self {
            Self::Approve => scene.request_path(&format!("{run}-before-staging")),
            _ => scene.run_path(&run),
        };
        let before = Some(scene.until(&path, "there", |_| true));
        Subject { run, path, before }
    }

    /// Makes the run, as far as it has to be.
    fn ready(self, scene: &Scene, run: &str) {
        // A run in the state `Stop` stops before it begins.
        scene.run(run, self.from());
        match self.from() {
            "Initialize" => scene.until_run(run, "Initialized", "True", ""),
            "Stop" => scene.until_run(run, "Progressing", "False", "UpdateRunStopped"),
            _ => scene.until_waiting(run),
        };
    }

    fn words<'w>(self, scene: &'w Scene, subject: &'w Subject, placement: &'w str) -> Vec<&'w str> {
        let run = subject.run.as_str();
        let mut words = match self {
            Self::Approve => vec!["approve", run],
            Self::Start => vec!["run", run],
            Self::Make => [&["run", run], &scene.of()[..]].concat(),
            Self::Init => [&["init", run], &scene.of()[..]].concat(),
            Self::Stop => vec!["stop", run],
            Self::Resume => vec!["resume", run],
            Self::Rollback => vec![
                "rollback",
                placement,
                "--to",
                "0",
                "--active=keep",
                "--strategy",
                &scene.name,
                "--name",
                run,
            ],
            Self::Delete => vec!["delete", run],
        };
        words.extend(["--yes", "--wait=false"]);
        words
    }
}

impl Mishap {
    /// What the proxy does to the write.
    fn rule(self, deed: Deed, subject: &Subject, scene: &Scene) -> Rule {
        let fault = match self {
            Self::Forbidden => Fault::Forbidden,
            Self::Missing => Fault::Missing,
            Self::Conflict => Fault::Conflict,
            Self::Invalid => Fault::Invalid,
            Self::TooMany => Fault::TooMany(Some(1)),
            Self::Internal => Fault::Internal,
            Self::ResetBefore => Fault::ResetBefore,
            Self::ResetAfter => Fault::ResetAfter,
            Self::Replaced | Self::Meanwhile => Fault::Hold,
            Self::Late | Self::Interrupt => Fault::HoldAnswer,
        };
        let path = if deed.makes() {
            scene.run_path("")
        } else {
            subject.path.clone()
        };
        Rule::new(path, fault).method(deed.method())
    }
}

/// Tries a deed with every mishap.
fn tried(deed: Deed, scene: &Scene) -> Vec<Cell> {
    let desk = Desk::at(scene);
    deed.set(scene);
    let mut number = 0;
    let mut subject = deed.prepare(scene, number);
    let mut cells = Vec::new();
    for (mishap, name) in MISHAPS {
        let what = format!("{deed:?} with {mishap:?}, namespaced: {}", scene.namespaced);
        let (did, other) = attempt(deed, mishap, &desk, &subject);
        let done = is_done(deed, scene, &subject, other.as_ref());
        let cell = Cell {
            code: did.ran.code,
            done,
        };
        check(&what, deed, mishap, &did, cell, &desk);
        eprintln!("{what} ({name}): {cell:?}");
        cells.push(cell);
        if done || other.is_some() {
            number += 1;
            subject = deed.prepare(scene, number);
        }
    }
    cells
}

/// Runs the command while something goes wrong. Says what stands under the name because of others.
fn attempt(deed: Deed, mishap: Mishap, desk: &Desk<'_>, subject: &Subject) -> (Did, Option<Value>) {
    let scene = desk.scene;
    desk.proxy.clear().unwrap();
    desk.proxy.rules(vec![mishap.rule(deed, subject, scene)]);
    let placement = scene.placement_word();
    let mut words = deed.words(scene, subject, &placement);
    if mishap == Mishap::Late {
        words.push("--request-timeout=4s");
    }
    let running = desk.start(&words);
    let mut other = None;
    match mishap {
        Mishap::Replaced | Mishap::Meanwhile => {
            desk.until_held();
            other = Some(meddle(deed, mishap, scene, subject));
            desk.proxy.release();
        }
        Mishap::Interrupt => {
            desk.until_held();
            interrupt(running.id());
            // The command has time to be wrong.
            running.until_idle();
            desk.proxy.release();
        }
        Mishap::Late => {
            desk.until_held();
            let did = running.end();
            desk.proxy.release();
            return (did, None);
        }
        _ => {}
    }
    (running.end(), other)
}

/// What others do meanwhile; the object as they leave it.
fn meddle(deed: Deed, mishap: Mishap, scene: &Scene, subject: &Subject) -> Value {
    let Subject { run, path, before } = subject;
    let Some(before) = before else {
        // Someone takes the name, for another run or for the same.
        let more = if mishap == Mishap::Replaced {
            json!({"resourceSnapshotIndex": "99"})
        } else if deed == Deed::Rollback {
            json!({"resourceSnapshotIndex": "0"})
        } else {
            json!({})
        };
        return scene.run_of(run, "Initialize", &more);
    };
    if mishap == Mishap::Replaced {
        let uid = &before["metadata"]["uid"];
        let run_path = scene.run_path(run);
        let run_uid = scene.hub.read(&run_path).unwrap()["metadata"]["uid"].clone();
        scene.hub.delete(&run_path);
        scene.until_gone(&run_path, &run_uid);
        scene.until_gone(path, uid);
        deed.ready(scene, run);
        return scene.until(path, "made anew", |new| new["metadata"]["uid"] != *uid);
    }
    if deed == Deed::Approve {
        scene.approve(&format!("{run}-before-staging"), "False", true);
    } else {
        scene
            .hub
            .patch(path, &json!({"spec": {"state": deed.to()}}));
    }
    scene.hub.read(path).unwrap()
}

/// The fields of a run or a request that people write; an index may be empty or absent.
fn spec(object: &Value) -> Vec<&str> {
    [
        "placementName",
        "stagedRolloutStrategyName",
        "resourceSnapshotIndex",
        "state",
        "parentStageRollout",
        "targetStage",
    ]
    .map(|field| object["spec"][field].as_str().unwrap_or_default())
    .into()
}

/// Whether the hub did what was asked for. Fails where it did anything else.
fn is_done(deed: Deed, scene: &Scene, subject: &Subject, other: Option<&Value>) -> bool {
    let now = scene.hub.read(&subject.path);
    if let Some(other) = other {
        let Some(now) = now.filter(|now| now["metadata"]["deletionTimestamp"].is_null()) else {
            assert_eq!(deed, Deed::Delete, "{}", subject.path);
            return true;
        };
        assert_eq!(now["metadata"]["uid"], other["metadata"]["uid"]);
        assert_eq!(spec(&now), spec(other), "what others made is as it was");
        let answer = |request: &Value| condition(request, "Approved").clone();
        assert_eq!(answer(&now), answer(other));
        return false;
    }
    let Some(before) = &subject.before else {
        let Some(now) = now else { return false };
        let spec = &now["spec"];
        assert_eq!(spec["placementName"], scene.name.as_str());
        assert_eq!(spec["stagedRolloutStrategyName"], scene.name.as_str());
        let index = spec["resourceSnapshotIndex"].as_str().unwrap_or_default();
        assert_eq!(index, if deed == Deed::Rollback { "0" } else { "" });
        return true;
    };
    let Some(now) = now.filter(|now| now["metadata"]["deletionTimestamp"].is_null()) else {
        assert_eq!(deed, Deed::Delete, "{}", subject.path);
        return true;
    };
    assert_eq!(now["metadata"]["uid"], before["metadata"]["uid"]);
    match deed {
        Deed::Approve => {
            let approved = condition(&now, "Approved");
            if approved.is_null() {
                return false;
            }
            assert_eq!(approved["status"], "True");
            assert_eq!(
                approved["observedGeneration"],
                now["metadata"]["generation"]
            );
            true
        }
        Deed::Delete => false,
        _ if now["spec"]["state"] == deed.from() => {
            assert_eq!(spec(&now), spec(before));
            false
        }
        _ => {
            assert_eq!(now["spec"]["state"], deed.to());
            true
        }
    }
}

/// Checks what holds for every cell.
#[allow(clippy::too_many_arguments)] // each is another thing
fn check(what: &str, deed: Deed, mishap: Mishap, did: &Did, cell: Cell, desk: &Desk<'_>) {
    let said = format!("{}{}", did.ran.out, did.ran.err);
    let what = format!("{what}: {cell:?}\n{said}");
    assert!(!said.contains("panicked"), "{what}");
    // Each write is sent once; a new run that starts takes two.
    let (method, writes) = (deed.method(), desk.writes());
    let own = |seen: &&test_hub::Seen| seen.method == method;
    let sent = writes.iter().filter(own).count();
    assert_eq!(sent, 1, "{what}");
    let arrived = desk.arrived();
    let more = arrived.iter().filter(|seen| !own(seen)).count();
    assert!(
        more == usize::from(deed == Deed::Make && cell.code == 0),
        "{more} other writes: {what}"
    );
    match (cell.code, cell.done) {
        (0, true) => assert!(!said.contains("error: "), "{what}"),
        (130, true) => assert!(
            said.contains("interrupted: ") && !said.contains("nothing was"),
            "{what}"
        ),
        (0 | 130, false) => panic!("it was not done: {what}"),
        (_, true) => panic!("it was done: {what}"),
        // Who deleted it is unknown: the first copy of the same write, perhaps.
        (6, false) if deed == Deed::Delete => {
            assert!(said.contains("it no longer exists"), "{what}");
        }
        (_, false) => assert!(
            [
                "nothing was changed",
                "nothing was sent",
                "nothing was sent again",
            ]
            .iter()
            .any(|words| said.contains(words)),
            "{what}"
        ),
    }
    if matches!(mishap, Mishap::ResetAfter | Mishap::Late) {
        assert!(
            said.contains("the answer was lost") && said.contains("shows that it was done"),
            "{what}"
        );
    }
}

/// The cells of each deed, in both scopes.
type Table = BTreeMap<(Deed, bool), Vec<Cell>>;

/// A cell of the page; where the scopes differ, that of cluster scope first.
fn words(table: &Table, deed: Deed, row: usize) -> String {
    let [cluster, namespaced] = [false, true].map(|scope| table[&(deed, scope)][row]);
    assert_eq!(cluster.done, namespaced.done, "{deed:?} in row {row}");
    let code = if cluster.code == namespaced.code {
        cluster.code.to_string()
    } else {
        format!("{} or {}", cluster.code, namespaced.code)
    };
    format!("{code}, {}", if cluster.done { "done" } else { "not done" })
}

/// A part of the page: a text, and a table with a cell for each row and column.
fn tabled<T: Copy, C: Borrow<str>>(
    text: &str,
    corner: &str,
    rows: impl IntoIterator<Item = impl Display>,
    columns: &[(T, &str)],
    cell: impl Fn(usize, T) -> C,
) -> String {
    let head = columns.iter().map(|(_, name)| format!("`{name}`"));
    let head: Vec<_> = head.collect();
    let rule = "---|".repeat(head.len());
    let mut text = format!("{text}| {corner} | {} |\n|---|{rule}\n", head.join(" | "));
    for (row, name) in rows.into_iter().enumerate() {
        let cells = columns.iter().map(|(column, _)| cell(row, *column));
        let cells: Vec<_> = cells.collect();
        let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
    }
    text
}

/// The table as the reference has it.
fn page(table: &Table) -> String {
    let text = "# When a write goes wrong\n\nEach command that writes was run in both scopes against a \
         real API server, through a proxy that makes the write go wrong. A cell has the exit code, \
         and whether the hub made the change; the command reports the same. Each write was sent \
         once, none was retried, and changes that others made in the meantime were left \
         unchanged.\n\n`run RUN` starts an existing run; `run NEW` creates one. If someone else \
         takes the name of the new run, their run is kept. A run is deleted by its UID, even if \
         someone else started it in the meantime.\n\n";
    let rows = MISHAPS.map(|(_, name)| name);
    tabled(text, "what goes wrong", rows, &DEEDS, |row, deed| {
        words(table, deed, row)
    })
}

/// One of the things that are tried; it adds what it found.
type Trial = Box<dyn FnOnce(&Mutex<Found>) + Send>;

/// What was found.
#[derive(Default)]
struct Found {
    writes: Table,
    reads: reads::Table,
    overtaken: overtaken::Table,
    hanging: hanging::Table,
}

#[test]
fn every_write_survives_every_mishap() {
    // Each has scenes of its own, in both scopes.
    let mut trials: Vec<Trial> = Vec::new();
    for (deed, _) in DEEDS {
        let word = format!("{deed:?}").to_lowercase();
        for scene in both(&format!("mishap-{word}")) {
            trials.push(Box::new(move |found| {
                let cells = tried(deed, &scene);
                let key = (deed, scene.namespaced);
                found.lock().unwrap().writes.insert(key, cells);
            }));
        }
        for scene in both(&format!("unseen-{word}")) {
            trials.push(Box::new(move |found| {
                let cells = reads::tried(deed, &scene);
                let key = (deed, scene.namespaced);
                found.lock().unwrap().reads.insert(key, cells);
            }));
        }
        // What a plugin gives is the same in both scopes; it takes a user of ours with a token.
        if let Some(scene) = cluster_scoped(&format!("hangs-{word}")) {
            trials.push(Box::new(move |found| {
                hanging::tried(deed, &scene);
                found.lock().unwrap().hanging.insert(deed);
            }));
        }
    }
    if has_terminals() {
        for (asks, _) in overtaken::ASKS {
            for scene in both(&format!("overtaken-{asks:?}").to_lowercase()) {
                trials.push(Box::new(move |found| {
                    let cells = overtaken::tried(asks, &scene);
                    let key = (asks, scene.namespaced);
                    found.lock().unwrap().overtaken.insert(key, cells);
                }));
            }
        }
    }
    if trials.is_empty() {
        return;
    }
    let trials = Mutex::new(trials);
    let found: Mutex<Found> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = trials.lock().unwrap().pop();
                    let Some(trial) = next else { return };
                    trial(&found);
                }
            });
        }
    });
    let found = found.into_inner().unwrap();
    if found.overtaken.is_empty() {
        // The page is compared where all of it can be tried.
        eprintln!("skipped: there are no terminals here");
        return;
    }
    let mut page = page(&found.writes);
    page.push_str(&reads::page(&found.reads));
    page.push_str(&overtaken::page(&found.overtaken));
    page.push_str(&hanging::page(&found.hanging));
    page.push_str("\nMeasured by `cargo xtask faults`.\n");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/faults.md");
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&file, &page).unwrap();
    }
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(known, page, "cargo xtask faults writes the page anew");
}
