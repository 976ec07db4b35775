//! The right content: a run that got the previous snapshot is made again.
//!
//! From KubeFleet 0.2.2 on, a change is first noticed, and its snapshot made some time later; a run
//! without an index that comes in between is silently given the old content. What it got can be
//! seen once it is initialized, before it is started.

use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::preparing::delete_untouched;
use super::wanted::RunLaunch;
use crate::change::guard::Guard;
use crate::change::{Change, RunWish};
use crate::commands::gather::reading::SourceReading;
use crate::commands::operate::operation::{ChangeOutcome, Operation, ThisRun, interrupted};
use crate::commands::operate::safeguards;
use crate::commands::operate::steering::rollout_of;
use crate::commands::operate::writing::WriteFlags;
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::source::{HubQuery, ObjectSource};
use crate::inventory::{Inventory, Walk};
use crate::kubefleet::messages::{Cause, parse_failure};
use crate::kubefleet::meta::Conditions;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Concept, names, reasons};
use crate::problems::steps;
use crate::rollout::Phase;
use crate::rollout::content::old_content;
use crate::rollout::versions::Version;
use crate::words::Hint;

/// After how long the hub makes the snapshot of a change that it has noticed, by default: 15 s after
/// the change, 30 s after the last snapshot. Source: cmd/hubagent/options/options.go.
const COLLECT: i64 = 15;
const INTERVAL: i64 = 30;
/// The shortest pause before another try; other hubs have other intervals.
const PAUSE: Duration = Duration::from_secs(5);
/// How long it is tried where no limit is given.
const PATIENCE: Duration = Duration::from_mins(5);

/// How often it is tried again where KubeFleet does not see all parts of a new snapshot.
const RACES: usize = 3;
/// How often the content may change while a run is made again for it.
const CHANGES: usize = 5;
const LONGEST: Duration = Duration::from_mins(1);

pub(super) struct ContentTries {
    begun: Instant,
    /// When the change was noticed that the last try lacked.
    detected: Option<Timestamp>,
    changes: usize,
    /// How many tries have lacked the last one.
    same: u32,
    /// How often KubeFleet did not see all parts of the snapshot that it had just made.
    races: usize,
}

impl ContentTries {
    pub(super) fn new() -> Self {
        Self {
            begun: Instant::now(),
            detected: None,
            changes: 0,
            same: 0,
            races: 0,
        }
    }

    /// Counts a try that lacks a change, and returns for how long it is waited at least. Where that is
    /// the same change, the hub's intervals are longer than by default.
    fn lacks(&mut self, detected: Timestamp) -> Duration {
        if self.detected == Some(detected) {
            self.same += 1;
        } else {
            (self.detected, self.same) = (Some(detected), 0);
            self.changes += 1;
        }
        PAUSE.saturating_mul(1 << self.same.min(8)).min(LONGEST)
    }
}

pub(super) enum ContentSeen {
    Right,
    Again(ThisRun),
}

/// Looks which content an initialized run got, and makes it again where that is the old one. Only
/// a run that this command created, and that nobody touched since, is deleted for it: `tries` is `None`
/// for another.
pub(super) fn see_to(
    launch: &RunLaunch,
    this: &ThisRun,
    tries: Option<&mut ContentTries>,
    op: &mut Operation<'_>,
) -> Result<ContentSeen, Error> {
    if launch.snapshot.is_some() {
        return Ok(ContentSeen::Right);
    }
    let run = &this.object;
    let created = tries.is_some();
    let inventory = around(launch, this, op.reading)?;
    let rollout = rollout_of(&inventory, run)?;
    safeguards::seen(&[Guard::Content], launch.accepted, &inventory, op.reading)?;
    let Some(old) = old_content(&inventory, rollout.run) else {
        return Ok(ContentSeen::Right);
    };
    let index = old.snapshot.index().unwrap_or_default().to_owned();
    let touched = (!this.uid.is_empty() && rollout.run.meta.uid != this.uid)
        || rollout.phase != Phase::Idle
        || rollout.has_reached_any();
    let Some(tries) = tries.filter(|_| !touched) else {
        let why = if created {
            "was started or replaced in the meantime"
        } else {
            "existed before"
        };
        let hint = if touched {
            Hint::new("see what it is doing:").command(run.fleet("diagnose"))
        } else {
            let anew = steps::run_from(rollout.run).switch("--replace");
            Hint::new(
                "another command may be making it again: repeat this one; if nothing starts it, make a run with \
                 the current content in its place:",
            )
            .command(anew)
        };
        return Err(Error::failed(format!(
            "{run} got snapshot {index}, which lacks a change detected at {}; the run {why}, so it \
             is left unchanged",
            old.detected
        ))
        .hint(hint));
    };
    let pause = tries.lacks(old.detected);
    if tries.changes > CHANGES {
        return Err(Error::failed(format!(
            "{run} got old content {CHANGES} times, because the content changes faster than the hub \
             creates snapshots; the last run was not started"
        )));
    }
    let due = due(&old, op.reading).max(pause);
    let limit = op.args.timeout.unwrap_or(PATIENCE);
    if due > limit.saturating_sub(tries.begun.elapsed()) {
        let why = format!(
            "{run} got snapshot {index}, which lacks a change detected at {}; the new snapshot is due \
             in {}s, after --timeout",
            old.detected,
            due.as_secs()
        );
        // The next try finds nothing in its way.
        let deleted = op.hushed(|op| delete_untouched(this, rollout.run, op));
        let late = Exit::TimeLimit;
        let (became, is_gone) = match deleted {
            Ok(()) => ("was deleted again", true),
            Err(error) if error.exit == late => ("is being deleted", true),
            Err(_) => ("was not started", false),
        };
        let error = Error::new(late, format!("{why}; the run {became}"));
        if is_gone {
            op.reading.record.is_made = false;
            return Err(error.hint("try again then, or use a longer --timeout"));
        }
        let delete = Hint::new("delete it and try again later:").command(run.fleet("delete"));
        return Err(error.hint(delete));
    }
    op.ui.status(&format!(
        "{run} got snapshot {index}, which lacks a change detected at {}: waiting {}s for the new \
         snapshot, then creating the run again (--snapshot latest uses the existing one)",
        old.detected,
        due.as_secs()
    ));
    let pause = (due, "the new snapshot is due");
    make_again(launch, (this, rollout.run), pause, op)
}

/// Makes a run again that this command created, and whose initialization failed because KubeFleet
/// looked for the parts of its new snapshot before it could see them all. `None` for any other.
/// Source: updaterun/initialization.go:recordOverrideSnapshots, which reads them from a cache.
pub(super) fn see_to_race(
    launch: &RunLaunch,
    this: &ThisRun,
    tries: Option<&mut ContentTries>,
    op: &mut Operation<'_>,
) -> Result<Option<ThisRun>, Error> {
    let Some(tries) = tries.filter(|it| it.races < RACES) else {
        return Ok(None);
    };
    let inventory = around(launch, this, op.reading)?;
    let rollout = rollout_of(&inventory, &this.object)?;
    if rollout.run.meta.uid != this.uid || !sees_all_parts(&inventory, rollout.run) {
        return Ok(None);
    }
    tries.races += 1;
    op.ui.status(&format!(
        "{} failed because KubeFleet did not see all parts of its new snapshot yet: they all exist \
         now, so the run is created again",
        this.object
    ));
    let pause = (PAUSE, "the run is created again");
    match make_again(launch, (this, rollout.run), pause, op)? {
        ContentSeen::Again(new) => Ok(Some(new)),
        ContentSeen::Right => Ok(None),
    }
}

/// Whether all parts exist of a snapshot for whose missing parts a run failed. In a namespace it fails for them
/// again. Source: utils/controller/resource_snapshot_resolver.go:FetchAllResourceSnapshotsAlongWithMaster.
fn sees_all_parts(inventory: &Inventory, run: &UpdateRun) -> bool {
    if !inventory.scope.namespace().is_empty() {
        return false;
    }
    let condition = run.status.conditions.condition(reasons::INITIALIZED);
    let causes = condition.map_or_else(Vec::new, |it| parse_failure(&it.message));
    causes.iter().any(|cause| {
        let Cause::SnapshotGroupIncomplete { snapshot, .. } = cause else {
            return false;
        };
        let index = names::snapshot_index(snapshot);
        index.is_some_and(|index| Version::of_index(inventory, index).is_complete())
    })
}

/// Deletes a run, waits, and creates it again.
fn make_again(
    launch: &RunLaunch,
    (this, old): (&ThisRun, &UpdateRun),
    (due, what): (Duration, &str),
    op: &mut Operation<'_>,
) -> Result<ContentSeen, Error> {
    let run = &this.object;
    let wish = RunWish {
        placement: launch.placement.name.clone(),
        strategy: launch.strategy.clone(),
        snapshot: None,
        is_current: false,
        rolled_back: None,
        state: Some("Initialize"),
        unknown: launch.unknown.clone(),
    };
    let create = Change::create(run, wish, launch.start);
    // What could not be made again is not deleted.
    op.rehearse(&create, true, launch.accepted)?;
    // From the moment in which it is sent; what is refused deletes nothing.
    let before = op.reading.record.steps().len();
    let deleted = op.hushed(|op| delete_untouched(this, old, op));
    if op.reading.record.steps().len() > before {
        op.reading.record.is_made = false;
    }
    deleted?;
    let begun = Instant::now();
    let progress = op.ui.progress();
    while begun.elapsed() < due {
        let left = due.saturating_sub(begun.elapsed());
        progress.say(&format!("{what} in {}s", left.as_secs() + 1));
        let nap = left.min(Duration::from_millis(250));
        if let Some(hub) = op.reading.hub()
            && hub
                .unless_interrupted(move || std::thread::sleep(nap))
                .is_err()
        {
            progress.clear();
            return Err(interrupted(&format!("{run} was deleted")));
        }
    }
    progress.clear();
    let rest = WriteFlags {
        output: None,
        wait: None,
        ..op.args.clone()
    };
    match op.hushed(|op| op.with(&rest).send(&create))? {
        ChangeOutcome::Written { uid } => {
            op.reading.record.is_made = true;
            Ok(ContentSeen::Again(ThisRun {
                object: run.clone(),
                uid,
            }))
        }
        ChangeOutcome::Dry => Ok(ContentSeen::Right),
    }
}

/// In how long the snapshot of a noticed change is due.
fn due(old: &crate::rollout::content::OldContent<'_>, reading: &SourceReading) -> Duration {
    let now = reading.clock.now().as_second();
    let collected = old.detected.as_second() + COLLECT;
    let created = old.snapshot.meta.created;
    let spaced = created.map_or(0, |created| created.as_second() + INTERVAL);
    // A second more: the hub's clock counts in whole ones.
    let due = collected.max(spaced) + 1 - now;
    Duration::from_secs(u64::try_from(due).unwrap_or(0)).max(PAUSE)
}

/// The run with the placement's snapshots.
fn around(
    launch: &RunLaunch,
    this: &ThisRun,
    reading: &mut SourceReading,
) -> Result<Inventory, Error> {
    reading.forget();
    let scope = this.object.scope();
    let queries = vec![
        HubQuery::object(&this.object),
        HubQuery::of_placement(scope.kind(Concept::ResourceSnapshot), &launch.placement),
    ];
    let answers = reading.answer(&queries);
    let mut walk = Walk::shallow(this.object.clone());
    walk.absorb(queries, answers);
    reading.driven(walk, &this.object)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rollout::life::tests::{OWN, SINCE, inventory, placement, run, snapshot};

    #[test]
    fn a_run_that_failed_for_parts_which_exist_now_met_a_race() {
        let is_race = |text: &str, parts: usize| {
            let mut failed = run("one", "", [Some(SINCE), None, None, None]);
            failed["status"]["conditions"] = json!([
                {"type": "Initialized", "status": "False", "message": text},
            ]);
            let mut first = snapshot("0", OWN, Some(SINCE));
            let number = "kubernetes-fleet.io/number-of-resource-snapshots";
            first["metadata"]["annotations"][number] = json!("2");
            let mut second = snapshot("0", OWN, Some(SINCE));
            second["metadata"]["name"] = json!("shop-0-0");
            second["metadata"]["annotations"] =
                json!({"kubernetes-fleet.io/subindex-of-resource-snapshot": "0"});
            let mut objects = vec![placement(), failed, first, second];
            objects.truncate(2 + parts);
            let inventory = inventory(&objects);
            sees_all_parts(&inventory, inventory.run_on("one").unwrap())
        };
        let text = |number: u32, seen: u32| {
            format!(
                "cannot continue the updateRun: failed to validate the updateRun: not all resource \
                 snapshot in the same index group are created: resource snapshots are still being \
                 created for the masterResourceSnapshot shop-0-snapshot, total snapshot in the index \
                 group = {number}, num Of existing snapshot in the group= {seen}, placement = shop"
            )
        };
        assert!(is_race(&text(2, 1), 2));
        assert!(!is_race(&text(2, 1), 1));
        assert!(!is_race("cannot continue the updateRun: no cluster", 2));
    }

    #[test]
    fn pauses_grow_for_one_change_and_changes_are_counted() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let mut tries = ContentTries::new();
        let pauses: Vec<_> = [1, 1, 1, 1, 1, 1]
            .map(|second| tries.lacks(at(second)).as_secs())
            .into();
        assert_eq!((pauses, tries.changes), (vec![5, 10, 20, 40, 60, 60], 1));
        assert_eq!((tries.lacks(at(2)).as_secs(), tries.changes), (5, 2));
    }
}
