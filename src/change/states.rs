//! The states of a run: which command may change which, and what is said where none may.
//!
//! The server allows Initialize → Run, Run → Stop and Stop → Run. Source:
//! apis/placement/v1beta1/stageupdate_types.go, the rules of `spec.state`.

use super::Change;
use crate::rollout::{Phase, Rollout};

/// What becomes of a wish.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// This is to be written.
    Write(Box<Change>),
    /// It is so already, and what is.
    Already(String),
    /// It cannot be, why, and what can be done instead.
    Refused {
        /// Why, as a sentence without its full stop.
        why: String,
        /// What to do.
        hint: String,
    },
}

/// What a command asks of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// `run`: begin.
    Start,
    /// `stop`: begin nothing new.
    Stop,
    /// `resume`: go on.
    Resume,
}

/// What a wish means for a run.
pub fn step(rollout: &Rollout<'_>, wish: Wish) -> Step {
    let run = rollout.run;
    let object = run.object();
    let (name, flag) = (&object.name, object.flag());
    let refused = |why: String, hint: String| Step::Refused { why, hint };
    let command = |words: &str| format!("kubectl fleet-stage {words}{flag}");
    let write = |to, would: &str, did: &str| {
        let would = format!("{would} {object}");
        let did = format!("{did} {object}");
        Step::Write(Box::new(Change::set_state(run, to, would, did)))
    };
    match rollout.phase {
        Phase::Deleting => {
            return refused(
                format!("{object} is being deleted"),
                "make another run, under another name".to_owned(),
            );
        }
        Phase::Succeeded | Phase::Failed | Phase::InitializationFailed => {
            let how = match rollout.phase {
                Phase::Succeeded => "has succeeded",
                Phase::Failed => "has failed",
                _ => "could not be initialized",
            };
            let verb = match wish {
                Wish::Start => "started",
                Wish::Stop => "stopped",
                Wish::Resume => "resumed",
            };
            let again = command(&format!("run NEW --from {name}"));
            return refused(
                format!("{object} {how}: a run that is over cannot be {verb}"),
                format!("roll out again with a new run:\n  {again}"),
            );
        }
        _ => {}
    }
    if rollout.state_ignored {
        let instead = command(&format!("delete {name}"));
        return match wish {
            Wish::Start => Step::Already(format!(
                "{object} runs: this hub's KubeFleet starts every run at once"
            )),
            Wish::Resume => refused(
                format!(
                    "{object} cannot be resumed: this hub's KubeFleet ignores spec.state, so that \
                     no run is ever stopped"
                ),
                format!(
                    "see where it stands:\n  {}",
                    command(&format!("status {name}"))
                ),
            ),
            Wish::Stop => refused(
                format!(
                    "{object} cannot be stopped: this hub's KubeFleet ignores spec.state, and a \
                     run goes on until it is over"
                ),
                format!("give it up, which rolls nothing back:\n  {instead}"),
            ),
        };
    }
    match (wish, rollout.phase) {
        (Wish::Start, Phase::Idle | Phase::Initializing) if wants(rollout, "Run") => {
            Step::Already(format!("{object} starts as soon as it is initialized"))
        }
        (Wish::Start, Phase::Idle | Phase::Initializing) if !wants(rollout, "Stop") => {
            write("Run", "start", "started")
        }
        (Wish::Start | Wish::Resume, Phase::Executing) => {
            Step::Already(format!("{object} is under way"))
        }
        (Wish::Start, _) => refused(
            format!("{object} is stopped, not new"),
            format!("go on with it:\n  {}", command(&format!("resume {name}"))),
        ),
        (Wish::Stop, Phase::Executing) => write("Stop", "stop", "asked to stop"),
        (Wish::Stop, Phase::Stopped) => Step::Already(format!("{object} is stopped")),
        (Wish::Stop, Phase::Stopping) => Step::Already(format!("{object} is stopping")),
        (Wish::Stop, _) if wants(rollout, "Run") => write("Stop", "stop", "asked to stop"),
        (Wish::Stop, _) if wants(rollout, "Stop") => {
            Step::Already(format!("{object} is to stop as soon as it is initialized"))
        }
        (Wish::Stop, _) => refused(
            format!("{object} was not started: there is nothing to stop"),
            format!(
                "it does nothing until it is run; to be rid of it:\n  {}",
                command(&format!("delete {name}"))
            ),
        ),
        (Wish::Resume, Phase::Stopped | Phase::Stopping) => write("Run", "resume", "resumed"),
        (Wish::Resume, _) if wants(rollout, "Stop") => write("Run", "resume", "resumed"),
        (Wish::Resume, _) if wants(rollout, "Run") => {
            Step::Already(format!("{object} starts as soon as it is initialized"))
        }
        (Wish::Resume, _) => refused(
            format!("{object} was not started: there is nothing to resume"),
            format!("start it:\n  {}", command(&format!("run {name}"))),
        ),
    }
}

fn wants(rollout: &Rollout<'_>, state: &str) -> bool {
    rollout.run.spec.state.as_deref() == Some(state)
}
