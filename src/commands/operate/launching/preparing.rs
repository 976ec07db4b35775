//! What is done with other runs before a new one starts, and with one that does not start.

use super::wanted::LaunchPreparation;
use crate::change::Change;
use crate::change::record::ToldChange;
use crate::change::states;
use crate::commands::operate::delete::delete_for_good;
use crate::commands::operate::operation::{Operation, ThisRun};
use crate::commands::operate::steering;
use crate::commands::operate::writing::WriteFlags;
use crate::error::Error;
use crate::exit::Exit;
use crate::kubefleet::run::UpdateRun;
use crate::words::{CommandLine, Hint};

/// Does what comes before.
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
            steering::is_this(&steering::rollout_of(&inventory, run)?, this)?;
            let steered = steering::steer(&inventory, run, states::RequestedState::Stop, op)?;
            let exit = steering::finish(&steered, states::RequestedState::Stop, op)?;
            if exit != Exit::Done {
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

/// Adds that a run which was to go first is still there, and what completes that.
pub(super) fn still_there(error: Error, last: &[LaunchPreparation], start: CommandLine) -> Error {
    let Some(LaunchPreparation::Delete(doomed)) = last.first() else {
        return error;
    };
    let old = &doomed.run.object;
    let message = format!(
        "{}; {} was not deleted, and may continue",
        error.message, old.name
    );
    Error { message, ..error }.also(
        Hint::new("once the new run is initialized, complete it with:")
            .command(old.fleet("delete"))
            .command(start),
    )
}
