//! `delete`: gives a run up. Nothing is rolled back.

use clap::Args;
use jiff::Timestamp;

use super::global::Global;
use super::reading::Reading;
use super::steering::rollout_of;
use super::stop::each;
use super::writing::{self, Done, Effect, ThisRun, Writing};
use crate::change::Change;
use crate::diagnose::finding::enumerate;
use crate::diagnose::status::Status;
use crate::error::Error;
use crate::exit::Exit;
use crate::kubefleet::Concept;
use crate::rollout::{ClusterState, Phase, Rollout};
use crate::ui::Ui;
use crate::words::Hint;

/// Delete update runs: give them up, with their approval requests
///
/// Deleting rolls nothing back: clusters keep what they have, also where that is a mixture of two
/// snapshots, and a cluster in flight goes on to what the run gave it. The run's approval requests
/// and the record of what it did are gone.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage delete example-run\n  \
    kubectl fleet-stage delete example-run -n my-app-namespace --yes\n  \
    kubectl fleet-stage delete example-run --ignore-not-found --yes\n\n\
    Exit codes:\n  \
    0  deleted\n  \
    1  not confirmed, refused, or changed since it was shown\n  \
    5  it is still being deleted after --timeout\n  \
    6  no such run\n  \
    7  forbidden")]
pub struct DeleteArgs {
    /// The update runs: names, or TYPE/NAME such as csur/x, with -n sur/x
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<String>,
    /// Succeed where a run does not exist
    #[arg(long)]
    ignore_not_found: bool,
    #[command(flatten)]
    writing: Writing,
}

/// Deletes runs.
pub fn run(
    args: &DeleteArgs,
    global: &Global,
    ui: &mut Ui,
    clock: fn() -> Timestamp,
) -> Result<Exit, Error> {
    let mut reading = writing::open("delete", global, ui, clock)?;
    let namespace = global.namespace.as_deref();
    let mut runs = Vec::new();
    for word in &args.runs {
        let found = reading.target_of(Some(word), namespace, &[Concept::UpdateRun], ui);
        match found {
            Err(error) if args.ignore_not_found && error.exit == Exit::NotFound => {
                ui.status(&error.message);
            }
            found => runs.push(found?),
        }
    }
    if runs.is_empty() {
        return Ok(Exit::Done);
    }
    let mut shown = Vec::new();
    for run in runs {
        let inventory = reading.overview(&run)?;
        let rollout = rollout_of(&inventory, &run)?;
        ui.preview(&leaves(&rollout));
        shown.push((ThisRun::of(rollout.run), Change::delete(rollout.run)));
    }
    let what = match shown.as_slice() {
        [(run, _)] => run.object.to_string(),
        several => format!("these {} runs", several.len()),
    };
    writing::confirm(&format!("Delete {what}?"), &mut reading, &args.writing, ui)?;
    each(&shown, ui, |(run, change), ui| {
        delete(run, change, &mut reading, &args.writing, ui)
    })
}

/// What deleting a run leaves behind.
pub(super) fn leaves(rollout: &Rollout<'_>) -> Vec<String> {
    let run = rollout.run.object();
    let of = |state| {
        let clusters = rollout.updated_clusters();
        clusters
            .filter(move |cluster| cluster.state == state)
            .map(|cluster| cluster.name)
    };
    let done = of(ClusterState::Done).count();
    let total = rollout.updated_clusters().count();
    let index = &rollout.run.status.snapshot_index;
    let mut lines = vec![match rollout.phase {
        Phase::Succeeded => format!("{run} has succeeded; its record goes with it"),
        Phase::Failed | Phase::InitializationFailed => {
            format!("{run} has failed; its record goes with it")
        }
        Phase::Deleting => format!("{run} is being deleted already"),
        _ => format!("{run} is not over: deleting gives the release up and rolls nothing back"),
    }];
    if rollout.is_live() && total > 0 {
        lines.push(format!(
            "  {done} of {total} clusters have snapshot {index} and keep it"
        ));
        let flying: Vec<_> = rollout.in_flight().map(|cluster| cluster.name).collect();
        if !flying.is_empty() {
            lines.push(format!(
                "  in flight, and on their way to snapshot {index} all the same: {}",
                enumerate(flying)
            ));
        }
    }
    let asked: Vec<_> = rollout
        .open_approvals()
        .map(|gate| gate.task.approval_request.as_str())
        .collect();
    if !asked.is_empty() {
        lines.push(format!("  deleted with it: {}", enumerate(asked)));
    }
    lines
}

/// Deletes one run, waits until it is gone, and says so.
fn delete(
    this: &ThisRun,
    change: &Change,
    reading: &mut Reading,
    args: &Writing,
    ui: &mut Ui,
) -> Result<Exit, Error> {
    let run = &this.object;
    if !delete_for_good(this, change, reading, args, ui)? {
        return Ok(Exit::Done);
    }
    let how = if args.returns_at_once() {
        "is being deleted"
    } else {
        "is deleted"
    };
    writing::result(run, &format!("{run} {how}"), reading, args, ui)?;
    Ok(Exit::Done)
}

/// Deletes one run, and waits until it is gone. Nothing is deleted, and `false` is told, where
/// nothing is to be sent.
pub(super) fn delete_for_good(
    this: &ThisRun,
    change: &Change,
    reading: &mut Reading,
    args: &Writing,
    ui: &mut Ui,
) -> Result<bool, Error> {
    let run = &this.object;
    if matches!(writing::send(change, reading, args, ui)?, Done::Dry) {
        return Ok(false);
    }
    if reading.is_interrupted() {
        return Err(writing::interrupted(&format!("{run} was deleted")));
    }
    if args.returns_at_once() {
        return Ok(true);
    }
    let mut seen = |_: &Status| None;
    let wanted = "the run to be gone";
    match writing::effect(this, wanted, reading, args, ui, &mut seen)? {
        Effect::Gone | Effect::Seen(_) | Effect::Never(_) => Ok(true),
        Effect::Late => Err(
            writing::late(&format!("{run} is still being deleted"), args).hint(
                Hint::new("KubeFleet's hub agent has to let go of it; see whether it runs:")
                    .command(run.scope().fleet("doctor")),
            ),
        ),
        Effect::Interrupted => Err(writing::interrupted(&format!(
            "{run} was deleted; whether it is gone was not waited for"
        ))),
    }
}
