//! What happened on a placement: which run put which version where, and which of it still holds.
//!
//! Each run speaks of itself only, and keeps saying `Succeeded` when another one has replaced what
//! it rolled out. The bindings tell what is true now; the times at which runs started clusters tell
//! what replaced what.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::content::{GoesBack, OldContent, old_content, would_go_back};
use super::life;
use super::sent::{reported, sent_index};
use super::versions::Version;
use super::{Phase, Rollout, Undelivered, rollout_started};
use crate::inventory::Inventory;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Condition, Conditions, reasons};

/// What happened on a placement.
#[derive(Debug)]
pub struct History<'i> {
    /// The runs, oldest first.
    pub runs: Vec<RunEpisode<'i>>,
    /// The clusters as they are now, by version, then writer.
    pub now: Vec<VersionHolding<'i>>,
}

#[derive(Debug)]
pub struct RunEpisode<'i> {
    /// The run, understood.
    pub rollout: Rollout<'i>,
    /// Whether it ran on an earlier placement of the same name: then nothing is said of what the
    /// clusters have of it.
    pub earlier: bool,
    /// The clusters that it completed and that still have its version.
    pub holds: Vec<&'i str>,
    /// The clusters that it completed and that have another version now.
    pub replaced: Vec<ReplacedVersion<'i>>,
    /// Where it put an older version in the place of a later one.
    pub steps_back: Vec<StepBack<'i>>,
    /// Whether it asked for the current content and got the previous one.
    pub old_content: Option<OldContent<'i>>,
    /// Where it would replace a later version if it went on.
    pub would_go_back: Vec<GoesBack<'i>>,
}

/// A cluster that has another version than the one with which a run was done there.
#[derive(Debug, Clone)]
pub struct ReplacedVersion<'i> {
    pub cluster: &'i str,
    /// The index of the version that it has; `None` where the binding names none.
    pub index: Option<&'i str>,
    /// The run that wrote it, if the binding says so.
    pub writer: Option<String>,
    /// Whether a run that only began when this one was over did it, as is usual.
    pub usual: bool,
}

/// A run put an older version in the place of a later one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepBack<'i> {
    pub clusters: Vec<&'i str>,
    /// The index of the version that was there.
    pub from: u64,
    /// The index of the version that came.
    pub to: u64,
    /// The run that had put the later one there; `None` where that is deleted, and the rollback noted what it
    /// took back.
    pub over: Option<&'i str>,
    /// When the first cluster went back.
    pub at: Timestamp,
    /// Whether someone asked for it: the run was given the index, and made after the later version
    /// was there. Else an older run went on.
    pub asked_for: bool,
}

/// Clusters that have the same version from the same run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionHolding<'i> {
    /// The index of the version; `None` where the binding names none.
    pub index: Option<&'i str>,
    /// Why they do not have it, where that is known.
    pub undelivered: Option<Undelivered>,
    /// The run that wrote it last, where the binding says so.
    pub writer: Option<String>,
    /// When the first of these clusters was written.
    pub since: Option<Timestamp>,
    pub clusters: Vec<&'i str>,
    /// Those of them whose content is known to be available.
    pub available: usize,
}

/// Understands what happened on the inventory's placement.
pub fn history(inventory: &Inventory) -> History<'_> {
    let rollouts = inventory.runs.iter();
    let rollouts: Vec<_> = rollouts.map(|run| Rollout::of(inventory, run)).collect();
    let mut steps = steps_back(inventory, &rollouts);
    let kept: Vec<_> = rollouts
        .iter()
        .map(|rollout| kept(inventory, rollout, &rollouts))
        .collect();
    let runs = rollouts
        .into_iter()
        .zip(kept)
        .map(|(rollout, (holds, replaced))| RunEpisode {
            earlier: life::is_of_earlier(inventory, rollout.run),
            holds,
            replaced,
            steps_back: steps
                .remove(rollout.run.meta.name.as_str())
                .unwrap_or_default(),
            old_content: old_content(inventory, rollout.run),
            would_go_back: would_go_back(&rollout),
            rollout,
        })
        .collect();
    History {
        runs,
        now: now(inventory),
    }
}

impl<'i> History<'i> {
    /// The versions that clusters have, each once, where there are several.
    pub fn mixed(&self) -> Option<BTreeSet<&'i str>> {
        let versions = self.now.iter();
        let versions: BTreeSet<_> = versions.filter_map(|holding| holding.index).collect();
        (versions.len() > 1).then_some(versions)
    }

    /// Runs that say they succeeded while clusters have a version that no later run rolled out.
    pub fn contradicted(&self) -> impl Iterator<Item = &RunEpisode<'i>> {
        self.runs.iter().filter(|episode| {
            episode.rollout.phase == Phase::Succeeded
                && episode.replaced.iter().any(|replaced| !replaced.usual)
        })
    }
}

/// The clusters that a run was done with: those that still have its version, and the others.
fn kept<'i>(
    inventory: &'i Inventory,
    rollout: &Rollout<'i>,
    all: &[Rollout<'i>],
) -> (Vec<&'i str>, Vec<ReplacedVersion<'i>>) {
    let (mut holds, mut replaced) = (Vec::new(), Vec::new());
    let own = rollout.run.status.snapshot_index.as_str();
    if life::is_foreign(inventory, rollout.run) {
        return (holds, replaced);
    }
    for cluster in rollout.updated_clusters() {
        let (Some(ended), Some(binding)) = (cluster.ended, cluster.binding) else {
            continue;
        };
        if binding.meta.created.is_some_and(|created| created > ended) {
            // The cluster left the placement and came back since.
            continue;
        }
        let index = sent_index(inventory, binding);
        if index == Some(own) {
            holds.push(cluster.name);
            continue;
        }
        let writer = rollout_started(binding).run;
        let other = writer
            .as_deref()
            .and_then(|writer| all.iter().find(|other| other.run.meta.name == writer));
        let usual = match (other, rollout.ended()) {
            (Some(other), Some(ended)) => other.started().is_some_and(|began| began >= ended),
            // Its run is gone, or the binding does not say.
            (None, Some(ended)) => {
                let written = written_since(inventory, binding, index);
                written.is_none_or(|written| written >= ended)
                    && (writer.is_none() || !inventory.runs.is_complete())
            }
            (_, None) => true,
        };
        replaced.push(ReplacedVersion {
            cluster: cluster.name,
            index,
            writer,
            usual,
        });
    }
    (holds, replaced)
}

/// One write: a run started with a cluster.
struct HistoryWrite<'i> {
    at: Timestamp,
    run: usize,
    index: u64,
    cluster: &'i str,
}

/// Every step back that the runs' own times tell of, by the run that made it.
fn steps_back<'i>(
    inventory: &Inventory,
    rollouts: &[Rollout<'i>],
) -> BTreeMap<&'i str, Vec<StepBack<'i>>> {
    let mut writes: BTreeMap<&str, Vec<HistoryWrite<'i>>> = BTreeMap::new();
    for (run, rollout) in rollouts.iter().enumerate() {
        let Ok(index) = rollout.run.status.snapshot_index.parse() else {
            continue;
        };
        // The index of another placement's is neither later nor earlier than those of others.
        if rollout.only_compares() || life::is_foreign(inventory, rollout.run) {
            continue;
        }
        for cluster in rollout.updated_clusters() {
            if let Some(at) = cluster.started {
                let cluster = cluster.name;
                writes.entry(cluster).or_default().push(HistoryWrite {
                    at,
                    run,
                    index,
                    cluster,
                });
            }
        }
    }
    let mut steps: BTreeMap<&str, Vec<StepBack<'i>>> = BTreeMap::new();
    for writes in writes.values_mut() {
        writes.sort_by_key(|write| (write.at, write.run));
        for pair in writes.windows(2) {
            let [before, after] = pair else { continue };
            let (Some(old), Some(new)) = (rollouts.get(before.run), rollouts.get(after.run)) else {
                continue;
            };
            if before.index <= after.index {
                continue;
            }
            let initialized = new.run.status.conditions.since(reasons::INITIALIZED);
            let asked_for =
                new.run.pinned().is_some() && initialized.is_none_or(|at| at >= before.at);
            let name = new.run.meta.name.as_str();
            let noted = new.run.rolled_back().and_then(|it| it.parse().ok());
            let noted = noted.filter(|noted| *noted > before.index);
            let (from, over) = match noted {
                Some(noted) => (noted, None),
                None => (before.index, Some(old.run.meta.name.as_str())),
            };
            let known = steps.entry(name).or_default();
            let same = known
                .iter_mut()
                .find(|step| (step.from, step.over, step.asked_for) == (from, over, asked_for));
            if let Some(step) = same {
                step.clusters.push(after.cluster);
                step.at = step.at.min(after.at);
            } else {
                known.push(StepBack {
                    clusters: vec![after.cluster],
                    from,
                    to: after.index,
                    over,
                    at: after.at,
                    asked_for,
                });
            }
        }
    }
    steps
}

/// Since when a binding has its version. A rolling update leaves the time of the version before.
fn written_since(
    inventory: &Inventory,
    binding: &Binding,
    index: Option<&str>,
) -> Option<Timestamp> {
    let since = binding.status.conditions.since(reasons::ROLLOUT_STARTED)?;
    let version = Version::of_index(inventory, index?);
    let is_before = version.created().is_some_and(|created| since < created);
    (!is_before).then_some(since)
}

/// What the bindings say.
fn now(inventory: &Inventory) -> Vec<VersionHolding<'_>> {
    let mut holdings: BTreeMap<_, VersionHolding<'_>> = BTreeMap::new();
    let mut bindings: Vec<&Binding> = inventory.staying().collect();
    bindings.sort_by_key(|binding| binding.spec.cluster.as_str());
    for binding in bindings {
        let (index, undelivered) = (sent_index(inventory, binding), Undelivered::of(binding));
        // A run that has another snapshot did not write it: one of that name did before, or somebody else.
        let is_its = |run: &UpdateRun| {
            let own = run.status.snapshot_index.as_str();
            own.is_empty() || index.is_none_or(|index| index == own)
        };
        let writer = rollout_started(binding).run;
        let writer = writer.filter(|name| inventory.run_on(name).is_none_or(is_its));
        let since = written_since(inventory, binding, index);
        let number: Option<u64> = index.and_then(|index| index.parse().ok());
        let holding = holdings
            .entry((number, index, undelivered, writer.clone()))
            .or_insert_with(|| VersionHolding {
                index,
                undelivered,
                writer,
                since,
                clusters: Vec::new(),
                available: 0,
            });
        holding.clusters.push(&binding.spec.cluster);
        holding.since = match (holding.since, since) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let done = [reasons::AVAILABLE, reasons::DIFF_REPORTED];
        let is_available = done
            .iter()
            .any(|kind| reported(inventory, binding, kind).is_some_and(Condition::is_true));
        holding.available = holding.available.saturating_add(usize::from(is_available));
    }
    holdings.into_values().collect()
}
