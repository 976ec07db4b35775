//! What a command line may leave out at a terminal: it is chosen from a list there.
//!
//! Everywhere else these arguments are required, and the help shows them so.

use clap::{Arg, ArgAction, Command};

/// By command, the arguments that are chosen when they are left out.
const CHOSEN: [(&str, &[&str]); 12] = [
    ("approve", &["targets"]),
    ("clusters", &["placement"]),
    ("collect", &["target"]),
    ("delete", &["runs"]),
    ("history", &["placement"]),
    ("init", &["placement", "strategy"]),
    ("render", &["target"]),
    ("resume", &["runs"]),
    ("retry", &["run"]),
    ("rollback", &["target"]),
    ("snapshots", &["placement"]),
    ("wait", &["runs"]),
];

/// The command line with these arguments left out.
pub fn left_out(root: Command) -> Command {
    let root = CHOSEN.iter().fold(root, |root, (name, arguments)| {
        root.mut_subcommand(*name, |command| optional(command, arguments))
    });
    // Neither takes back what another argument requires of it.
    root.mut_subcommand("stop", |command| {
        command.mut_arg("runs", |_| {
            Arg::new("runs")
                .value_name("RUN")
                .action(ArgAction::Append)
                .num_args(0..)
                .conflicts_with("placement")
        })
    })
    .mut_subcommand("run", |command| {
        optional(command, &["run"]).mut_arg("placement", |_| {
            Arg::new("placement")
                .long("placement")
                .value_name("PLACEMENT")
        })
    })
}

fn optional(command: Command, arguments: &[&'static str]) -> Command {
    arguments.iter().fold(command, |command, name| {
        command.mut_arg(*name, |arg| arg.required(false))
    })
}
