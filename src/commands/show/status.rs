//! `status`: what state a rollout is in, once or as it goes on.

mod watch;

use std::time::Duration;

use clap::Args;

use crate::commands::gather::argument::ArgumentKind;
use crate::commands::gather::hubs::{HubAnswer, HubList, HubsArgs};
use crate::commands::gather::reading::InputArgs;
use crate::commands::gather::session::Session;
use crate::commands::output;
use crate::diagnose::status::Status;
use crate::error::Error;
use crate::exit::Exit;
use crate::render::{self, RenderLook};

/// Show a rollout's stages, clusters, gates, and timers
///
/// For an update run, shows a tree of its stages: the progress of each cluster, slots in use,
/// running timers, and pending gates. Estimates the end of each stage from how long clusters of the
/// placement took before. For a placement, shows what each cluster has: snapshot, applied, available,
/// and the run that wrote it. The verdict is the same as that of `diagnose`, which also explains it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage status example-run\n  \
    kubectl fleet-stage status example-run --watch\n  \
    kubectl fleet-stage status web-app-rollout -n my-app-namespace -o json\n  \
    kubectl fleet-stage status crp/example-placement\n  \
    kubectl fleet-stage status example-run crp/example-placement\n  \
    kubectl fleet-stage status example-run --contexts eu,us --watch\n\n\
    The exit code is the verdict's, as with diagnose; of several, the most severe; with --watch \
    that of the final verdict.")]
pub struct StatusArgs {
    /// Update runs or placements: NAME, csur/NAME, crp/NAME, or with -n sur/NAME, rp/NAME
    /// [default: at a terminal, one chosen from a list]
    #[arg(value_name = "RUN|PLACEMENT", add = ArgumentKind::Targets)]
    targets: Vec<String>,
    #[command(flatten)]
    input: InputArgs,
    /// Follow the rollouts until each run ends: redraw on a terminal, else print a line per change
    #[arg(short, long, conflicts_with = "files")]
    watch: bool,
    /// With --watch: end when a cluster has been in flight this long, such as 20m, and at least 5m
    /// [default: follow to the end of each run]
    #[arg(long, value_name = "DURATION", requires = "watch", value_parser = crate::commands::duration)]
    patience: Option<Duration>,
    /// Output format; with --watch, json prints one document per line, yaml separates documents
    /// with ---
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: StatusFormat,
    /// Exit with 0 regardless of the verdict
    #[arg(long)]
    exit_zero: bool,
    #[command(flatten)]
    hubs: HubsArgs,
}

/// How a state is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::commands) enum StatusFormat {
    #[default]
    /// Text for a terminal
    Text,
    /// State as data
    Json,
    /// State as data
    Yaml,
    /// One page to keep, print, or send
    Html,
}

pub fn run(args: &StatusArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    if args.watch && args.output == StatusFormat::Html {
        return Err(Error::usage(
            "-o html cannot be used with --watch: a page does not refresh itself",
        ));
    }
    let (global, hubs) = (session.global, &args.hubs);
    let is_several = args.targets.len() > 1;
    if is_several && args.output == StatusFormat::Html {
        return Err(Error::usage(
            "-o html cannot be used with several names: a page shows one state",
        ));
    }
    let contexts = &hubs.contexts;
    contexts.check_names(&args.targets, global)?;
    contexts.refuse_if(
        args.output == StatusFormat::Html,
        "-o html",
        "a page shows one state",
    )?;
    if args.watch {
        hubs.check_watch()?;
        return watch::run(args, session);
    }
    let answers = session.ask(hubs, Some(&args.input), "status", |reading, ui| {
        let targets = reading.targets(&args.targets, ui)?;
        let seen = reading.overviews(&targets).into_iter();
        let seen = seen.collect::<Result<Vec<_>, _>>()?;
        if !matches!(args.output, StatusFormat::Json | StatusFormat::Yaml) {
            return Ok(seen.iter().map(Status::with_ends).collect());
        }
        // What comes next hangs on more than the state does.
        let states = seen.iter().zip(&targets).map(|(seen, target)| {
            let Ok(inventory) = reading.outlook(target) else {
                return Status {
                    expected: None,
                    ..Status::with_ends(seen)
                };
            };
            let mut status = Status::new(seen);
            status.look_ahead(&inventory);
            status
        });
        Ok(states.collect::<Vec<_>>())
    })?;
    let (answers, found) = answers.take();
    let states = found.into_iter().flat_map(|HubAnswer { hub, found }| {
        let states = found.into_iter();
        states.map(move |status| match &hub {
            Some(hub) => status.on_hub(hub),
            None => status,
        })
    });
    let states: Vec<_> = states.collect();
    let own = Exit::worst(states.iter().map(|status| exit(status, args.exit_zero)));
    let look = session.ui.look(global.verbose);
    let text = match args.output {
        StatusFormat::Json | StatusFormat::Yaml if is_several || answers.is_several() => {
            let list = HubList::new("Status", states, &answers.not_reached);
            output::document(&list, args.output == StatusFormat::Yaml)?
        }
        format => {
            let texts = states.iter().map(|status| write(status, format, &look));
            texts.collect::<Result<Vec<_>, _>>()?.join("\n")
        }
    };
    session.ui.answer(&text);
    answers.tell(session.ui);
    Ok(answers.exit(own))
}

fn exit(status: &Status, exit_zero: bool) -> Exit {
    if exit_zero {
        Exit::Done
    } else {
        Exit::from(status.verdict)
    }
}

fn write(status: &Status, format: StatusFormat, look: &RenderLook) -> Result<String, Error> {
    Ok(match format {
        StatusFormat::Text => render::status::status(status, look),
        StatusFormat::Json => output::json(status)?,
        StatusFormat::Yaml => output::yaml(status)?,
        StatusFormat::Html => render::html::status(status, &look.invocation),
    })
}
