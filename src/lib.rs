//! Operates and explains KubeFleet staged update runs.
//!
//! The library never touches the process: it is given its arguments and streams, and returns an
//! exit code. See `ARCHITECTURE.md` for the floors and the direction of the arrows.

pub mod bundle;
pub mod cli;
pub mod commands;
pub mod diagnose;
pub mod error;
pub mod exit;
pub mod inventory;
pub mod kubefleet;
pub mod render;
pub mod rollout;
pub mod ui;

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use cli::{Cli, Command};
use exit::Exit;
use ui::Ui;

/// Runs one command line.
pub fn run(args: impl IntoIterator<Item = OsString>, ui: &mut Ui) -> Exit {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            let text = if ui.paint().is_coloured() {
                error.render().ansi().to_string()
            } else {
                error.render().to_string()
            };
            return match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
                    ui.answer(&text);
                    Exit::Done
                }
                _ => {
                    ui.note(&text);
                    Exit::Usage
                }
            };
        }
    };
    ui.configure(cli.global.color, cli.global.quiet);
    let result = match &cli.command {
        Command::Diagnose(args) => commands::diagnose::run(args, &cli.global, ui),
        Command::Explain(args) => commands::explain::run(args, ui),
        Command::Schema(args) => commands::schema::run(args, ui),
        Command::Version(args) => commands::version::run(args, ui),
        Command::Completion(args) => commands::completion::run(args, Cli::command(), ui),
    };
    result.unwrap_or_else(|error| {
        ui.error(&error);
        error.exit
    })
}
