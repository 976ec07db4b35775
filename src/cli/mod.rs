//! The command line: global flags and the list of commands.

use clap::{Parser, Subcommand};

use crate::commands::global::Global;
use crate::commands::{completion, diagnose, explain, schema, version};

/// Operate and explain KubeFleet staged update runs
///
/// Reads what KubeFleet's controllers wrote about a staged update run and says what state the
/// rollout is in, why, and what to do next.
#[derive(Debug, Parser)]
#[command(
    name = "kubectl-fleet-stage",
    version,
    propagate_version = false,
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = "Examples:\n  \
        kubectl-fleet-stage diagnose example-run -f examples/cluster/stuck-workload.yaml\n  \
        kubectl-fleet-stage explain FS401\n\n\
        Names may be given as TYPE/NAME: csur/x, crp/x, and with -n sur/x, rp/x."
)]
pub struct Cli {
    /// The global flags.
    #[command(flatten)]
    pub global: Global,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Say what state a rollout is in, why, and what to do next
    Diagnose(diagnose::DiagnoseArgs),
    /// Explain a finding at length, offline
    Explain(explain::ExplainArgs),
    /// Print the JSON schema of a machine-readable output
    Schema(schema::SchemaArgs),
    /// Print the version
    Version(version::VersionArgs),
    /// Print a shell's completion script
    Completion(completion::CompletionArgs),
}
