//! What KubeFleet's own agents wrote, event by event, and the model of the controller held against
//! each write of a run's status.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::rc::Rc;

use anyhow::{Context as _, Result};
use flate2::read::GzDecoder;
use jiff::{SignedDuration, Timestamp};
use kubectl_fleet_stage::controller::{self, ExpectedCondition, Prediction};
use kubectl_fleet_stage::diagnose::status::Status;
use kubectl_fleet_stage::inventory::source::{HubFacts, HubQuery, ObjectSource, QueryAnswer};
use kubectl_fleet_stage::inventory::{Inventory, Walk};
use kubectl_fleet_stage::kubefleet::object::{Object, ObjectBody, ParsedDocument};
use kubectl_fleet_stage::kubefleet::run::UpdateRun;
use kubectl_fleet_stage::kubefleet::{Conditions as _, Kind, ObjectRef};
use kubectl_fleet_stage::query::Outcome;
use kubectl_fleet_stage::rollout::StageEnd;
use serde_json::Value;

/// One recorded change.
struct Event {
    at: Timestamp,
    version: u64,
    reference: ObjectRef,
    /// `None` where the object is gone.
    object: Option<Object>,
    is_change: bool,
}

/// What became of one file.
pub struct Score {
    pub writes: usize,
    pub foretold: usize,
    /// Of those that were foretold, how many had the texts that were foretold.
    pub same_texts: usize,
    /// Of those that were foretold, how many came by the time that was foretold.
    pub in_time: usize,
    /// How many ends of stages were foretold as a range, at a write before, and came; and how many of
    /// them came within it.
    pub ends: (usize, usize),
    pub misses: Vec<Miss>,
}

/// A write that was not foretold.
pub struct Miss {
    pub at: Timestamp,
    pub run: String,
    pub reason: String,
}

/// How long a watch may take to tell a write.
const WATCHED_WITHIN: SignedDuration = SignedDuration::from_secs(2);

/// The versions of one object; none of one that is gone.
type Versions = Vec<(u64, Option<Object>)>;

/// The objects as they stood up to a version; each version of each object is kept.
#[derive(Default)]
struct History {
    versions: BTreeMap<Kind, BTreeMap<(String, String), Versions>>,
    until: Rc<Cell<u64>>,
}

impl History {
    fn add(&mut self, event: &Event) {
        let reference = &event.reference;
        let key = (reference.namespace.clone(), reference.name.clone());
        let objects = self.versions.entry(reference.kind).or_default();
        let versions = objects.entry(key).or_default();
        versions.push((event.version, event.object.clone()));
    }

    fn of(&self, kind: Kind) -> impl Iterator<Item = &Object> {
        let until = self.until.get();
        let objects = self.versions.get(&kind).into_iter().flatten();
        objects.filter_map(move |(_, versions)| {
            let last = versions.iter().rev().find(|(version, _)| *version <= until);
            last?.1.as_ref()
        })
    }
}

struct Recorded<'h>(&'h History);

impl ObjectSource for Recorded<'_> {
    fn answer(&mut self, queries: &[HubQuery]) -> Vec<QueryAnswer> {
        let answer = |query: &HubQuery| QueryAnswer {
            objects: self
                .0
                .of(query.kind)
                .filter(|object| query.matches(object))
                .cloned()
                .collect(),
            outcome: Outcome::Listed,
        };
        queries.iter().map(answer).collect()
    }
}

fn read(path: &Path) -> Result<Vec<Event>> {
    let file = std::fs::File::open(path).with_context(|| path.display().to_string())?;
    let mut events = Vec::new();
    for line in BufReader::new(GzDecoder::new(file)).lines() {
        let line: Value = serde_json::from_str(&line?)?;
        let object = line.get("object").context("an event without an object")?;
        let version = object["metadata"]["resourceVersion"].as_str();
        let version = version.and_then(|it| it.parse().ok()).unwrap_or(0);
        let kind = line["type"].as_str().unwrap_or_default();
        let at = line["at"].as_str().unwrap_or_default().parse()?;
        let mut parsed = ParsedDocument::default();
        parsed.document(object)?;
        let Some(object) = parsed.objects.pop() else {
            continue;
        };
        events.push(Event {
            at,
            version,
            reference: object.reference(),
            object: (kind != "DELETED").then_some(object),
            is_change: kind == "MODIFIED",
        });
    }
    events.sort_by_key(|event| event.version);
    Ok(events)
}

fn run_of(object: &Object) -> Option<&UpdateRun> {
    match &object.body {
        ObjectBody::Run(run) => Some(run),
        _ => None,
    }
}

/// Holds the model against every write of a run's status in a recording.
pub fn conform(path: &Path) -> Result<Score> {
    let events = read(path)?;
    let mut history = History::default();
    let mut score = Score {
        writes: 0,
        foretold: 0,
        same_texts: 0,
        in_time: 0,
        ends: (0, 0),
        misses: Vec::new(),
    };
    let mut awaited: Vec<AwaitedEnd> = Vec::new();
    let mut last: BTreeMap<ObjectRef, (u64, Object)> = BTreeMap::new();
    for event in &events {
        let before = last.get(&event.reference).cloned();
        let new = event.object.as_ref().and_then(run_of);
        let mut is_write = false;
        if let (true, Some(new), Some((since, before))) = (event.is_change, new, &before)
            && let Some(old) = run_of(before)
        {
            let written = controller::changes(&old.status, &new.status);
            is_write = !written.is_empty();
            if is_write {
                judge(&history, event, (*since, &written), &mut score);
            }
        }
        history.add(event);
        if is_write && let Some(new) = new {
            awaited.retain(|end| end.is_awaited(event, new, &mut score.ends));
            awaited.extend(foretell_ends(&history, event, new));
        }
        match &event.object {
            Some(object) if new.is_some() => {
                let since = if is_write {
                    event.version
                } else {
                    before.map_or(0, |it| it.0)
                };
                last.insert(event.reference.clone(), (since, object.clone()));
            }
            _ => {
                last.remove(&event.reference);
            }
        }
    }
    Ok(score)
}

/// The end of a stage that was foretold and has not come yet.
struct AwaitedEnd {
    run: ObjectRef,
    generation: Option<i64>,
    at: Timestamp,
    stage: String,
    end: StageEnd,
}

impl AwaitedEnd {
    /// Whether it is to be waited for after a write. An end that has come is counted; one of a run that
    /// somebody has changed since counts for nothing.
    fn is_awaited(&self, event: &Event, run: &UpdateRun, ends: &mut (usize, usize)) -> bool {
        if self.run != event.reference {
            return true;
        }
        let mut stages = run.status.stages.iter();
        let stage = stages.find(|stage| stage.name == self.stage);
        let failed = run.status.conditions.is_false("Succeeded");
        if self.generation != run.meta.generation || failed {
            return false;
        }
        let Some(stage) = stage else {
            return false;
        };
        let has_come = match &self.end.until_approval {
            None => stage.conditions.is_true("Succeeded"),
            Some(request) => stage.after.iter().any(|task| {
                task.approval_request == *request
                    && task.conditions.is_true("ApprovalRequestCreated")
            }),
        };
        if has_come {
            let took = self.at.duration_until(event.at);
            let end = &self.end;
            let within =
                took + WATCHED_WITHIN >= end.at_least && took <= end.at_most + WATCHED_WITHIN;
            ends.0 += 1;
            ends.1 += usize::from(within);
        }
        !has_come
    }
}

/// When the stages of a run end that is left alone, as `status` says it.
fn foretell_ends(
    history: &History,
    event: &Event,
    run: &UpdateRun,
) -> impl Iterator<Item = AwaitedEnd> {
    let inventory = inventory(history, event, event.version);
    let stages = Status::with_ends(&inventory).run.into_iter();
    let ends = stages.flat_map(|run| run.stages);
    let ends = ends.filter_map(|stage| Some((stage.name, stage.ends?)));
    let alone = ends.filter(|(_, end)| end.after_approval.is_none() && !end.after_start);
    alone.map(|(stage, end)| AwaitedEnd {
        run: event.reference.clone(),
        generation: run.meta.generation,
        at: event.at,
        stage,
        end,
    })
}

/// Compares one write with what was foretold of the objects as they stood before it.
fn judge(
    history: &History,
    event: &Event,
    (since, written): (u64, &[ExpectedCondition]),
    score: &mut Score,
) {
    score.writes += 1;
    let mut cuts = vec![event.version - 1];
    // The same look has written bindings and approval requests before it wrote the run.
    cuts.extend(look_begins(history, event, since));
    let mut first = None;
    for cut in cuts {
        let foretold = foretell(history, event, cut);
        match compare(&foretold, written) {
            Ok(_) if foretold.as_ref().is_ok_and(Prediction::is_overdue) => {
                first.get_or_insert("the controller was called silent".to_owned());
            }
            Ok(same_texts) => {
                score.foretold += 1;
                score.same_texts += usize::from(same_texts);
                let by = foretold.ok().and_then(|it| it.by);
                let in_time = by.is_some_and(|by| by.duration_until(event.at) <= WATCHED_WITHIN);
                score.in_time += usize::from(in_time);
                return;
            }
            Err(why) => {
                first.get_or_insert(why);
            }
        }
    }
    // A cache that lagged behind shows the objects as they stood earlier.
    let earlier: BTreeSet<u64> = around(history, since, event.version).collect();
    let lagged = earlier.iter().rev().take(40).find(|cut| {
        let foretold = foretell(history, event, **cut - 1);
        compare(&foretold, written).is_ok()
    });
    let why = first.unwrap_or_default();
    score.misses.push(Miss {
        at: event.at,
        run: event.reference.to_string(),
        reason: match lagged {
            Some(_) => format!("a cache lagged behind ({why})"),
            None => why,
        },
    });
}

/// The versions that objects got between two writes.
fn around(history: &History, since: u64, until: u64) -> impl Iterator<Item = u64> {
    let objects = history.versions.values().flatten();
    let versions = objects.flat_map(|(_, versions)| versions.iter().map(|it| it.0));
    versions.filter(move |version| *version > since && *version < until)
}

/// The version just before the first thing that the look wrote: bindings that name the run, and its
/// approval requests.
fn look_begins(history: &History, event: &Event, since: u64) -> Option<u64> {
    let name = &event.reference.name;
    let own = |object: &Object| match &object.body {
        ObjectBody::Binding(binding) => binding
            .status
            .conditions
            .condition("RolloutStarted")
            .is_some_and(|it| it.message.ends_with(&format!("updateRun: {name}"))),
        ObjectBody::Approval(request) => {
            request.spec.run == *name && (request.is_accepted() || !request.counts())
        }
        _ => false,
    };
    let objects = history.versions.values().flatten();
    let versions = objects.flat_map(|(_, versions)| versions.iter());
    let own = versions.filter(|(version, object)| {
        *version > since
            && *version < event.version
            && object
                .as_ref()
                .is_some_and(|object| own(object) || object.body.meta().is_deleting())
    });
    own.map(|(version, _)| *version)
        .min()
        .map(|version| version.saturating_sub(2))
}

fn foretell(history: &History, event: &Event, cut: u64) -> Result<Prediction, String> {
    controller::predict_next(&inventory(history, event, cut))
}

/// What is around the run of an event, as it stood at a version.
fn inventory(history: &History, event: &Event, cut: u64) -> Inventory {
    history.until.set(cut);
    let mut walk = Walk::new(event.reference.clone());
    walk.drive(&mut Recorded(history));
    Inventory::new(walk, event.at, HubFacts::default())
}

type Essence<'c> = (&'c str, Option<&'c str>, &'c str, &'c str, &'c str, i64);

fn essence(condition: &ExpectedCondition) -> Essence<'_> {
    (
        &condition.on,
        condition.task.as_deref(),
        &condition.kind,
        &condition.status,
        &condition.reason,
        condition.observed_generation.unwrap_or(0),
    )
}

/// Whether what was foretold is what was written, and so are its texts; else what differs.
fn compare(
    foretold: &Result<Prediction, String>,
    written: &[ExpectedCondition],
) -> Result<bool, String> {
    let foretold = foretold.as_ref().map_err(|why| format!("unknown: {why}"))?;
    let foretold = foretold.conditions.as_slice();
    let ours: BTreeSet<_> = foretold.iter().map(essence).collect();
    let theirs: BTreeSet<_> = written.iter().map(essence).collect();
    if ours != theirs {
        let show = |set: Vec<&Essence<'_>>| {
            let all = set
                .into_iter()
                .map(|(on, task, kind, status, reason, generation)| {
                    let task = task.map(|it| format!("[{it}]")).unwrap_or_default();
                    format!("{on}{task} {kind}={status} {reason} @{generation}")
                });
            all.collect::<Vec<_>>().join("; ")
        };
        return Err(format!(
            "not foretold: {{{}}}, did not come: {{{}}}",
            show(theirs.difference(&ours).collect()),
            show(ours.difference(&theirs).collect())
        ));
    }
    let texts = |all: &[ExpectedCondition]| -> BTreeSet<(String, String, String)> {
        let all = all.iter();
        all.map(|it| (it.on.clone(), it.kind.clone(), it.message.clone()))
            .collect()
    };
    Ok(texts(foretold) == texts(written))
}
