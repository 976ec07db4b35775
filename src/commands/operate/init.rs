//! `init`: a run is made, its stages are computed, and nothing happens yet.

use clap::Args;

use crate::change::guard::AcceptedRisks;
use crate::change::preview::Preview;
use crate::commands::open::argument::{ArgumentKind, ChosenAtTerminal};
use crate::commands::open::names;
use crate::commands::open::picking::{self, MadeOf, RunInputs};
use crate::commands::open::reading::SourceReading;
use crate::commands::open::session::Session;
use crate::commands::operate::launching::{RunLaunch, launch};
use crate::commands::operate::operation::operate;
use crate::commands::operate::writing::WriteFlags;
use crate::error::Error;
use crate::exit::Exit;
use crate::kubefleet::tolerant::UnknownFields;
use crate::kubefleet::{Concept, Scope};

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
    --strategy example-strategy --snapshot 3 --dry-run -o yaml\n\n\
    Exit codes:\n  \
    0  initialized\n  \
    1  refused, or the name belongs to another or a finished run\n  \
    3  KubeFleet refuses it\n  \
    5  not initialized in time\n  \
    7  forbidden, or a check could not read what it needs")]
pub struct InitArgs {
    /// Name of the new run
    #[arg(value_name = "RUN")]
    run: String,
    /// Placement to roll out: NAME, crp/NAME, or with -n rp/NAME [default: at a terminal, chosen
    /// from a list]
    #[arg(long, value_name = "PLACEMENT", required = true)]
    #[arg(add = ArgumentKind::Placements, add = ChosenAtTerminal)]
    placement: Option<String>,
    /// Update strategy, which defines stages, order, and gates [default: at a terminal, chosen from a
    /// list]
    #[arg(long, value_name = "STRATEGY", required = true)]
    #[arg(add = ArgumentKind::Strategies, add = ChosenAtTerminal)]
    strategy: Option<String>,
    /// Snapshot to roll out: its index, or latest [default: the current content]
    #[arg(long, value_name = "INDEX")]
    #[arg(add = ArgumentKind::Snapshots)]
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

/// Makes a run.
pub fn run(args: &InitArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    let scope = Scope::of_namespace(session.global.namespace.as_deref().unwrap_or_default());
    let run = names::of_one(&args.run, Concept::UpdateRun, &scope)?;
    let given = MadeOf::new(args.placement.as_deref(), args.strategy.as_deref(), &scope)?;
    let wanted = |made: &RunInputs| {
        Ok(RunLaunch {
            run: run.clone(),
            placement: made.placement.clone(),
            strategy: made.strategy.clone(),
            snapshot: args.snapshot.clone(),
            start: false,
            accepted: AcceptedRisks {
                // Nothing goes back before it is started.
                older: true,
                unseen: args.allow_unseen,
            },
            preview: Preview::default(),
            question: None,
            first: Vec::new(),
            unknown: UnknownFields::new(),
            diff: args.diff,
        })
    };
    operate("init", &args.writing, session, |op| {
        let made = picking::made(&run, given, op.reading, op.ui)?;
        launch(&mut |_: &mut SourceReading| wanted(&made), op)
    })
}
