//! `completion`: a script for a shell.

use clap::Args;
use clap_complete::Shell;

use crate::error::Error;
use crate::exit::Exit;
use crate::ui::Ui;

/// Print a shell's completion script
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage completion bash > /etc/bash_completion.d/kubectl-fleet-stage\n  \
    source <(kubectl fleet-stage completion zsh)")]
pub struct CompletionArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script for a command line.
pub fn run(args: &CompletionArgs, mut command: clap::Command, ui: &mut Ui) -> Result<Exit, Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "kubectl-fleet-stage", &mut script);
    ui.answer(&String::from_utf8_lossy(&script));
    Ok(Exit::Done)
}
