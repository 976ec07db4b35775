//! The states of a run: which command may change which, and what is said where none may.
//!
//! The server allows Initialize → Run, Run → Stop and Stop → Run. Source:
//! apis/placement/v1beta1/stageupdate_types.go, the rules of `spec.state`.

use super::Change;
use crate::problems::steps;
use crate::rollout::{Phase, Rollout};
use crate::words::Hint;

/// What becomes of a wish.
#[derive(Debug, Clone, PartialEq)]
pub enum StateStep {
    /// This is to be written.
    Write(Box<Change>),
    Already(String),
    /// It cannot be, why, and what can be done instead.
    Refused {
        /// Why, as a sentence without its full stop.
        why: String,
        /// What to do.
        hint: Hint,
    },
}

/// What a command asks of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestedState {
    /// `run`: begin.
    Start,
    /// `stop`: begin nothing new.
    Stop,
    /// `resume`: go on.
    Resume,
}

/// What a wish means for a run.
pub fn step(rollout: &Rollout<'_>, wish: RequestedState) -> StateStep {
    let run = rollout.run;
    let object = run.object();
    let refused = |why: String, hint: Hint| StateStep::Refused { why, hint };
    let instead = |lead: &str, verb| Hint::new(lead).command(object.fleet(verb));
    let write = |to, would: &str, did: &str| {
        let would = format!("{would} {object}");
        let did = format!("{did} {object}");
        StateStep::Write(Box::new(Change::set_state(run, to, would, did)))
    };
    match rollout.phase {
        Phase::Deleting => {
            return refused(
                format!("{object} is being deleted"),
                "create a run under another name".into(),
            );
        }
        Phase::Succeeded | Phase::Failed | Phase::InitializationFailed => {
            return over(rollout, wish);
        }
        _ => {}
    }
    if rollout.state_ignored {
        return match wish {
            RequestedState::Start => StateStep::Already(format!(
                "{object} is in progress: KubeFleet on this hub starts every run immediately"
            )),
            RequestedState::Resume => refused(
                format!(
                    "{object} cannot be resumed: KubeFleet on this hub ignores spec.state and never \
                     stops a run"
                ),
                instead("see its status:", "status"),
            ),
            RequestedState::Stop => refused(
                format!(
                    "{object} cannot be stopped: KubeFleet on this hub ignores spec.state, so every \
                     run continues to its end"
                ),
                instead("delete it, which rolls nothing back:", "delete"),
            ),
        };
    }
    match (wish, rollout.phase) {
        (RequestedState::Start | RequestedState::Resume, Phase::Idle | Phase::Initializing)
            if wants(rollout, "Run") =>
        {
            StateStep::Already(format!("{object} starts as soon as it is initialized"))
        }
        (RequestedState::Start, Phase::Idle | Phase::Initializing) if !wants(rollout, "Stop") => {
            write("Run", "start", "started")
        }
        (RequestedState::Start | RequestedState::Resume, Phase::Executing) => {
            StateStep::Already(format!("{object} is in progress"))
        }
        (RequestedState::Start, phase) => {
            let how = if phase == Phase::Stopping {
                "stopping"
            } else {
                "stopped"
            };
            refused(
                format!("{object} is {how}: resume it instead"),
                instead("resume it:", "resume"),
            )
        }
        (RequestedState::Stop, Phase::Executing) => write("Stop", "stop", "asked to stop"),
        (RequestedState::Stop, Phase::Stopped) => {
            StateStep::Already(format!("{object} is stopped"))
        }
        (RequestedState::Stop, Phase::Stopping) => {
            StateStep::Already(format!("{object} is stopping"))
        }
        (RequestedState::Stop, _) if wants(rollout, "Run") => {
            write("Stop", "stop", "asked to stop")
        }
        (RequestedState::Stop, _) if wants(rollout, "Stop") => {
            StateStep::Already(format!("{object} stops as soon as it is initialized"))
        }
        (RequestedState::Stop, _) => refused(
            format!("{object} was not started, so there is nothing to stop"),
            instead(
                "it does nothing until it is started; to delete it:",
                "delete",
            ),
        ),
        (RequestedState::Resume, Phase::Stopped | Phase::Stopping) => {
            write("Run", "resume", "resumed")
        }
        (RequestedState::Resume, _) if wants(rollout, "Stop") => write("Run", "resume", "resumed"),
        (RequestedState::Resume, _) => refused(
            format!("{object} was not started, so there is nothing to resume"),
            instead("start it:", "run"),
        ),
    }
}

/// Why nothing becomes of a wish for a run that is over, and what to do instead.
fn over(rollout: &Rollout<'_>, wish: RequestedState) -> StateStep {
    let run = rollout.run;
    let object = run.object();
    let how = match rollout.phase {
        Phase::Succeeded => "has succeeded",
        Phase::Failed => "has failed",
        _ => "could not be initialized",
    };
    let verb = match wish {
        RequestedState::Start => "started",
        RequestedState::Stop => "stopped",
        RequestedState::Resume => "resumed",
    };
    let hint = if wish == RequestedState::Stop {
        Hint::new("it changes no more clusters; to go back to an earlier snapshot:")
            .command(object.fleet("rollback"))
    } else if rollout.phase == Phase::InitializationFailed {
        Hint::new("a new run fails in the same way until that is fixed; find out why:")
            .command(object.fleet("diagnose"))
    } else {
        let content = match run.pinned() {
            Some(index) => format!("snapshot {index}"),
            None => "the current content".to_owned(),
        };
        Hint::new(format!(
            "create a new run with the same placement and strategy, and {content}:"
        ))
        .command(steps::new_run(run))
    };
    StateStep::Refused {
        why: format!("{object} {how}: a finished run cannot be {verb}"),
        hint,
    }
}

fn wants(rollout: &Rollout<'_>, state: &str) -> bool {
    rollout.run.spec.state.as_deref() == Some(state)
}
