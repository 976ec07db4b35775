//! Which snapshot a placement goes back to: by what runs really did.

use crate::inventory::Inventory;
use crate::kubefleet::run::UpdateRun;
use crate::rollout::versions::{Version, versions};
use crate::rollout::{Phase, Rollout};

/// Where to go back to.
#[derive(Debug)]
pub struct LastGood<'i> {
    /// The snapshot's index.
    pub index: &'i str,
    /// The run that completed it.
    pub run: &'i UpdateRun,
    /// Newer completed snapshots that cannot be used, and why, each as a sentence without its full
    /// stop.
    pub passed_over: Vec<String>,
}

/// The run that rolled out last: of those that have begun, the one that began last.
pub fn current(inventory: &Inventory) -> Option<&UpdateRun> {
    inventory
        .runs
        .iter()
        .filter_map(|run| {
            let rollout = Rollout::of(inventory, run);
            Some((rollout.started()?, run))
        })
        .max_by_key(|(started, _)| *started)
        .map(|(_, run)| run)
}

/// The newest snapshot that a run completed on all its clusters before `current` began, and that
/// is another than what `current` rolls out. `Err` says why each that was completed cannot be used.
pub fn last_good<'i>(
    inventory: &'i Inventory,
    current: &'i UpdateRun,
) -> Result<LastGood<'i>, Vec<String>> {
    let versions = versions(inventory);
    let began = Rollout::of(inventory, current).started();
    let mut completed: Vec<_> = inventory
        .runs
        .iter()
        .filter(|run| run.meta.uid != current.meta.uid || run.meta.name != current.meta.name)
        .filter_map(|run| {
            let rollout = Rollout::of(inventory, run);
            let ended = rollout.ended()?;
            let before = began.is_none_or(|began| ended <= began);
            (rollout.phase == Phase::Succeeded && before).then_some((ended, run))
        })
        .collect();
    completed.sort_by_key(|(ended, run)| (*ended, run.meta.name.as_str()));
    let mut passed_over: Vec<String> = Vec::new();
    for (_, run) in completed.into_iter().rev() {
        let index = run.status.snapshot_index.as_str();
        if index.is_empty() || index == current.status.snapshot_index {
            continue;
        }
        match usable(&versions, index) {
            Ok(()) => {
                return Ok(LastGood {
                    index,
                    run,
                    passed_over,
                });
            }
            Err(why) => {
                let text = format!("snapshot {index}, which {} completed, {why}", run.meta.name);
                if !passed_over.contains(&text) {
                    passed_over.push(text);
                }
            }
        }
    }
    Err(passed_over)
}

fn usable(versions: &[Version<'_>], index: &str) -> Result<(), String> {
    let version = versions.iter().find(|version| version.index == index);
    match version {
        Some(version) if version.is_complete() => Ok(()),
        Some(version) if version.exists() => {
            let flaw = version.flaw().unwrap_or_default();
            Err(format!("is incomplete: {flaw}"))
        }
        _ => Err("does not exist any more".to_owned()),
    }
}
