//! Flags that every command understands.

use clap::Args;

use crate::ui::Color;

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
    /// Say nothing but the answer, warnings and errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Show everything: all clusters, values and consequences
    #[arg(short, long, global = true)]
    pub verbose: bool,
}

impl Global {
    /// The flags that commands in texts repeat, so that they lead to the same hub.
    pub fn repeated(&self) -> [(&'static str, Option<&str>); 3] {
        [
            ("--context", self.context.as_deref()),
            ("--kubeconfig", self.kubeconfig.as_deref()),
            ("--as", self.impersonate.as_deref()),
        ]
    }
}
