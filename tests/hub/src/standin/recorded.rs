//! The stand-in against what KubeFleet's own agents wrote: from the recorded inputs it has to
//! compute the recorded results.

use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::agent;
use super::bindings;
use super::conditions::{self, Conditions};
use super::execute;
use super::halt::Halt;
use super::initialize;
use super::kinds::{Kind, Scope};
use super::look::{Action, Look, Next};
use super::names;
use super::object::Object;
use super::placements::{self, Parts};
use super::status::Run;
use super::timing::Timing;
use super::trouble::Trouble;
use super::validate::{self, Position};
use super::world::World;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

/// The objects of one recording.
fn read(name: &str) -> World {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../real/{name}.yaml"));
    let text = std::fs::read_to_string(&path).unwrap();
    let objects: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
    let mut world = World::default();
    for kind in Kind::ALL {
        let own = objects
            .iter()
            .filter(|object| object.text("/kind") == kind.name())
            .cloned()
            .collect();
        world.replace(kind, own);
    }
    world
}

// Reading them takes seconds, and nothing changes them.
static RECORDINGS: LazyLock<Vec<(String, World)>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../real");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter_map(|name| name.strip_suffix(".yaml").map(str::to_owned))
        .collect();
    names.sort();
    assert!(names.len() >= 14, "recordings are missing: {names:?}");
    names
        .into_iter()
        .map(|name| {
            let world = read(&name);
            (name, world)
        })
        .collect()
});

/// The stand-in knows no overrides.
const OVERRIDDEN: &str = "N-override-invalid-path";

fn recordings() -> impl Iterator<Item = (&'static str, &'static World)> {
    RECORDINGS
        .iter()
        .map(|(name, world)| (name.as_str(), world))
}

fn recording(name: &str) -> World {
    recordings()
        .find(|known| known.0 == name)
        .unwrap()
        .1
        .clone()
}

/// Without times, and with conditions in the order of their types.
fn timeless(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            for time in ["lastTransitionTime", "startTime", "endTime"] {
                fields.remove(time);
            }
            for field in fields.values_mut() {
                *field = timeless(field.take());
            }
        }
        Value::Array(items) => {
            for item in items.iter_mut() {
                *item = timeless(item.take());
            }
            if items.iter().all(|item| !item.text("/reason").is_empty()) {
                items.sort_by_key(|item| item.text("/type").to_owned());
            }
        }
        _ => {}
    }
    value
}

fn all_of(world: &World, kinds: [Kind; 2]) -> impl Iterator<Item = &Value> {
    kinds.into_iter().flat_map(|kind| world.all(kind))
}

const BINDINGS: [Kind; 2] = [Kind::ClusterResourceBinding, Kind::ResourceBinding];
const PLACEMENTS: [Kind; 2] = [Kind::ClusterResourcePlacement, Kind::ResourcePlacement];
const RUNS: [Kind; 2] = [Kind::ClusterStagedUpdateRun, Kind::StagedUpdateRun];

fn works_of<'w>(world: &'w World, binding: &Value) -> Vec<&'w Value> {
    world
        .all(Kind::Work)
        .filter(|work| {
            work.namespace() == names::member_namespace(binding.text("/spec/targetCluster"))
                && work.label(names::WORK_BINDING) == binding.name()
        })
        .collect()
}

#[test]
fn agents_report_works_alike() {
    let mut compared = 0;
    for (name, world) in recordings() {
        for work in world.all(Kind::Work).filter(|work| !work.deleting()) {
            let said = conditions::of_status(work);
            if !said.is_true("Applied", work.generation()) {
                continue;
            }
            let trouble = said
                .is_false("Available", work.generation())
                .then_some(Trouble::NotAvailable);
            assert_eq!(
                timeless(agent::report(work, trouble.as_ref(), NOW)),
                timeless(work["status"].clone()),
                "{name}: {}",
                work.name()
            );
            compared += 1;
        }
    }
    assert!(compared >= 13, "only {compared} Works");
}

#[test]
fn bindings_sum_their_works_up_alike() {
    let mut compared = 0;
    for (name, world) in recordings() {
        for binding in all_of(world, BINDINGS) {
            let works = works_of(world, binding);
            let started =
                conditions::of_status(binding).is_true("RolloutStarted", binding.generation());
            if works.is_empty() || binding.deleting() || !started {
                continue;
            }
            assert_eq!(
                bindings::status(binding, &works, NOW),
                None,
                "{name}: {}",
                binding.name()
            );
            compared += 1;
        }
    }
    assert!(compared >= 13, "only {compared} bindings");
}

#[test]
fn works_are_made_alike() {
    let mut compared = 0;
    for (name, world) in recordings() {
        for binding in all_of(world, BINDINGS).filter(|binding| !binding.deleting()) {
            let scope = Scope::of(binding.namespace());
            let snapshot = world.get(
                scope.kinds().resource_snapshot,
                scope.namespace(),
                binding.text("/spec/resourceSnapshotName"),
            );
            let Some(snapshot) = snapshot else { continue };
            let wanted = bindings::works(&scope, binding, &[snapshot]);
            for work in works_of(world, binding) {
                assert_eq!(work.name(), wanted[0].name(), "{name}");
                assert_eq!(bindings::changed(work, &wanted[0]), None, "{name}");
                compared += 1;
            }
        }
    }
    assert!(compared >= 13, "only {compared} Works");
}

#[test]
fn placements_are_summed_up_alike() {
    let mut compared = 0;
    for (name, world) in recordings() {
        for placement in all_of(world, PLACEMENTS) {
            let scope = Scope::of(placement.namespace());
            let kinds = scope.kinds();
            let of = |kind| -> Vec<&Value> {
                world.of_placement(kind, &scope, placement.name()).collect()
            };
            // The member agent prints an address there, another one each time.
            let prints = name == "C-owned-twice";
            let external = placement.text("/spec/strategy/type") == "External";
            let policies = of(kinds.policy_snapshot);
            if prints || name == OVERRIDDEN || !external || policies.len() != 1 {
                continue;
            }
            let parts = Parts {
                policy: policies[0],
                bindings: of(kinds.binding),
                snapshots: of(kinds.resource_snapshot),
            };
            let status = placements::status(&scope, placement, &parts, NOW)
                .unwrap_or_else(|| placement["status"].clone());
            assert_eq!(
                timeless(status),
                timeless(placement["status"].clone()),
                "{name}: {}",
                placement.name()
            );
            compared += 1;
        }
    }
    assert!(compared >= 10, "only {compared} placements");
}

/// What initialization records, of a status that may be further on.
fn initial(status: &Value) -> Value {
    let mut status = timeless(status.clone());
    for field in ["conditions", "resourceSnapshotIndexUsed"] {
        if let Some(fields) = status.as_object_mut() {
            fields.remove(field);
        }
    }
    for stage in status["stagesStatus"].as_array_mut().into_iter().flatten() {
        clear(stage);
    }
    if let Some(stage) = status.get_mut("deletionStageStatus") {
        clear(stage);
    }
    status
}

fn clear(stage: &mut Value) {
    for list in ["clusters", "afterStageTaskStatus", "beforeStageTaskStatus"] {
        for item in stage[list].as_array_mut().into_iter().flatten() {
            if let Some(fields) = item.as_object_mut() {
                fields.remove("conditions");
            }
        }
    }
    if let Some(fields) = stage.as_object_mut() {
        fields.remove("conditions");
        fields.retain(|_, value| !value.is_null());
    }
}

#[test]
fn runs_are_initialized_alike() {
    let mut compared = 0;
    for (name, world) in recordings() {
        for object in all_of(world, RUNS) {
            let mut fresh = object.clone();
            fresh["status"] = Value::Null;
            let mut run = Run::read(&fresh);
            let outcome = initialize::prepare(&mut run, world).and_then(|_| {
                if run.spec.snapshot.is_empty() {
                    Ok(String::new())
                } else {
                    initialize::named_snapshot(&run, world)
                }
            });
            let recorded = conditions::of_status(object);
            let Some(recorded) = recorded.find("Initialized") else {
                continue;
            };
            match outcome {
                // The placement of this one was deleted after it had been initialized, a cluster of
                // these came or went, one has overrides.
                _ if [
                    "C42-placement-deleted",
                    "C-cluster-joined",
                    "C-cluster-left",
                    "N-placement-deleted",
                    OVERRIDDEN,
                ]
                .contains(&name) =>
                {
                    continue;
                }
                Ok(_) => assert_eq!(recorded.status, "True", "{name}: {}", object.name()),
                Err(Halt::Abort(message)) => {
                    assert_eq!(recorded.message, message, "{name}: {}", object.name());
                }
                Err(other) => panic!("{name}: {}: {other:?}", object.name()),
            }
            let status = serde_json::to_value(&run.status).unwrap();
            assert_eq!(
                initial(&status),
                initial(&object["status"]),
                "{name}: {}",
                object.name()
            );
            compared += 1;
        }
    }
    assert!(compared >= 14, "only {compared} runs");
}

#[test]
fn a_run_stands_where_it_stood() {
    let position = |recorded: &str, kind: Kind, namespace: &str, name: &str| {
        let world = recording(recorded);
        let run = Run::read(world.get(kind, namespace, name).unwrap());
        validate::validate(&run, &world).map(|(position, _)| position)
    };
    let cluster = Kind::ClusterStagedUpdateRun;
    assert_eq!(
        position("C03-timed-wait", cluster, "", "checkout-1"),
        Ok(Position::Stage(0))
    );
    assert_eq!(
        position("C04-before-approval", cluster, "", "checkout-1"),
        Ok(Position::Stage(1))
    );
    assert_eq!(
        position("C10-succeeded", cluster, "", "checkout-1"),
        Ok(Position::Done)
    );
    assert_eq!(
        position(
            "N21-stuck-workload",
            Kind::StagedUpdateRun,
            "search",
            "search-1"
        ),
        Ok(Position::Stage(0))
    );
    let gone = recording("C42-placement-deleted");
    let mut object = gone.get(cluster, "", "shipping-1").unwrap().clone();
    let recorded = conditions::of_status(&object);
    let message = recorded.find("Succeeded").unwrap().message.clone();
    object["status"]["conditions"] = Value::Null;
    assert_eq!(
        validate::validate(&Run::read(&object), &gone).map(|_| ()),
        Err(Halt::Abort(message))
    );
}

/// One look at a recorded run.
fn looked_at(world: &World, object: &Value, now: &str) -> (Value, Vec<Action>, Result<Next, Halt>) {
    let run = Run::read(object);
    let (position, targets) = validate::validate(&run, world).unwrap();
    let Position::Stage(index) = position else {
        panic!("{} is over", object.name());
    };
    let timing = Timing::real();
    let mut look = Look {
        run,
        world,
        targets: &targets,
        timing: &timing,
        now: now.parse().unwrap(),
        actions: Vec::new(),
    };
    let next = execute::execute(&mut look, index);
    let status = serde_json::to_value(&look.run.status).unwrap();
    (status, look.actions, next)
}

#[test]
fn a_stuck_run_stays_stuck() {
    let world = recording("N21-stuck-workload");
    let object = world
        .get(Kind::StagedUpdateRun, "search", "search-1")
        .unwrap();
    let (status, actions, next) = looked_at(&world, object, "2026-11-21T05:05:30Z");
    assert_eq!(status, object["status"]);
    assert_eq!(actions, []);
    assert_eq!(
        next,
        Err(Halt::Retry(
            "the cluster updating encountered an error at stage `staging`, updateRun := `search-1`"
                .to_owned()
        ))
    );
}

#[test]
fn a_gate_stays_closed_without_an_approval_for_its_generation() {
    for name in ["C04-before-approval", "C05-approval-without-generation"] {
        let world = recording(name);
        let object = world
            .get(Kind::ClusterStagedUpdateRun, "", "checkout-1")
            .unwrap();
        let (status, actions, next) = looked_at(&world, object, "2026-11-21T05:05:30Z");
        assert_eq!(status, object["status"], "{name}");
        assert_eq!(actions, [], "{name}");
        assert_eq!(next, Ok(Next::After(Timing::real().gate_look)));
    }
}

#[test]
fn an_approval_for_its_generation_opens_a_gate() {
    let mut world = recording("C05-approval-without-generation");
    let name = "checkout-1-before-canary";
    let mut request = world
        .get(Kind::ClusterApprovalRequest, "", name)
        .unwrap()
        .clone();
    request["metadata"]["resourceVersion"] = "999999".into();
    request["status"]["conditions"][0]["observedGeneration"] = 1.into();
    assert!(world.upsert(Kind::ClusterApprovalRequest, request));
    let object = world
        .get(Kind::ClusterStagedUpdateRun, "", "checkout-1")
        .unwrap();
    let (status, actions, _) = looked_at(&world, object, "2026-11-21T05:05:30Z");
    assert_eq!(actions[0], Action::AcceptApproval(name.to_owned()));
    let Action::Rollout { binding, spec } = &actions[1] else {
        panic!("{actions:?}");
    };
    assert!(binding.starts_with("checkout-member-2-"), "{binding}");
    assert_eq!(
        spec[1],
        ("resourceSnapshotName", "checkout-0-snapshot".into())
    );
    let stage = &status["stagesStatus"][1];
    assert_eq!(stage["startTime"], "2026-11-21T05:05:30Z");
    assert_eq!(stage["clusters"][0]["conditions"][0]["type"], "Started");
    assert!(stage["clusters"][1].get("conditions").is_none());
}

#[test]
fn a_run_that_lost_its_cluster_fails_alike() {
    let world = recording("C45-preempted-in-flight");
    let recorded = world
        .get(Kind::ClusterStagedUpdateRun, "", "invoices-1")
        .unwrap();
    // As it was before its last look.
    let mut before = recorded.clone();
    let moving = before["status"]["conditions"][0].clone();
    before["status"]["conditions"] = serde_json::json!([moving]);
    let stage = &mut before["status"]["stagesStatus"][0];
    let started = stage["clusters"][0]["conditions"][0].clone();
    stage["clusters"][0]["conditions"] = serde_json::json!([started]);
    let mut progressing = started;
    progressing["type"] = "Progressing".into();
    stage["conditions"] = serde_json::json!([progressing]);
    if let Some(fields) = stage.as_object_mut() {
        fields.remove("endTime");
    }
    let (mut status, actions, next) = looked_at(&world, &before, "2026-11-21T05:07:28Z");
    assert_eq!(actions, []);
    let Err(Halt::Abort(message)) = next else {
        panic!("{next:?}");
    };
    let said = conditions::of_status(recorded);
    assert_eq!(message, said.find("Succeeded").unwrap().message);
    // What the controller adds at the end of a failed look.
    let mut run = Run::read(&before);
    run.status = serde_json::from_value(status.clone()).unwrap();
    super::marks::run_failed(&mut run, &message, "2026-11-21T05:07:28Z".parse().unwrap());
    status["conditions"] = serde_json::to_value(&run.status.conditions).unwrap();
    assert_eq!(timeless(status), timeless(recorded["status"].clone()));
}

#[test]
fn a_timed_wait_ends_when_it_was_declared_to() {
    let world = recording("C03-timed-wait");
    let object = world
        .get(Kind::ClusterStagedUpdateRun, "", "checkout-1")
        .unwrap();
    // The stage waits since 05:04:02, for 30 s.
    let (status, _, next) = looked_at(&world, object, "2026-11-21T05:04:22Z");
    assert_eq!(next, Ok(Next::After(Duration::from_secs(10))));
    assert_eq!(timeless(status), timeless(object["status"].clone()));
    let (status, _, next) = looked_at(&world, object, "2026-11-21T05:04:32Z");
    assert_eq!(next, Ok(Next::Again));
    let task = &status["stagesStatus"][0]["afterStageTaskStatus"][0];
    assert_eq!(task["conditions"][0]["type"], "WaitTimeElapsed");
}
