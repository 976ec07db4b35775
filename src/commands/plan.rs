//! `plan`: a preflight without writing.

mod diff;
mod file;

use std::path::PathBuf;

use clap::Args;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::global::Global;
use super::output::Form;
use super::planning::{self, StrategyChoice, Wish};
use super::reading::{self, Input};
use super::snapshots::KEEP;
use super::status::look;
use crate::error::Error;
use crate::exit::Exit;
use crate::plan::Plan;
use crate::ui::Ui;
use diff::VersionDiff;

/// Show what a run would do, and every reason for which it would be refused
///
/// Computes what the controller would compute: the stages, the clusters in their order, how many go
/// at once, the gates, the clusters that lose the placement, and for each cluster the snapshot it has
/// and the one it would get. Nothing is written. All reasons for a refusal are told at once; the
/// controller tells them one by one. Other runs on the placement that are not over are warned of, and
/// clusters that would go back to an older snapshot.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage plan --placement example-placement --strategy example-strategy\n  \
    kubectl fleet-stage plan --placement example-placement --strategy example-strategy \
    --snapshot 1 --diff\n  \
    kubectl fleet-stage plan --placement example-placement --strategy-file strategy.yaml\n  \
    kubectl fleet-stage plan --placement web-app --strategy team-a-strategy -n my-app-namespace\n\n\
    Exit codes, the same in every format:\n  \
    0  nothing that was seen speaks against the run\n  \
    3  the controller would refuse it\n  \
    7  too little could be read to say")]
pub struct PlanArgs {
    /// The placement to roll out: a name, crp/NAME, or with -n rp/NAME
    #[arg(long, value_name = "PLACEMENT")]
    placement: String,
    /// The update strategy: a name, csus/NAME, or with -n sus/NAME
    #[arg(
        long,
        value_name = "STRATEGY",
        required_unless_present = "strategy_file"
    )]
    strategy: Option<String>,
    /// Take the strategy from this file, or standard input (-), and say which rules of the API it
    /// breaks; --strategy says which of several
    #[arg(long, value_name = "PATH")]
    strategy_file: Option<PathBuf>,
    /// The snapshot: its index, or latest [default: the content as it is when the run is made]
    #[arg(long, value_name = "SNAPSHOT")]
    snapshot: Option<String>,
    /// The name that the run is to have: approval requests are named after it
    #[arg(long, value_name = "NAME")]
    run: Option<String>,
    #[command(flatten)]
    input: Input,
    /// Show what of the content changes for the clusters
    #[arg(long, help_heading = "Output")]
    diff: bool,
    /// With --diff: show secrets as they are
    #[arg(long, requires = "diff", help_heading = "Output")]
    show_secrets: bool,
    /// The format
    #[arg(
        short,
        long,
        value_enum,
        default_value_t,
        value_name = "FORMAT",
        help_heading = "Output"
    )]
    output: Form,
}

/// A plan, and what of the content changes.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Plan")]
pub struct PlanView {
    #[serde(flatten)]
    plan: Plan,
    /// With --diff: what of the content changes, by the version that clusters have.
    #[serde(skip_serializing_if = "Option::is_none")]
    diffs: Option<Vec<VersionDiff>>,
}

/// Plans a run.
pub fn run(
    args: &PlanArgs,
    global: &Global,
    ui: &mut Ui,
    clock: fn() -> Timestamp,
) -> Result<Exit, Error> {
    let keep = if args.diff { KEEP } else { &[] };
    let mut reading =
        reading::open_keeping(keep, &args.input, "plan --placement", global, ui, clock)?;
    let namespace = global.namespace.as_deref();
    let placement = planning::placement(&mut reading, &args.placement, namespace, ui)?;
    let scope = placement.scope();
    let named = match &args.strategy {
        Some(word) => Some(planning::strategy(word, &scope)?),
        None => None,
    };
    let strategy = match (&args.strategy_file, named) {
        (Some(path), named) => {
            let limits = args.input.limits();
            file::read(path, named.as_deref(), &scope, limits, ui)?
        }
        (None, Some(name)) => StrategyChoice::Named(name),
        (None, None) => return Err(Error::usage("say by which strategy: --strategy NAME")),
    };
    let wish = Wish {
        placement,
        strategy,
        snapshot: args.snapshot.clone(),
        run: args.run.clone(),
    };
    let planned = planning::read_all(&mut reading, &wish, args.diff)?;
    let plan = planned.plan;
    let changes = args
        .diff
        .then(|| diff::changes(&plan, &planned.around, args.show_secrets));
    let exit = Exit::from(plan.outcome);
    let diffs = changes.as_ref();
    let view = PlanView {
        diffs: diffs.map(|all| all.iter().map(VersionDiff::new).collect()),
        plan,
    };
    let text = args.output.print(&view, || {
        let mut text = planning::show(&view.plan, &look(ui, global));
        for change in changes.iter().flatten() {
            text.push('\n');
            text.push_str(&change.text(ui.paint()));
        }
        text
    })?;
    ui.answer(&text);
    diff::note(changes.as_deref(), &wish, ui);
    Ok(exit)
}
