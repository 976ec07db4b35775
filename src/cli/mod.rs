//! The command line: global flags and the list of commands.

use clap::{Args, Parser, Subcommand};

use crate::commands::{completion, diagnose, explain, schema, version};
use crate::render::invocation::Invocation;
use crate::ui::{Color, Ui};

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

/// Flags that every command understands.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Look in this namespace, at StagedUpdateRun, ResourcePlacement and ApprovalRequest; without
    /// it, at the cluster-scoped kinds
    #[arg(short, long, global = true, value_name = "NAMESPACE")]
    pub namespace: Option<String>,
    /// The kubeconfig context of the hub, repeated in the commands that a report suggests
    #[arg(
        long,
        alias = "hub-cluster-context",
        global = true,
        value_name = "NAME"
    )]
    pub context: Option<String>,
    /// The kubeconfig file, repeated in the commands that a report suggests
    #[arg(long, global = true, value_name = "FILE")]
    pub kubeconfig: Option<String>,
    /// The user to impersonate, repeated in the commands that a report suggests
    #[arg(long = "as", global = true, value_name = "USER")]
    pub impersonate: Option<String>,
    /// When to use colour
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub color: Color,
    /// Say nothing but the answer and errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Show long lists whole
    #[arg(short, long, global = true)]
    pub verbose: bool,
}

impl Global {
    /// How commands in reports are written.
    pub fn invocation(&self, ui: &Ui) -> Invocation {
        Invocation::new(
            ui.called_as(),
            &[
                ("--context", self.context.as_deref()),
                ("--kubeconfig", self.kubeconfig.as_deref()),
                ("--as", self.impersonate.as_deref()),
            ],
        )
    }
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
