//! Which content a step puts where: every step that starts a run says so.

use std::collections::BTreeMap;

use super::context::Context;
use crate::inventory::Inventory;
use crate::kubefleet::run::UpdateRun;
use crate::report::Finding;
use crate::rollout::rollback;
use crate::words::{CommandLine, count, enumerate};

/// Names the content in every step that starts a run: `(the current content, now snapshot 4; 3
/// clusters have 3)`.
pub(super) fn steps(cx: &Context<'_>, findings: &mut [Finding]) {
    for remedy in findings.iter_mut().flat_map(|it| &mut it.remedies) {
        let content = remedy.command.as_ref().and_then(|it| content(cx, it));
        if let Some(content) = content {
            let action = remedy.action.trim_end_matches(['.', ' ']);
            remedy.action = format!("{action} ({content}).");
        }
    }
}

/// What a command rolls out, and what the clusters have; `None` for one that starts no run.
fn content(cx: &Context<'_>, command: &CommandLine) -> Option<String> {
    let inventory = cx.inventory;
    let named = || inventory.run_on(command.operand(0)?).or(cx.run());
    let (what, index) = match command.verb() {
        _ if !command.is_ours() => return None,
        "run" => match (value(command, "--snapshot"), value(command, "--placement")) {
            (Some(index), _) if index == "latest" => current(inventory),
            (Some(index), _) if index.parse::<u64>().is_err() => {
                return Some("the snapshot that you name".to_owned());
            }
            (Some(index), _) => (format!("snapshot {index}"), Some(index)),
            (None, Some(placement)) if placement != inventory.placement_name => {
                return Some(CURRENT.to_owned());
            }
            (None, None) if !command.has_flag("--from") => own(inventory, named()?),
            (None, _) => current(inventory),
        },
        "retry" => own(inventory, named()?),
        "rollback" => {
            let good = rollback::last_good(inventory, named()?).ok()?;
            (
                format!("snapshot {}", good.index),
                Some(good.index.to_owned()),
            )
        }
        _ => return None,
    };
    let others = index.and_then(|index| held(inventory, &index));
    Some(match others {
        Some(others) => format!("{what}; {others}"),
        None => what,
    })
}

const CURRENT: &str = "the current content";

pub(super) fn value(command: &CommandLine, flag: &str) -> Option<String> {
    let mut words = command.argv().into_iter();
    words.find(|word| word == flag)?;
    words.next()
}

/// The content as it is when the run is started.
fn current(inventory: &Inventory) -> (String, Option<String>) {
    match inventory.latest_snapshot().and_then(|it| it.index()) {
        Some(index) => (
            format!("{CURRENT}, now snapshot {index}"),
            Some(index.to_owned()),
        ),
        None => (CURRENT.to_owned(), None),
    }
}

/// The content of a run that exists.
fn own(inventory: &Inventory, run: &UpdateRun) -> (String, Option<String>) {
    let used = Some(run.status.snapshot_index.as_str()).filter(|index| !index.is_empty());
    match used.or_else(|| run.spec.pinned()) {
        Some(index) => (
            format!("snapshot {index} as before"),
            Some(index.to_owned()),
        ),
        None => current(inventory),
    }
}

/// How many clusters have another snapshot: `3 clusters have 3 and 1 has none`.
fn held(inventory: &Inventory, index: &str) -> Option<String> {
    let mut all: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    for binding in inventory.bindings.iter() {
        if !binding.meta.is_deleting() && !binding.is_unscheduled() {
            *all.entry(binding.snapshot_index()).or_default() += 1;
        }
    }
    let same = all.remove(&Some(index)).unwrap_or_default();
    if all.is_empty() {
        return match same {
            0 => None,
            1 => Some("1 cluster has it".to_owned()),
            same => Some(format!("all {same} clusters have it")),
        };
    }
    let others = all.into_iter().rev().map(|(has, number)| {
        let verb = if number == 1 { "has" } else { "have" };
        let has = has.unwrap_or("none");
        format!("{} {verb} {has}", count(number, "cluster"))
    });
    Some(enumerate(others))
}
