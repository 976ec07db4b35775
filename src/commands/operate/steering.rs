//! Changing what a run is to do: what `run`, `stop` and `resume` have in common.

use std::time::Duration;

use crate::change::guard::Guard;
use crate::change::neighbours::neighbours;
use crate::change::preview::Preview;
use crate::change::record::ToldChange;
use crate::change::states::{RequestedState, StateStep, step};
use crate::commands::operate::operation::{
    ChangeOutcome, Operation, ThisRun, WaitResult, interrupted,
};
use crate::commands::show::wait::is_borne;
use crate::diagnose::{self, status::Status};
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::Inventory;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Concept, ObjectRef};
use crate::report::Verdict;
use crate::rollout::Rollout;
use crate::words::{Hint, enumerate};

pub struct SteeredRun {
    pub run: ThisRun,
    pub written: bool,
    /// What was so already, where nothing was written.
    pub already: Option<String>,
}

/// The run of an inventory, understood. One that could not be read is not touched.
pub fn rollout_of<'i>(inventory: &'i Inventory, run: &ObjectRef) -> Result<Rollout<'i>, Error> {
    Rollout::new(inventory).ok_or_else(|| {
        let gap = inventory.gaps.get(&run.kind);
        let why = gap.map_or_else(|| "it does not exist".to_owned(), Clone::clone);
        Error::new(
            if gap.is_some() {
                Exit::Incomplete
            } else {
                Exit::NotFound
            },
            format!("{run} cannot be read: {why}"),
        )
        .hint(
            Hint::new("a run is changed only after it was read; check your permission:")
                .command(run.can_i("get")),
        )
    })
}

/// That the run that was read is the one that was meant, and no other of its name.
pub fn is_this(rollout: &Rollout<'_>, this: &ThisRun) -> Result<(), Error> {
    if this.uid.is_empty() || rollout.run.meta.uid == this.uid {
        return Ok(());
    }
    let run = &this.object;
    Err(Error::failed(format!(
        "{run} was replaced by another run with the same name in the meantime; nothing was sent to \
         the new one"
    ))
    .hint(Hint::new("check it, then decide again:").command(run.fleet("status"))))
}

/// Asks a run for another state, where that is to be written.
pub fn steer(
    inventory: &Inventory,
    run: &ObjectRef,
    wish: RequestedState,
    op: &mut Operation<'_>,
) -> Result<SteeredRun, Error> {
    let rollout = rollout_of(inventory, run)?;
    let mut steered = SteeredRun {
        run: ThisRun::of(rollout.run),
        written: false,
        already: None,
    };
    match step(&rollout, wish) {
        StateStep::Refused { why, hint } => return Err(Error::failed(why).hint(hint)),
        StateStep::Already(what) => steered.already = Some(what),
        StateStep::Write(change) => {
            steered.written = matches!(op.send(&change)?, ChangeOutcome::Written { .. });
        }
    }
    Ok(steered)
}

/// What a preview of a run is based on: its state, and the other runs on the placement.
pub fn facts(rollout: &Rollout<'_>, preview: &mut Preview) {
    state(rollout, preview);
    preview.neighbours(&neighbours(rollout.inventory, &rollout.run.meta.name));
}

/// The state of a run, as a preview compares it, and whether its controller is silent.
pub fn state(rollout: &Rollout<'_>, preview: &mut Preview) -> bool {
    let run = rollout.run;
    let state = run.spec.state.as_deref().unwrap_or("not set");
    let how = if rollout.is_live() {
        format!("in state {state}")
    } else {
        "finished or being deleted".to_owned()
    };
    preview.fact(run.object().to_string(), how, &run.meta.uid);
    let silent = diagnose::silent_controller(rollout.inventory);
    preview.warnings(&silent);
    silent.is_some()
}

/// Warns of a tool that keeps a run as its source has it.
pub fn keeper(run: &UpdateRun, preview: &mut Preview) {
    if let Some(tool) = run.meta.keeper() {
        preview.warning(&format!(
            "{tool} keeps {} as its source has it, and may undo this: change it there first",
            run.object()
        ));
    }
}

/// Warns that the controller aborts the run, whatever the write.
pub fn aborts(inventory: &Inventory, preview: &mut Preview) -> Option<String> {
    let aborts = diagnose::aborts(inventory);
    preview.warnings(&aborts);
    aborts
}

/// Says what could not be read of the bindings, of the runs on the placement, and of what the controller checks.
pub fn unseen(inventory: &Inventory, preview: &mut Preview) {
    if let Some(gap) = &inventory.bindings.gap {
        preview.warning(&format!(
            "which snapshot each cluster has is unknown: {} {gap}",
            inventory.scope.kind(Concept::Binding)
        ));
    }
    if let Some(gap) = &inventory.runs.gap {
        preview.warning(&format!(
            "other runs on the placement are unknown: {} {gap}",
            inventory.scope.kind(Concept::UpdateRun)
        ));
    }
    for concept in [
        Concept::Placement,
        Concept::PolicySnapshot,
        Concept::MemberCluster,
    ] {
        let kind = inventory.scope.kind(concept);
        if let Some(gap) = inventory.gaps.get(&kind) {
            let what = Guard::Aborts.finds_out();
            preview.warning(&format!("{what} is unknown: {kind} {gap}"));
        }
    }
}

pub fn others(rollout: &Rollout<'_>, preview: &mut Preview) {
    let others = neighbours(rollout.inventory, &rollout.run.meta.name);
    if !others.is_empty() {
        preview.warning(&format!(
            "other unfinished runs on {}: {}; on each cluster, the last run to write wins",
            rollout.run.spec.placement,
            enumerate(others.iter().map(|other| &other.name))
        ));
    }
}

/// What a wish looks like once it is fulfilled: `false` when it will not be any more.
pub fn is_fulfilled(
    wish: RequestedState,
    status: &Status,
    patience: Option<Duration>,
) -> Option<bool> {
    if status.is_over() {
        // A run that was asked to start has started, whatever came of it.
        return Some(wish != RequestedState::Stop && status.verdict == Verdict::Succeeded);
    }
    let run = status.run.as_ref()?;
    match wish {
        RequestedState::Stop => match status.verdict {
            Verdict::Stopped => Some(true),
            Verdict::Stuck if is_borne(status, patience) => None,
            Verdict::Stuck => Some(false),
            _ => None,
        },
        RequestedState::Start | RequestedState::Resume => (run.observed
            && run.begun
            && !matches!(
                status.verdict,
                Verdict::Stopped | Verdict::Stopping | Verdict::NotStarted
            ))
        .then_some(true),
    }
}

/// Waits until a run does what was asked, and prints where it is then.
pub fn finish(
    steered: &SteeredRun,
    wish: RequestedState,
    op: &mut Operation<'_>,
) -> Result<Exit, Error> {
    let run = &steered.run.object;
    let (wanted, asked) = match wish {
        RequestedState::Start => ("the run to start", "started"),
        RequestedState::Stop => ("the run to stop", "asked to stop"),
        RequestedState::Resume => ("the run to resume", "resumed"),
    };
    if let Some(already) = &steered.already {
        op.ui.status(already);
    }
    if op.args.is_dry() {
        return Ok(Exit::Done);
    }
    if steered.written && op.reading.is_interrupted() {
        return Err(interrupted(&format!("{run} was {asked}")));
    }
    if op.args.returns_at_once() {
        let line = match &steered.already {
            Some(already) => already.clone(),
            None => format!("{run} was {asked}"),
        };
        op.result(run, &line)?;
        return Ok(Exit::Done);
    }
    if op.args.follows() && wish != RequestedState::Stop {
        return op.follow(&steered.run);
    }
    let patience = op.args.patience;
    let meant = match wish {
        RequestedState::Stop => "Stop",
        RequestedState::Start | RequestedState::Resume => "Run",
    };
    // What the run was set to instead, after the write was seen.
    let (mut is_written, mut set_back) = (false, None);
    let mut seen = |status: &Status| {
        let state = status.run.as_ref()?.requested_state.clone();
        let is_meant = state.as_deref() == Some(meant);
        is_written |= is_meant;
        if is_written && !is_meant && !status.is_over() {
            set_back = state;
            return Some(false);
        }
        is_fulfilled(wish, status, patience)
    };
    match op.effect(&steered.run, wanted, &mut seen)? {
        WaitResult::Decided(true, status) => {
            op.conclude(run, &status, Exit::Done)?;
            Ok(Exit::Done)
        }
        WaitResult::Decided(false, _) if let Some(state) = set_back => {
            let who = run.kubectl("get").showing_field_managers();
            let hint = "stop what writes the run, such as a GitOps tool, first; to see what it is:";
            let why = format!("{run} was {asked}, but something set spec.state back to {state}");
            Err(Error::failed(why)
                .hint(Hint::new(hint).command(who))
                .telling(ToldChange::Last))
        }
        WaitResult::Decided(false, status) => {
            let stops = wish == RequestedState::Stop;
            let held = status.why_no_stop().filter(|_| stops);
            let is_over = stops && status.verdict == Verdict::Succeeded;
            let exit = match &held {
                Some(_) => Exit::Stuck,
                None if is_over => Exit::Error,
                None => Exit::from(status.verdict),
            };
            op.conclude(run, &status, exit)?;
            if let Some(why) = held {
                op.ui.hint(Hint::new(why));
            } else if is_over {
                op.ui
                    .warning(&format!("{run} finished before it could stop"));
            }
            Ok(exit)
        }
        WaitResult::TimedOut(status) => {
            let is_stopping = status.is_some_and(|it| it.verdict == Verdict::Stopping);
            let what = if is_stopping {
                format!("{run} is still stopping")
            } else {
                format!("{run} was {asked}, but its status does not show it")
            };
            let why = Hint::new("find out why:").command(run.fleet("diagnose"));
            Err(op.late(&what).hint(why))
        }
        WaitResult::Gone(_) => Err(Error::not_found(format!(
            "{run} was {asked} but was deleted in the meantime"
        ))
        .telling(ToldChange::Last)),
        WaitResult::Interrupted => Err(interrupted(&format!(
            "{run} was {asked}; stopped waiting for the effect"
        ))),
    }
}
