//! `status`: what state a rollout is in, once or as it goes on.

mod watch;

use clap::Args;
use jiff::Timestamp;

use super::global::Global;
use super::output;
use super::reading::{self, Input};
use crate::diagnose::status::Status;
use crate::error::Error;
use crate::exit::Exit;
use crate::render::{self, Look};
use crate::ui::Ui;

/// Show how far a rollout has come: stages, clusters, gates and timers
///
/// For an update run the tree of its stages: clusters with their progress, slots in use, timers that
/// are running, and pending approvals with the command to give them. For a placement what each
/// cluster has: snapshot, applied, available, and the run that wrote it. The verdict is the same as
/// that of `diagnose`, which also says why.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage status example-run\n  \
    kubectl fleet-stage status example-run --watch\n  \
    kubectl fleet-stage status web-app-rollout -n my-app-namespace -o json\n  \
    kubectl fleet-stage status crp/example-placement\n\n\
    The exit code is that of the verdict, as with diagnose; with --watch that of the run's end.")]
pub struct StatusArgs {
    /// The update run or placement: a name, or TYPE/NAME such as csur/x or crp/x, with -n sur/x or
    /// rp/x [default: at a terminal, chosen from a list]
    #[arg(value_name = "RUN|PLACEMENT")]
    target: Option<String>,
    #[command(flatten)]
    input: Input,
    /// Follow the rollout until its run ends: on a terminal the tree is drawn again, elsewhere each
    /// change is a line
    #[arg(short, long, conflicts_with = "files")]
    watch: bool,
    /// The format; with --watch json prints one document a line, yaml one after each ---
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: Format,
    /// Exit with 0 whatever the verdict
    #[arg(long)]
    exit_zero: bool,
}

/// How a state is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    #[default]
    /// For people at a terminal
    Text,
    /// The state as data
    Json,
    /// The state as data
    Yaml,
    /// One page to keep, print or send
    Html,
}

/// Shows what was asked about.
pub fn run(
    args: &StatusArgs,
    global: &Global,
    ui: &mut Ui,
    clock: fn() -> Timestamp,
) -> Result<Exit, Error> {
    if args.watch && args.output == Format::Html {
        return Err(Error::usage(
            "a page does not renew itself: -o html goes without --watch",
        ));
    }
    let mut reading = reading::open(&args.input, "status", global, ui, clock)?;
    let namespace = global.namespace.as_deref();
    let target = reading.target(args.target.as_deref(), namespace, ui)?;
    if args.watch {
        return watch::run(args, global, &mut reading, target, ui);
    }
    let inventory = reading.overview(&target)?;
    let status = Status::new(&inventory);
    let text = write(&status, args.output, &look(ui, global))?;
    ui.answer(&text);
    Ok(exit(&status, args.exit_zero))
}

fn exit(status: &Status, exit_zero: bool) -> Exit {
    if exit_zero {
        Exit::Done
    } else {
        Exit::from(status.verdict)
    }
}

/// How to draw on the terminal that there is.
pub(super) fn look(ui: &Ui, global: &Global) -> Look {
    Look {
        width: ui.width(),
        paint: ui.paint(),
        invocation: ui.invocation().clone(),
        verbose: global.verbose,
    }
}

/// A state in a format.
pub(super) fn write(status: &Status, format: Format, look: &Look) -> Result<String, Error> {
    Ok(match format {
        Format::Text => render::status::status(status, look),
        Format::Json => output::json(status)?,
        Format::Yaml => output::yaml(status)?,
        Format::Html => render::html::status(status, &look.invocation),
    })
}
