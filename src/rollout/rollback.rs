//! Which snapshot a placement goes back to: by what runs really did.

use std::cell::LazyCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::Timestamp;

use super::life::{self, PlacementLife, SnapshotMatch};
use super::overrides::{successor, unrecorded};
use super::sent::sent_index;
use super::versions::{Version, versions};
use super::{ClusterState, Phase, Rollout, rollout_started};
use crate::inventory::{Inventory, choose};
use crate::kubefleet::run::{ClusterStatus, RunState, UpdateRun};
use crate::kubefleet::snapshot::ResourceSnapshot;
use crate::kubefleet::{Concept, Conditions, ObjectRef, reasons};
use crate::words::enumerate;

/// Where to go back to.
#[derive(Debug)]
pub struct LastGood<'i> {
    /// The snapshot's index.
    pub index: &'i str,
    pub run: &'i UpdateRun,
    /// Newer completed snapshots that cannot be used, and why, each as a sentence without its full
    /// stop.
    pub passed_over: Vec<String>,
}

/// The run that rolled out last: of those that have begun on the present placement, the one that
/// began a cluster last. An older one that was resumed counts from then.
pub fn current(inventory: &Inventory) -> Option<&UpdateRun> {
    last_of(inventory, |_| true)
}

/// The same, of the runs that count.
fn last_of(inventory: &Inventory, counts: impl Fn(&UpdateRun) -> bool) -> Option<&UpdateRun> {
    let runs = inventory.runs.iter().filter(|run| counts(run));
    runs.filter(|run| !life::is_of_earlier(inventory, run))
        .filter(|run| !run.only_compares())
        .filter_map(|run| {
            let rollout = Rollout::of(inventory, run);
            let done = rollout
                .started()
                .filter(|_| rollout.phase == Phase::Succeeded);
            Some((rollout.updates().max().or(done)?, run))
        })
        .max_by_key(|(started, _)| *started)
        .map(|(_, run)| run)
}

/// When a run began with its first cluster. One that waits for the approval of its first stage has changed nothing.
pub fn first_update(inventory: &Inventory, run: &UpdateRun) -> Option<Timestamp> {
    Rollout::of(inventory, run).updates().min()
}

/// Whether a run takes another one back: it pins a snapshot, and the last run before it that rolled out
/// another rolled out a newer one. The other run may be deleted: `made` is how the name of a rollback begins
/// that was not given one, and another selects what was completed before although there was a newer one.
pub fn takes_back(inventory: &Inventory, run: &UpdateRun, made: &str) -> bool {
    if run.pinned().is_none() || Rollout::of(inventory, run).started().is_none() {
        return false;
    }
    let latest = inventory.latest_snapshot().and_then(|it| it.index());
    went_back(inventory, run).is_some()
        || run.rolled_back().is_some()
        || run.meta.name.starts_with(made)
        || latest.is_some_and(|latest| passes_over(inventory, run, latest))
}

/// The run whose newer snapshot a run took back: the last one before it that rolled out another.
fn went_back<'i>(inventory: &'i Inventory, run: &UpdateRun) -> Option<&'i UpdateRun> {
    let index = run.status.snapshot_index.as_str();
    let began = Rollout::of(inventory, run).started()?;
    let last = last_before(inventory, began, |other| {
        let other = &other.status.snapshot_index;
        !other.is_empty() && other != index
    })?;
    is_newer(&last.status.snapshot_index, index).then_some(last)
}

/// The last run that began to change clusters before a time, of those that count.
fn last_before(
    inventory: &Inventory,
    began: Timestamp,
    counts: impl Fn(&UpdateRun) -> bool,
) -> Option<&UpdateRun> {
    let before = begun(inventory).filter(|(started, it)| *started < began && counts(it));
    let (_, last) = before.max_by_key(|(started, _)| *started)?;
    Some(last)
}

/// The runs that began to change clusters, and when.
fn begun(inventory: &Inventory) -> impl Iterator<Item = (Timestamp, &UpdateRun)> {
    let brings = |it: &&UpdateRun| !it.only_compares() && !life::is_of_earlier(inventory, it);
    let runs = inventory.runs.iter().filter(brings);
    runs.filter_map(|it| Some((first_update(inventory, it)?, it)))
}

/// What speaks against going to a snapshot that a person names, as a clause: a run took it back, or none has
/// brought it to a cluster.
pub fn doubt(inventory: &Inventory, index: &str) -> Option<String> {
    if let Some(why) = rolled_back_before(inventory, index) {
        return Some(why);
    }
    let mut runs = inventory.runs.iter();
    let is_known = runs
        .any(|run| run.status.snapshot_index == index && first_update(inventory, run).is_some());
    let mut bindings = inventory.bindings.iter();
    let has = bindings.any(|binding| binding.snapshot_index() == Some(index));
    (!is_known && !has)
        .then(|| format!("no run that exists has brought snapshot {index} to a cluster"))
}

/// Which run took a snapshot back, as a clause.
fn rolled_back_before(inventory: &Inventory, index: &str) -> Option<String> {
    let back = rollbacks_from(inventory, index).next()?;
    Some(rolled_back(back, index))
}

/// The runs that took a snapshot back.
fn rollbacks_from<'i>(
    inventory: &'i Inventory,
    index: &str,
) -> impl Iterator<Item = &'i UpdateRun> {
    let runs = inventory.runs.iter();
    let rolls_out = |run: &&UpdateRun| {
        let is_present = !life::is_of_earlier(inventory, run);
        run.pinned().is_some() && !run.only_compares() && is_present
    };
    runs.filter(rolls_out).filter(move |run| {
        let from = went_back(inventory, run);
        from.is_some_and(|from| from.status.snapshot_index == index)
            || run.rolled_back() == Some(index)
    })
}

fn rolled_back(back: &UpdateRun, index: &str) -> String {
    let (name, to) = (&back.meta.name, &back.status.snapshot_index);
    format!("{name} rolled snapshot {index} back to snapshot {to}")
}

/// What took back what a run completed, after it did; `None` where nothing shows. Where the run that did it is
/// deleted, clusters have an older snapshot again.
fn taken_since(inventory: &Inventory, run: &UpdateRun) -> Option<String> {
    let rollout = Rollout::of(inventory, run);
    let index = run.status.snapshot_index.as_str();
    let ended = rollout.ended()?;
    let later = |back: &&UpdateRun| first_update(inventory, back).is_some_and(|at| at >= ended);
    if let Some(back) = rollbacks_from(inventory, index).find(later) {
        return Some(rolled_back(back, index));
    }
    let older = older_again(&rollout);
    let (_, has) = older.first()?;
    let clusters = enumerate(older.iter().map(|(cluster, _)| *cluster));
    Some(format!("{clusters} went back from it to snapshot {has}"))
}

/// The clusters to which a run brought its snapshot and that have an older one again, with that one.
fn older_again<'i>(rollout: &Rollout<'i>) -> Vec<(&'i str, &'i str)> {
    let has = rollout.done_clusters().filter_map(|it| {
        let binding = it.binding.filter(|it| !it.only_compares())?;
        Some((it.name, sent_index(rollout.inventory, binding)?))
    });
    has.filter(|(_, has)| is_newer(&rollout.run.status.snapshot_index, has))
        .collect()
}

/// When the bindings of the clusters that a run has finished were last written.
fn rewritten(rollout: &Rollout<'_>) -> Option<Timestamp> {
    let bindings = rollout.done_clusters().filter_map(|it| it.binding);
    bindings
        .filter_map(|it| it.status.conditions.since(reasons::ROLLOUT_STARTED))
        .max()
}

/// A run that was created after `current` ended well, and has not begun: whoever wants to take it
/// back has nothing to take back, and would lose what `current` rolled out.
pub fn not_begun_after<'i>(inventory: &'i Inventory, current: &UpdateRun) -> Option<&'i UpdateRun> {
    let current = Rollout::of(inventory, current);
    let ended = current
        .ended()
        .filter(|_| current.phase == Phase::Succeeded)?;
    let later = inventory.runs.iter().filter(|run| {
        run.meta.created.is_some_and(|created| created >= ended)
            && !run.meta.is_deleting()
            && first_update(inventory, run).is_none()
            && !life::is_of_earlier(inventory, run)
    });
    later.max_by_key(|run| run.meta.created)
}

/// A run that rolled out a snapshot with other overrides than a new run takes.
#[derive(Debug, PartialEq, Eq)]
pub struct OverridesThen<'i> {
    pub run: &'i str,
    /// The override snapshots that it took and a new run does not, in order.
    pub had: Vec<String>,
    /// What they are now, in order; those that are gone are left out.
    pub now: Vec<String>,
    /// What a new run takes beside them.
    pub added: Vec<String>,
}

/// As a clause: `example-run had web-0, which is now web-1`.
impl fmt::Display for OverridesThen<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let had = enumerate(&self.had);
        let changed = match self.now.as_slice() {
            _ if self.had.is_empty() => None,
            [] => Some(format!("had {had}, which no longer exists")),
            now => Some(format!("had {had}, which is now {}", enumerate(now))),
        };
        let added = (!self.added.is_empty())
            .then(|| format!("was made without {}", enumerate(&self.added)));
        write!(
            f,
            "{} {}",
            self.run,
            enumerate(changed.into_iter().chain(added))
        )
    }
}

/// The newest run of a snapshot, of those that did not fail, whose overrides were changed, or joined by others,
/// since. A run takes the latest overrides, whatever its snapshot is.
/// Source: updaterun/initialization.go:recordOverrideSnapshots.
pub fn overrides_then<'i>(inventory: &'i Inventory, index: &str) -> Option<OverridesThen<'i>> {
    let latest = &inventory.overrides;
    let asked = inventory.has_asked_for(Concept::OverrideSnapshot);
    if !asked || !latest.is_complete() {
        return None;
    }
    let is_taken = |object: &ObjectRef| {
        let mut latest = latest.iter().filter(|it| it.is_latest());
        latest.any(|it| it.object() == *object)
    };
    let mut runs = inventory.runs.items.iter().rev();
    runs.find_map(|run| {
        if run.status.snapshot_index != index || Rollout::of(inventory, run).phase == Phase::Failed
        {
            return None;
        }
        let had = run.override_names().filter(|it| !is_taken(it));
        let had: BTreeSet<_> = had.collect();
        let added = unrecorded(inventory, run);
        if had.is_empty() && added.is_empty() {
            return None;
        }
        let (now, added) = (had.iter(), added.iter());
        let now = now.filter_map(|it| successor(&latest.items, &it.namespace, &it.name));
        Some(OverridesThen {
            run: &run.meta.name,
            now: now.map(|it| it.object().qualified_name()).collect(),
            had: had.iter().map(ObjectRef::qualified_name).collect(),
            added: added.map(|(it, _)| it.object().qualified_name()).collect(),
        })
    })
}

/// The newest run before `current` that rolled out the same snapshot with other overrides for a cluster of both.
pub fn with_other_overrides<'i>(
    inventory: &'i Inventory,
    current: &UpdateRun,
) -> Option<&'i UpdateRun> {
    let overrides = |it: &ClusterStatus| it.override_names().collect::<BTreeSet<_>>();
    let clusters = |run: &'i UpdateRun| run.updated_clusters().map(|it| (it.name.as_str(), it));
    let others = |run: &'i UpdateRun| {
        let then: BTreeMap<_, _> = clusters(run).collect();
        let mut now = current.updated_clusters();
        now.any(|it| {
            let then = then.get(it.name.as_str());
            then.is_some_and(|then| overrides(then) != overrides(it))
        })
    };
    let mut runs = inventory.runs.items.iter().rev();
    runs.find(|run| {
        run.meta.created < current.meta.created
            && run.status.snapshot_index == current.status.snapshot_index
            && others(run)
    })
    .map(AsRef::as_ref)
}

/// The newest snapshot that a run completed on all its clusters before `current` began, and that
/// is older than what `current` rolls out: a rollback that is run once more does not bring back what it
/// took away. `Err` says why each that was completed cannot be used:
/// also where the snapshot that has the index now may be another than the one that was completed.
pub fn last_good<'i>(
    inventory: &'i Inventory,
    current: &'i UpdateRun,
) -> Result<LastGood<'i>, Vec<String>> {
    last_good_below(inventory, current, None)
}

/// The newest snapshot on the clusters that is newer than those of all runs that exist: the run that
/// brought it is deleted.
pub fn held_of_deleted_run<'i>(inventory: &'i Inventory, current: &UpdateRun) -> Option<&'i str> {
    let bindings = inventory.staying();
    let held = bindings.filter_map(|binding| sent_index(inventory, binding));
    let newest = held.max_by_key(|index| index.parse::<u64>().ok())?;
    let mut runs = inventory.runs.iter();
    let is_known = runs.any(|run| run.status.snapshot_index == newest);
    (!is_known && is_newer(newest, &current.status.snapshot_index)).then_some(newest)
}

/// The same where the clusters have a newer snapshot than that of `current`, which may be gone back to
/// then.
pub fn last_good_below<'i>(
    inventory: &'i Inventory,
    current: &'i UpdateRun,
    held: Option<&str>,
) -> Result<LastGood<'i>, Vec<String>> {
    let index_now = held.unwrap_or(&current.status.snapshot_index);
    if life::is_of_earlier(inventory, current) {
        return Err(vec![of_an_earlier_life(&[&current.meta.name])]);
    }
    let versions = versions(inventory);
    // Each look at all their clusters is one for each of them.
    let last_first = LazyCell::new(|| {
        let mut all: Vec<_> = begun(inventory).collect();
        all.sort_by_key(|(started, _)| Reverse(*started));
        all
    });
    let mut passed_over: Vec<String> = Vec::new();
    let mut earlier: Vec<&str> = Vec::new();
    let completed = completed_before(inventory, current, held.is_some());
    for run in completed.into_iter().rev() {
        if life::is_of_earlier(inventory, run) {
            earlier.push(&run.meta.name);
            continue;
        }
        let index = run.status.snapshot_index.as_str();
        if index.is_empty() || index == index_now {
            continue;
        }
        if run.only_compares() {
            passed_over.push(format!("{} only compared snapshot {index}", run.meta.name));
            continue;
        }
        let it = format!("snapshot {index}, which {} completed,", run.meta.name);
        if is_newer(index, index_now) {
            let (newest, name) = (&current.status.snapshot_index, &current.meta.name);
            passed_over.push(format!("{it} is newer than snapshot {newest} of {name}"));
            continue;
        }
        if let Some(why) = taken_since(inventory, run) {
            passed_over.push(format!("{it} was taken back: {why}"));
            continue;
        }
        let version = versions.iter().find(|version| version.index == index);
        match usable(inventory, run, version, &last_first) {
            SnapshotUse::Fine => {
                let unknown = unknown_between(inventory, &versions, (index, index_now));
                passed_over.extend(unknown.map(|unknown| {
                    format!("no run that exists has rolled out snapshot {unknown}")
                }));
                return Ok(LastGood {
                    index,
                    run,
                    passed_over,
                });
            }
            SnapshotUse::Not(why) => passed_over.push(format!("{it} {why}")),
            SnapshotUse::Unknown => {
                passed_over.push(format!(
                    "whether the current snapshot {index} is the one that {} completed is unknown",
                    run.meta.name
                ));
                return Err(passed_over);
            }
        }
    }
    if !earlier.is_empty() {
        passed_over.push(of_an_earlier_life(&earlier));
    }
    Err(passed_over)
}

/// The runs that completed before a run began, the last of them last; `all` is whether others count too, where
/// clusters have what a deleted run brought.
fn completed_before<'i>(
    inventory: &'i Inventory,
    current: &'i UpdateRun,
    all: bool,
) -> Vec<&'i UpdateRun> {
    // Until it wrote its first cluster, another one could complete.
    let own = Rollout::of(inventory, current);
    let first = own.updates().min();
    let began = first.or(own.started());
    let mut completed: Vec<_> = inventory
        .runs
        .iter()
        .filter(|run| all || run.meta.name != current.meta.name)
        .filter_map(|run| {
            let rollout = Rollout::of(inventory, run);
            let ended = rollout.ended()?;
            let is_before = all || began.is_none_or(|began| ended <= began);
            // Where no other has, one that began before may have ended since.
            let began_before = || rollout.updates().min() < began;
            let counts = rollout.phase == Phase::Succeeded && (is_before || began_before());
            counts.then_some(((is_before, ended), run))
        })
        .collect();
    completed.sort_by_key(|(order, run)| (*order, run.meta.name.as_str()));
    completed.into_iter().map(|(_, run)| run).collect()
}

/// The indexes of the snapshots between two that no run which exists was given.
fn unknown_between<'v>(
    inventory: &Inventory,
    versions: &'v [Version<'_>],
    (older, newer): (&str, &str),
) -> impl Iterator<Item = &'v str> {
    let unknown = versions.iter().filter(move |it| {
        let is_between = is_newer(&it.index, older) && is_newer(newer, &it.index);
        let mut runs = inventory.runs.iter();
        let is_known = runs.any(|run| run.status.snapshot_index == it.index);
        is_between && it.exists() && !is_known
    });
    unknown.map(|it| it.index.as_str())
}

/// Whether one index is above another. A snapshot of an index that nobody can count is not.
pub fn is_newer(index: &str, than: &str) -> bool {
    let count = |index: &str| index.parse::<u64>().ok();
    count(index)
        .zip(count(than))
        .is_some_and(|(index, than)| index > than)
}

fn of_an_earlier_life(runs: &[&str]) -> String {
    format!(
        "an earlier placement of the same name had {}, and its snapshots are gone",
        runs.join(", ")
    )
}

/// Whether a placement can go back to the snapshot that a run completed.
#[derive(Debug, PartialEq, Eq)]
enum SnapshotUse {
    Fine,
    /// Why not, as the end of a sentence.
    Not(String),
    /// Whether it is the same snapshot is not known.
    Unknown,
}

fn usable(
    inventory: &Inventory,
    run: &UpdateRun,
    version: Option<&Version<'_>>,
    begun: &[(Timestamp, &UpdateRun)],
) -> SnapshotUse {
    let Some((version, first)) = version.and_then(|it| Some((it, it.parts.first()?))) else {
        return SnapshotUse::Not("no longer exists".to_owned());
    };
    match life::used(inventory, run, first) {
        SnapshotMatch::Same => {
            if let Some(before) = namesake_before(inventory, run, first, begun) {
                return SnapshotUse::Not(format!(
                    "has not reached clusters to which {} had brought another one of its name",
                    before.meta.name
                ));
            }
        }
        SnapshotMatch::Unknown => return SnapshotUse::Unknown,
        SnapshotMatch::Another => {
            return SnapshotUse::Not(
                "no longer exists: the one with its index was created later".to_owned(),
            );
        }
    }
    if life::of_snapshot(inventory, first) == PlacementLife::Earlier {
        return SnapshotUse::Not("belongs to an earlier placement of the same name".to_owned());
    }
    match version.flaw() {
        Some(flaw) => SnapshotUse::Not(format!("is incomplete: {flaw}")),
        None => SnapshotUse::Fine,
    }
}

/// The run before it that had brought another snapshot with its index: where clusters have the name, nothing is sent.
/// `begun` are the runs that began to change clusters, the last one first.
/// Source: updaterun/execution.go:isBindingSyncedWithClusterStatus.
fn namesake_before<'i>(
    inventory: &'i Inventory,
    run: &UpdateRun,
    snapshot: &ResourceSnapshot,
    begun: &[(Timestamp, &'i UpdateRun)],
) -> Option<&'i UpdateRun> {
    let mut all = begun.iter();
    let (began, _) = all.find(|(_, it)| it.meta.name == run.meta.name)?;
    let before = begun.iter().filter(|(started, _)| started < began);
    let before = before.map(|(_, other)| *other);
    let mut same = before.take_while(|it| it.status.snapshot_index == run.status.snapshot_index);
    same.find(|it| life::used_namesake(inventory, it, snapshot))
}

/// Whether a run selected, when a newer snapshot existed, one that an earlier run had completed. A run that
/// selects one after the other takes nothing back.
pub fn passes_over(inventory: &Inventory, run: &UpdateRun, newer: &str) -> bool {
    let index = run.status.snapshot_index.as_str();
    let made = Version::of_index(inventory, newer).created();
    let was_good = |other: &UpdateRun| {
        let rollout = Rollout::of(inventory, other);
        other.status.snapshot_index == index
            && rollout.phase == Phase::Succeeded
            && rollout.ended() <= run.meta.created
            && !life::is_of_earlier(inventory, other)
    };
    run.pinned().is_some()
        && is_newer(newer, index)
        && made.is_some_and(|made| run.meta.created > Some(made))
        && inventory
            .runs
            .iter()
            .any(|it| it.meta.name != run.meta.name && was_good(it))
}

/// That the placement was taken back from a newer snapshot.
#[derive(Debug)]
pub struct TakenBack<'i> {
    /// The run that goes, or went, back; if that is deleted, the one that had brought the newer snapshot.
    pub by: &'i UpdateRun,
    /// The snapshot that clusters have again, where the run that went back is deleted.
    again: Option<&'i str>,
    from: &'i str,
    /// Whether the snapshot in question is another one with the content of `from`.
    is_same: bool,
    /// Whether the run that had brought the newer one exists.
    is_known: bool,
    phase: Phase,
}

impl<'i> TakenBack<'i> {
    /// What took the placement back from a snapshot, or from one with the same content.
    pub fn of(inventory: &'i Inventory, from: &'i str) -> Option<Self> {
        Self::of_index(inventory, from).or_else(|| Self::of_content(inventory, from))
    }

    /// The last run that took back another snapshot with the content of this one, which no run has completed since.
    fn of_content(inventory: &'i Inventory, index: &str) -> Option<Self> {
        let hash = inventory.snapshot(index)?.hash()?;
        let has = |snapshot: &ResourceSnapshot| snapshot.hash() == Some(hash);
        let is_it = |run: &UpdateRun| {
            let used = inventory.snapshot(&run.status.snapshot_index);
            used.is_some_and(has)
        };
        let same = inventory.snapshots.iter();
        let same = same.filter(|it| it.is_master() && has(it));
        let mut others = same
            .filter_map(|it| it.index())
            .filter(|other| *other != index);
        others.find_map(|from| {
            let back = rollbacks_from(inventory, from).filter(|back| !is_it(back));
            let by = back.max_by_key(|back| back.meta.created)?;
            let wanted_since = inventory.runs.iter().any(|run| {
                let rollout = Rollout::of(inventory, run);
                let is_later = rollout.ended() > by.meta.created;
                is_later && rollout.phase == Phase::Succeeded && !run.only_compares() && is_it(run)
            });
            (!wanted_since).then(|| Self {
                by,
                again: None,
                from,
                is_same: true,
                is_known: true,
                phase: Rollout::of(inventory, by).phase,
            })
        })
    }

    /// The run that rolled out last, if that took the placement back from the snapshot. If no run that exists had
    /// brought the newer one, it pins an older snapshot than was there.
    fn of_index(inventory: &'i Inventory, from: &'i str) -> Option<Self> {
        let by = last_of(inventory, |run| !brings_again(inventory, run, from))?;
        if let Some(again) = taken_by_deleted_run(inventory, by, from) {
            return Some(Self {
                by,
                again: Some(again),
                from,
                is_same: false,
                is_known: true,
                phase: Phase::Succeeded,
            });
        }
        if !is_newer(from, &by.status.snapshot_index) {
            return None;
        }
        let brought = |run: &UpdateRun| {
            run.status.snapshot_index == from && first_update(inventory, run).is_some()
        };
        let is_known = inventory.runs.iter().any(brought);
        let made = Version::of_index(inventory, from).created();
        let is_noted = |run: &&UpdateRun| {
            let noted = run.rolled_back().filter(|it| !is_newer(from, it));
            noted.is_some()
                && made.is_some_and(|made| run.meta.created >= Some(made))
                && first_update(inventory, run).is_some()
                && !life::is_of_earlier(inventory, run)
        };
        let seen = if is_known {
            last_rollback(inventory, (from, made), by)
        } else {
            let noted = inventory.runs.iter().filter(is_noted);
            noted.max_by_key(|it| it.meta.created)
        };
        let passes = || {
            // One that waits is the correction, where another run is what was taken back.
            let mut runs = inventory.runs.iter();
            let waits = runs.any(|run| run.status.snapshot_index == from);
            !is_known
                && Rollout::of(inventory, by).phase != Phase::Failed
                && by.rolled_back().is_none()
                && passes_over(inventory, by, from)
                && !(waits && undoes_another(inventory, by))
                && sent_any(inventory, by)
        };
        let by = seen.or_else(|| passes().then_some(by))?;
        Some(Self {
            by,
            again: None,
            from,
            is_same: false,
            is_known: seen.is_some(),
            phase: Rollout::of(inventory, by).phase,
        })
    }

    /// What took the placement back from the snapshot of a run, where what is left of the run would bring it again
    /// and nobody has said that it is meant: it had been made before, or in the same second, or names no snapshot.
    pub fn for_run(inventory: &'i Inventory, run: &'i UpdateRun) -> Option<Self> {
        let back = Self::of(inventory, &run.status.snapshot_index)?;
        let by = back.by;
        let since = match back.again {
            None => by.meta.created,
            Some(_) => rewritten(&Rollout::of(inventory, by)),
        };
        let is_unmeant = run.meta.created <= since || run.pinned().is_none();
        (run.meta.name != by.meta.name && is_unmeant).then_some(back)
    }
}

/// The run that took back a snapshot made at a time, unless another has brought it again since. Of several that went to
/// the same one it is the first: the others have taken nothing back.
fn last_rollback<'i>(
    inventory: &'i Inventory,
    (from, made): (&str, Option<Timestamp>),
    current: &'i UpdateRun,
) -> Option<&'i UpdateRun> {
    let is_from = |run: &UpdateRun| run.status.snapshot_index == from;
    let own = Some(current).filter(|run| went_back(inventory, run).is_some_and(is_from));
    let backs = rollbacks_from(inventory, from).chain(own).filter(|back| {
        let since = first_update(inventory, back);
        let mut runs = inventory.runs.iter();
        // One that was made since has another content under the same index.
        made <= back.meta.created
            && since.is_some()
            && (Rollout::of(inventory, back).phase != Phase::Failed
                || back.rolled_back() == Some(from))
            && !runs.any(|run| {
                is_from(run)
                    && first_update(inventory, run) > since
                    && !brings_again(inventory, run, from)
            })
    });
    let backs: Vec<_> = backs.collect();
    let last = backs.iter().max_by_key(|back| back.meta.created)?;
    let to = &last.status.snapshot_index;
    let same = backs
        .iter()
        .filter(|back| back.status.snapshot_index == *to);
    same.min_by_key(|back| back.meta.created).copied()
}

/// Whether a run is about to bring a snapshot that another run took back before it was made, and does not name it:
/// before it has, that is nobody's wish.
fn brings_again(inventory: &Inventory, run: &UpdateRun, from: &str) -> bool {
    let mut backs = rollbacks_from(inventory, from);
    run.status.snapshot_index == from
        && run.pinned().is_none()
        && backs.any(|back| back.meta.created < run.meta.created)
        && Rollout::of(inventory, run).phase != Phase::Succeeded
}

/// Whether a run may have sent something to a cluster: what that has already is not sent again.
fn sent_any(inventory: &Inventory, run: &UpdateRun) -> bool {
    let rollout = Rollout::of(inventory, run);
    !rollout.updated_clusters().all(|cluster| {
        let sent = cluster.binding.map(|it| &it.status.conditions);
        let sent = sent.and_then(|it| it.since(reasons::OVERRIDDEN));
        // The time may be that of the hub agent's last start. The binding still names the run that released it.
        let by = cluster.binding.and_then(|it| rollout_started(it).run);
        let by = by.and_then(|by| inventory.run_on(&by));
        let is_by_earlier = by.is_some_and(|by| by.meta.created < run.meta.created);
        let is_earlier = sent.is_some() && (is_by_earlier || sent < cluster.started);
        cluster.state == ClusterState::Done && is_earlier
    })
}

/// Whether a run that exists is what a run took back: nothing had taken that one back before.
fn undoes_another(inventory: &Inventory, by: &UpdateRun) -> bool {
    let Some(from) = went_back(inventory, by) else {
        return false;
    };
    let (since, began) = (first_update(inventory, from), first_update(inventory, by));
    let went_before = |other: &UpdateRun| {
        let ended = Rollout::of(inventory, other).ended();
        other.meta.name != by.meta.name
            && other.status.snapshot_index == by.status.snapshot_index
            && ended > since
            && ended <= began
    };
    !inventory.runs.iter().any(went_before)
}

/// The older snapshot that all clusters have to which a run brought a newer one: a run that is deleted took them
/// back.
fn taken_by_deleted_run<'i>(
    inventory: &'i Inventory,
    run: &'i UpdateRun,
    from: &str,
) -> Option<&'i str> {
    let rollout = Rollout::of(inventory, run);
    if run.status.snapshot_index != from {
        return None;
    }
    let older = older_again(&rollout);
    let (_, again) = *older.first()?;
    let is_one = older.iter().all(|(_, has)| *has == again);
    (is_one && older.len() == rollout.done_clusters().count()).then_some(again)
}

/// As a clause.
impl fmt::Display for TakenBack<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(again) = self.again {
            let (run, from) = (self.by.object(), self.from);
            return write!(
                f,
                "every cluster to which {run} brought snapshot {from} has snapshot {again} again"
            );
        }
        let (by, to, from) = (self.by.object(), &self.by.status.snapshot_index, self.from);
        let rolls = match self.phase {
            Phase::Succeeded => "rolled",
            Phase::Failed => "failed to roll",
            _ => "rolls",
        };
        if self.is_same {
            write!(f, "the content is that of snapshot {from} again: ")?;
        }
        if self.is_known {
            write!(f, "{by} {rolls} snapshot {from} back to snapshot {to}")
        } else {
            write!(
                f,
                "{by} selected snapshot {to} when snapshot {from} existed, which may have been rolled back"
            )
        }
    }
}

/// The run of a name that an earlier try of a rollback made: it is not over, and goes back to what
/// another run completed.
pub fn earlier_try<'i>(inventory: &'i Inventory, name: &str) -> Option<&'i UpdateRun> {
    let mut runs = inventory.runs.iter();
    let made = runs.find(|run| run.meta.name == name && !choose::is_finished(run))?;
    let index = made.spec.snapshot_index.trim();
    let snapshot = inventory.snapshot(index)?;
    let completed = inventory.runs.iter().any(|run| {
        run.meta.name != name
            && Rollout::of(inventory, run).phase == Phase::Succeeded
            && life::used(inventory, run, snapshot) == SnapshotMatch::Same
    });
    (completed && life::of_run(inventory, made) == PlacementLife::Present).then_some(made)
}

/// The rollback to a snapshot by a strategy that an earlier try made: it is not over. `made` is how its name begins,
/// where one that was given a name does not count.
pub fn same_try<'i>(
    inventory: &'i Inventory,
    (index, strategy): (&str, &str),
    made: Option<&str>,
) -> Option<&'i UpdateRun> {
    let mut runs = inventory.runs.iter();
    runs.find(|run| {
        run.rolled_back().is_some()
            && made.is_none_or(|made| run.meta.name.starts_with(made))
            && run.pinned() == Some(index)
            && run.spec.strategy == strategy
            && run.spec.wants() != RunState::Stop
            && !choose::is_finished(run)
            && !run.meta.is_deleting()
            && life::of_run(inventory, run) == PlacementLife::Present
    })
}

/// The indexes of the snapshots that the present placement can go back to, oldest first.
pub fn destinations(inventory: &Inventory) -> Vec<String> {
    let own = |version: &Version<'_>| {
        let first = version.parts.first();
        first.is_some_and(|first| life::of_snapshot(inventory, first) != PlacementLife::Earlier)
    };
    let versions = versions(inventory).into_iter().filter(own);
    versions.map(|version| version.index).collect()
}

#[cfg(test)]
mod tests;
