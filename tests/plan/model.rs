//! The plan and the model of the controller say the same of a run that does not exist yet.

use std::path::Path;

use jiff::Timestamp;
use kubectl_fleet_stage::bundle::{self, Bundle, Input};
use kubectl_fleet_stage::controller::{
    AwaitedEvent, Intervention, PlayEnd, PlayLimits, PlayedRun, State, after, play,
};
use kubectl_fleet_stage::inventory::{Inventory, Walk};
use kubectl_fleet_stage::kubefleet::Conditions as _;
use kubectl_fleet_stage::kubefleet::object::Body;
use kubectl_fleet_stage::kubefleet::run::{RunState, UpdateRun};
use serde_json::{Value, json};

use super::laws::{bundles, short};
use super::plan;

/// What the model does not know: whether a placement that is being deleted has its policy still, and
/// what its selectors select.
const BEYOND: [&str; 2] = ["FS206", "FS119"];

/// A new run like this one, started and looked at a few times, while no cluster gets done.
fn played(inventory: &Inventory, run: &UpdateRun) -> Option<PlayedRun> {
    let act = Intervention::NewRun {
        name: "NEW".to_owned(),
        snapshot: run.spec.pinned().map(str::to_owned),
        state: RunState::Run,
    };
    let state = after(&State::new(inventory, run), &act).ok()?;
    let limits = PlayLimits {
        until: Timestamp::MAX,
        looks: 4,
    };
    play(state, &|_| None, &limits).ok()
}

fn planned(path: &Path, run: &UpdateRun) -> Value {
    let spec = &run.spec;
    let mut args = vec!["--placement", &spec.placement, "--strategy", &spec.strategy];
    args.extend(["--run", "NEW", "-f", path.to_str().unwrap()]);
    if let Some(index) = spec.pinned() {
        args.extend(["--snapshot", index]);
    }
    if !run.meta.namespace.is_empty() {
        args.extend(["-n", &run.meta.namespace]);
    }
    plan(&args, "").1
}

/// What differs.
fn difference(plan: &Value, played: &PlayedRun) -> Option<String> {
    let status = &played.state.run.status;
    let begun = status.conditions.is_true("Initialized");
    let fails = match &played.end {
        PlayEnd::Failed(failure) => failure.as_ref().map(|it| it.code),
        PlayEnd::Waits(waits)
            if !begun && waits.iter().any(|it| matches!(it, AwaitedEvent::Retry(_))) =>
        {
            Some("FS121")
        }
        _ => None,
    };
    let refused = plan["refusals"][0]["code"].as_str();
    if fails != refused {
        return Some(format!("plan: {refused:?}, model: {:?}", played.end));
    }
    if refused.is_some() {
        return None;
    }
    let names = |clusters: &mut dyn Iterator<Item = &str>| json!(clusters.collect::<Vec<_>>());
    let ours: Vec<_> = status
        .stages
        .iter()
        .map(|stage| {
            let clusters = names(&mut stage.clusters.iter().map(|it| it.name.as_str()));
            json!([stage.name, clusters])
        })
        .collect();
    let theirs = plan["stages"].as_array().unwrap().iter().map(|stage| {
        let clusters = stage["clusters"].as_array().unwrap().iter();
        let clusters = names(&mut clusters.map(|it| it["name"].as_str().unwrap()));
        json!([stage["name"], clusters])
    });
    let theirs: Vec<_> = theirs.collect();
    (ours != theirs).then(|| format!("plan: {theirs:?}, model: {ours:?}"))
}

fn read(path: &Path) -> Bundle {
    let text = std::fs::read(path).unwrap();
    bundle::read(vec![Input::Stdin(Box::new(std::io::Cursor::new(text)))]).unwrap()
}

#[test]
fn the_plan_and_the_model_agree() {
    let (mut compared, mut wrong) = (0, Vec::new());
    for path in bundles() {
        let mut bundle = read(&path);
        let Some(now) = bundle.collected_at.or(bundle.newest_timestamp()) else {
            continue;
        };
        let hub = bundle.hub.clone();
        let runs: Vec<_> = bundle
            .objects()
            .iter()
            .filter_map(|object| match &object.body {
                Body::Run(run) => Some((object.reference(), run.clone())),
                _ => None,
            })
            .collect();
        for (target, run) in runs {
            let mut walk = Walk::new(target.clone());
            walk.drive(&mut bundle);
            let inventory = Inventory::new(walk, now, hub.clone());
            // `plan` reads `latest` as a word of its own.
            let named = run.spec.pinned().is_none_or(|it| it != "latest");
            let Some(played) = played(&inventory, &run).filter(|_| named) else {
                continue;
            };
            let plan = planned(&path, &run);
            let first = plan["refusals"][0]["code"].as_str().unwrap_or_default();
            if plan["outcome"] == "Unknown" || BEYOND.contains(&first) {
                continue;
            }
            compared += 1;
            if let Some(why) = difference(&plan, &played) {
                wrong.push(format!("{} {target}: {why}", short(&path)));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {compared}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(compared > 150, "only {compared} plans were compared");
}
