//! A run of the wanted name that exists already.

use std::collections::BTreeMap;

use super::wanted::RunLaunch;
use crate::change::{RunWish, guard};
use crate::commands::gather::reading::SourceReading;
use crate::commands::operate::operation::ThisRun;
use crate::commands::operate::refusal;
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::choose;
use crate::inventory::source::{HubQuery, Outcome};
use crate::kubefleet::approval::ApprovalRequest;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Concept, Conditions, ObjectRef, names, reasons};
use crate::words::Hint;

pub(super) enum ExistingRun {
    Free,
    /// An unfinished run that is to do the same: it is gone on with.
    Same {
        this: ThisRun,
        /// What it rolls out, as the end of a sentence; empty where that is not known.
        content: String,
        /// Whether it is still to be started: what comes before may not be done yet.
        is_unstarted: bool,
    },
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
            Outcome::Listed => no_gate_is_open(launch, reading).map(|()| ExistingRun::Free),
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
            Some("latest") => found.pinned().map(str::to_owned),
            other => other.map(str::to_owned),
        },
        is_current: false,
        rolled_back: None,
        state: None,
        unknown: launch.unknown.clone(),
    };
    let differences = wish.differences(found);
    let hint = another(run);
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
        return Err(has_finished(run, found));
    }
    Ok(ExistingRun::Same {
        this: ThisRun::of(found),
        content: content_of(found),
        is_unstarted: found.spec.state.as_deref() == Some("Initialize"),
    })
}

fn another(run: &ObjectRef) -> Hint {
    Hint::new("choose another name for a new run, or check the existing run:")
        .command(run.fleet("status"))
}

/// That a run of the wanted name is over.
pub(in crate::commands) fn has_finished(run: &ObjectRef, found: &UpdateRun) -> Error {
    let how = if found.has_succeeded() {
        "succeeded"
    } else {
        "finished"
    };
    let with = match found.status.snapshot_index.as_str() {
        "" => String::new(),
        index => format!(" (snapshot {index})"),
    };
    Error::failed(format!("{run} already exists and has {how}{with}")).hint(another(run))
}

/// Which content a run was given, and when: what was applied later is not in it.
fn content_of(run: &UpdateRun) -> String {
    let index = &run.status.snapshot_index;
    match run.status.conditions.since(reasons::INITIALIZED) {
        Some(since) if !index.is_empty() => {
            format!(" (snapshot {index}; changes after {since} are not part of it)")
        }
        _ => String::new(),
    }
}

/// Refuses a name for which an approval was given already: the controller takes the request that it
/// finds for its own. Source: updaterun/execution.go:handleStageApprovalTask.
fn no_gate_is_open(launch: &RunLaunch, reading: &mut SourceReading) -> Result<(), Error> {
    let (run, scope) = (&launch.run, launch.run.scope());
    let kind = scope.kind(Concept::ApprovalRequest);
    let label = names::TARGET_RUN;
    let answer = reading.ask(&HubQuery::labelled(kind, &run.namespace, label, &run.name));
    reading.no_hub()?;
    let outcomes = BTreeMap::from([(kind, answer.outcome.clone())]);
    let unseen = guard::unseen(guard::NAME, launch.accepted, &scope, &outcomes);
    if !unseen.is_empty() {
        return Err(refusal::unseen(&unseen, &scope, reading));
    }
    let mut requests = answer.all::<ApprovalRequest>();
    let Some(open) = requests.find(|it| it.spec.run == run.name && it.counts()) else {
        return Ok(());
    };
    let (request, stage) = (open.object(), &open.spec.stage);
    let at = open.approved().and_then(|approved| approved.since);
    let at = at.map_or_else(String::new, |at| format!(" since {at}"));
    Err(reading.refused(format!(
        "{request} is left from an earlier run of this name, and approved{at}: the new run would not \
         wait at that gate of stage {stage}"
    ))
    .hint(Hint::new("choose another name, or delete it:").command(request.kubectl("delete"))))
}
