//! What a new run would be refused for as things are: a second fault, which no finding tells.

use std::collections::BTreeSet;

use super::context::Context;
use crate::controller::{self, RunFailure, State};
use crate::kubefleet::messages::essence;
use crate::kubefleet::run::{RunStatus, UpdateRun};
use crate::report::{Effect, Finding, Remedy};
use crate::words::CommandLine;

/// Codes that tell of a placement that goes, or is gone.
const GOING: [&str; 2] = ["FS101", "FS206"];

/// Puts a look before a step that starts a run, where that run would be refused for what is in no
/// finding.
pub(super) fn steps(cx: &Context<'_>, findings: &mut [Finding]) {
    let Some(run) = cx.run() else { return };
    let codes: BTreeSet<String> = findings.iter().map(|it| it.code.clone()).collect();
    for finding in findings {
        let starts = |it: &Remedy| {
            let command = it.command.as_ref()?;
            starts_again(command, run).then(|| snapshot(command, run))
        };
        let first = finding.remedies.iter().enumerate();
        let Some((at, index)) = first.filter_map(|(at, it)| Some((at, starts(it)?))).next() else {
            continue;
        };
        let Some(look) = look(cx, run, &index, &codes) else {
            continue;
        };
        let before = finding.remedies.get_mut(at.wrapping_sub(1));
        match before.filter(|it| it.command.is_some() && it.command == look.command) {
            // To wait for the scheduler is said better there.
            Some(before) => {
                if !cx.awaits_scheduler() {
                    *before = look;
                }
            }
            None => finding.remedies.insert(at, look),
        }
    }
}

/// Whether a command starts a run of the same placement and strategy.
fn starts_again(command: &CommandLine, run: &UpdateRun) -> bool {
    let has = |flag: &str, value: &str| {
        let words = command.argv();
        let mut pairs = words.windows(2);
        pairs.any(|pair| pair == [flag, value])
    };
    command.is_ours()
        && match command.verb() {
            "retry" => command.operand(0) == Some(&run.meta.name),
            "run" => {
                has("--from", &run.meta.name)
                    || has("--placement", &run.spec.placement)
                        && has("--strategy", &run.spec.strategy)
            }
            _ => false,
        }
}

/// The snapshot that the new run asks for.
fn snapshot(command: &CommandLine, run: &UpdateRun) -> String {
    match command.value_of("--snapshot") {
        Some(index) if index == "latest" => String::new(),
        Some(index) => index,
        None if command.has_flag("--placement") => String::new(),
        None => run.spec.pinned().unwrap_or_default().to_owned(),
    }
}

fn look(
    cx: &Context<'_>,
    run: &UpdateRun,
    index: &str,
    codes: &BTreeSet<String>,
) -> Option<Remedy> {
    let placement = cx.placement_object();
    if cx.inventory.is_placement_going() {
        let is_told = GOING.iter().any(|code| codes.contains(*code));
        let gone = cx.inventory.placement.is_absent();
        let state = if gone {
            "does not exist"
        } else {
            "is being deleted"
        };
        return (!is_told).then(|| Remedy {
            action: format!(
                "Check why {} {state}: until it exists again, a new run fails.",
                placement.name
            ),
            command: Some(placement.kubectl("get").flag("-o", "yaml")).filter(|_| !gone),
            effect: Effect::ReadOnly,
        });
    }
    let failure = refusal(cx, run, index)?;
    // Of a placement that exists again, this is told with it.
    let is_told =
        codes.contains(failure.code) || failure.code == "FS102" && codes.contains("FS101");
    (!is_told).then(|| Remedy {
        action: format!(
            "Check what else makes a new run fail: `{}` ({}).",
            essence(&failure.message),
            failure.code
        ),
        command: cx.plan_command(),
        effect: Effect::ReadOnly,
    })
}

/// Why the controller refuses a new run with the same placement and strategy, when it knows.
fn refusal(cx: &Context<'_>, run: &UpdateRun, index: &str) -> Option<RunFailure> {
    // An index that is still to be named.
    if index.chars().any(|c| c.is_ascii_uppercase()) {
        return None;
    }
    let state = State::new(cx.inventory, run);
    let mut again = run.clone();
    again.status = RunStatus::default();
    again.meta.deleted = None;
    again.meta.created = Some(cx.now());
    again.meta.generation = Some(1);
    again.spec.state = Some("Run".to_owned());
    index.clone_into(&mut again.spec.snapshot_index);
    controller::predict(State {
        run: again,
        ..state
    })
    .ok()?
    .failure
}
