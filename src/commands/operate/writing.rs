//! The flags of every command that writes.

use std::time::Duration;

use clap::Args;

/// Flags of every command that writes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Writing")]
pub struct WriteFlags {
    /// Print what would be sent (client), or let the server check it too (server), without changing
    /// anything
    #[arg(long, value_enum, value_name = "WHERE", default_value = "none")]
    #[arg(default_missing_value = "client", num_args = 0..=1, require_equals = true)]
    pub dry_run: DryRun,
    /// Skip the confirmation; safety checks still apply
    #[arg(short, long)]
    pub yes: bool,
    /// Wait until the run is over or a person must act; --wait=false returns at once [default: wait
    /// until the change takes effect]
    #[arg(long, value_name = "BOOL")]
    #[arg(default_missing_value = "true", num_args = 0..=1, require_equals = true)]
    pub wait: Option<bool>,
    /// Time limit of the wait, such as 90s or 30m [default: 2m; with --wait no limit]
    #[arg(long, value_name = "DURATION", value_parser = crate::commands::duration)]
    pub timeout: Option<Duration>,
    /// Time that a cluster may be in flight before the wait counts it as stuck: at least the
    /// controller's limit, such as 20m [default: 5m]
    #[arg(long, value_name = "DURATION", value_parser = crate::commands::duration)]
    pub patience: Option<Duration>,
    /// Name under which the server records the change
    #[arg(long, value_name = "NAME", default_value = "kubectl-fleet-stage")]
    #[arg(hide_short_help = true)]
    pub field_manager: String,
    /// Output format of the result; with --dry-run, of what would be sent [default: one line]
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    pub output: Option<ResultFormat>,
}

/// Where a write stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum DryRun {
    /// Make the change
    None,
    /// Print the change without sending it
    Client,
    /// Send the change; the server checks it and discards it
    Server,
}

/// How the resulting object is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[allow(missing_docs)] // clap would print them
pub enum ResultFormat {
    Json,
    Yaml,
    Name,
}

impl WriteFlags {
    pub const fn is_dry(&self) -> bool {
        !matches!(self.dry_run, DryRun::None)
    }

    pub fn returns_at_once(&self) -> bool {
        self.wait == Some(false)
    }

    pub fn follows(&self) -> bool {
        self.wait == Some(true)
    }
}
