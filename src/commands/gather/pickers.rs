//! Choosing at the terminal what a command line leaves out: runs, gates, placements, strategies,
//! snapshots.
//!
//! Each list is read like those that the commands print, and each choice is said as the command that
//! names it. Nothing is chosen silently, also where there is one candidate only.

mod candidates;
mod launches;
mod runs;

use crate::commands::gather::reading::SourceReading;
use crate::commands::gather::selection::ListReach;
use crate::error::Error;
use crate::ui::Ui;
use crate::words::{CommandLine, said_if};
pub(in crate::commands) use launches::{
    MadeOf, member, named_placement, named_strategy, placement, snapshot,
};
pub(in crate::commands) use runs::{gates, run, several};

/// Where candidates are looked for: files have no scope that is meant unless one is named.
fn reach(reading: &SourceReading) -> ListReach {
    if reading.namespace().is_none() && reading.is_offline() {
        ListReach::everywhere()
    } else {
        ListReach::one(reading.scope())
    }
}

/// Says what was chosen, as a command that names it.
fn say(command: CommandLine, reading: &SourceReading, ui: &mut Ui) {
    let command = ui.invocation().command(&reading.again(command));
    let line = ui.paint_err().command(&command);
    ui.note(&format!("{line}\n"));
}

/// That there is nothing to choose from.
fn no_candidates(what: &str, reach: &ListReach, reading: &SourceReading) -> Error {
    let (place, scope) = (reading.place(), in_this_scope(reach));
    Error::failed(format!("{place} has no {what}{scope}"))
}

fn in_this_scope(reach: &ListReach) -> &'static str {
    said_if(!reach.is_everywhere(), " in this scope")
}
