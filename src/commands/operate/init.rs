//! `init`: a run is made, its stages are computed, and nothing happens yet.

use clap::Args;

use crate::change::guard::AcceptedRisks;
use crate::commands::gather::argument::{ArgumentKind, ChosenAtTerminal};
use crate::commands::gather::eligible;
use crate::commands::gather::reading::SourceReading;
use crate::commands::gather::session::Session;
use crate::commands::operate::launching::{
    NewRunWords, RunLaunch, RunSource, launch, unique_suffix,
};
use crate::commands::operate::operation::operate;
use crate::commands::operate::writing::WriteFlags;
use crate::error::Error;
use crate::exit::Exit;

/// Create an update run without starting it
///
/// Previews what KubeFleet will compute, creates the run with state Initialize, and waits until its
/// stages are computed. Without --snapshot the run gets the current content. If the hub delays the
/// snapshot of a recent change, the run is recreated until it has that snapshot. To start the run,
/// use `kubectl fleet-stage run`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage init example-run --placement example-placement --strategy example-strategy\n  \
    kubectl fleet-stage init example-run --placement web-app --strategy rings -n my-app-namespace\n  \
    kubectl fleet-stage init example-run --placement example-placement \
    --strategy example-strategy --snapshot 3 --dry-run -o yaml\n  \
    kubectl fleet-stage init example-run-2 --from example-run\n\n\
    Exit codes:\n  \
    0  initialized\n  \
    1  refused, or the name belongs to another or a finished run\n  \
    3  KubeFleet refuses it\n  \
    5  not initialized in time\n  \
    7  forbidden, or a check could not read what it needs")]
pub struct InitArgs {
    /// Name of the new run [default: a generated name]
    #[arg(value_name = "RUN")]
    run: Option<String>,
    /// Placement to roll out: NAME, crp/NAME, or with -n rp/NAME [default: at a terminal, chosen
    /// from a list]
    #[arg(long, value_name = "PLACEMENT", required_unless_present = "from")]
    #[arg(add = ArgumentKind::Placements, add = ChosenAtTerminal)]
    placement: Option<String>,
    /// Update strategy, which defines stages, order, and gates [default: at a terminal, chosen from a
    /// list]
    #[arg(long, value_name = "STRATEGY", required_unless_present = "from")]
    #[arg(add = ArgumentKind::Strategies, add = ChosenAtTerminal)]
    strategy: Option<String>,
    /// Create the run with the placement and strategy of this run
    #[arg(long, value_name = "RUN", conflicts_with = "placement")]
    #[arg(add = ArgumentKind::Runs(&eligible::EVERY))]
    from: Option<String>,
    /// Snapshot to roll out: its index, or latest [default: the current content]
    #[arg(long, value_name = "INDEX", add = ArgumentKind::Snapshots)]
    snapshot: Option<String>,
    /// Create the run even if a check cannot read what it needs
    #[arg(long)]
    allow_unseen: bool,
    /// Show how the objects change for each cluster, against the Works that it has
    #[arg(long)]
    diff: bool,
    #[command(flatten)]
    writing: WriteFlags,
}

pub fn run(args: &InitArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    let suffix = unique_suffix(session);
    operate("init", &args.writing, session, |op| {
        let words = NewRunWords {
            name: args.run.as_deref(),
            placement: args.placement.as_deref(),
            strategy: args.strategy.as_deref(),
            from: args.from.as_deref(),
            suffix: &suffix,
        };
        let source = RunSource::new(words, op)?;
        let mut wanted = |reading: &mut SourceReading| {
            let accepted = AcceptedRisks {
                // Nothing goes back before it is started.
                older: true,
                unseen: args.allow_unseen,
            };
            Ok(RunLaunch {
                snapshot: args.snapshot.clone(),
                start: false,
                diff: args.diff,
                ..source.launch(accepted, false, reading)?
            })
        };
        launch(&mut wanted, op)
    })
}
