//! A run of the wanted name that exists already.

use super::wanted::RunLaunch;
use crate::change::RunWish;
use crate::commands::gather::reading::SourceReading;
use crate::commands::operate::operation::ThisRun;
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::choose;
use crate::inventory::source::{HubQuery, Outcome};
use crate::kubefleet::run::UpdateRun;
use crate::words::Hint;

/// What stands under a name.
pub(super) enum ExistingRun {
    /// Nothing.
    Free,
    /// An unfinished run that is to do the same: it is gone on with.
    Same(ThisRun),
}

/// Looks what stands under the name of a run that is to be made. Fails where another does.
pub(super) fn look(launch: &RunLaunch, reading: &mut SourceReading) -> Result<ExistingRun, Error> {
    let run = &launch.run;
    if launch.replaces_its_name() {
        return Ok(ExistingRun::Free);
    }
    let answer = reading.ask(&HubQuery::object(run));
    reading.no_hub()?;
    let Some(found) = answer.all::<UpdateRun>().next() else {
        return match answer.outcome {
            Outcome::Listed => Ok(ExistingRun::Free),
            outcome => Err(Error::new(
                Exit::Incomplete,
                format!(
                    "whether {run} exists is unknown ({}), so it is not created",
                    outcome.gap().unwrap_or_default()
                ),
            )),
        };
    };
    let wish = RunWish {
        placement: launch.placement.name.clone(),
        strategy: launch.strategy.clone(),
        // An index that was looked up then is not compared with `latest` now.
        snapshot: match launch.snapshot.as_deref() {
            Some("latest") => {
                Some(found.spec.snapshot_index.trim().to_owned()).filter(|index| !index.is_empty())
            }
            other => other.map(str::to_owned),
        },
        state: None,
        unknown: launch.unknown.clone(),
    };
    let differences = wish.differences(found);
    let another = "choose another name for a new run, or check the existing run:";
    let hint = Hint::new(another).command(run.fleet("status"));
    if !differences.is_empty() {
        return Err(Error::failed(format!(
            "{run} already exists with a different spec: {}",
            differences.join("; ")
        ))
        .hint(hint));
    }
    if found.meta.is_deleting() {
        return Err(Error::failed(format!("{run} already exists and is being deleted")).hint(hint));
    }
    if choose::is_finished(found) {
        return Err(Error::failed(format!("{run} already exists and has finished")).hint(hint));
    }
    Ok(ExistingRun::Same(ThisRun::of(found)))
}
