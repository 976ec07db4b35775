//! Flags that every command understands.

use clap::Args;

use crate::render::invocation::Invocation;
use crate::ui::{Color, Ui};

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
