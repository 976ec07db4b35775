//! `plan`: a preflight without writing.

pub(in crate::commands) mod diff;
mod file;

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::gather::argument::{ArgumentKind, ChosenAtTerminal};
use crate::commands::gather::manifests::{KEEP, RenderMaterial, WorkQuery};
use crate::commands::gather::pickers::MadeOf;
use crate::commands::gather::plan_inputs::{self, PlanWithInputs, PlannedRun, StrategyChoice};
use crate::commands::gather::reading::{InputArgs, SourceReading};
use crate::commands::gather::session::Session;
use crate::commands::gather::{eligible, names};
use crate::commands::output::FormArg;
use crate::error::Error;
use crate::exit::Exit;
use crate::kubefleet::{Concept, ObjectRef};
use crate::plan::Plan;
use crate::render;
use diff::ClusterChanges;

/// Preview an update run and every reason to refuse it
///
/// Computes what the controller would compute: stages, the order of clusters, concurrency, gates,
/// and the clusters that lose the placement. For each cluster it shows the current snapshot and the
/// one the run would roll out. Without --snapshot, this is what the placement selects on the hub now.
/// Writes nothing. Estimates the end of each stage from how long clusters
/// of the placement took before. Lists all reasons to refuse the run at once; the controller reports
/// only the first one. Warns about other unfinished runs on the placement, and
/// about clusters that would get an older snapshot.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage plan --placement example-placement --strategy example-strategy\n  \
    kubectl fleet-stage plan --placement example-placement --strategy example-strategy \
    --snapshot 1 --diff\n  \
    kubectl fleet-stage plan --from example-run\n  \
    kubectl fleet-stage plan --placement example-placement --strategy-file strategy.yaml\n  \
    kubectl fleet-stage plan --placement web-app --strategy team-a-strategy -n my-app-namespace\n\n\
    Exit codes, the same in every format:\n  \
    0  no reason to refuse the run was found\n  \
    3  the controller would refuse it\n  \
    7  unknown, because too little could be read")]
pub struct PlanArgs {
    /// Placement to roll out: NAME, crp/NAME, or with -n rp/NAME
    #[arg(long, value_name = "PLACEMENT", required_unless_present = "from")]
    #[arg(add = ArgumentKind::Placements, add = ChosenAtTerminal)]
    placement: Option<String>,
    /// Update strategy: NAME, csus/NAME, or with -n sus/NAME
    #[arg(long, value_name = "STRATEGY")]
    #[arg(required_unless_present_any = ["strategy_file", "from"])]
    #[arg(add = ArgumentKind::Strategies, add = ChosenAtTerminal)]
    strategy: Option<String>,
    /// Plan a run with the placement and strategy of this run
    #[arg(long, value_name = "RUN", conflicts_with = "placement")]
    #[arg(add = ArgumentKind::Runs(&eligible::EVERY))]
    from: Option<String>,
    /// Read the strategy from a file or standard input (-), and check it against the API's rules;
    /// --strategy selects one of several
    #[arg(long, value_name = "PATH")]
    strategy_file: Option<PathBuf>,
    /// Snapshot to roll out: its index, or latest [default: the current content]
    #[arg(long, value_name = "SNAPSHOT", add = ArgumentKind::Snapshots)]
    snapshot: Option<String>,
    /// Name of the run, which is part of the names of its approval requests
    #[arg(long, value_name = "NAME")]
    run: Option<String>,
    #[command(flatten)]
    input: InputArgs,
    /// Show how the content changes for each cluster
    #[arg(long, help_heading = "Output")]
    diff: bool,
    /// With --diff: show Secret values unmasked
    #[arg(long, requires = "diff", help_heading = "Output")]
    show_secrets: bool,
    #[command(flatten)]
    form: FormArg,
}

/// A plan, and the changes of the content.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Plan")]
pub struct PlanView {
    #[serde(flatten)]
    plan: Plan,
    /// With --diff: the changes of the content, by the version that clusters have.
    #[serde(skip_serializing_if = "Option::is_none")]
    diffs: Option<Vec<ClusterChanges>>,
}

/// The placement, the name of the strategy where one was given, and that of the run which it is of.
fn inputs(
    args: &PlanArgs,
    reading: &mut SourceReading,
    session: &mut Session<'_>,
) -> Result<(ObjectRef, Option<String>, Option<String>), Error> {
    let ui = &mut *session.ui;
    let mut made_of = None;
    let (placement, own) = match (&args.placement, &args.from) {
        (Some(word), _) => {
            let named = plan_inputs::placement(reading, word, ui)?;
            (Some(named), None)
        }
        (None, Some(word)) => {
            let from = ("--from", word.as_str());
            let old = reading.target_of_flag(from, Concept::UpdateRun, ui)?;
            let run = reading.run(&old)?;
            let is_own = args.strategy.is_none() && args.strategy_file.is_none();
            made_of = is_own.then(|| old.name.clone());
            (Some(run.placement()), Some(run.spec.strategy.clone()))
        }
        (None, None) => (None, None),
    };
    let scope = placement.as_ref().map(ObjectRef::scope);
    let scope = scope.unwrap_or_else(|| reading.scope());
    let named = args.strategy.as_deref();
    let named = named.map(|word| plan_inputs::strategy(word, &scope));
    let has_strategy = args.strategy_file.is_some();
    let given = MadeOf {
        placement,
        strategy: named.transpose()?.or(own.filter(|_| !has_strategy)),
        has_strategy,
    };
    let (placement, strategy) = given.completed(scope.fleet("plan"), reading, ui)?;
    Ok((placement, strategy, made_of))
}

pub fn run(args: &PlanArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    let mut reading = session.open_keeping(KEEP, &args.input, "plan")?;
    let (placement, named, made_of) = inputs(args, &mut reading, session)?;
    let scope = placement.scope();
    let strategy = match (&args.strategy_file, named) {
        (Some(path), named) => {
            let limits = args.input.limits();
            file::read(path, named.as_deref(), &scope, limits, session.ui)?
        }
        (None, Some(name)) => StrategyChoice::Named(name),
        (None, None) => return Err(Error::usage("set the strategy: --strategy NAME")),
    };
    let run = args.run.as_deref();
    let run = run.map(|word| names::of_new_run(word, &scope));
    let wish = PlannedRun {
        placement,
        strategy,
        snapshot: args.snapshot.clone(),
        run: run.transpose()?.map(|it| it.name),
        made_of,
        in_place_of: Vec::new(),
    };
    let PlanWithInputs {
        plan,
        around,
        overrides,
    } = plan_inputs::read(&mut reading, &wish)?;
    let diffs = if args.diff {
        let placement = wish.placement.clone();
        let mut material = RenderMaterial::new(placement, around, overrides, reading.is_offline());
        material.read_works(&mut reading, WorkQuery::Of(&[]));
        reading.no_hub()?;
        Some(diff::changes(&plan, &material, args.show_secrets))
    } else {
        None
    };
    let exit = Exit::from(plan.outcome);
    let view = PlanView { plan, diffs };
    let text = args.form.output.print(&view, || {
        let mut text = render::plan::plan(&view.plan, &session.ui.look(session.global.verbose));
        for change in view.diffs.iter().flatten() {
            text.push('\n');
            text.push_str(&change.text(session.ui.paint()));
        }
        text
    })?;
    session.ui.answer(&text);
    diff::note(view.diffs.as_deref(), &view.plan.content, session.ui);
    Ok(exit)
}
