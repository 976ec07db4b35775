//! `retry`: the same rollout again, in the place of a run that failed or is stuck.

use std::collections::BTreeMap;

use clap::Args;

use crate::change::names as generated;
use crate::commands::gather::argument::{ArgumentKind, ChosenAtTerminal};
use crate::commands::gather::reading::SourceReading;
use crate::commands::gather::selection::ListReach;
use crate::commands::gather::session::Session;
use crate::commands::gather::{eligible, names};
use crate::commands::operate::launching::{LaunchRisks, RunLaunch, launch};
use crate::commands::operate::operation::{operate, to_continue};
use crate::commands::operate::steering::rollout_of;
use crate::commands::operate::writing::WriteFlags;
use crate::diagnose;
use crate::error::Error;
use crate::exit::Exit;
use crate::kubefleet::{Concept, ObjectRef};
use crate::problems::steps;
use crate::report::Verdict;
use crate::rollout::content::replaced;
use crate::rollout::{Rollout, life, rollout_started};
use crate::words::{Hint, enumerate};

/// Try a failed or stuck update run again
///
/// Deletes the run and starts a new one with the same placement, strategy, and snapshot. It is the
/// same as `run --from RUN --replace --snapshot N`, with the next name: example-run-2 after
/// example-run-1. Fix the cause first; `diagnose` says what it is. A stuck run continues by itself
/// then; with --yes, it is not replaced while its clusters still fail with the same snapshot. The
/// preview shows what is deleted and what the new run does.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage retry example-run\n  \
    kubectl fleet-stage retry example-run --name example-run-b --yes --wait --timeout 1h\n\n\
    Exit codes:\n  \
    0  started; with --wait, succeeded\n  \
    1  nothing to retry, or not confirmed\n  \
    3  KubeFleet refuses it, or the run failed\n  \
    4  with --wait: a person must approve\n  \
    5  stuck\n  \
    6  no such run\n  \
    7  forbidden, or a check could not read what it needs\n  \
    8  with --wait: the run was stopped\n  \
    9  --timeout was reached")]
pub struct RetryArgs {
    /// Update run that failed or is stuck: NAME, csur/NAME, or with -n sur/NAME [default: at a
    /// terminal, chosen from a list]
    #[arg(value_name = "RUN", required = true)]
    #[arg(add = ArgumentKind::Runs(&eligible::RETRYABLE), add = ChosenAtTerminal)]
    run: Option<String>,
    /// Name of the new run [default: the old name with the next free number]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    risks: LaunchRisks,
    /// Show how the objects change for each cluster, against the Works that it has
    #[arg(long)]
    diff: bool,
    #[command(flatten)]
    writing: WriteFlags,
}

pub fn run(args: &RetryArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    operate("retry", &args.writing, session, |op| {
        let run = args.run.as_deref();
        let retryable = &eligible::RETRYABLE;
        let old = op.reading.run_or_chosen(run, retryable, op.ui)?;
        let new = match &args.name {
            Some(name) => names::of_one(name, Concept::UpdateRun, &old.scope())?,
            None => next_free(&old, op.reading),
        };
        let mut wanted = |reading: &mut SourceReading| again(&old, &new, args, reading);
        launch(&mut wanted, op)
    })
}

fn again(
    old: &ObjectRef,
    new: &ObjectRef,
    args: &RetryArgs,
    reading: &mut SourceReading,
) -> Result<RunLaunch, Error> {
    let inventory = reading.inventory(old)?;
    let rollout = rollout_of(&inventory, old)?;
    may_retry(&rollout)?;
    of_this_placement(&rollout, reading)?;
    let mut launch = RunLaunch::again(&rollout, new, true, args.risks.into());
    launch.diff = args.diff;
    let asked = &rollout.run.spec.snapshot_index;
    let index = &rollout.run.status.snapshot_index;
    let snapshot = if index.is_empty() { asked } else { index };
    launch.snapshot = (!snapshot.is_empty()).then(|| snapshot.clone());
    if rollout.run.pinned().is_none() {
        let latest = inventory.latest_snapshot().and_then(|it| it.index());
        let meant = latest.filter(|_| snapshot.is_empty()).unwrap_or(snapshot);
        let same = steps::run_in_place(rollout.run, meant);
        let named = Hint::new("if that is meant, name the snapshot:").command(same);
        launch.chosen = Some(named);
    }
    if let Some(why) = replaced_since(&rollout) {
        if args.writing.yes {
            let placement = rollout.run.placement();
            let see = old.scope().fleet("history").arg(placement.word());
            return Err(reading
                .refused(why)
                .hint(Hint::new("to see what came after it:").command(see)));
        }
        launch.preview.warning(&why);
        launch.question = Some(format!("Bring snapshot {snapshot} out again?"));
    }
    Ok(launch)
}

/// That a later run, such as a rollback, replaced what the run had brought; `None` where none did.
fn replaced_since(rollout: &Rollout<'_>) -> Option<String> {
    let (name, index) = (&rollout.run.meta.name, &rollout.run.status.snapshot_index);
    let mut by_run: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    for it in replaced(rollout) {
        if let Some(by) = rollout_started(it.binding).run.filter(|by| by != name) {
            by_run.entry((by, it.index)).or_default().push(it.cluster);
        }
    }
    let ((by, has), clusters) = by_run.into_iter().next()?;
    let clusters = enumerate(clusters);
    Some(format!(
        "{by} replaced snapshot {index} of {name} with snapshot {has} on {clusters}; a retry brings \
         snapshot {index} out again"
    ))
}

/// Refuses where the run's index means another snapshot now: the placement was made again, or the snapshot.
fn of_this_placement(rollout: &Rollout<'_>, reading: &SourceReading) -> Result<(), Error> {
    let run = rollout.run;
    if !life::is_foreign(rollout.inventory, run) {
        return Ok(());
    }
    let (name, index) = (&run.meta.name, &run.status.snapshot_index);
    Err(reading
        .refused(format!(
            "snapshot {index} is another one than {name} had: a retry would bring other content"
        ))
        .hint(
            Hint::new("to roll out the current content in its place:")
                .command(steps::run_from(run).switch("--replace")),
        ))
}

/// Only what failed or is stuck is tried again.
fn may_retry(rollout: &Rollout<'_>) -> Result<(), Error> {
    let run = rollout.run.object();
    let refuse = |why: &str| Error::failed(format!("there is nothing to retry: {run} {why}"));
    match diagnose::verdict(rollout) {
        _ if rollout.phase == crate::rollout::Phase::Deleting => Err(refuse("is being deleted")),
        Verdict::Failed | Verdict::InitializationFailed | Verdict::Stuck | Verdict::Unknown => {
            Ok(())
        }
        Verdict::Succeeded => Err(refuse("has succeeded").hint(
            Hint::new(match rollout.run.pinned() {
                Some(index) => format!("to roll out snapshot {index} again:"),
                None => "to roll out the current content:".to_owned(),
            })
            .command(steps::new_run(rollout.run)),
        )),
        Verdict::Stopped => Err(refuse("is stopped").hint(to_continue(rollout.inventory, &run))),
        Verdict::Stopping => Err(refuse("is still stopping")
            .hint(Hint::new("to see what it waits for:").command(run.fleet("diagnose")))),
        Verdict::NotStarted => Err(refuse("was not started").hint(
            if diagnose::aborts(rollout.inventory).is_some() {
                Hint::new("KubeFleet aborts it as soon as it is started; to see why:")
                    .command(run.fleet("diagnose"))
            } else {
                Hint::new("to start it:").command(run.fleet("run"))
            },
        )),
        Verdict::WaitingForApproval => Err(refuse("waits for an approval")
            .hint(Hint::new("to see what comes next:").command(run.fleet("status")))),
        Verdict::Deleting => Err(refuse("is being deleted")),
        Verdict::Progressing | Verdict::WaitingForTimer | Verdict::Initializing => {
            Err(refuse("is progressing").hint(
                Hint::new("to follow it, or to start it over:")
                    .command(run.fleet("status").switch("-w"))
                    .command(steps::run_from(rollout.run).switch("--replace")),
            ))
        }
    }
}

/// The old name with the next number that no run has: `shop-3` after `shop-2`.
fn next_free(old: &ObjectRef, reading: &mut SourceReading) -> ObjectRef {
    let taken = ListReach::one(old.scope()).every_run(reading, |_| true);
    let taken = taken.unwrap_or_default();
    let name = next_name(&old.name, |name| taken.iter().any(|it| it.name == name));
    ObjectRef {
        name,
        ..old.clone()
    }
}

fn next_name(old: &str, taken: impl Fn(&str) -> bool) -> String {
    let numbered = old.rsplit_once('-').and_then(|(stem, number)| {
        let counts = !number.starts_with('0');
        let number: u64 = number.parse().ok().filter(|it| counts && *it < 1_000_000)?;
        Some((stem, number))
    });
    let (stem, mut number) = numbered.unwrap_or((old, 1));
    loop {
        number += 1;
        let mut name = format!("{stem}-{number}");
        if name.len() > generated::LONGEST {
            name = generated::generate(stem, &[&number.to_string()]);
        }
        if !taken(&name) {
            return name;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::next_name;

    #[test]
    fn the_next_free_number_is_taken() {
        for (old, taken, expected) in [
            ("shop-2", &[][..], "shop-3"),
            ("shop-2", &["shop-3", "shop-4"], "shop-5"),
            ("shop", &[], "shop-2"),
            ("shop-9", &[], "shop-10"),
            ("shop-1700000000", &[], "shop-1700000000-2"),
            ("shop-v2", &[], "shop-v2-2"),
            ("shop-007", &[], "shop-007-2"),
            (&"a".repeat(63), &[], &format!("{}-2", "a".repeat(61))),
            (
                &format!("{}-99", "a".repeat(60)),
                &[],
                &format!("{}-100", "a".repeat(59)),
            ),
        ] {
            let name = next_name(old, |name| taken.contains(&name));
            assert_eq!(name, expected, "{old}");
        }
    }
}
