//! `stop`: a run begins nothing new, and what is in flight is finished.

use clap::Args;

use crate::change::preview::Preview;
use crate::change::states::RequestedState;
use crate::commands::gather::argument::{ArgumentKind, ChosenAtTerminal};
use crate::commands::gather::eligible;
use crate::commands::gather::selection::ListReach;
use crate::commands::gather::session::Session;
use crate::commands::operate::operation::{Operation, WriteProposal, operate};
use crate::commands::operate::steering::{self, finish, rollout_of};
use crate::commands::operate::writing::WriteFlags;
use crate::diagnose;
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::choose;
use crate::kubefleet::run::{RunState, UpdateRun};
use crate::kubefleet::{Concept, ObjectRef, duration, reasons};
use crate::problems::members::stalls;
use crate::rollout::{ClusterView, Rollout, depends_on_schema};
use crate::words::enumerate;

/// Stop an update run; clusters in flight finish first
///
/// No new cluster starts; the run is stopped when the clusters in flight are done. Shows what is in
/// flight and waits until the run is stopped. Nothing is rolled back. A timed wait restarts at the
/// stop and keeps counting while the run is stopped. A run with a stuck cluster cannot stop: fix
/// the cluster, or delete the run.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage stop example-run\n  \
    kubectl fleet-stage stop example-run -n my-app-namespace --wait=false\n  \
    kubectl fleet-stage stop --placement example-placement --all\n\n\
    Exit codes:\n  \
    0  stopped\n  \
    1  cannot be stopped: finished, not started, not confirmed, or changed since it was shown\n  \
    5  blocked by a stuck cluster\n  \
    6  no such run\n  \
    7  forbidden\n  \
    9  --timeout was reached")]
pub struct StopArgs {
    /// Update runs: NAME, csur/NAME, or with -n sur/NAME [default: at a terminal, chosen from a
    /// list]
    #[arg(value_name = "RUN")]
    #[arg(required_unless_present = "placement", conflicts_with = "placement")]
    #[arg(add = ArgumentKind::Runs(&eligible::STOPPABLE), add = ChosenAtTerminal)]
    runs: Vec<String>,
    /// Stop every active run on this placement
    #[arg(long, value_name = "PLACEMENT", requires = "all")]
    #[arg(add = ArgumentKind::Placements)]
    placement: Option<String>,
    /// Confirm that --placement means every active run on it
    #[arg(long, requires = "placement")]
    all: bool,
    #[command(flatten)]
    writing: WriteFlags,
}

pub fn run(args: &StopArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    operate("stop", &args.writing, session, |op| {
        let runs = if let Some(placement) = &args.placement {
            active(placement, op)?
        } else {
            op.reading
                .runs_or_chosen(&args.runs, &eligible::STOPPABLE, op.ui)?
        };
        op.each(&runs, |run| run, |run, op| stop_run(run, op))
    })
}

fn stop_run(run: &ObjectRef, op: &mut Operation<'_>) -> Result<Exit, Error> {
    let inventory = op.agree(&mut |reading| {
        let inventory = reading.decision(run)?;
        let mut preview = Preview::default();
        let mut question = None;
        if let Ok(rollout) = rollout_of(&inventory, run) {
            if !rollout.state_ignored {
                preview.progress(in_flight(&rollout));
            }
            steering::state(&rollout, &mut preview);
            steering::keeper(rollout.run, &mut preview);
            if let Some(why) = diagnose::aborts(&inventory).filter(|_| rollout.is_live()) {
                preview.warning(&format!("{why}; a stop makes it do so at once"));
                question = Some(format!("Stop {}, which KubeFleet then aborts?", run.name));
            }
            // Halting a rollout must not fail for want of what it only shows.
            steering::unseen(&inventory, &mut preview);
        }
        Ok(WriteProposal {
            preview,
            question: Ok(question),
            what: inventory,
        })
    })?;
    let steered = steering::steer(&inventory, run, RequestedState::Stop, op)?;
    finish(&steered, RequestedState::Stop, op)
}

pub(in crate::commands) fn in_flight(rollout: &Rollout<'_>) -> Vec<String> {
    if !rollout.is_live() {
        return Vec::new();
    }
    let mut lines = Vec::new();
    let (unnoted, noted): (Vec<_>, Vec<_>) = rollout.in_flight().partition(|it| it.unnoted);
    let (held, clusters): (Vec<_>, Vec<_>) = noted.into_iter().partition(|it| it.is_held());
    let names = |clusters: &[&ClusterView<'_>]| enumerate(clusters.iter().map(|it| it.name));
    // The run keeps the override snapshots of its initialization.
    let (pinned, held): (Vec<_>, Vec<_>) = held.into_iter().partition(|it| {
        let trouble = it.trouble();
        trouble.is_some_and(|it| it.condition.kind == reasons::OVERRIDDEN)
    });
    let (silent, clusters): (Vec<_>, Vec<_>) = clusters
        .into_iter()
        .partition(|it| it.member.is_some_and(|member| stalls(member, rollout.now)));
    if !clusters.is_empty() {
        lines.push(format!(
            "in flight, and the run stops only when they are done: {}",
            names(&clusters)
        ));
    }
    if !silent.is_empty() {
        lines.push(format!(
            "in flight, and without reports that all is well: {}; the run stops only when they are done",
            names(&silent)
        ));
    }
    for (clusters, ends) in [
        (held, "the run stops only when the cause is fixed"),
        (
            pinned,
            "the run keeps its overrides, so it does not stop: delete it",
        ),
    ] {
        if !clusters.is_empty() {
            let names = names(&clusters);
            lines.push(format!("in flight, and failing: {names}; {ends}"));
        }
    }
    if !unnoted.is_empty() {
        let names = names(&unnoted);
        lines.push(format!(
            "in flight without a start that the run noted, so the stop does not wait for it: {names}"
        ));
    }
    for gate in rollout.open_timers() {
        let wait = gate.wait().map(duration::describe).unwrap_or_default();
        lines.push(format!(
            "the wait of {wait} {} stage {} restarts at the stop and keeps counting while the run \
             is stopped, so it may be over when the run is resumed",
            gate.time.as_str(),
            gate.stage
        ));
    }
    let removals = rollout.removals_to_come();
    if !removals.is_empty() {
        lines.push(format!(
            "the removal from {} has not started: the run stays Stopping until it is resumed or \
             deleted",
            enumerate(removals.iter().map(|cluster| cluster.name))
        ));
    }
    lines
}

/// Whether a run that is not over may begin clusters: it was asked to, or goes on whatever its state, as on
/// KubeFleet 0.1. That one is refused by name.
fn may_go_on(run: &UpdateRun) -> bool {
    match run.spec.wants() {
        RunState::Run => true,
        RunState::Stop => false,
        RunState::Initialize | RunState::Other => depends_on_schema(run),
    }
}

fn active(placement: &str, op: &mut Operation<'_>) -> Result<Vec<ObjectRef>, Error> {
    let flag = ("--placement", placement);
    let target = op.reading.target_of_flag(flag, Concept::Placement, op.ui)?;
    let runs = ListReach::one(target.scope()).every_run(op.reading, |run| {
        run.spec.placement == target.name && !choose::is_finished(run) && may_go_on(run)
    })?;
    if runs.is_empty() {
        op.ui.status(&format!("no run on {target} is in progress"));
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use crate::rollout::life::tests::{inventory, run};

    #[test]
    fn what_an_old_agent_executes_goes_on() {
        let may_go_on = |state: &str, message: &str, started: Option<i64>| {
            let mut run = run("web", "0", [Some(1), Some(1), started, None]);
            run["spec"]["state"] = state.into();
            run["status"]["conditions"][0]["message"] = message.into();
            let all = inventory(&[run]);
            super::may_go_on(all.runs.iter().next().unwrap())
        };
        let (old, new) = (
            "ClusterStagedUpdateRun initialized successfully",
            "The update run has been initialized successfully",
        );
        for (state, message, started, goes_on) in [
            ("Run", new, None, true),
            ("Initialize", new, None, false),
            ("Initialize", new, Some(2), true),
            ("Initialize", old, None, true),
            ("Stop", new, Some(2), false),
            ("Stop", old, Some(2), false),
        ] {
            let found = may_go_on(state, message, started);
            assert_eq!(found, goes_on, "{state} {message} {started:?}");
        }
    }
}
