//! What a new run would be refused for as things are: a second fault, which no finding tells.

use std::collections::BTreeSet;

use crate::controller::RunFailure;
use crate::diagnose::engine::causes;
use crate::diagnose::subjects::context::DiagnosisContext;
use crate::diagnose::subjects::outlook;
use crate::diagnose::subjects::tried;
use crate::inventory::Inventory;
use crate::kubefleet::messages::essence;
use crate::problems::members::{going, wait_until_gone};
use crate::report::{Finding, Remedy};
use crate::words::CommandLine;

/// Codes that tell of a placement that goes, or is gone.
const GOING: [&str; 2] = ["FS101", "FS206"];

/// Puts a look before a step that starts a run, where that run would be refused for what is in no
/// finding.
pub fn steps(cx: &DiagnosisContext<'_>, findings: &mut [Finding]) {
    let codes: BTreeSet<String> = findings.iter().map(|it| it.code.clone()).collect();
    for finding in findings {
        let tells = GOING.contains(&finding.code.as_str());
        let is_because = |it: &str| finding.caused_by.iter().any(|cause| cause.code == it);
        let is_told = tells || GOING.into_iter().any(is_because);
        let makes = |it: &Remedy| it.command.clone().filter(tried::makes_a_run);
        let mut steps = finding.remedies.iter().enumerate();
        let Some((at, command)) = steps.find_map(|(at, it)| Some((at, makes(it)?))) else {
            continue;
        };
        let Some(mut look) = look(cx, &command, (&codes, is_told)) else {
            continue;
        };
        look.next_needs_it = true;
        let mut before = finding.remedies.iter_mut().take(at);
        match before.find(|it| it.command.is_some() && it.command == look.command) {
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

fn look(
    cx: &DiagnosisContext<'_>,
    command: &CommandLine,
    (codes, is_going_told): (&BTreeSet<String>, bool),
) -> Option<Remedy> {
    let placement = cx.placement_object();
    if cx.inventory.is_placement_going() {
        let gone = cx.inventory.placement.is_absent();
        let state = if gone {
            "does not exist"
        } else {
            "is being deleted"
        };
        return (!is_going_told).then(|| {
            Remedy::look(
                format!(
                    "Check why {} {state}: until it exists again, a new run fails.",
                    placement.name
                ),
                Some(placement.kubectl("get").flag("-o", "yaml")).filter(|_| !gone),
            )
        });
    }
    let plan = || {
        let plan = cx.plan_command()?;
        Some(tried::plan_of(cx.inventory, command, plan))
    };
    let Some(failure) = tried::failure(cx.inventory, command) else {
        let Some((failure, leaving)) = tried::failure_until_gone(cx.inventory, command) else {
            return member_gone(cx.inventory, command).or_else(|| until_gone(cx.inventory));
        };
        let (what, are) = outlook::leaving(&leaving);
        let action = format!(
            "Wait until {what} {are} gone: until then, a new run fails ({}).",
            failure.code
        );
        return Some(Remedy::look(action, plan()));
    };
    // Of a placement that exists again, this is told with it.
    let is_told = |failure: &RunFailure| {
        codes.contains(failure.code) || failure.code == "FS102" && codes.contains("FS101")
    };
    let failure = if is_told(&failure) {
        let others = tried::own_faults(cx.inventory, command);
        others.into_iter().find(|it| !is_told(it))?
    } else {
        failure
    };
    Some(Remedy::look(
        format!(
            "Check what else makes a new run fail: `{}` ({}).",
            essence(&failure.message),
            failure.code
        ),
        plan(),
    ))
}

/// To wait for clusters of the placement that are being deleted, and that a new run would still update. A
/// rollback is started all the same.
fn member_gone(inventory: &Inventory, command: &CommandLine) -> Option<Remedy> {
    let is_rollback = command.verb() == "rollback";
    let leaving = (!is_rollback).then(|| going(inventory))?;
    wait_until_gone(&leaving, inventory.now)
}

/// To wait for bindings that go, and that a run may write in place of the new ones.
fn until_gone(inventory: &Inventory) -> Option<Remedy> {
    let bindings = inventory.bindings.iter();
    let leaving: Vec<_> = bindings.filter(|it| tried::has_left(it)).collect();
    causes::until_gone(&leaving)
}
