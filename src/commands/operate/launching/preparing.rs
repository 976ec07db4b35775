//! What is done with other runs before a new one starts, and with one that does not start.

use super::wanted::LaunchPreparation;
use crate::change::record::{ChangeRecord, ToldChange};
use crate::change::{Change, states};
use crate::commands::operate::delete::delete_for_good;
use crate::commands::operate::operation::{Operation, ThisRun};
use crate::commands::operate::steering;
use crate::commands::operate::writing::WriteFlags;
use crate::error::Error;
use crate::exit::Exit;
use crate::kubefleet::run::UpdateRun;
use crate::rollout::Phase;
use crate::words::{CommandLine, Hint, enumerate};

/// When what was to go first is deleted, where the new run exists.
pub(super) const INITIALIZED: &str = "once the new run is initialized, complete it with:";

pub(super) fn prepare(first: &[LaunchPreparation], op: &mut Operation<'_>) -> Result<(), Error> {
    first.iter().try_for_each(|first| settle(first, op))
}

fn settle(first: &LaunchPreparation, op: &mut Operation<'_>) -> Result<(), Error> {
    // What is done on the way is not the result that was asked for; of what would be sent, it is a
    // part.
    let quiet = WriteFlags {
        output: op.args.output.filter(|_| op.args.is_dry()),
        wait: None,
        ..op.args.clone()
    };
    let op = &mut op.with(&quiet);
    op.is_step = true;
    match first {
        LaunchPreparation::Stop(this) => {
            let run = &this.object;
            if !op.reading.record.is_empty() {
                op.reading.forget();
            }
            let inventory = op.reading.overview(run)?;
            let rollout = steering::rollout_of(&inventory, run)?;
            steering::is_this(&rollout, this)?;
            if rollout.is_finished() {
                let ended = match rollout.phase {
                    Phase::Succeeded => "succeeded",
                    _ => "failed",
                };
                op.ui.status(&format!(
                    "{run} has {ended} in the meantime, so it need not stop"
                ));
                return Ok(());
            }
            let steered = steering::steer(&inventory, run, states::RequestedState::Stop, op)?;
            let exit = steering::finish(&steered, states::RequestedState::Stop, op)?;
            // A run that fails at the stop is over, too.
            if !matches!(exit, Exit::Done | Exit::Failed) {
                return Err(
                    Error::new(exit, format!("{run} was asked to stop but did not stop"))
                        .telling(ToldChange::Last),
                );
            }
        }
        LaunchPreparation::Delete(doomed) => {
            doomed.is_as_shown(op.reading)?;
            delete_for_good(&doomed.run, &doomed.change, op)?;
        }
    }
    Ok(())
}

/// Deletes a run that this command made, unless somebody has touched it.
pub(super) fn delete_untouched(
    this: &ThisRun,
    made: &UpdateRun,
    op: &mut Operation<'_>,
) -> Result<(), Error> {
    let quiet = WriteFlags {
        output: None,
        wait: None,
        ..op.args.clone()
    };
    let change = Change::delete_untouched(made);
    delete_for_good(this, &change, &mut op.with(&quiet)).map(drop)
}

/// Those of the runs that were to go first with which nothing was done.
pub(super) fn left<'p>(
    first: &'p [LaunchPreparation],
    record: &ChangeRecord,
) -> Vec<&'p LaunchPreparation> {
    let is_done = |it: &LaunchPreparation| {
        let object = format!(" {}", it.object());
        record.steps().iter().any(|step| step.ends_with(&object))
    };
    first.iter().filter(|it| !is_done(it)).collect()
}

/// Adds that runs which were to go first are still there, and what completes that: `how` says when, `then`
/// is what comes after it.
pub(super) fn still_there(
    error: Error,
    left: &[&LaunchPreparation],
    (how, then): (&str, CommandLine),
) -> Error {
    let is_deletion = |it: &&LaunchPreparation| matches!(it, LaunchPreparation::Delete(_));
    let not = match left.iter().filter(|it| is_deletion(it)).count() {
        0 => "not stopped",
        all if all == left.len() => "not deleted",
        _ => "neither stopped nor deleted",
    };
    let was = if left.len() == 1 { "was" } else { "were" };
    let names = enumerate(left.iter().map(|it| &it.object().name));
    let message = format!("{}; {names} {was} {not}, and may continue", error.message);
    let commands = left.iter().map(|it| command(it));
    Error { message, ..error }.also(Hint::new(how).commands(commands).command(then))
}

pub(super) fn command(first: &LaunchPreparation) -> CommandLine {
    first.object().fleet(match first {
        LaunchPreparation::Stop(_) => "stop",
        LaunchPreparation::Delete(_) => "delete",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::operate::delete::RunDeletion;
    use crate::rollout::Rollout;
    use crate::rollout::life::tests::{inventory, run};

    #[test]
    fn what_is_left_is_named_with_what_does_it() {
        let runs =
            ["web", "web-1", "old"].map(|name| run(name, "0", [Some(1), Some(1), None, None]));
        let all = inventory(&runs);
        let of = |name: &str| Rollout::of(&all, all.run_on(name).unwrap());
        let delete = |name| LaunchPreparation::Delete(Box::new(RunDeletion::of(&of(name))));
        let first = [
            LaunchPreparation::Stop(ThisRun::of(of("old").run)),
            delete("web-1"),
            delete("web"),
        ];
        let told = |done: &[&str]| {
            let mut record = ChangeRecord::default();
            for step in done {
                record.did(step);
            }
            let left = left(&first, &record);
            let next = CommandLine::fleet("run").arg("new");
            let error = still_there(Error::failed("interrupted"), &left, ("do:", next));
            (error.message, error.hint.unwrap().to_string())
        };
        let (message, hint) = told(&[]);
        let left = "old, web-1 and web were neither stopped nor deleted";
        assert_eq!(message, format!("interrupted; {left}, and may continue"));
        for command in ["stop old", "delete web-1", "delete web", "run new"] {
            assert!(hint.contains(command), "{hint}");
        }
        let stopped = "stopped ClusterStagedUpdateRun old";
        let (message, hint) = told(&[stopped, "deleted ClusterStagedUpdateRun web-1"]);
        let left = "interrupted; web was not deleted, and may continue";
        assert_eq!(message, left);
        assert!(!hint.contains("web-1") && !hint.contains("stop"), "{hint}");
        let deleted = ["web-1", "web"].map(|it| format!("deleted ClusterStagedUpdateRun {it}"));
        let (message, _) = told(&[&deleted[0], &deleted[1]]);
        let left = "interrupted; old was not stopped, and may continue";
        assert_eq!(message, left);
    }
}
