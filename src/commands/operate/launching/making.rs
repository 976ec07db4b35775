//! What is done: what comes first, then the run itself, until it is where it is to be.

use super::content::{self, ContentSeen, ContentTries};
use super::preparing::{INITIALIZED, command, left, prepare, still_there};
use super::shown::{AgreedPlan, guard, plan};
use super::start::{start, start_command};
use super::wanted::{LaunchPreparation, RunLaunch};
use crate::change::neighbours::{NeighborRun, arrived_words, neighbours};
use crate::change::record::{ChangeRecord, ToldChange};
use crate::change::{Change, RunWish, states};
use crate::commands::gather::plan_inputs::PlanWithInputs;
use crate::commands::gather::reading::SourceReading;
use crate::commands::operate::operation::{
    ChangeOutcome, Operation, ThisRun, WaitResult, interrupted, may_patch,
};
use crate::commands::operate::writing::DryRun;
use crate::commands::operate::{safeguards, steering};
use crate::diagnose::status::Status;
use crate::error::Error;
use crate::exit::Exit;
use crate::report::Verdict;
use crate::words::Hint;

/// Does what comes first, makes the run, and goes on with it.
pub(super) fn make(
    launch: &RunLaunch,
    wish: RunWish,
    agreed: &AgreedPlan,
    op: &mut Operation<'_>,
) -> Result<Exit, Error> {
    let starts = launch.start && wish.state == Some("Initialize");
    let change = Change::create(&launch.run, wish, starts);
    if !launch.first.is_empty() && !op.args.is_dry() {
        rehearse(launch, &change, starts, op)?;
    }
    let (first, last) = if starts && !op.args.is_dry() && launch.judges_before_deletion() {
        (&[][..], launch.first.as_slice())
    } else {
        (launch.first.as_slice(), &[][..])
    };
    if !first.is_empty() {
        let is_deletion = |first: &LaunchPreparation| matches!(first, LaunchPreparation::Delete(_));
        if !op.args.is_dry() && first.iter().any(is_deletion) {
            op.ui.hint(completes(launch));
        }
        prepare(first, op)?;
        if !op.args.is_dry() {
            still(launch, &agreed.beside, op.reading)?;
        }
    }
    if op.args.dry_run == DryRun::Server && launch.replaces_its_name() {
        op.rehearse(&change, true, launch.accepted)?;
        op.ui
            .status(&format!("would {} (checked by the server)", change.would));
        return Ok(Exit::Done);
    }
    let sent = op.send(&change);
    if op.reading.record.steps().last() == Some(&change.did) {
        // Made in another way is made too.
        op.reading.record.is_made = true;
    }
    let uid = match sent? {
        ChangeOutcome::Dry => return Ok(Exit::Done),
        ChangeOutcome::Written { uid } => uid,
    };
    let this = ThisRun {
        object: launch.run.clone(),
        uid,
    };
    if op.reading.is_interrupted() {
        let error = interrupted(&format!("{} was created", launch.run));
        return Err(undone(error, launch, Some((agreed, last))));
    }
    finish(launch, &this, Some((agreed, last)), op)
}

/// Has the server check each step before the first one is done: what comes first cannot be taken
/// back when the run is refused then.
fn rehearse(
    launch: &RunLaunch,
    change: &Change,
    starts: bool,
    op: &mut Operation<'_>,
) -> Result<(), Error> {
    for first in &launch.first {
        let step = match first {
            LaunchPreparation::Stop(this) => {
                let inventory = op.reading.overview(&this.object)?;
                let rollout = steering::rollout_of(&inventory, &this.object)?;
                match states::step(&rollout, states::RequestedState::Stop) {
                    states::StateStep::Write(change) => *change,
                    _ => continue,
                }
            }
            LaunchPreparation::Delete(doomed) => doomed.change.clone(),
        };
        op.rehearse(&step, false, launch.accepted)?;
    }
    let taken = launch.replaces_its_name();
    op.rehearse(change, taken, launch.accepted)?;
    if starts {
        may_patch(&launch.run, op.reading)?;
    }
    Ok(())
}

/// That what was shown of the placement still holds, after what came first took its time.
fn still(
    launch: &RunLaunch,
    beside: &[NeighborRun],
    reading: &mut SourceReading,
) -> Result<(), Error> {
    reading.forget();
    let PlanWithInputs { plan, around, .. } = plan(launch, launch.snapshot.clone(), reading)?;
    guard(launch, &plan, &around, reading)?;
    // What this command stopped does nothing, unless somebody resumed it.
    let shown: Vec<_> = beside
        .iter()
        .cloned()
        .map(|one| {
            let mut first = launch.first.iter();
            let settled = first.any(|first| first.object().name == one.name);
            NeighborRun {
                moves: one.moves && !settled,
                ..one
            }
        })
        .collect();
    let now = neighbours(&around.inventory, &launch.run.name);
    match arrived_words(&shown, &now) {
        Some(arrived) => Err(safeguards::not_alone(
            &launch.placement.name,
            &arrived,
            reading,
        )),
        None => Ok(()),
    }
}

/// An error before the run was made, with what is missing and the command that completes it.
pub(super) fn midway(error: Error, launch: &RunLaunch, record: &ChangeRecord) -> Error {
    // What was waited for may have been asked for by another.
    let is_untouched = record.is_empty() && error.told == ToldChange::Nothing;
    if record.is_made || is_untouched {
        return error;
    }
    let message = record.complete(&error.message, error.told);
    let message = format!("{message}; {} was not created", launch.run);
    let error = Error { message, ..error }.telling(ToldChange::All);
    let how = match launch.copied() {
        Some(fields) => format!("complete it, without {fields}, with:"),
        None => "complete it with:".to_owned(),
    };
    let left = left(&launch.first, record);
    if left.is_empty() {
        return error.also(Hint::new(how).command(launch.command()));
    }
    still_there(error, &left, (&how, launch.command()))
}

/// What makes the run where this command is ended after it deleted another: nothing on the hub names
/// the placement then.
fn completes(launch: &RunLaunch) -> Hint {
    // Of a single run, this command has begun with it.
    let others = launch.first.iter().filter(|_| launch.first.len() > 1);
    Hint::new("if this command is ended before the new run exists, complete it with:")
        .commands(others.map(command))
        .command(launch.command())
}

/// Waits until the run is initialized with the right content, starts it where it is to be started,
/// and follows it as far as was asked. `agreed` is what was shown of one that this command created,
/// and what is left to do before it starts.
pub(super) fn finish(
    launch: &RunLaunch,
    this: &ThisRun,
    agreed: Option<(&AgreedPlan, &[LaunchPreparation])>,
    op: &mut Operation<'_>,
) -> Result<Exit, Error> {
    if op.args.is_dry() {
        return Ok(Exit::Done);
    }
    let run = &this.object;
    // Whose answer was lost may have been made by another.
    let created = agreed.is_some() && !this.uid.is_empty();
    if op.args.returns_at_once() && (!launch.start || launch.begins_by_itself()) {
        let did = if created { "was created" } else { "exists" };
        op.result(run, &format!("{run} {did}"))?;
        return Ok(Exit::Done);
    }
    let mut again = None;
    let mut tries = created.then(ContentTries::new);
    let mut status = loop {
        let this = again.as_ref().unwrap_or(this);
        // What was said of the first is not said of the next.
        let waited = if again.is_none() {
            initialized(this, op)
        } else {
            op.hushed(|op| initialized(this, op))
        };
        let undone = |error| undone(error, launch, agreed);
        let status = match waited.map_err(undone)? {
            Ok(initialized) => initialized,
            Err(failed) => {
                let made = content::see_to_race(launch, this, tries.as_mut(), op)?;
                if let Some(new) = made {
                    again = Some(new);
                    continue;
                }
                let exit = Exit::from(failed.verdict);
                op.conclude(run, &failed, exit)?;
                return Ok(exit);
            }
        };
        match content::see_to(launch, this, tries.as_mut(), op).map_err(undone)? {
            ContentSeen::Right => {
                let made = status.run.as_ref();
                if let Some(made) = made.filter(|_| again.is_some()) {
                    let index = made.snapshot.as_deref().unwrap_or("?");
                    op.ui
                        .status(&format!("created {run} again, with snapshot {index}"));
                }
                break status;
            }
            ContentSeen::Again(new) => again = Some(new),
        }
    };
    if !launch.start {
        if created && has_begun(status.verdict) {
            return Err(Error::failed(format!(
                "{run} was created to wait, and has begun ({}): somebody started it, or the hub agent \
                 ignores spec.state",
                status.verdict.as_str()
            ))
            .hint(Hint::new("see what it does:").command(run.fleet("diagnose")))
            .telling(ToldChange::Last));
        }
        // It was computed just now: nothing has changed since.
        status.next = Some(run.fleet("run"));
        op.conclude(run, &status, Exit::Done)?;
        return Ok(Exit::Done);
    }
    let this = again.as_ref().unwrap_or(this);
    let is_named = launch.snapshot.is_some();
    let plan = match agreed {
        Some((plan, last)) => (Some((launch, plan)), last),
        None => (None, launch.first.as_slice()),
    };
    start(this, launch.accepted, plan, is_named, op)
}

/// Whether a run that was to wait is at work, or over.
const fn has_begun(verdict: Verdict) -> bool {
    use Verdict as V;
    matches!(
        verdict,
        V::Progressing
            | V::WaitingForApproval
            | V::WaitingForTimer
            | V::Stuck
            | V::Succeeded
            | V::Failed
    )
}

/// Adds what is left to do with a run that was made, and with one that was to go first and is still there.
fn undone(
    error: Error,
    launch: &RunLaunch,
    agreed: Option<(&AgreedPlan, &[LaunchPreparation])>,
) -> Error {
    let last = agreed.map_or(&[][..], |(_, last)| last);
    if !last.is_empty() {
        let last: Vec<_> = last.iter().collect();
        let start = start_command(&launch.run, launch.accepted);
        return still_there(error, &last, (INITIALIZED, start));
    }
    if error.exit != Exit::Interrupted || !launch.start {
        return error;
    }
    error.also(match agreed {
        Some((agreed, _)) if !agreed.begins => Hint::new("it was not started; start it with:")
            .command(start_command(&launch.run, launch.accepted)),
        _ => Hint::new("it may have begun; see how far it is:").command(launch.run.fleet("status")),
    })
}

/// Waits until a run is initialized; the inner error is the state of one that will not be.
fn initialized(
    this: &ThisRun,
    op: &mut Operation<'_>,
) -> Result<Result<Box<Status>, Box<Status>>, Error> {
    let run = &this.object;
    let mut seen = |status: &Status| {
        let run = status.run.as_ref()?;
        let never = status.verdict == Verdict::InitializationFailed;
        (run.initialized || never).then_some(!never)
    };
    let wanted = "the run to be initialized";
    match op.effect(this, wanted, &mut seen)? {
        WaitResult::Decided(true, status) => Ok(Ok(status)),
        WaitResult::Decided(false, status) => Ok(Err(status)),
        WaitResult::TimedOut(_) => Err(op
            .late(&format!("{run} was created but is not initialized"))
            .hint(Hint::new("find out why:").command(run.fleet("diagnose")))),
        WaitResult::Gone(_) => Err(Error::not_found(format!(
            "{run} was created but was deleted in the meantime"
        ))
        .telling(ToldChange::Last)),
        WaitResult::Interrupted => Err(interrupted(&format!(
            "{run} was created; stopped waiting for it to be initialized"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::midway;
    use crate::change::guard::AcceptedRisks;
    use crate::change::record::ToldChange;
    use crate::commands::operate::launching::wanted::tests::launch;

    #[test]
    fn a_failure_in_the_middle_tells_what_is_done_and_what_is_not() {
        let launch = launch("", None, true, AcceptedRisks::default());
        let failed = || crate::error::Error::failed("it was forbidden").hint("ask");
        let mut record = crate::change::record::ChangeRecord::default();
        let error = midway(failed(), &launch, &record);
        assert_eq!(error.message, "it was forbidden");
        let late = || failed().telling(ToldChange::Last);
        let error = midway(late(), &launch, &record);
        let not_made = "ClusterStagedUpdateRun new was not created";
        assert_eq!(error.message, format!("it was forbidden; {not_made}"));
        record.did("deleted old");
        record.is_made = true;
        let error = midway(failed(), &launch, &record);
        assert_eq!(error.message, "it was forbidden");
        assert_eq!(error.told, ToldChange::Nothing);
        record.is_made = false;
        let error = midway(failed(), &launch, &record);
        let done = format!("it was forbidden; already done: deleted old; {not_made}");
        assert_eq!(error.message, done);
        let hint = error.hint.unwrap().to_string();
        let next = "ask\ncomplete it with:\n  kubectl fleet-stage run new ";
        assert!(hint.starts_with(next), "{hint}");
        assert_eq!(error.told, ToldChange::All);
    }
}
