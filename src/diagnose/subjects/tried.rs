//! What comes of a step, as the model of the controller plays it.

use std::collections::BTreeSet;

use jiff::SignedDuration;

use crate::controller::{
    InputFinding, Intervention, PlayEnd, PlayLimits, PlayObstacle, PlayedRun, RunFailure, State,
    after, initialize, play,
};
use crate::inventory::{BLOCKING, Inventory};
use crate::kubefleet::binding::Binding;
use crate::kubefleet::run::{RunState, UpdateRun};
use crate::kubefleet::{Condition, Conditions, reasons};
use crate::rollout::dropped_gates::{self, approvals_of};
use crate::rollout::{STUCK_AFTER, rollback};
use crate::words::CommandLine;

/// How long a cluster takes that nothing is known to be wrong with.
const SOON: SignedDuration = SignedDuration::from_secs(60);

/// How far a step is played: timers may be long, and nobody approves.
const FAR: SignedDuration = SignedDuration::from_hours(24 * 366);
const LOOKS: usize = 20_000;

/// How many looks find what a new run cannot begin with: it is initialized, started, and checked.
const FIRST_LOOKS: usize = 4;

/// What a command of ours does to the objects around a run, and which run that is; `None` for one
/// that changes nothing, or that does not say what.
pub fn interventions<'i>(
    inventory: &'i Inventory,
    command: &CommandLine,
) -> Option<(&'i UpdateRun, Vec<Intervention>)> {
    if !command.is_ours() {
        return None;
    }
    let own = || inventory.run.present();
    let named = || inventory.run_on(command.operand(0)?);
    let of_state = |state| Some((named()?, vec![Intervention::SetState(state)]));
    match command.verb() {
        "approve" => {
            let request = command.operand(0)?.to_owned();
            let mut requests = inventory.approvals.iter();
            let found = requests.find(|it| it.meta.name == request)?;
            let run = inventory.run_on(&found.spec.run)?;
            Some((run, vec![Intervention::Approve { request }]))
        }
        "resume" => of_state(RunState::Run),
        "stop" => of_state(RunState::Stop),
        "delete" => Some((named()?, vec![Intervention::Delete])),
        "retry" => {
            let run = named()?;
            let index = Some(run.status.snapshot_index.as_str()).filter(|it| !it.is_empty());
            let snapshot = index.or(run.pinned()).map(str::to_owned);
            Some((run, replaced(new_run(snapshot))))
        }
        "rollback" => {
            let run = named().or(own())?;
            let good = rollback::last_good(inventory, run).ok()?;
            Some((run, vec![new_run(Some(good.index.to_owned()))]))
        }
        "run" => started(inventory, command),
        _ => None,
    }
}

/// What `run` does: it starts a run, or makes one.
fn started<'i>(
    inventory: &'i Inventory,
    command: &CommandLine,
) -> Option<(&'i UpdateRun, Vec<Intervention>)> {
    let snapshot = match command.value_of("--snapshot") {
        Some(index) if index == "latest" => Some(inventory.latest_snapshot()?.index()?.to_owned()),
        // A word in capitals is still to be put in.
        Some(index) if index.bytes().all(|it| it.is_ascii_uppercase()) => return None,
        Some(index) => Some(index),
        None => None,
    };
    if let Some(old) = command.value_of("--from") {
        let old = inventory.run_on(&old)?;
        let new = new_run(snapshot);
        let acts = if command.has_flag("--replace") {
            replaced(new)
        } else {
            vec![new]
        };
        return Some((old, acts));
    }
    if let Some(placement) = command.value_of("--placement") {
        let own = inventory.run.present()?;
        let same = placement == own.spec.placement
            && command
                .value_of("--strategy")
                .is_some_and(|it| it == own.spec.strategy);
        return same.then(|| (own, vec![new_run(snapshot)]));
    }
    let run = inventory.run_on(command.operand(0)?)?;
    Some((run, vec![Intervention::SetState(RunState::Run)]))
}

fn new_run(snapshot: Option<String>) -> Intervention {
    Intervention::NewRun {
        name: "NEW".to_owned(),
        snapshot,
        state: RunState::Run,
    }
}

fn replaced(new: Intervention) -> Vec<Intervention> {
    vec![Intervention::Delete, new]
}

/// What comes of a command of ours if nobody does anything else, and clusters that are in trouble
/// stay so; `None` for one that changes nothing, or of which that is not known.
pub fn tried(
    inventory: &Inventory,
    command: &CommandLine,
) -> Option<Result<PlayedRun, PlayObstacle>> {
    played(inventory, command, (LOOKS, has_left))
}

fn played(
    inventory: &Inventory,
    command: &CommandLine,
    (looks, left): (usize, fn(&Binding) -> bool),
) -> Option<Result<PlayedRun, PlayObstacle>> {
    let state = match state_after(inventory, command, left)? {
        Ok(state) => state,
        Err(obstacle) => return Some(Err(obstacle)),
    };
    let troubled: BTreeSet<String> = state
        .bindings
        .iter()
        .filter(|binding| is_troubled(binding, state.now))
        .map(|binding| binding.spec.cluster.clone())
        .collect();
    let pace = |cluster: &str| (!troubled.contains(cluster)).then_some(SOON);
    let until = state.now.checked_add(FAR).unwrap_or(state.now);
    let limits = PlayLimits {
        until,
        looks,
        pause: None,
    };
    Some(play(state, &pace, &limits).map_err(PlayObstacle::Unknown))
}

/// Where the controller stands once a command was given.
fn state_after(
    inventory: &Inventory,
    command: &CommandLine,
    left: fn(&Binding) -> bool,
) -> Option<Result<State, PlayObstacle>> {
    let (run, acts) = interventions(inventory, command)?;
    let mut state = State::new(inventory, run);
    state.bindings.items.retain(|it| !left(it));
    let mut acts = acts.iter();
    Some(acts.try_fold(state, |state, act| after(&state, act)))
}

/// What else is wrong with what the run that a command makes says of itself. The controller stops at the
/// first fault, and none of these comes from another.
pub(in crate::diagnose) fn own_faults(
    inventory: &Inventory,
    command: &CommandLine,
) -> Vec<RunFailure> {
    let state = state_after(inventory, command, has_left).and_then(Result::ok);
    let found = state.map(|state| initialize(state).1);
    let faults = found.into_iter().flatten().filter_map(|it| match it {
        InputFinding::Fault(fault, message) if fault.is_own() => Some(RunFailure {
            code: fault.code(),
            message,
        }),
        _ => None,
    });
    faults.collect()
}

pub(in crate::diagnose) fn makes_a_run(command: &CommandLine) -> bool {
    let verb = command.verb();
    let from = ["--from", "--placement"];
    command.is_ours()
        && (verb == "retry"
            || verb == "rollback"
            || (verb == "run" && from.iter().any(|flag| command.has_flag(flag))))
}

/// The approval for which the run does not wait that a command makes of this one, though this one does: with
/// `--yes`, `run` refuses that unless the strategy is named.
pub(in crate::diagnose) fn dropped_gate(
    inventory: &Inventory,
    command: &CommandLine,
) -> Option<String> {
    let own = inventory.run.present()?;
    let is_over = own.status.conditions.is_true(reasons::SUCCEEDED);
    let is_named = command.has_flag("--strategy") || command.verb() == "rollback";
    if is_over || is_named || !makes_a_run(command) {
        return None;
    }
    let (made_of, _) = interventions(inventory, command)?;
    let state = state_after(inventory, command, has_left)?.ok()?;
    let now = approvals_of(&initialize(state).0.run)?;
    dropped_gates::dropped_gate(made_of, &now).filter(|_| made_of.meta.name == own.meta.name)
}

/// What shows beforehand what comes of a command that makes a run: a plan with its content.
pub(in crate::diagnose) fn plan_of(
    inventory: &Inventory,
    command: &CommandLine,
    plan: CommandLine,
) -> CommandLine {
    let acts = interventions(inventory, command).map(|(_, acts)| acts);
    let snapshot = acts.into_iter().flatten().find_map(|act| match act {
        Intervention::NewRun { snapshot, .. } => snapshot,
        _ => None,
    });
    match snapshot {
        Some(index) => plan.flag("--snapshot", index),
        None => plan,
    }
}

/// Who is about to leave has left before anybody can type the command.
pub(in crate::diagnose) fn has_left(binding: &Binding) -> bool {
    binding.meta.is_deleting() && !binding.is_unscheduled()
}

/// Why the run that a command makes fails as things are: when it is initialized, or soon after.
pub(in crate::diagnose) fn failure(
    inventory: &Inventory,
    command: &CommandLine,
) -> Option<RunFailure> {
    failure_of(inventory, command, has_left)
}

/// The same while the bindings that are being deleted are still there, and their names.
pub(in crate::diagnose) fn failure_until_gone<'i>(
    inventory: &'i Inventory,
    command: &CommandLine,
) -> Option<(RunFailure, Vec<&'i str>)> {
    let leaving = inventory.bindings.iter().filter(|it| has_left(it));
    let leaving: Vec<_> = leaving.map(|it| it.meta.name.as_str()).collect();
    let failure = (!leaving.is_empty()).then(|| failure_of(inventory, command, |_| false));
    Some((failure??, leaving))
}

fn failure_of(
    inventory: &Inventory,
    command: &CommandLine,
    left: fn(&Binding) -> bool,
) -> Option<RunFailure> {
    match played(inventory, command, (FIRST_LOOKS, left))?.ok()?.end {
        PlayEnd::Failed(failure) => failure,
        _ => None,
    }
}

fn is_troubled(binding: &Binding, now: jiff::Timestamp) -> bool {
    let failed = BLOCKING
        .iter()
        .any(|kind| binding.current(kind).is_some_and(Condition::is_false));
    let started = binding.current(reasons::ROLLOUT_STARTED);
    let long = started
        .and_then(|started| started.since)
        .is_some_and(|since| now.duration_since(since) > STUCK_AFTER);
    failed || (long && binding.fulfilled().is_none())
}
