//! What an argument names, said where the argument is declared: completion offers it, and at a terminal
//! it may be chosen from a list.

use clap::builder::ArgExt;

use super::eligible::RunFilter;

#[derive(Debug, Clone, Copy)]
pub enum ArgumentKind {
    /// Update runs: those that the list at the terminal has too.
    Runs(&'static RunFilter),
    Placements,
    Targets,
    /// Approval requests that wait for a person, and the runs that wait for them.
    Requests,
    Strategies,
    /// The snapshots of the placement that was named, or of the run's.
    Snapshots,
    /// Snapshots, and the words for what is latest or selected now.
    Contents,
    /// The stages of the run that was named that are still to be approved.
    Stages,
    Conditions,
    Namespaces,
    Clusters,
    /// What snapshots hold, as KIND/NAME.
    Objects,
    Contexts,
    /// Contexts and hub groups, with commas between.
    Hubs,
    Codes,
}

impl ArgExt for ArgumentKind {}

/// Marks an argument that is required, but chosen from a list where it is left out at a terminal.
#[derive(Debug, Clone, Copy)]
pub struct ChosenAtTerminal;

impl ArgExt for ChosenAtTerminal {}
