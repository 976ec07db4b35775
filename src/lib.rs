//! Operates and explains KubeFleet staged update runs.
//!
//! The library never touches the process: it is given its arguments, streams and clock, and
//! returns an exit code. See `ARCHITECTURE.md` for the floors and the direction of the arrows.

pub mod bundle;
#[cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
pub mod change;
pub mod cli;
pub mod commands;
pub mod contents;
pub mod controller;
pub mod diagnose;
pub mod error;
pub mod exit;
#[cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
pub mod hub;
pub mod inventory;
pub mod kubefleet;
pub mod manifests;
pub mod mask;
pub mod member;
#[cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
pub mod plan;
pub mod problems;
pub mod query;
pub mod render;
pub mod report;
#[cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
pub mod rollout;
pub mod settings;
pub mod ui;
pub mod words;

use std::ffi::OsString;

use clap::error::{ContextKind, ErrorKind};
use jiff::Timestamp;

use cli::Cli;
use commands::gather::session::Session;
use error::Error;
use exit::Exit;
use settings::InForce;
use ui::Ui;

/// Answers a shell, or kubectl, that asks for candidates; `None` when nobody asks. `shell` is the
/// value of [`cli::complete::VARIABLE`].
pub fn complete(args: &[OsString], shell: Option<&str>, ui: &mut Ui) -> Option<Exit> {
    let answer = cli::complete::answer(args, shell)?;
    ui.answer(&answer);
    Some(Exit::Done)
}

/// Runs one command line, of which the first word is the program's name. The clock is read at most
/// once, and only where nothing else tells the time.
pub fn run(
    args: impl IntoIterator<Item = OsString>,
    ui: &mut Ui,
    clock: fn() -> Timestamp,
) -> Exit {
    let args: Vec<OsString> = args.into_iter().collect();
    ui.configure(cli::color_of(&args), false, &[]);
    let exit = match understood(&args, ui) {
        Ok((cli, settings)) => command(&cli, settings, ui, clock),
        Err(mut error) => {
            // One line with all of them, which `--help` has in a readable form.
            error.remove(ContextKind::ValidSubcommand);
            refuse(&error, &args, ui)
        }
    };
    if ui.has_failed() { Exit::Error } else { exit }
}

/// What the words say, with the values of the settings file, and what else that file says.
fn understood(args: &[OsString], ui: &Ui) -> Result<(Cli, Result<InForce, Error>), clap::Error> {
    let is_brief = cli::wants_brief_help(args);
    let plain = || cli::command_for(ui.invocation(), ui.width().min(100), is_brief);
    let chooses = ui.offers_choices();
    let in_force = settings::read(&|name| std::env::var_os(name)).map_err(Error::from);
    let with_values = in_force.and_then(|in_force| {
        let values = cli::defaults::apply(plain(), &in_force.settings);
        let command = values.map_err(|why| in_force.unusable(why))?;
        Ok((command, in_force))
    });
    match with_values {
        Ok((command, in_force)) => Ok((Cli::parse(args, command, chooses)?, Ok(in_force))),
        Err(error) => Ok((Cli::parse(args, plain(), chooses)?, Err(error))),
    }
}

fn command(
    cli: &Cli,
    settings: Result<InForce, Error>,
    ui: &mut Ui,
    clock: fn() -> Timestamp,
) -> Exit {
    let global = &cli.global;
    let repeated = global.repeated();
    let repeated: Vec<_> = repeated
        .iter()
        .map(|(flag, value)| (*flag, value.as_deref()))
        .collect();
    ui.configure(global.color, global.quiet, &repeated);
    let leading = ui.invocation().flags().to_vec();
    let settings = if cli.asks_a_hub {
        settings
    } else {
        // A file that is of no use fails only what it could have changed.
        Ok(settings.unwrap_or_default())
    };
    let result = settings.and_then(|settings| {
        let mut session = Session {
            global,
            settings,
            ui,
            clock,
        };
        words::leading(leading, || cli.command.run(&mut session))
    });
    if global.verbose {
        ui.tell_counts();
    }
    result.unwrap_or_else(|error| {
        ui.error(&error);
        if global.verbose {
            ui.causes(&error);
        }
        error.exit
    })
}

/// Help and version are answers; what is wrong with the arguments is said as every other error.
fn refuse(error: &clap::Error, args: &[OsString], ui: &mut Ui) -> Exit {
    let asked = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => true,
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => false,
        _ => {
            let command = cli::command(ui.invocation());
            ui.error(&cli::refusal::explain_refusal(error, args, &command));
            return Exit::Usage;
        }
    };
    let paint = if asked { ui.paint() } else { ui.paint_err() };
    let text = if paint.is_colored() {
        error.render().ansi().to_string()
    } else {
        error.render().to_string()
    };
    if asked {
        ui.answer(&text);
        Exit::Done
    } else {
        ui.note(&text);
        Exit::Usage
    }
}
