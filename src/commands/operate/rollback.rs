//! `rollback`: a new run at an older snapshot.

use clap::Args;

use crate::change::guard::AcceptedRisks;
use crate::change::names as generated;
use crate::change::neighbours::moves;
use crate::change::preview::Preview;
use crate::commands::gather::argument::{ArgumentKind, ChosenAtTerminal};
use crate::commands::gather::reading::SourceReading;
use crate::commands::gather::session::Session;
use crate::commands::gather::{names, pickers, placement_objects};
use crate::commands::operate::delete::RunDeletion;
use crate::commands::operate::launching::{
    LaunchPreparation, RunLaunch, has_finished, launch, unique_suffix,
};
use crate::commands::operate::operation::{Operation, ThisRun, operate};
use crate::commands::operate::safeguards;
use crate::commands::operate::stop::in_flight;
use crate::commands::operate::writing::WriteFlags;
use crate::diagnose;
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::{Inventory, Sight, choose};
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::snapshot::ResourceSnapshot;
use crate::kubefleet::{Concept, ObjectRef};
use crate::problems::steps;
use crate::rollout::rollback::{
    self, current, first_update, held_of_deleted_run, last_good, last_good_below, not_begun_after,
};
use crate::rollout::{Phase, Rollout};
use crate::words::{CommandLine, Hint, capital, enumerate, said_if};

/// Roll a placement back to an older snapshot
///
/// Creates and starts a new run. It rolls out the newest older snapshot that a run on the placement
/// completed before the current one, or --to. Shows what changes on each cluster. An unfinished run
/// on the placement is stopped or deleted first (--active), because two active runs overwrite each
/// other. Like every run, it waits at the gates of its strategy; --strategy uses another one. The hub
/// keeps the newer resources: the next run without --snapshot rolls them out again.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage rollback example-run\n  \
    kubectl fleet-stage rollback crp/example-placement --to 3 --strategy example-strategy\n  \
    kubectl fleet-stage rollback crp/checkout --active=delete --yes --wait --timeout 30m\n\n\
    Exit codes:\n  \
    0  started; with --wait, succeeded\n  \
    1  refused, not confirmed, or no snapshot to roll back to\n  \
    3  KubeFleet refuses it, or the run failed\n  \
    4  with --wait: a person must approve\n  \
    5  stuck\n  \
    6  no such run or placement\n  \
    7  forbidden, or a check could not read what it needs\n  \
    8  with --wait: the run was stopped\n  \
    9  --timeout was reached")]
pub struct RollbackArgs {
    /// Placement, or a run on it: NAME, crp/NAME, csur/NAME, or with -n rp/NAME, sur/NAME [default:
    /// at a terminal, chosen from a list, then the snapshot]
    #[arg(value_name = "RUN|PLACEMENT", required = true)]
    #[arg(add = ArgumentKind::Targets, add = ChosenAtTerminal)]
    target: Option<String>,
    /// Index of the snapshot to roll back to [default: the newest older one completed before the
    /// current run]
    #[arg(long, value_name = "INDEX", add = ArgumentKind::Snapshots)]
    to: Option<String>,
    /// Update strategy [default: the current run's]
    #[arg(long, value_name = "STRATEGY", add = ArgumentKind::Strategies)]
    strategy: Option<String>,
    /// Name of the new run [default: a generated name]
    #[arg(long, value_name = "RUN")]
    name: Option<String>,
    /// What to do with unfinished runs on the placement; --yes alone never stops or deletes one
    /// [default: stop those in progress, or delete them if they cannot stop]
    #[arg(long, value_enum, value_name = "WHAT")]
    active: Option<ActiveRunPolicy>,
    /// Roll back even if a check cannot read what it needs
    #[arg(long)]
    allow_unseen: bool,
    /// Show how the objects change for each cluster, against the Works that it has
    #[arg(long)]
    diff: bool,
    #[command(flatten)]
    writing: WriteFlags,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ActiveRunPolicy {
    /// Stop them; they can be resumed, but a stuck run cannot stop
    Stop,
    /// Delete them
    Delete,
    /// Leave them active alongside the rollback
    Keep,
}

pub fn run(args: &RollbackArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    let suffix = unique_suffix(session);
    operate("rollback", &args.writing, session, |op| {
        let mut to = args.to.clone();
        let (target, placement) = if let Some(word) = args.target.as_deref() {
            match op.reading.target(Some(word), op.ui) {
                Ok(target) => {
                    let placement = placement_of(&target, op.reading)?;
                    (target, placement)
                }
                // The run that was named may be what the same command deleted before.
                Err(error) if error.exit == Exit::NotFound => {
                    let placement = placement_of_made(args, op).ok_or(error)?;
                    (placement.clone(), placement)
                }
                Err(error) => return Err(error),
            }
        } else {
            let placement = pickers::placement(op.reading, op.ui)?;
            if to.is_none() {
                to = Some(pickers::snapshot(&placement, op.reading, op.ui)?);
            }
            (placement.clone(), placement)
        };
        let goal = RollbackTarget {
            to,
            target,
            placement,
            suffix,
        };
        let mut wanted = |reading: &mut SourceReading| wanted(args, &goal, reading);
        launch(&mut wanted, op)
    })
}

/// The placement of the run that this command has made before, under the name that it gives.
fn placement_of_made(args: &RollbackArgs, op: &mut Operation<'_>) -> Option<ObjectRef> {
    let name = chosen_name(args)?;
    let runs = &[Concept::UpdateRun];
    let made = op.reading.target_of(Some(name), runs, op.ui);
    placement_of(&made.ok()?, op.reading).ok()
}

struct RollbackTarget {
    /// The snapshot; `None` means the one before.
    to: Option<String>,
    target: ObjectRef,
    placement: ObjectRef,
    /// What tells its run's name from others.
    suffix: String,
}

fn wanted(
    args: &RollbackArgs,
    goal: &RollbackTarget,
    reading: &mut SourceReading,
) -> Result<RunLaunch, Error> {
    let (target, placement) = (&goal.target, &goal.placement);
    let to = goal.to.as_deref();
    let is_script = args.writing.yes;
    let required = [Concept::UpdateRun, Concept::ResourceSnapshot];
    let around = placement_objects::read(reading, placement, &required, &[Concept::Binding])?;
    let inventory = &around.inventory;
    is_for_runs(inventory, placement)?;
    let mut preview = Preview::default();
    let now = current_run(inventory, target);
    if let Some(compared) = now.filter(|now| to.is_none() && now.only_compares()) {
        let (run, index) = (compared.object(), &compared.status.snapshot_index);
        return Err(Error::failed(format!(
            "{run} only compared snapshot {index} with the clusters, and changed nothing there; nothing \
             was sent"
        ))
        .hint("select a snapshot with --to, if one is to be rolled out"));
    }
    preview.warnings(to.and_then(|to| rollback::doubt(inventory, to)));
    let name = chosen_name(args);
    let done = name.and_then(|name| inventory.run_on(name));
    if let Some(done) = done.filter(|run| choose::is_finished(run)) {
        // A job that is tried again is not to go further back.
        return Err(match taken_back(inventory, done) {
            Some((taken, true)) => already(&taken, done),
            _ => has_finished(&done.object(), done),
        });
    }
    let made = name.and_then(|name| rollback::earlier_try(inventory, name));
    let mut same = None;
    if let Some(now) = now.filter(|_| to.is_none() && made.is_none()) {
        same = is_on_clusters(now, inventory, is_script, &mut preview)?;
        let is_named = target.kind.concept() == Concept::UpdateRun;
        if let Some((taken, true)) = taken_back(inventory, now).filter(|_| is_named) {
            preview.warning(&format!("{taken} already: this goes back further"));
        }
    }
    let held = now.and_then(|now| held_of_deleted_run(inventory, now));
    let to = match made {
        Some(made) if to.is_none() => made.spec.snapshot_index.trim().to_owned(),
        _ => {
            let is_open = to.is_none() && target.kind.concept() == Concept::Placement;
            if is_open && held.is_none() {
                sure(now, inventory, is_script, &mut preview)?;
                same = go_on(now, inventory, is_script, &mut preview)?;
            }
            if let Some(same) = same {
                same
            } else {
                let held = held.filter(|_| is_open);
                if let Some(now) = now.filter(|now| to == Some(&now.status.snapshot_index)) {
                    is_its_own(now, inventory, target, is_script, &mut preview)?;
                }
                let to = destination(to, inventory, (now, held), placement, &mut preview)?;
                if let Some(now) = now.filter(|_| goal.to.is_none() && held.is_none()) {
                    changed_content(now, &to, inventory, is_script, &mut preview)?;
                }
                to
            }
        }
    };
    let strategy = args
        .strategy
        .clone()
        .or_else(|| made.or(now).map(|run| run.spec.strategy.clone()))
        .ok_or_else(|| {
            Error::failed(format!(
                "which strategy to use is unknown: no run of {placement} names one"
            ))
            .hint("set --strategy")
        })?;
    let index = now.map(|now| now.status.snapshot_index.as_str());
    let noted = now.and_then(UpdateRun::rolled_back);
    let newer = [held, index, noted].into_iter().flatten();
    let newer = newer.filter(|it| rollback::is_newer(it, &to));
    let rolled_back = newer.max_by_key(|it| it.parse::<u64>().ok());
    let rolled_back = rolled_back.map(str::to_owned);
    let name = run_name(args, goal, inventory, (&to, &strategy))?;
    let run = placement.scope().object(Concept::UpdateRun, &name);
    let first = first(args, inventory, &run, &mut preview)?;
    let latest = inventory.latest_snapshot();
    if latest.and_then(ResourceSnapshot::index) != Some(to.as_str()) {
        preview.warning(&format!(
            "the hub still has the newer resources of {placement}: the next run without --snapshot \
             rolls them out again; revert the change on the hub too"
        ));
    }
    if now.is_some_and(|now| Rollout::of(inventory, now).is_live()) {
        preview.warnings(diagnose::held_regardless(&diagnose::explain(inventory)));
    }
    let question = question(&first, &placement.name, &to);
    let accepted = AcceptedRisks {
        // It is what a rollback is for.
        older: true,
        unseen: args.allow_unseen,
    };
    let named = format!("if that is meant, name the snapshot: --to {to}");
    Ok(RunLaunch {
        snapshot: Some(to),
        preview,
        question: Some(question),
        first,
        diff: args.diff,
        takes_back: true,
        rolled_back,
        chosen: args.to.is_none().then(|| named.into()),
        ..RunLaunch::new(run, placement.clone(), strategy, accepted)
    })
}

/// The name of the run: the one that was given, that of an earlier try, or a generated one.
fn run_name(
    args: &RollbackArgs,
    goal: &RollbackTarget,
    inventory: &Inventory,
    (to, strategy): (&str, &str),
) -> Result<String, Error> {
    let placement = &goal.placement;
    if let Some(name) = &args.name {
        return Ok(names::of_one(name, Concept::UpdateRun, &placement.scope())?.name);
    }
    // Who stops or deletes what is active means a rollback that was given a name, too.
    let goes_on = matches!(args.active, None | Some(ActiveRunPolicy::Keep));
    let made = (!goes_on).then(|| made_names(inventory));
    if let Some(begun) = rollback::same_try(inventory, (to, strategy), made.as_deref()) {
        return Ok(begun.meta.name.clone());
    }
    let rest = [generated::ROLLBACK, to, goal.suffix.as_str()];
    Ok(generated::generate(&placement.name, &rest))
}

/// What is asked: what is done first, and to which snapshot it goes.
fn question(first: &[LaunchPreparation], placement: &str, to: &str) -> String {
    let doing = first.iter().map(|first| match first {
        LaunchPreparation::Stop(this) => format!("stop {}", this.object.name),
        LaunchPreparation::Delete(doomed) => format!("delete {}", doomed.run.object.name),
    });
    if first.is_empty() {
        return format!("Roll {placement} back to snapshot {to}?");
    }
    let doing = capital(&enumerate(doing));
    format!("{doing}, then roll {placement} back to snapshot {to}?")
}

fn placement_of(target: &ObjectRef, reading: &mut SourceReading) -> Result<ObjectRef, Error> {
    if target.kind.concept() == Concept::Placement {
        return Ok(target.clone());
    }
    let inventory = reading.overview(target)?;
    let rollout = crate::commands::operate::steering::rollout_of(&inventory, target)?;
    let name = &rollout.run.spec.placement;
    Ok(target.scope().object(Concept::Placement, name))
}

/// The run that is taken back: the one that was named, else the one that rolled out last.
fn current_run<'i>(inventory: &'i Inventory, target: &ObjectRef) -> Option<&'i UpdateRun> {
    if target.kind.concept() == Concept::UpdateRun {
        return inventory.runs.iter().find(|run| run.object() == *target);
    }
    current(inventory)
}

fn is_for_runs(inventory: &Inventory, placement: &ObjectRef) -> Result<(), Error> {
    let there = match &inventory.placement {
        Sight::Absent => return Err(Error::not_found(format!("{placement} does not exist"))),
        Sight::Unknown(_) => return Ok(()),
        Sight::Present(there) => there,
    };
    if there.apply_strategy().is_report_diff() {
        return Err(Error::failed(format!(
            "{placement} only compares (ReportDiff), so a rollback would change no cluster; nothing was sent"
        ))
        .hint(Hint::new("change its applyStrategy first:").command(placement.kubectl("edit"))));
    }
    if there.is_external() {
        return Ok(());
    }
    Err(Error::failed(format!(
        "{placement} has strategy RollingUpdate: KubeFleet rolls it out by itself, and no run can \
         roll it back"
    ))
    .hint("restore the earlier content on the hub"))
}

/// That the run which is rolled back is the one that rolled out last: a person may want to go back from
/// an older one, a script has to say to which snapshot. Where a rollback of the run came after it and is not complete,
/// its snapshot is returned.
fn is_on_clusters(
    now: &UpdateRun,
    inventory: &Inventory,
    is_script: bool,
    preview: &mut Preview,
) -> Result<Option<String>, Error> {
    let rollout = Rollout::of(inventory, now);
    if first_update(inventory, now).is_none() && rollout.phase != Phase::Succeeded {
        let nothing = "it has changed nothing, so nothing is to be rolled back; nothing was sent";
        let run = now.object();
        let why = format!("{run} has not begun with any cluster: {nothing}");
        let hint =
            "delete it, or go back from what is on the clusters by selecting a snapshot with --to:";
        return Err(Error::failed(why).hint(Hint::new(hint).command(run.fleet("delete"))));
    }
    // A rollback to what the run brought leaves that on the clusters.
    let brought_back = |last: &UpdateRun| {
        let taken = taken_back(inventory, last);
        taken.is_some_and(|(_, is_done)| is_done)
            && last.status.snapshot_index == now.status.snapshot_index
    };
    let last = current(inventory).filter(|last| last.meta.uid != now.meta.uid);
    let Some(last) = last.filter(|last| !brought_back(last)) else {
        return Ok(None);
    };
    let why = format!(
        "{} is not the run that rolled out last: {} came after it, with snapshot {}",
        now.meta.name, last.meta.name, last.status.snapshot_index
    );
    if is_script {
        // A command that is run once more does not go further back.
        if let Some(same) = go_on(Some(last), inventory, true, preview)? {
            return Ok(Some(same));
        }
        return Err(Error::failed(format!("{why}; nothing was sent")).hint(
            Hint::new("select a snapshot with --to; or, to roll back the last run:")
                .command(last.object().fleet("rollback")),
        ));
    }
    preview.warning(&why);
    Ok(None)
}

/// How the names of rollbacks begin that were not given one.
fn made_names(inventory: &Inventory) -> String {
    format!("{}-{}-", inventory.placement_name, generated::ROLLBACK)
}

/// How a run takes another back, and whether it is done; `None` for one that does not.
fn taken_back(inventory: &Inventory, run: &UpdateRun) -> Option<(String, bool)> {
    if !rollback::takes_back(inventory, run, &made_names(inventory)) {
        return None;
    }
    let phase = Rollout::of(inventory, run).phase;
    let verb = match phase {
        Phase::Succeeded => "rolled",
        Phase::Failed | Phase::Stopped => "began to roll",
        _ => "rolls",
    };
    let (name, index) = (&run.meta.name, &run.status.snapshot_index);
    let taken = format!("{name} {verb} back to snapshot {index}");
    Some((taken, phase == Phase::Succeeded))
}

/// Refuses to go further back than a run that took another back.
fn already(taken: &str, by: &UpdateRun) -> Error {
    let placement = by.scope().object(Concept::Placement, &by.spec.placement);
    Error::failed(format!("{taken} already; nothing was sent")).hint(
        Hint::new("to go back further, select a snapshot with --to; list them:")
            .command(placement.fleet("snapshots")),
    )
}

/// That the run which rolled out last is surely meant: a person decides, a script has to name it.
fn sure(
    now: Option<&UpdateRun>,
    inventory: &Inventory,
    is_script: bool,
    preview: &mut Preview,
) -> Result<(), Error> {
    let Some((now, later)) = now.and_then(|now| Some((now, not_begun_after(inventory, now)?)))
    else {
        return Ok(());
    };
    let (now, later) = (now.object(), &later.meta.name);
    let why = format!(
        "{later} was created after {} succeeded, and has not begun: nothing of it is on the clusters",
        now.name
    );
    if is_script {
        return Err(Error::failed(format!(
            "which run to roll back is not clear: {why}; nothing was sent"
        ))
        .hint(
            Hint::new(format!(
                "delete {later}; or select a snapshot with --to; or, to roll back {}, name it:",
                now.name
            ))
            .command(now.fleet("rollback")),
        ));
    }
    preview.warning(&why);
    Ok(())
}

/// The snapshot of a rollback that is not complete: a second request wants that one. Where it is
/// complete, a script that is run once more does not go further back.
fn go_on(
    now: Option<&UpdateRun>,
    inventory: &Inventory,
    is_script: bool,
    preview: &mut Preview,
) -> Result<Option<String>, Error> {
    let taken = now.and_then(|now| Some((now, taken_back(inventory, now)?)));
    let Some((now, (taken, is_done))) = taken else {
        return Ok(None);
    };
    let index = now.status.snapshot_index.as_str();
    if is_done {
        if last_good(inventory, now).is_err() {
            return Ok(None);
        }
        if is_script {
            return Err(already(&taken, now));
        }
        preview.warning(&format!("{taken} already: this goes back further"));
        return Ok(None);
    }
    let exists = rollback::destinations(inventory).contains(&index.to_owned());
    if exists {
        preview.status(&format!(
            "{taken}, and is not complete: this goes to the same snapshot"
        ));
    }
    Ok(exists.then(|| index.to_owned()))
}

/// That the snapshot of the run that is named is no rollback of it.
fn is_its_own(
    now: &UpdateRun,
    inventory: &Inventory,
    target: &ObjectRef,
    is_script: bool,
    preview: &mut Preview,
) -> Result<(), Error> {
    if now.object() != *target {
        return Ok(());
    }
    let index = &now.status.snapshot_index;
    let why = format!("{target} itself rolled out snapshot {index}: that is no rollback of it");
    let anew = run_anew(now).flag("--snapshot", index);
    let anew = Hint::new("to roll it out again:").command(anew);
    let before = rollback::with_other_overrides(inventory, now);
    let restore = before.and_then(|before| safeguards::restore_overrides(now, before));
    let anew = restore.map_or_else(|| anew.clone(), |restore| restore.and(anew.clone()));
    left_to_a_person(is_script, &why, anew, preview)
}

fn left_to_a_person(
    is_script: bool,
    why: &str,
    instead: Hint,
    preview: &mut Preview,
) -> Result<(), Error> {
    if is_script {
        return Err(Error::failed(format!("{why}; nothing was sent")).hint(instead));
    }
    preview.warning(why);
    Ok(())
}

/// What makes a run once more; one that is not over is deleted for it.
fn run_anew(run: &UpdateRun) -> CommandLine {
    steps::run_from(run).switch_if(!choose::is_finished(run), "--replace")
}

/// That a run changed more than overrides, which a rollback does not undo: a person decides, a script has to
/// name the snapshot.
fn changed_content(
    now: &UpdateRun,
    to: &str,
    inventory: &Inventory,
    is_script: bool,
    preview: &mut Preview,
) -> Result<(), Error> {
    let before = rollback::with_other_overrides(inventory, now);
    let before = before.filter(|it| it.has_succeeded());
    let Some(before) = before else {
        return Ok(());
    };
    let why = format!(
        "{} changed only overrides, which are not rolled back: {} completed the same snapshot {} before it",
        now.meta.name, before.meta.name, now.status.snapshot_index
    );
    let named = now.object().fleet("rollback").flag("--to", to);
    let instead = restore_then_run(now, before)
        .text("or, to roll back all the same:")
        .command(named);
    left_to_a_person(is_script, &why, instead, preview)
}

/// What to do where only overrides changed: they are restored, and a run brings them.
fn restore_then_run(now: &UpdateRun, before: &UpdateRun) -> Hint {
    let restore = safeguards::restore_overrides(now, before);
    let restore = restore.unwrap_or_else(|| Hint::new("restore the override first"));
    let anew = run_anew(now);
    restore.text("then start a new run:").command(anew)
}

fn chosen_name(args: &RollbackArgs) -> Option<&str> {
    args.name.as_deref()?.rsplit('/').next()
}

/// The snapshot to go back to, from the one of the current run or from `held`, which clusters have of a run
/// that is deleted.
fn destination(
    to: Option<&str>,
    inventory: &Inventory,
    (now, held): (Option<&UpdateRun>, Option<&str>),
    placement: &ObjectRef,
    preview: &mut Preview,
) -> Result<String, Error> {
    let there = rollback::destinations(inventory);
    let has = |lead: &str| {
        if there.is_empty() {
            return Hint::new("start a first run: it has no snapshots yet that --to could select");
        }
        let text = format!("{lead}existing indexes: {}; list them:", there.join(", "));
        Hint::new(text).command(placement.fleet("snapshots"))
    };
    if let Some(to) = to {
        if !there.iter().any(|index| index == to) {
            return Err(
                Error::not_found(format!("{placement} has no snapshot {to:?}")).hint(has("")),
            );
        }
        return Ok(to.to_owned());
    }
    let required = |why: String| {
        let own = now.map(|now| now.status.snapshot_index.as_str());
        let others = there.iter().any(|it| Some(it.as_str()) != held.or(own));
        Error::failed(why).hint(match now {
            Some(now) if !others => {
                Hint::new("restore the content on the hub, then start a new run:")
                    .command(run_anew(now))
            }
            _ => {
                has("restore the content on the hub and start a new run, or select one with --to; ")
            }
        })
    };
    let Some(now) = now else {
        let since = said_if(!inventory.runs.items.is_empty(), " since it was created");
        return Err(required(format!(
            "no run that still exists has rolled out {placement}{since}"
        )));
    };
    match last_good_below(inventory, now, held) {
        Ok(good) => {
            preview.warnings(&good.passed_over);
            let ended = Rollout::of(inventory, good.run).ended();
            let at = ended.map_or_else(String::new, |at| format!(" at {at}"));
            let rolls = if Rollout::of(inventory, now).is_finished() {
                "rolled"
            } else {
                "rolls"
            };
            let what = match held {
                Some(held) => format!("clusters have snapshot {held}, of a run that is deleted"),
                None => format!(
                    "{} {rolls} out snapshot {}",
                    now.meta.name, now.status.snapshot_index
                ),
            };
            preview.status(&format!(
                "rolling back to snapshot {}, which {} completed{at}; {what}",
                good.index, good.run.meta.name
            ));
            Ok(good.index.to_owned())
        }
        Err(passed_over) if passed_over.is_empty() => {
            let none = format!(
                "no run of {placement} completed a different snapshot before {}",
                now.meta.name
            );
            let Some(other) = rollback::with_other_overrides(inventory, now) else {
                return Err(required(none));
            };
            let name = &other.meta.name;
            Err(Error::failed(format!(
                "{none}; {name} rolled out the same snapshot with other overrides, which are not rolled back"
            ))
            .hint(restore_then_run(now, other)))
        }
        Err(passed_over) => {
            let more = match passed_over.len().saturating_sub(SAID) {
                0 => String::new(),
                more => format!("; and {more} more"),
            };
            let said: Vec<_> = passed_over.into_iter().take(SAID).collect();
            let said = said.join("; ");
            Err(required(format!(
                "{placement} has no snapshot to roll back to: {said}{more}"
            )))
        }
    }
}

/// How many of the snapshots that do not serve are told.
const SAID: usize = 4;

/// What is done with runs on the placement that are not over.
fn first(
    args: &RollbackArgs,
    inventory: &Inventory,
    new: &ObjectRef,
    preview: &mut Preview,
) -> Result<Vec<LaunchPreparation>, Error> {
    let active: Vec<_> = inventory
        .runs
        .iter()
        .map(|run| Rollout::of(inventory, run))
        .filter(|rollout| rollout.is_live() && rollout.run.object() != *new)
        .collect();
    if active.is_empty() || args.active == Some(ActiveRunPolicy::Keep) {
        return Ok(Vec::new());
    }
    let names: Vec<_> = active
        .iter()
        .filter(|rollout| moves(rollout))
        .map(|rollout| rollout.run.meta.name.as_str())
        .collect();
    if args.active.is_none() && args.writing.yes && !names.is_empty() {
        return Err(Error::failed(format!(
            "unfinished runs on {}: {}; nothing was sent",
            inventory.placement_name,
            enumerate(&names)
        ))
        .hint(if active.iter().any(|it| moves(it) && it.state_ignored) {
            "say what to do with them: --active=delete, or --active=keep"
        } else {
            "say what to do with them: --active=stop, --active=delete, or --active=keep"
        }));
    }
    let mut first = Vec::new();
    for rollout in &active {
        let run = rollout.run;
        let stuck = rollout.blocks_stop();
        let mut delete = || {
            let doomed = RunDeletion::of(rollout);
            preview.append(doomed.shown.clone());
            LaunchPreparation::Delete(Box::new(doomed))
        };
        if args.active == Some(ActiveRunPolicy::Delete) {
            first.push(delete());
        } else if !moves(rollout) {
            // It does nothing by itself, and can be started or resumed later.
        } else if args.active.is_none() && (stuck || rollout.state_ignored) {
            first.push(delete());
        } else if stuck {
            return Err(Error::new(
                Exit::Stuck,
                format!(
                    "{} is stuck and cannot stop; nothing was sent",
                    run.object()
                ),
            )
            .hint("delete it with --active=delete"));
        } else {
            let what = run.object();
            preview.lines([format!(
                "{what} is unfinished: it is stopped first, not deleted"
            )]);
            preview.progress(in_flight(rollout));
            let failing = rollout.in_flight().filter(|it| it.is_held());
            let failing: Vec<_> = failing.map(|it| it.name).collect();
            if !failing.is_empty() {
                preview.warning(&format!(
                    "failing now, so that the stop may not end: {}; --active=delete does not wait",
                    enumerate(failing)
                ));
            }
            first.push(LaunchPreparation::Stop(ThisRun::of(run)));
        }
    }
    Ok(first)
}
