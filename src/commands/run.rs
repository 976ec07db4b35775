//! `run`: an initialized run is started, or a new one is made that starts.

use clap::Args;
use jiff::Timestamp;

use super::approve::moves;
use super::delete;
use super::global::Global;
use super::launching::{First, Launch, launch};
use super::names;
use super::reading::Reading;
use super::steering::{self, finish, rollout_of};
use super::writing::{self, ThisRun, Writing};
use crate::change::Change;
use crate::change::states::{Step, Wish, step};
use crate::diagnose::finding::{count, enumerate};
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::Inventory;
use crate::kubefleet::{Concept, ObjectRef, Scope};
use crate::rollout::Rollout;
use crate::rollout::content::{old_content, would_go_back};
use crate::ui::Ui;

/// Start an update run, or make one that starts
///
/// With a name alone, starts a run that was initialized. With --placement and --strategy, or with
/// --from another run, makes a new run: shows what KubeFleet will compute, sees to it that the run
/// gets the content as it is now (or --snapshot), and starts it. With --from, --replace deletes the
/// old run first.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage run example-run\n  \
    kubectl fleet-stage run example-run --placement example-placement --strategy example-strategy\n  \
    kubectl fleet-stage run example-run-2 --from example-run --replace --yes\n  \
    kubectl fleet-stage run example-run -n my-app-namespace --wait --timeout 1h\n\n\
    Exit codes:\n  \
    0  under way; with --wait, succeeded\n  \
    1  refused, not confirmed, or a run of that name is another or over\n  \
    3  KubeFleet would refuse it, or the run failed\n  \
    4  with --wait: a person must approve\n  \
    5  stuck, or --timeout was reached\n  \
    6  no such run\n  \
    7  forbidden")]
pub struct RunArgs {
    /// The run: a name, or TYPE/NAME such as csur/x, with -n sur/x
    #[arg(value_name = "RUN")]
    run: String,
    /// Make a new run of this placement
    #[arg(long, value_name = "PLACEMENT", requires = "strategy")]
    placement: Option<String>,
    /// The strategy of the new run
    #[arg(long, value_name = "STRATEGY")]
    strategy: Option<String>,
    /// Make a new run with the placement and strategy of this one
    #[arg(long, value_name = "RUN", conflicts_with = "placement")]
    from: Option<String>,
    /// With --from: delete that run first
    #[arg(long, requires = "from")]
    replace: bool,
    /// The index of the snapshot to roll out, or latest [default: the content as it is now]
    #[arg(long, value_name = "INDEX")]
    snapshot: Option<String>,
    /// Start even where a cluster would go back to an older snapshot
    #[arg(long)]
    allow_older: bool,
    #[command(flatten)]
    writing: Writing,
}

/// Starts a run.
pub fn run(
    args: &RunArgs,
    global: &Global,
    ui: &mut Ui,
    clock: fn() -> Timestamp,
) -> Result<Exit, Error> {
    let makes = args.placement.is_some() || args.from.is_some();
    if !makes && (args.strategy.is_some() || args.snapshot.is_some()) {
        return Err(Error::usage(
            "--strategy and --snapshot are of a new run: name its --placement too, or --from a run",
        ));
    }
    let mut reading = writing::open("run", global, ui, clock)?;
    if !makes {
        let namespace = global.namespace.as_deref();
        let concepts = [Concept::UpdateRun];
        let target = reading.target_of(Some(&args.run), namespace, &concepts, ui)?;
        return start(&target, args, &mut reading, ui);
    }
    let scope = Scope::of_namespace(global.namespace.as_deref().unwrap_or_default());
    let run = names::of_one(&args.run, Concept::UpdateRun, &scope)?;
    let wanted = if let Some(from) = &args.from {
        again(from, run, args, global, &mut reading, ui)?
    } else {
        let placement = args.placement.as_deref().unwrap_or_default();
        let strategy = args.strategy.as_deref().unwrap_or_default();
        Launch {
            run,
            placement: names::of_one(placement, Concept::Placement, &scope)?,
            strategy: names::of_one(strategy, Concept::Strategy, &scope)?.name,
            snapshot: args.snapshot.clone(),
            start: true,
            allow_older: args.allow_older,
            question: None,
            first: Vec::new(),
        }
    };
    launch(&wanted, &mut reading, &args.writing, ui)
}

/// A new run with the placement and strategy of an old one.
fn again(
    from: &str,
    run: ObjectRef,
    args: &RunArgs,
    global: &Global,
    reading: &mut Reading,
    ui: &mut Ui,
) -> Result<Launch, Error> {
    let namespace = global.namespace.as_deref();
    let old = reading.target_of(Some(from), namespace, &[Concept::UpdateRun], ui)?;
    if old == run && !args.replace {
        return Err(Error::usage(format!(
            "the new run cannot have the name of the old one, {}, while that exists",
            old.name
        ))
        .hint("another name, or --replace, which deletes the old one first"));
    }
    let inventory = reading.overview(&old)?;
    let rollout = rollout_of(&inventory, &old)?;
    let spec = &rollout.run.spec;
    let strategy = args
        .strategy
        .clone()
        .unwrap_or_else(|| spec.strategy.clone());
    let placement = run.scope().object(Concept::Placement, &spec.placement);
    let mut question = None;
    let mut first = Vec::new();
    if args.replace {
        ui.preview(&delete::leaves(&rollout));
        let change = Box::new(Change::delete(rollout.run));
        question = Some(format!("Delete {} and start {}?", old.name, run.name));
        first.push(First::Delete(ThisRun::of(rollout.run), change));
    }
    Ok(Launch {
        run,
        placement,
        strategy,
        snapshot: args.snapshot.clone(),
        start: true,
        allow_older: args.allow_older,
        question,
        first,
    })
}

/// Starts a run that exists.
fn start(
    run: &ObjectRef,
    args: &RunArgs,
    reading: &mut Reading,
    ui: &mut Ui,
) -> Result<Exit, Error> {
    let inventory = reading.inventory(run)?;
    let rollout = rollout_of(&inventory, run)?;
    if matches!(step(&rollout, Wish::Start), Step::Write(_)) {
        ui.preview(&opens(&rollout));
        guard(&rollout, args.allow_older)?;
        if let Some(question) = question(&rollout, &inventory, ui) {
            writing::confirm(&question, reading, &args.writing, ui)?;
        }
    }
    let steered = steering::steer(&inventory, run, Wish::Start, reading, &args.writing, ui)?;
    finish(&steered, Wish::Start, reading, &args.writing, ui)
}

/// What a run begins with.
fn opens(rollout: &Rollout<'_>) -> Vec<String> {
    let run = rollout.run;
    let index = &run.status.snapshot_index;
    let mut lines = vec![format!(
        "{}: snapshot {} of {}, strategy {}",
        run.object(),
        if index.is_empty() {
            "not known yet"
        } else {
            index
        },
        run.spec.placement,
        run.spec.strategy
    )];
    for stage in &rollout.stages {
        let clusters: Vec<_> = stage.clusters.iter().collect();
        if stage.deletes && clusters.is_empty() {
            continue;
        }
        if stage.deletes {
            let names = clusters.iter().map(|cluster| cluster.name);
            lines.push(format!(
                "  at last removes the placement from {}",
                enumerate(names)
            ));
            continue;
        }
        lines.push(format!(
            "  stage {}: {}, {} at a time",
            stage.status.name,
            count(clusters.len(), "cluster"),
            stage.concurrency
        ));
        lines.extend(moves(index, &clusters));
    }
    lines
}

/// What is asked before a run is started that a person could regret.
fn question(rollout: &Rollout<'_>, inventory: &Inventory, ui: &mut Ui) -> Option<String> {
    let name = &rollout.run.meta.name;
    let others: Vec<_> = inventory
        .other_runs()
        .filter(|run| {
            let other = Rollout::of(inventory, run);
            other.is_live() && other.has_begun()
        })
        .map(|run| run.meta.name.as_str())
        .collect();
    if let Some(old) = old_content(inventory, rollout.run) {
        ui.warning(&format!(
            "{name} has snapshot {}, which lacks a change noticed at {}",
            old.snapshot.index().unwrap_or_default(),
            old.detected
        ));
        return Some(format!("Start {name} with the old content?"));
    }
    if let Some(gap) = &inventory.runs.gap {
        ui.warning(&format!(
            "other runs on the placement cannot be seen: {gap}"
        ));
    }
    (!others.is_empty()).then(|| {
        format!(
            "Start {name} beside {}, which is not over?",
            enumerate(others)
        )
    })
}

/// Refuses what would take clusters back to an older snapshot, unless that is wanted.
fn guard(rollout: &Rollout<'_>, allow_older: bool) -> Result<(), Error> {
    let back = would_go_back(rollout);
    let Some(first) = back.first().filter(|_| !allow_older) else {
        return Ok(());
    };
    let run = rollout.run.object();
    Err(Error::failed(format!(
        "starting would take {} back from snapshot {} to {}, because another run put the newer \
         one there; nothing was sent",
        enumerate(back.iter().map(|back| back.cluster)),
        first.holds,
        rollout.run.status.snapshot_index
    ))
    .hint(format!(
        "delete the run, or say --allow-older if that is what you want:\n  \
         kubectl fleet-stage delete {}{}",
        run.name,
        run.flag()
    )))
}
