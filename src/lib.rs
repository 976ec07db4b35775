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
pub mod render;
#[cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
pub mod rollout;
pub mod ui;
pub mod words;

use std::ffi::OsString;

use clap::error::{ContextKind, ErrorKind};
use jiff::Timestamp;

use cli::{Cli, Command};
use exit::Exit;
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
    let exit = match Cli::parse(
        &args,
        ui.invocation(),
        ui.width().min(100),
        ui.offers_choices(),
    ) {
        Ok(cli) => command(&cli, ui, clock),
        Err(mut error) => {
            // One line with all of them, which `--help` has in a readable form.
            error.remove(ContextKind::ValidSubcommand);
            refuse(&error, ui)
        }
    };
    if ui.has_failed() { Exit::Error } else { exit }
}

fn command(cli: &Cli, ui: &mut Ui, clock: fn() -> Timestamp) -> Exit {
    let global = &cli.global;
    ui.configure(global.color, global.quiet, &global.repeated());
    let result = match &cli.command {
        Command::Plan(args) => commands::show::plan::run(args, global, ui, clock),
        Command::Diagnose(args) => commands::show::diagnose::run(args, global, ui, clock),
        Command::Status(args) => commands::show::status::run(args, global, ui, clock),
        Command::Wait(args) => commands::show::wait::run(args, global, ui, clock),
        Command::Collect(args) => commands::show::collect::run(args, global, ui, clock),
        Command::Doctor(args) => commands::about::doctor::run(args, global, ui, clock),
        Command::List(args) => commands::show::list::run(args, global, ui, clock),
        Command::Approve(args) => commands::operate::approve::run(args, global, ui, clock),
        Command::Init(args) => commands::operate::init::run(args, global, ui, clock),
        Command::Run(args) => commands::operate::run::run(args, global, ui, clock),
        Command::Retry(args) => commands::operate::retry::run(args, global, ui, clock),
        Command::Rollback(args) => commands::operate::rollback::run(args, global, ui, clock),
        Command::Stop(args) => commands::operate::stop::run(args, global, ui, clock),
        Command::Resume(args) => commands::operate::resume::run(args, global, ui, clock),
        Command::Delete(args) => commands::operate::delete::run(args, global, ui, clock),
        Command::Approvals(args) => commands::show::approvals::run(args, global, ui, clock),
        Command::Strategies(args) => commands::show::strategies::run(args, global, ui, clock),
        Command::Snapshots(args) => commands::show::snapshots::run(args, global, ui, clock),
        Command::History(args) => commands::show::history::run(args, global, ui, clock),
        Command::Clusters(args) => commands::show::clusters::run(args, global, ui, clock),
        Command::Trace(args) => commands::show::trace::run(args, global, ui, clock),
        Command::Render(args) => commands::show::render::run(args, global, ui, clock),
        Command::Explain(args) => commands::about::explain::run(args, ui),
        Command::Schema(args) => commands::about::schema::run(args, ui),
        Command::Version(args) => commands::about::version::run(args, ui),
        Command::Completion(args) => {
            commands::about::completion::run(args, cli::complete::script, ui)
        }
    };
    result.unwrap_or_else(|error| {
        ui.error(&error);
        if global.verbose {
            ui.causes(&error);
        }
        error.exit
    })
}

/// Help and version are answers; what is wrong with the arguments is not.
fn refuse(error: &clap::Error, ui: &mut Ui) -> Exit {
    let asked = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
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
