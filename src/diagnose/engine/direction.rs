//! Which content a step puts where: every step that starts a run says so.

use std::collections::BTreeMap;

use crate::diagnose::subjects::back;
use crate::diagnose::subjects::context::DiagnosisContext;
use crate::diagnose::subjects::tried::{makes_a_run, plan_of};
use crate::inventory::Inventory;
use crate::kubefleet::run::UpdateRun;
use crate::report::{Effect, Finding};
use crate::rollout::Rollout;
use crate::rollout::content::old_content;
use crate::rollout::rollback;
use crate::rollout::sent::sent_index;
use crate::words::{CommandLine, count, enumerate};

/// Gives the plan of a finding the snapshot of the run that the finding makes: else it shows another one.
pub fn plans(inventory: &Inventory, findings: &mut [Finding]) {
    for finding in findings {
        let mut commands = finding.remedies.iter().filter_map(|it| it.command.as_ref());
        let Some(run) = commands.find(|it| makes_a_run(it)).cloned() else {
            continue;
        };
        let commands = finding.remedies.iter_mut();
        for command in commands.filter_map(|it| it.command.as_mut()) {
            if command.is_ours() && command.verb() == "plan" && !command.has_flag("--snapshot") {
                *command = plan_of(inventory, &run, command.clone());
            }
        }
    }
}

/// Names the content in every step that starts a run: `(the current content, snapshot 4 or newer; 3
/// clusters have 3)`. One that takes clusters back is disruptive, and says so to the command, which
/// refuses it otherwise.
pub fn steps(cx: &DiagnosisContext<'_>, findings: &mut [Finding]) {
    for remedy in findings.iter_mut().flat_map(|it| &mut it.remedies) {
        let Some((content, is_older)) = remedy.command.as_ref().and_then(|it| content(cx, it))
        else {
            continue;
        };
        remedy.action = with_content(&remedy.action, &content);
        if content.contains(ROLLED_BACK) && !remedy.action.contains("correct") {
            remedy.action.push_str(" Correct the content first.");
        }
        if remedy.command.as_ref().is_some_and(makes_a_run)
            && let Some(clusters) = back::removed(cx.inventory)
        {
            let action = remedy.action.trim_end_matches('.');
            remedy.action = format!("{action}. It removes the placement from {clusters}.");
            remedy.effect = Effect::Disruptive;
        }
        if is_older {
            remedy.effect = Effect::Disruptive;
            remedy.command = remedy.command.take().map(allow_older);
        }
    }
}

/// A command of ours that does what it would refuse otherwise.
pub fn allow_older(command: CommandLine) -> CommandLine {
    if command.has_flag("--allow-older") {
        command
    } else {
        command.switch("--allow-older")
    }
}

/// Puts the content beside the run that gets it, wherever the step speaks of that.
fn with_content(action: &str, content: &str) -> String {
    // What the step says already is not said again.
    let said = content
        .split_once("; ")
        .filter(|(what, _)| action.contains(what));
    let content = said.map_or(content, |(_, others)| others);
    if content == CURRENT && action.contains(CURRENT) {
        return action.to_owned();
    }
    let now = content
        .strip_prefix(CURRENT)
        .filter(|_| action.contains(CURRENT));
    let content = now.and_then(|it| it.strip_prefix(", ")).unwrap_or(content);
    let ends = |at: &usize| !action[*at..].starts_with(|c: char| c.is_alphanumeric());
    let run = [CURRENT, "new run", "first run"]
        .iter()
        .find_map(|words| Some(action.find(words)? + words.len()))
        .filter(ends);
    let at = run.unwrap_or_else(|| action.trim_end_matches(['.', ' ']).len());
    let (before, after) = action.split_at(at);
    format!("{before} ({content}){after}")
}

/// What a command rolls out, what the clusters have, and whether it takes them back by a new run
/// that is no rollback; `None` for one that starts no run.
fn content(cx: &DiagnosisContext<'_>, command: &CommandLine) -> Option<(String, bool)> {
    let inventory = cx.inventory;
    let elsewhere = command.value_of("-n").unwrap_or_default() != inventory.scope.namespace();
    let named = || inventory.run_on(command.operand(0)?).or(cx.run());
    let (what, index) = match command.verb() {
        _ if !command.is_ours() => return None,
        "run" => match (
            command.value_of("--snapshot"),
            command.value_of("--placement"),
        ) {
            (Some(index), _) if index == "latest" => current(inventory),
            (Some(index), _) if index.parse::<u64>().is_err() => {
                return Some(("the snapshot that you name".to_owned(), false));
            }
            (Some(index), _) => (format!("snapshot {index}"), Some(index)),
            (None, Some(placement)) if elsewhere || placement != inventory.placement_name => {
                return Some((CURRENT.to_owned(), false));
            }
            (None, None) if !command.has_flag("--from") => run_content(inventory, named()?, ""),
            (None, _) => current(inventory),
        },
        "resume" if !Rollout::of(inventory, named()?).has_begun() => {
            run_content(inventory, named()?, "")
        }
        "retry" => run_content(inventory, named()?, " as before"),
        "rollback" if command.has_flag("--to") => {
            let index = command.value_of("--to")?;
            (format!("snapshot {index}"), Some(index))
        }
        "rollback" => {
            let good = rollback::last_good(inventory, named()?).ok()?;
            (
                format!("snapshot {}", good.index),
                Some(good.index.to_owned()),
            )
        }
        _ => return None,
    };
    let is_new = command.verb() != "rollback";
    let is_older = is_new
        && index
            .as_deref()
            .is_some_and(|index| is_older(inventory, index));
    let others = index.and_then(|index| held(inventory, &index));
    let content = match others {
        Some(others) => format!("{what}; {others}"),
        None => what,
    };
    Some((content, is_older))
}

/// Whether some cluster has a newer snapshot.
fn is_older(inventory: &Inventory, index: &str) -> bool {
    let number = |index: &str| index.parse::<u64>().ok();
    let has = inventory
        .staying()
        .filter_map(|it| number(sent_index(inventory, it)?));
    number(index).is_some_and(|own| has.max().is_some_and(|newest| newest > own))
}

const CURRENT: &str = "the current content";
const ROLLED_BACK: &str = ", which was rolled back";

/// The content as it is when the run is started. With a placement its snapshots go, and those of the
/// next one are counted from 0 again.
fn current(inventory: &Inventory) -> (String, Option<String>) {
    let had = || {
        inventory
            .run
            .present()
            .is_some_and(|run| !run.status.policy_index.is_empty())
    };
    if inventory.is_placement_going() && (inventory.placement.present().is_some() || had()) {
        let content = "the content at that time; the old snapshots go with the placement";
        return (content.to_owned(), None);
    }
    let run = inventory.run.present();
    let late = run.and_then(|run| old_content(inventory, run));
    let latest = inventory.latest_snapshot().and_then(|it| it.index());
    // A change that has no snapshot yet is current.
    match latest.filter(|_| late.is_none_or(|late| late.next.is_some())) {
        Some(index) => {
            let back = rollback::TakenBack::of(inventory, index);
            // The hub may have changed since, which nobody has looked at here.
            let content = match back {
                Some(_) => format!("{CURRENT}, snapshot {index}{ROLLED_BACK}, or newer"),
                None => format!("{CURRENT}, snapshot {index} or newer"),
            };
            (content, Some(index.to_owned()))
        }
        None => (CURRENT.to_owned(), None),
    }
}

fn run_content(inventory: &Inventory, run: &UpdateRun, again: &str) -> (String, Option<String>) {
    let used = Some(run.status.snapshot_index.as_str()).filter(|index| !index.is_empty());
    match used.or_else(|| run.pinned()) {
        Some(index) => (format!("snapshot {index}{again}"), Some(index.to_owned())),
        None => current(inventory),
    }
}

/// How many clusters have another snapshot: `3 clusters have 3 and 1 has none`. A binding names what a
/// cluster is to have; that its Works are written tells what it has.
fn held(inventory: &Inventory, index: &str) -> Option<String> {
    let mut all: BTreeMap<(Option<&str>, bool), usize> = BTreeMap::new();
    for binding in inventory.staying() {
        let has = sent_index(inventory, binding);
        let is_sent = has.is_none() || binding.is_sent();
        *all.entry((has, is_sent)).or_default() += 1;
    }
    let same = all.remove(&(Some(index), true)).unwrap_or_default();
    if all.is_empty() {
        return match same {
            0 => None,
            1 => Some("1 cluster was sent it".to_owned()),
            same => Some(format!("all {same} clusters were sent it")),
        };
    }
    let others = all.into_iter().rev().map(|((has, is_sent), number)| {
        let verb = match (is_sent, number) {
            (true, 1) => "has",
            (true, _) => "have",
            (false, 1) => "is to get",
            (false, _) => "are to get",
        };
        let what = match has {
            None => "none",
            Some(has) if has == index => "it",
            Some(has) => has,
        };
        format!("{} {verb} {what}", count(number, "cluster"))
    });
    Some(enumerate(others))
}
