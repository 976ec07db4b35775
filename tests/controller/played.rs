//! The model and the stand-in, which know nothing of each other, play the same small fleets, with
//! the same interventions: both end in the same state.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kubectl_fleet_stage::controller::{
    self, Intervention, PlayEnd, PlayLimits, PlayObstacle, State, after, changes, play,
};
use kubectl_fleet_stage::inventory::source::{HubFacts, HubQuery, ObjectSource, QueryAnswer};
use kubectl_fleet_stage::inventory::{Inventory, Walk};
use kubectl_fleet_stage::kubefleet::object::{Object, ObjectBody, ParsedDocument};
use kubectl_fleet_stage::kubefleet::run::{RunState, UpdateRun};
use kubectl_fleet_stage::kubefleet::{Kind as OurKind, ObjectRef};
use kubectl_fleet_stage::query::Outcome;
use serde_json::{Value, json};
use test_hub::standin::{Kind, Paper, PaperLook};

use super::fleets::{Dice, fleet, member};

/// How many fleets are played; the variable asks for more.
const FLEETS: u64 = 2_000;
const MORE: &str = "FLEET_STAGE_FLEETS";
/// For how long each is played.
const PLAYED: i64 = 600;

struct Objects<'o>(&'o [Object]);

impl ObjectSource for Objects<'_> {
    fn answer(&mut self, queries: &[HubQuery]) -> Vec<QueryAnswer> {
        let answer = |query: &HubQuery| QueryAnswer {
            objects: self
                .0
                .iter()
                .filter(|object| query.matches(object))
                .cloned()
                .collect(),
            outcome: Outcome::Listed,
        };
        queries.iter().map(answer).collect()
    }
}

fn parse(object: &Value) -> Object {
    let mut parsed = ParsedDocument::default();
    parsed.document(object).unwrap();
    parsed.objects.pop().unwrap()
}

fn state_of(objects: &[(Kind, Value)], now: Timestamp) -> State {
    let objects: Vec<_> = objects.iter().map(|(_, object)| parse(object)).collect();
    let target = ObjectRef {
        kind: OurKind::ClusterStagedUpdateRun,
        namespace: String::new(),
        name: "run".to_owned(),
    };
    let mut walk = Walk::new(target);
    walk.drive(&mut Objects(&objects));
    let inventory = Inventory::new(walk, now, HubFacts::default());
    let run = inventory.run.present().unwrap();
    State::new(&inventory, run)
}

/// How long each cluster takes.
struct Pace(BTreeMap<String, Option<i64>>);

impl Pace {
    fn new(dice: &mut Dice, objects: &[(Kind, Value)]) -> Self {
        let members = objects.iter().filter(|it| it.0 == Kind::MemberCluster);
        let paces = members.map(|(_, member)| {
            let name = member["metadata"]["name"].as_str().unwrap().to_owned();
            let takes = i64::try_from(1 + dice.below(250)).unwrap();
            (name, (!dice.percent(12)).then_some(takes))
        });
        Self(paces.collect())
    }

    fn of(&self, cluster: &str) -> Option<SignedDuration> {
        let seconds = self.0.get(cluster).copied().flatten()?;
        Some(SignedDuration::from_secs(seconds))
    }
}

/// What the clusters did on paper by now.
fn settle(paper: &mut Paper, pace: &Pace, now: Timestamp) {
    let bindings: Vec<_> = paper.all(Kind::ClusterResourceBinding).cloned().collect();
    for binding in bindings {
        let name = binding["metadata"]["name"].as_str().unwrap();
        let cluster = binding["spec"]["targetCluster"].as_str().unwrap();
        let Some(takes) = pace.of(cluster) else {
            continue;
        };
        let over = |since: &str| {
            let since: Timestamp = since.parse().unwrap();
            since + takes <= now
        };
        if let Some(deleted) = binding["metadata"]["deletionTimestamp"].as_str() {
            if over(deleted) {
                paper.remove(Kind::ClusterResourceBinding, name);
            }
            continue;
        }
        let conditions = binding["status"]["conditions"].as_array();
        let current = |kind: &str| {
            conditions.into_iter().flatten().find(|condition| {
                condition["type"] == kind
                    && condition["status"] == "True"
                    && condition["observedGeneration"] == binding["metadata"]["generation"]
            })
        };
        if let Some(started) = current("RolloutStarted")
            && current("Available").is_none()
            && over(started["lastTransitionTime"].as_str().unwrap())
        {
            paper.available(name, now);
        }
    }
}

/// Whether the controller looks at the run no more before something happens that it watches.
fn play_on_paper(paper: &mut Paper, pace: &Pace, (from, until): (Timestamp, Timestamp)) -> bool {
    let mut now = from;
    while now <= until {
        settle(paper, pace, now);
        let before = status(paper);
        let pause = match paper.look("run", now) {
            PaperLook::Over => return true,
            PaperLook::Again => continue,
            PaperLook::After(pause) => pause,
            PaperLook::Retry => Duration::from_secs(15),
        };
        // Looks that find everything as it was are left out.
        let event = (status(paper) == before).then(|| event(paper, pace, now));
        now += pause;
        while event.flatten().is_some_and(|event| now < event) && now <= until {
            now += pause;
        }
    }
    false
}

fn status(paper: &Paper) -> Option<Value> {
    let run = paper.all(Kind::ClusterStagedUpdateRun).next();
    run.map(|run| run["status"].clone())
}

/// The next time at which something happens by itself; `None` where a timer may end at any time.
fn event(paper: &Paper, pace: &Pace, now: Timestamp) -> Option<Timestamp> {
    let status = status(paper)?;
    if status.to_string().contains("TimedWait") {
        return None;
    }
    let time = |value: &Value| value.as_str()?.parse::<Timestamp>().ok();
    let mut times = Vec::new();
    for stage in status["stagesStatus"].as_array().into_iter().flatten() {
        for cluster in stage["clusters"].as_array().into_iter().flatten() {
            for condition in cluster["conditions"].as_array().into_iter().flatten() {
                let started = condition["type"] == "Started";
                let since = time(&condition["lastTransitionTime"]).filter(|_| started);
                times.extend(since.map(|since| since + SignedDuration::from_secs(301)));
            }
        }
    }
    for binding in paper.all(Kind::ClusterResourceBinding) {
        let takes = pace.of(binding["spec"]["targetCluster"].as_str()?);
        let since = time(&binding["metadata"]["deletionTimestamp"]);
        times.extend(takes.zip(since).map(|(takes, since)| since + takes));
        for condition in binding["status"]["conditions"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let started = condition["type"] == "RolloutStarted";
            let since = time(&condition["lastTransitionTime"]).filter(|_| started);
            times.extend(takes.zip(since).map(|(takes, since)| since + takes));
        }
    }
    let later = times.into_iter().filter(|time| *time > now).min();
    Some(later.unwrap_or(Timestamp::MAX))
}

/// Something that somebody does, on paper and in the model.
/// Whether the controller watches for it.
fn intervene(
    dice: &mut Dice,
    paper: &mut Paper,
    state: &State,
) -> Option<(bool, Result<State, PlayObstacle>)> {
    let put = |paper: &Paper, kind: Kind, name: &str| {
        let object = paper.all(kind).find(|it| it["metadata"]["name"] == name)?;
        Some((
            false,
            after(state, &Intervention::Put(Box::new(parse(object)))),
        ))
    };
    let name = |object: &Value| object["metadata"]["name"].as_str().unwrap().to_owned();
    let bindings: Vec<_> = paper.all(Kind::ClusterResourceBinding).map(name).collect();
    let requests = paper.all(Kind::ClusterApprovalRequest);
    let unanswered = requests.filter(|it| it["status"]["conditions"].as_array().is_none());
    let requests: Vec<_> = unanswered.map(name).collect();
    match dice.below(8) {
        0..=2 if !requests.is_empty() => {
            let request = dice.pick(&requests);
            let right = dice.percent(85);
            paper.change(Kind::ClusterApprovalRequest, request, |object| {
                let generation = object["metadata"]["generation"].as_i64().unwrap();
                let condition = json!({
                    "type": "Approved", "status": "True", "reason": "R", "message": "",
                    "observedGeneration": generation + i64::from(!right),
                    "lastTransitionTime": state.now.to_string(),
                });
                object["status"] = json!({"conditions": [condition]});
            });
            if right {
                let request = request.clone();
                Some((true, after(state, &Intervention::Approve { request })))
            } else {
                put(paper, Kind::ClusterApprovalRequest, request)
            }
        }
        3 | 4 => {
            let wanted = *dice.pick(&[RunState::Run, RunState::Stop]);
            let new = after(state, &Intervention::SetState(wanted)).ok()?;
            let generation = new.run.meta.generation;
            let word = new.run.spec.state.clone();
            paper.change(Kind::ClusterStagedUpdateRun, "run", |run| {
                run["metadata"]["generation"] = json!(generation);
                run["spec"]["state"] = json!(word);
            });
            Some((generation != state.run.meta.generation, Ok(new)))
        }
        5 if dice.percent(40) => {
            let name = dice.pick(&["m1", "m2", "m3"]);
            paper
                .all(Kind::MemberCluster)
                .find(|it| it["metadata"]["name"] == *name)?;
            let edited = member(dice, name);
            paper.write(Kind::MemberCluster, edited);
            put(paper, Kind::MemberCluster, name)
        }
        6 if !bindings.is_empty() && dice.percent(50) => {
            let binding = dice.pick(&bindings).clone();
            let gone = dice.percent(40);
            paper.change(Kind::ClusterResourceBinding, &binding, |object| {
                if gone {
                    object["spec"]["state"] = json!("Unscheduled");
                } else {
                    object["spec"]["resourceSnapshotName"] = json!("shop-1-snapshot");
                }
                let generation = object["metadata"]["generation"].as_i64().unwrap();
                object["metadata"]["generation"] = json!(generation + 1);
            });
            put(paper, Kind::ClusterResourceBinding, &binding)
        }
        _ => None,
    }
}

fn run_on(paper: &Paper) -> UpdateRun {
    let run = paper.all(Kind::ClusterStagedUpdateRun).next().unwrap();
    let ObjectBody::Run(run) = parse(run).body else {
        panic!("no run");
    };
    UpdateRun::clone(&run)
}

/// What differs between paper and model.
fn difference(paper: &Paper, state: &State) -> Option<String> {
    let run = run_on(paper);
    let ours = changes(&run.status, &state.run.status);
    let theirs = changes(&state.run.status, &run.status);
    if !ours.is_empty() || !theirs.is_empty() {
        return Some(format!("model: {ours:#?}\nstand-in: {theirs:#?}"));
    }
    let messages = |run: &UpdateRun| {
        let all = changes(&UpdateRun::default().status, &run.status);
        all.into_iter()
            .map(|it| (it.on, it.kind, it.message))
            .collect::<Vec<_>>()
    };
    let (ours, theirs) = (messages(&state.run), messages(&run));
    for message in &theirs {
        if !ours.contains(message) {
            return Some(format!("{message:?} is not among {ours:#?}"));
        }
    }
    let bindings = paper.all(Kind::ClusterResourceBinding);
    let theirs: BTreeMap<_, _> = bindings
        .map(|binding| {
            let ObjectBody::Binding(binding) = parse(binding).body else {
                panic!("no binding");
            };
            let spec = binding.spec.clone();
            (
                binding.meta.name.clone(),
                (spec, binding.meta.is_deleting()),
            )
        })
        .collect();
    let ours: BTreeMap<_, _> = state
        .bindings
        .iter()
        .map(|it| {
            (
                it.meta.name.clone(),
                (it.spec.clone(), it.meta.is_deleting()),
            )
        })
        .collect();
    (ours != theirs).then(|| format!("model: {ours:#?}\nstand-in: {theirs:#?}"))
}

/// Plays one fleet; how it ended.
fn one(seed: u64) -> PlayEnd {
    let mut dice = Dice::new(seed);
    let mut objects = fleet(&mut dice);
    let start: Timestamp = "2026-01-02T00:00:00Z".parse().unwrap();
    let pace = Pace::new(&mut dice, &objects);
    for (_, object) in &mut objects {
        if object["kind"] == "ClusterStagedUpdateRun" {
            object["metadata"]["creationTimestamp"] = json!(start.to_string());
        }
    }
    let mut state = state_of(&objects, start);
    let mut paper = Paper::new(objects);
    let mut times: Vec<i64> = (0..dice.below(5))
        .map(|_| i64::try_from(dice.below(550)).unwrap())
        .collect();
    times.sort_unstable();
    times.push(PLAYED);
    let mut end = PlayEnd::Continues;
    let mut over = false;
    for time in times {
        let until = start + SignedDuration::from_secs(time);
        let limits = PlayLimits {
            until,
            looks: 500,
            pause: None,
        };
        let from = state.now;
        if over {
            settle(&mut paper, &pace, from);
        } else {
            over = play_on_paper(&mut paper, &pace, (from, until));
        }
        let takes = |cluster: &str| pace.of(cluster);
        let played = play(state, &takes, &limits).unwrap();
        state = played.state;
        end = played.end;
        if let Some(difference) = difference(&paper, &state) {
            panic!("seed {seed}, at {time} s: {difference}");
        }
        state.now = until;
        if let Some((watched, Ok(changed))) = intervene(&mut dice, &mut paper, &state) {
            state = changed;
            over &= !watched;
        }
    }
    assert!(controller::predict(state).is_ok(), "seed {seed}");
    end
}

#[test]
fn the_model_and_the_stand_in_end_in_the_same_state() {
    let asked = std::env::var(MORE).ok().and_then(|it| it.parse().ok());
    let fleets: u64 = asked.unwrap_or(FLEETS);
    let ends: Vec<PlayEnd> = std::thread::scope(|scope| {
        let halves = (0..2).map(|half| {
            scope.spawn(move || {
                (0..fleets)
                    .filter(|it| it % 2 == half)
                    .map(one)
                    .collect::<Vec<_>>()
            })
        });
        let halves: Vec<_> = halves.collect();
        halves
            .into_iter()
            .flat_map(|half| half.join().unwrap())
            .collect()
    });
    // The fleets are worth playing: all ends come up often.
    let often =
        |is: fn(&PlayEnd) -> bool| ends.iter().filter(|it| is(it)).count() > ends.len() / 20;
    assert!(often(|it| *it == PlayEnd::Succeeded));
    assert!(often(|it| matches!(it, PlayEnd::Failed(_))));
    assert!(often(|it| matches!(it, PlayEnd::Waits(_))));
}
