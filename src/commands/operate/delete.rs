//! `delete`: gives a run up. Nothing is rolled back.

use clap::Args;

use crate::change::Change;
use crate::change::preview::Preview;
use crate::commands::gather::argument::{ArgumentKind, ChosenAtTerminal};
use crate::commands::gather::eligible;
use crate::commands::gather::reading::SourceReading;
use crate::commands::gather::session::Session;
use crate::commands::operate::operation::{
    ChangeOutcome, Operation, ThisRun, WaitResult, WriteProposal, interrupted, operate,
};
use crate::commands::operate::steering::{self, rollout_of};
use crate::commands::operate::writing::WriteFlags;
use crate::diagnose::status::Status;
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::source::HubQuery;
use crate::kubefleet::ObjectRef;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::run::UpdateRun;
use crate::rollout::{ClusterState, ClusterView, Phase, Rollout};
use crate::words::{Hint, enumerate};

/// Delete update runs and their approval requests
///
/// Deleting a run rolls nothing back. Clusters keep what they have, even a mix of two snapshots,
/// and a cluster in flight still gets the run's snapshot. The run's approval requests and its
/// history are lost.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage delete example-run\n  \
    kubectl fleet-stage delete example-run -n my-app-namespace --yes\n  \
    kubectl fleet-stage delete example-run --ignore-not-found --yes\n\n\
    Exit codes:\n  \
    0  deleted\n  \
    1  not confirmed, refused, or changed since it was shown\n  \
    6  no such run\n  \
    7  forbidden\n  \
    9  still being deleted after --timeout")]
pub struct DeleteArgs {
    /// Update runs: NAME, csur/NAME, or with -n sur/NAME [default: at a terminal, chosen from a
    /// list]
    #[arg(value_name = "RUN", required = true)]
    #[arg(add = ArgumentKind::Runs(&eligible::EVERY), add = ChosenAtTerminal)]
    runs: Vec<String>,
    /// Exit with 0 if a run does not exist
    #[arg(long)]
    ignore_not_found: bool,
    #[command(flatten)]
    writing: WriteFlags,
}

pub fn run(args: &DeleteArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    operate("delete", &args.writing, session, |op| act(args, op))
}

fn act(args: &DeleteArgs, op: &mut Operation<'_>) -> Result<Exit, Error> {
    let runs = if args.runs.is_empty() {
        let every = &eligible::EVERY;
        vec![op.reading.run_or_chosen(None, every, op.ui)?]
    } else {
        op.reading
            .named_runs(&args.runs, args.ignore_not_found, op.ui)?
    };
    if runs.is_empty() {
        return Ok(Exit::Done);
    }
    let doomed = op.agree(&mut |reading| {
        let doomed = runs.iter().map(|run| RunDeletion::look(run, reading));
        let doomed = doomed.collect::<Result<Vec<_>, _>>()?;
        let mut preview = Preview::default();
        for one in &doomed {
            preview.append(one.shown.clone());
        }
        let what = match doomed.as_slice() {
            [one] => one.run.object.to_string(),
            several => format!("these {} runs", several.len()),
        };
        Ok(WriteProposal {
            preview,
            question: Ok(Some(format!("Delete {what}?"))),
            what: doomed,
        })
    })?;
    op.each(
        &doomed,
        |one| &one.run.object,
        |one, op| {
            one.is_as_shown(op.reading)?;
            delete(&one.run, &one.change, op)
        },
    )
}

pub(in crate::commands) struct RunDeletion {
    pub run: ThisRun,
    pub change: Change,
    pub shown: Preview,
    /// Whether it has begun, and nothing holds it.
    pub can_continue: bool,
    /// Whether it continues by itself, at the latest once its clusters do not fail.
    pub goes_on: bool,
}

impl RunDeletion {
    fn look(run: &ObjectRef, reading: &mut SourceReading) -> Result<Self, Error> {
        let inventory = reading.overview(run)?;
        let mut doomed = Self::of(&rollout_of(&inventory, run)?);
        steering::unseen(&inventory, &mut doomed.shown);
        Ok(doomed)
    }

    pub(in crate::commands) fn of(rollout: &Rollout<'_>) -> Self {
        Self {
            run: ThisRun::of(rollout.run),
            change: Change::delete(rollout.run),
            shown: leaves(rollout),
            can_continue: rollout.is_live()
                && !matches!(rollout.phase, Phase::Idle | Phase::Initializing)
                && !rollout.blocks_stop(),
            goes_on: rollout.phase == Phase::Executing,
        }
    }

    /// Refuses where the run is not as it was shown any more. Where nothing was done since, nothing
    /// was waited for; a run that has ended since takes only its history with it.
    pub(in crate::commands) fn is_as_shown(
        &self,
        reading: &mut SourceReading,
    ) -> Result<(), Error> {
        if reading.record.is_empty() {
            return Ok(());
        }
        reading.forget();
        let run = &self.run.object;
        let inventory = reading.overview(run)?;
        let rollout = rollout_of(&inventory, run)?;
        if rollout.is_finished() {
            return Ok(());
        }
        let now = leaves(&rollout).facts();
        let differences = self.shown.facts().differences(&now);
        if differences.is_empty() {
            return Ok(());
        }
        Err(reading
            .refused(format!(
                "{run} was not deleted because it changed since it was shown: {}",
                differences.join("; ")
            ))
            .hint(Hint::new("check it, then decide again:").command(run.fleet("status"))))
    }
}

pub(in crate::commands) fn leaves(rollout: &Rollout<'_>) -> Preview {
    let mut preview = Preview::default();
    let run = rollout.run.object();
    let done: Vec<_> = rollout
        .updated_clusters()
        .filter(|cluster| cluster.state == ClusterState::Done)
        .collect();
    let total = rollout.updated_clusters().count();
    let index = &rollout.run.status.snapshot_index;
    preview.lines([match rollout.phase {
        Phase::Succeeded => format!("{run} has succeeded; its history is deleted too"),
        Phase::Failed | Phase::InitializationFailed => {
            format!("{run} has failed; its history is deleted too")
        }
        Phase::Deleting => format!("{run} is already being deleted"),
        _ => {
            format!("{run} is unfinished: deleting it abandons the rollout and rolls nothing back")
        }
    }]);
    if rollout.is_live() && total > 0 {
        let index = index.as_str();
        let (keep, lost): (Vec<_>, Vec<_>) = done.into_iter().partition(|cluster| {
            let has = cluster.binding.and_then(Binding::snapshot_index);
            has == Some(index)
        });
        if rollout.inventory.bindings.gap.is_none() {
            preview.progress([format!(
                "  clusters that keep snapshot {index} from this run: {} of {total}",
                keep.len()
            )]);
        }
        let (other, unknown): (Vec<_>, Vec<_>) = lost
            .into_iter()
            .partition(|cluster| cluster.binding.is_some());
        let is_own = |it: &&ClusterView<'_>| {
            it.binding
                .is_none_or(|it| it.snapshot_index() == Some(index))
        };
        let (own, taken): (Vec<_>, Vec<_>) = rollout.in_flight().partition(is_own);
        let (held, flying): (Vec<_>, Vec<_>) = own.into_iter().partition(|it| it.is_held());
        let (updated, flies) = ("updated by this run", "in flight");
        for (clusters, which, how) in [
            (other, updated, "now with another snapshot".to_owned()),
            (unknown, updated, "current snapshot unknown".to_owned()),
            (taken, flies, "now with another snapshot".to_owned()),
            (flying, flies, format!("will still get snapshot {index}")),
            (held, flies, format!("and failing with snapshot {index}")),
        ] {
            if !clusters.is_empty() {
                let names = enumerate(clusters.iter().map(|cluster| cluster.name));
                preview.progress([format!("  {which}, {how}: {names}")]);
            }
        }
    }
    let asked: Vec<_> = rollout
        .open_approvals()
        .filter(|gate| !gate.foreign)
        .map(|gate| gate.task.approval_request.as_str())
        .collect();
    if !asked.is_empty() {
        preview.lines([format!(
            "  approval requests deleted with it: {}",
            enumerate(asked)
        )]);
    }
    let mut updated = rollout.updated_clusters();
    if let Some(index) = rollout.run.rolled_back()
        && updated.any(|cluster| cluster.started.is_some())
    {
        preview.warning(&format!(
            "snapshot {index} was rolled back by this run: once it is deleted, a new run may bring \
             that snapshot again without a warning"
        ));
    }
    let is_silent = steering::state(rollout, &mut preview);
    steering::keeper(rollout.run, &mut preview);
    if is_silent && rollout.run.is_seen() {
        preview.lines([
            "  it stays until its controller answers: only that removes its finalizer".to_owned(),
        ]);
    }
    preview
}

fn delete(this: &ThisRun, change: &Change, op: &mut Operation<'_>) -> Result<Exit, Error> {
    let run = &this.object;
    if !delete_for_good(this, change, op)? {
        return Ok(Exit::Done);
    }
    let how = if op.args.returns_at_once() {
        "is being deleted"
    } else {
        "is deleted"
    };
    op.result(run, &format!("{run} {how}"))?;
    Ok(Exit::Done)
}

/// Deletes one run, and waits until it is gone. Nothing is deleted, and `false` is told, where
/// nothing is to be sent.
pub(in crate::commands) fn delete_for_good(
    this: &ThisRun,
    change: &Change,
    op: &mut Operation<'_>,
) -> Result<bool, Error> {
    let run = &this.object;
    if matches!(op.send(change)?, ChangeOutcome::Dry) {
        return Ok(false);
    }
    if op.reading.is_interrupted() {
        return Err(interrupted(&format!("{run} was deleted")));
    }
    if op.args.returns_at_once() {
        return Ok(true);
    }
    let mut seen = |_: &Status| None;
    let wanted = "the deletion to finish";
    match op.effect(this, wanted, &mut seen)? {
        WaitResult::Gone(_) | WaitResult::Decided(..) => Ok(true),
        WaitResult::TimedOut(_) => {
            let held_by = foreign_finalizers(run, op.reading);
            let hint = if held_by.is_empty() {
                Hint::new(
                    "KubeFleet's hub agent must remove its finalizer; check that the agent is \
                     running:",
                )
                .command(run.scope().fleet("doctor"))
            } else {
                Hint::new(format!(
                    "it has finalizers that are not KubeFleet's: {}; who set them must remove them",
                    enumerate(held_by)
                ))
            };
            Err(op.late(&format!("{run} is still being deleted")).hint(hint))
        }
        WaitResult::Interrupted => Err(interrupted(&format!(
            "{run} was deleted; stopped waiting for the deletion to finish"
        ))),
    }
}

fn foreign_finalizers(run: &ObjectRef, reading: &mut SourceReading) -> Vec<String> {
    reading.forget();
    let answer = reading.ask(&HubQuery::object(run));
    let run = answer.all::<UpdateRun>().next();
    let finalizers = run
        .into_iter()
        .flat_map(|run| run.meta.foreign_finalizers());
    finalizers.map(str::to_owned).collect()
}
