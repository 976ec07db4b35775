//! Making a new run: the preflight is shown, the name is looked at, the content is seen to.

mod content;
mod existing;
mod making;
mod preparing;
mod shown;
mod source;
mod start;
mod wanted;

use crate::change::names as generated;
use crate::commands::gather::reading::SourceReading;
use crate::commands::gather::session::Session;
use crate::commands::operate::operation::Operation;
use crate::error::Error;
use crate::exit::Exit;
pub(in crate::commands) use existing::has_finished;
use shown::LaunchOffer;
pub(in crate::commands) use source::{NewRunWords, RunSource};
pub(in crate::commands) use start::start;
pub(in crate::commands) use wanted::{LaunchPreparation, LaunchRisks, RunLaunch};

/// Makes a run, and waits until it is where it is to be. What is wanted is worked out from what was
/// read, each time anew.
pub(in crate::commands) fn launch(
    wanted: &mut dyn FnMut(&mut SourceReading) -> Result<RunLaunch, Error>,
    op: &mut Operation<'_>,
) -> Result<Exit, Error> {
    let (look, asked) = (op.look(), (op.args.yes, op.args.is_dry()));
    let offered = op.agree(&mut |reading| shown::offer(wanted(reading)?, asked, &look, reading))?;
    match offered {
        LaunchOffer::Same(launch, this) => making::finish(&launch, &this, None, op),
        LaunchOffer::New {
            launch,
            wish,
            agreed,
        } => {
            let Some(wish) = wish else {
                return Err(Error::failed(format!("{} was refused", launch.run)));
            };
            making::make(&launch, *wish, &agreed, op)
                .map_err(|error| making::midway(error, &launch, &op.reading.record))
        }
    }
}

/// What tells a generated name from others.
pub(super) fn unique_suffix(session: &Session<'_>) -> String {
    let moment = (session.clock)().as_nanosecond().unsigned_abs() / 1_000_000;
    generated::suffix(moment ^ (u128::from(std::process::id()) << 7))
}
