//! `run`: an initialized run is started, or a new one is made that starts.

use clap::Args;

use crate::change::guard::AcceptedRisks;
use crate::commands::gather::argument::{ArgumentKind, ChosenAtTerminal};
use crate::commands::gather::eligible;
use crate::commands::gather::reading::SourceReading;
use crate::commands::gather::session::Session;
use crate::commands::operate::launching::{
    LaunchRisks, NewRunWords, RunLaunch, RunSource, launch, start, unique_suffix,
};
use crate::commands::operate::operation::{Operation, ThisRun, operate};
use crate::commands::operate::writing::WriteFlags;
use crate::error::Error;
use crate::exit::Exit;
use crate::words::{CommandLine, Hint};

/// Start an update run, or create and start a new one
///
/// With only a name, starts an initialized run. With --placement and --strategy, or with --from,
/// creates a new run and starts it. Before that, previews what KubeFleet will compute and ensures
/// that the run gets the current content (or --snapshot). With --replace, the run that --from
/// names is deleted before the new one starts.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage run example-run\n  \
    kubectl fleet-stage run example-run --placement example-placement --strategy example-strategy\n  \
    kubectl fleet-stage run example-run-2 --from example-run --replace --yes\n  \
    kubectl fleet-stage run example-run -n my-app-namespace --wait --timeout 1h\n\n\
    Exit codes:\n  \
    0  started; with --wait, succeeded\n  \
    1  refused, not confirmed, or the name belongs to another or a finished run\n  \
    3  KubeFleet refuses it, or the run failed\n  \
    4  with --wait: a person must approve\n  \
    5  stuck\n  \
    6  no such run\n  \
    7  forbidden, or a check could not read what it needs\n  \
    8  with --wait: the run was stopped\n  \
    9  --timeout was reached")]
pub struct RunArgs {
    /// Update run: NAME, csur/NAME, or with -n sur/NAME [default: of a new run, a generated name;
    /// else at a terminal, chosen from the runs that can be started]
    #[arg(value_name = "RUN", required_unless_present_any = ["placement", "from"])]
    #[arg(add = ArgumentKind::Runs(&eligible::STARTABLE), add = ChosenAtTerminal)]
    run: Option<String>,
    /// Create a new run for this placement [default with --strategy: at a terminal, chosen from a list]
    #[arg(long, value_name = "PLACEMENT", requires = "strategy")]
    #[arg(add = ArgumentKind::Placements, add = ChosenAtTerminal)]
    placement: Option<String>,
    /// Update strategy of the new run [default with --placement: at a terminal, chosen from a list]
    #[arg(long, value_name = "STRATEGY", add = ArgumentKind::Strategies)]
    strategy: Option<String>,
    /// Create a new run with the placement and strategy of this run
    #[arg(long, value_name = "RUN", conflicts_with = "placement")]
    #[arg(add = ArgumentKind::Runs(&eligible::EVERY))]
    from: Option<String>,
    /// With --from: delete that run before the new one starts
    #[arg(long, requires = "from", conflicts_with = "placement")]
    replace: bool,
    /// Snapshot to roll out: its index, or latest [default: the current content]
    #[arg(long, value_name = "INDEX", add = ArgumentKind::Snapshots)]
    snapshot: Option<String>,
    #[command(flatten)]
    risks: LaunchRisks,
    /// Show how the objects change for each cluster, against the Works that it has
    #[arg(long)]
    diff: bool,
    #[command(flatten)]
    writing: WriteFlags,
}

pub fn run(args: &RunArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    let chooses = args.strategy.is_some() && session.ui.offers_choices();
    let suffix = unique_suffix(session);
    let makes = args.placement.is_some() || args.from.is_some() || chooses;
    if !makes && (args.strategy.is_some() || args.snapshot.is_some() || args.diff) {
        return Err(Error::usage(
            "--strategy, --snapshot, and --diff apply only to a new run: add --placement or --from",
        ));
    }
    operate("run", &args.writing, session, |op| {
        act(args, makes.then_some(suffix), op)
    })
}

fn act(args: &RunArgs, new: Option<String>, op: &mut Operation<'_>) -> Result<Exit, Error> {
    let accepted = AcceptedRisks::from(args.risks);
    let word = args.run.as_deref();
    let Some(suffix) = new else {
        let startable = &eligible::STARTABLE;
        let target = op.reading.run_or_chosen(word, startable, op.ui);
        let target = target.map_err(|it| nothing_to_start(it, word, op.reading.namespace()))?;
        let this = ThisRun {
            object: target,
            uid: String::new(),
        };
        return start(&this, accepted, (None, &[]), true, op);
    };
    let words = NewRunWords {
        name: word,
        placement: args.placement.as_deref(),
        strategy: args.strategy.as_deref(),
        from: args.from.as_deref(),
        suffix: &suffix,
    };
    let source = RunSource::new(words, op);
    let source = source.map_err(|error| replaced_before(error, args, op.reading.namespace()))?;
    if let Some(old) = source.replaces_itself(args.replace) {
        return Err(Error::usage(format!(
            "the new run cannot have the name {} while the old run exists",
            old.name
        ))
        .hint("choose another name, or delete the old run first with --replace"));
    }
    let mut wanted = |reading: &mut SourceReading| {
        Ok(RunLaunch {
            snapshot: args.snapshot.clone(),
            diff: args.diff,
            ..source.launch(accepted, args.replace, reading)?
        })
    };
    launch(&mut wanted, op)
}

/// Adds to an error that the run to be replaced does not exist what continues an earlier try.
fn replaced_before(error: Error, args: &RunArgs, namespace: Option<&str>) -> Error {
    let new = args.run.as_deref().filter(|_| args.replace);
    let Some(new) = new.filter(|_| error.exit == Exit::NotFound) else {
        return error;
    };
    let run = CommandLine::fleet("run").arg(new);
    let run = run.namespace(namespace.unwrap_or_default());
    error.also(Hint::new("if an earlier try has replaced it already, continue that:").command(run))
}

/// Adds to an error that no such run can be started how to make one.
fn nothing_to_start(error: Error, word: Option<&str>, namespace: Option<&str>) -> Error {
    let is_new = match word {
        Some(word) => error.exit == Exit::NotFound && !word.contains('/'),
        None => error.exit == Exit::Error && error.hint.is_some(),
    };
    if !is_new {
        return error;
    }
    let run = CommandLine::fleet("run").args(word);
    let run = run.namespace(namespace.unwrap_or_default());
    let made_of = run
        .clone()
        .flag("--placement", "PLACEMENT")
        .flag("--strategy", "STRATEGY");
    let hint = Hint::new("to create a new run:").command(made_of);
    error.also(hint.command(run.flag("--from", "RUN")))
}
