//! What comes after a write: its effect, or the end of the run.

use std::time::Duration;

use jiff::SignedDuration;

use super::{Operation, ThisRun, WriteResult};
use crate::change::record::ToldChange;
use crate::commands::gather::followed_rollouts::FollowedRollouts;
use crate::commands::show::rollout_wait::{self, WaitResult};
use crate::commands::show::wait;
use crate::diagnose::status::Status;
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::Inventory;
use crate::kubefleet::{ObjectRef, duration};
use crate::render::status::verdict;
use crate::report::Verdict;
use crate::words::{CommandLine, Hint};

/// How long a write waits for its own effect.
const EFFECT: Duration = Duration::from_mins(2);

/// How a stopped run continues, as the lead of a hint and its command: only where that does no more than
/// it says.
fn continuing(status: &Status, run: &ObjectRef) -> (&'static str, CommandLine) {
    if status.is_hindered {
        ("next:", run.fleet("diagnose"))
    } else {
        ("to continue it:", run.fleet("resume"))
    }
}

/// The same of a run that was read, as a hint.
pub fn to_continue(inventory: &Inventory, run: &ObjectRef) -> Hint {
    let (lead, next) = continuing(&Status::new(inventory), run);
    Hint::new(lead).command(next)
}

impl Operation<'_> {
    /// Waits until a write has had its effect on a run, as `seen` tells from its state: `true` when it
    /// is there, `false` when it will not come any more.
    pub fn effect(
        &mut self,
        run: &ThisRun,
        wanted: &str,
        seen: &mut dyn FnMut(&Status) -> Option<bool>,
    ) -> Result<WaitResult<bool>, Error> {
        let timeout = if self.args.follows() {
            self.time_left()
        } else {
            Some(self.time_left().unwrap_or(EFFECT))
        };
        let following = FollowedRollouts::new(self.reading, [run.object.clone()])?;
        let mut following = following.with_prospects(!self.is_step);
        following.expect(&run.uid);
        rollout_wait::until(following, wanted, timeout, self.ui, seen)
    }

    /// Follows a run to its end, or until a person has to act, and prints where it got.
    pub fn follow(&mut self, run: &ThisRun) -> Result<Exit, Error> {
        let left = self.time_left();
        let mut following = FollowedRollouts::new(self.reading, [run.object.clone()])?;
        following.expect(&run.uid);
        let patience = self.args.patience;
        let mut decide = |status: &Status| wait::ends(status, patience).then_some(());
        let end = rollout_wait::until(following, "succeeded", left, self.ui, &mut decide)?;
        let run = &run.object;
        match end {
            WaitResult::Decided((), status) => {
                let exit = Exit::from(status.verdict);
                self.conclude(run, &status, exit)?;
                Ok(exit)
            }
            WaitResult::TimedOut(status) => {
                if let Some(status) = status {
                    self.conclude(run, &status, Exit::TimeLimit)?;
                }
                Err(self.late(&format!("{run} is unfinished")))
            }
            WaitResult::Gone(error) => Err(error),
            WaitResult::Interrupted => {
                self.ui.status(&format!(
                    "interrupted; {run} continues without this command"
                ));
                Ok(Exit::Interrupted)
            }
        }
    }

    /// Prints the state that a command ends with, and what comes next.
    pub fn conclude(&mut self, run: &ObjectRef, status: &Status, exit: Exit) -> Result<(), Error> {
        let next = match status.verdict {
            Verdict::Initializing | Verdict::Progressing | Verdict::WaitingForTimer => {
                Some(("to follow it:", run.fleet("status").switch("-w")))
            }
            Verdict::Stopped => Some(continuing(status, run)),
            Verdict::NotStarted if !status.is_hindered => Some(("to start it:", run.fleet("run"))),
            _ => status.next.clone().map(|next| ("next:", next)),
        };
        let command = next.as_ref().map(|(_, next)| next.clone());
        let result = WriteResult::of(status, command, exit);
        self.result_with(run, &verdict(status), &result)?;
        if let Some((lead, next)) = next.filter(|_| !self.is_step) {
            self.ui.hint(Hint::new(lead).command(next));
        }
        Ok(())
    }

    /// That something did not happen in time.
    pub fn late(&self, what: &str) -> Error {
        let limit = self.args.timeout.unwrap_or(EFFECT);
        let limit = SignedDuration::try_from(limit).unwrap_or(SignedDuration::MAX);
        Error::new(
            Exit::TimeLimit,
            format!("{what} after {}", duration::describe(limit)),
        )
        .telling(ToldChange::Last)
    }
}
