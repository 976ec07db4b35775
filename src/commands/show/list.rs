//! `list`: the update runs and how they are.

use std::cmp::Reverse;

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::open::hubs::{
    AllRows, FollowCall, FollowedReading, HubGap, HubRows, HubsArgs, NotReached,
};
use crate::commands::open::reading::{InputArgs, Reading};
use crate::commands::open::runs::{self, ReadDepth};
use crate::commands::open::selection::{Reach, RunSelection};
use crate::commands::open::session::Session;
use crate::commands::output::{Format, Output, age, document, names};
use crate::commands::show::watching::{self, ItemNow, ListNow, WatchArgs};
use crate::diagnose;
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::{Inventory, choose};
use crate::kubefleet::object::OWN_API_VERSION;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Concept, Kind, ObjectRef};
use crate::render::style::verdict_style;
use crate::render::table::{Cell, Column, Table};
use crate::report::{NotChecked, Verdict};
use crate::rollout::{ClusterState, Rollout, StageState};
use crate::words::closest;

/// List update runs and their status
///
/// The verdict is the same as that of `diagnose`. Lists the cluster-scoped runs; with -n those in a
/// namespace, with -A both scopes and all namespaces.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage list\n  \
    kubectl fleet-stage list -A --active\n  \
    kubectl fleet-stage list -n my-app-namespace --placement web-app -o wide\n  \
    kubectl fleet-stage list -l team=payments --sort-by verdict\n  \
    kubectl fleet-stage list -A --active --watch\n  \
    kubectl fleet-stage list --active --contexts eu,us\n  \
    kubectl fleet-stage list --active -o name")]
pub struct ListArgs {
    #[command(flatten)]
    selection: RunSelection,
    /// List only runs on this placement: NAME, crp/NAME, or with -n rp/NAME
    #[arg(long, value_name = "PLACEMENT")]
    placement: Option<String>,
    /// List only unfinished runs
    #[arg(long)]
    active: bool,
    /// Order of the runs [default: by scope, namespace, and name]
    #[arg(long, value_enum, value_name = "KEY")]
    sort_by: Option<RunOrder>,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    watch: WatchArgs,
    #[command(flatten)]
    hubs: HubsArgs,
}

/// An order of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RunOrder {
    /// Newest first
    Age,
    /// By name
    Name,
    /// Fewest clusters done first
    Progress,
    /// What needs a person first
    Verdict,
}

impl RunOrder {
    /// Sorts runs; those that are alike keep their order.
    fn sort(self, runs: &mut [(ObjectRef, RunItem)]) {
        match self {
            Self::Age => runs.sort_by_key(|(_, item)| Reverse(item.created)),
            Self::Name => runs.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name)),
            Self::Progress => runs.sort_by(|(_, a), (_, b)| progress(a).total_cmp(&progress(b))),
            Self::Verdict => runs.sort_by_key(|(_, item)| urgency(item.verdict)),
        }
    }
}

/// The share of a run's clusters that are done. A run that has none yet has done nothing.
fn progress(item: &RunItem) -> f64 {
    #[allow(clippy::cast_precision_loss)] // clusters are few
    let share = item.done as f64 / item.total.max(1) as f64;
    share
}

/// How soon a run needs a person: the less the sooner.
const fn urgency(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Stuck => 0,
        Verdict::Failed | Verdict::InitializationFailed => 1,
        Verdict::WaitingForApproval => 2,
        Verdict::Unknown => 3,
        Verdict::Stopping | Verdict::Stopped => 4,
        Verdict::Initializing | Verdict::NotStarted => 5,
        Verdict::WaitingForTimer => 6,
        Verdict::Progressing => 7,
        Verdict::Deleting => 8,
        Verdict::Succeeded => 9,
    }
}

/// Update runs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunList {
    /// Always `kubectl-fleet-stage/v1`.
    api_version: String,
    /// Always `RunList`.
    kind: String,
    /// The runs, by scope, namespace and name; of several hubs, first by hub in the order in which the
    /// hubs were named.
    items: Vec<RunItem>,
    /// Kinds that could not be listed in full, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_checked: Vec<HubGap>,
    /// The hubs that did not answer, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_reached: Vec<NotReached>,
}

/// One update run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RunItem {
    /// The context of the hub; absent if only one hub was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    hub: Option<String>,
    /// `ClusterStagedUpdateRun` or `StagedUpdateRun`.
    kind: String,
    /// Its namespace; empty for cluster-scoped runs.
    namespace: String,
    /// Its name.
    name: String,
    /// The placement that it rolls out.
    placement: String,
    /// Its strategy.
    strategy: String,
    /// Its state.
    verdict: Verdict,
    /// Whether it is unfinished.
    active: bool,
    /// The current stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<StageNow>,
    /// Whether nothing is applied: clusters are done when their differences are reported.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    only_compares: bool,
    /// Clusters done, over all stages.
    done: usize,
    /// Clusters in all stages.
    total: usize,
    /// The index of the snapshot that it rolls out; absent until it is initialized.
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<String>,
    /// The index in its spec; absent if it requests the current content.
    #[serde(skip_serializing_if = "Option::is_none")]
    asked_snapshot: Option<String>,
    /// When it was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    created: Option<Timestamp>,
    /// When it started its first cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    started: Option<Timestamp>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    ended: Option<Timestamp>,
}

/// The current stage of a run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct StageNow {
    /// Its name.
    name: String,
    /// Its state.
    state: StageState,
}

pub fn run(args: &ListArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    let (global, hubs) = (session.global, &args.hubs);
    let is_followed = args.watch.is_on(&args.output)?;
    let contexts = &hubs.contexts;
    contexts.check_list(&args.output, args.selection.names(), global)?;
    if is_followed {
        hubs.check_watch()?;
        let call = FollowCall {
            of: contexts,
            input: Some(&args.input),
            limit: None,
            command: "list",
        };
        let (own, global) = (args.clone(), global.clone());
        let mut place = None;
        let followed = session.follow(&call, &mut place, move |reading, ui| {
            let (args, reach) = (own.clone(), own.selection.reach(&global, reading, ui)?);
            let placement = WantedRuns::of_args(&args, &reach)?;
            let look = move |reading: &mut Reading| {
                let mut rows = read(reading, &args, &reach, placement.as_ref())?;
                let place = reading.place();
                if rows.rows.is_empty() {
                    rows.none = Some(format!("{place} has no such update run"));
                }
                Ok(rows)
            };
            Ok(Box::new(FollowedReading::new(reading, look)?))
        })?;
        let (is_several, ui) = (followed.is_several(), &mut *session.ui);
        return watching::follow(&args.watch, &args.output, followed, ui, |rows, _| {
            let (runs, table) = lay_out(args, rows, is_several).0;
            let items = runs.into_iter().map(|(run, item)| {
                ItemNow::new(item.hub.clone(), run.to_string(), Some(run), item)
            });
            Ok(ListNow {
                table,
                items: items.collect::<Result<_, _>>()?,
            })
        });
    }
    let answers = session.ask(hubs, Some(&args.input), "list", |reading, ui| {
        let reach = args.selection.reach(global, reading, ui)?;
        let placement = WantedRuns::of_args(args, &reach)?;
        let mut rows = read(reading, args, &reach, placement.as_ref())?;
        if rows.rows.is_empty() {
            rows.none = Some(none(reading, &reach, args, placement.as_ref())?);
        }
        Ok(rows)
    })?;
    let (answers, listed) = answers.listed(session.ui);
    let ((runs, table), gaps) = lay_out(args, listed, answers.is_several());
    let text = match args.output.format() {
        Format::Table | Format::Wide => args.output.draw(&table, session.ui),
        Format::Name => names(runs.iter().map(|(run, _)| run)),
        format => {
            let list = RunList {
                api_version: OWN_API_VERSION.to_owned(),
                kind: "RunList".to_owned(),
                items: runs.into_iter().map(|(_, item)| item).collect(),
                not_checked: gaps,
                not_reached: answers.not_reached.clone(),
            };
            document(&list, format)?
        }
    };
    session.ui.answer(&text);
    answers.tell(session.ui);
    Ok(answers.exit(Exit::Done))
}

/// A run and what is listed of it.
type ListedRun = (ObjectRef, RunItem);

/// The runs of all hubs in their order, as a table too, and what could not be listed.
fn lay_out(
    args: &ListArgs,
    listed: AllRows<ListedRun>,
    is_several: bool,
) -> ((Vec<ListedRun>, Table), Vec<HubGap>) {
    let rows = listed.rows.into_iter();
    let mut runs: Vec<_> = rows
        .map(|(hub, (run, item))| (run, RunItem { hub, ..item }))
        .collect();
    if let Some(order) = args.sort_by {
        order.sort(&mut runs);
    }
    let view = RunColumns {
        hubs: is_several,
        namespaces: listed.is_everywhere,
        wide: args.output.is_wide(),
    };
    let table = table(&runs, &view, listed.now);
    ((runs, table), listed.gaps)
}

/// The runs that are wanted.
fn read(
    reading: &mut Reading,
    args: &ListArgs,
    reach: &Reach,
    placement: Option<&WantedRuns>,
) -> Result<HubRows<ListedRun>, Error> {
    let wanted = |run: &UpdateRun| {
        (!args.active || !choose::is_finished(run))
            && placement.is_none_or(|wanted| wanted.matches(run))
            && args.selection.has(run)
    };
    let row = |_: &Inventory, rollout: &Rollout<'_>| item(rollout);
    let mut runs = runs::rows(reading, reach, ReadDepth::Verdict, wanted, row)?;
    runs.gaps.extend(elsewhere(reading));
    Ok(HubRows {
        rows: runs.runs,
        now: reading.now,
        gaps: runs.gaps,
        none: None,
        is_everywhere: reach.is_everywhere(),
    })
}

/// Rollouts that the hub also serves, and that are not among the runs.
fn elsewhere(reading: &mut Reading) -> Option<NotChecked> {
    let what = reading.hub()?.served().other_engine()?;
    Some(NotChecked {
        what,
        why: "these rollouts belong to a different engine, which this plugin version does not read"
            .to_owned(),
        subject: None,
        clusters: Vec::new(),
    })
}

/// The placement that runs are wanted of.
struct WantedRuns {
    kind: Option<Kind>,
    name: String,
}

impl WantedRuns {
    fn of_args(args: &ListArgs, reach: &Reach) -> Result<Option<Self>, Error> {
        let word = args.placement.as_deref();
        word.map(|word| Self::of(word, reach)).transpose()
    }

    fn of(word: &str, reach: &Reach) -> Result<Self, Error> {
        let Some((kind, name)) = word.split_once('/') else {
            return Ok(Self {
                kind: None,
                name: word.to_owned(),
            });
        };
        let kind = Kind::from_word(kind)
            .filter(|kind| kind.concept() == Concept::Placement)
            .ok_or_else(|| {
                Error::usage(format!("{kind:?} is not a placement type"))
                    .hint("use a name, crp/NAME, or with -n rp/NAME")
            })?;
        let fits = reach
            .scope()
            .is_none_or(|scope| kind.is_namespaced() != scope.is_cluster());
        if !fits {
            return Err(if kind.is_namespaced() {
                Error::usage(format!("a {kind} is namespaced: set its namespace with -n"))
            } else {
                Error::usage(format!("a {kind} is cluster-scoped: leave out -n"))
            });
        }
        Ok(Self {
            kind: Some(kind),
            name: name.to_owned(),
        })
    }

    fn matches(&self, run: &UpdateRun) -> bool {
        run.spec.placement == self.name
            && self
                .kind
                .is_none_or(|kind| kind == run.scope().kind(Concept::Placement))
    }
}

/// Says that there is no run, and where there are some.
fn none(
    reading: &mut Reading,
    reach: &Reach,
    args: &ListArgs,
    placement: Option<&WantedRuns>,
) -> Result<String, Error> {
    let what = if args.active {
        "unfinished update run"
    } else {
        "update run"
    };
    let place = reading.place();
    if args.selection.narrows() {
        return Ok(format!("{place} has no {what} that matches the selectors"));
    }
    if let Some(wanted) = placement {
        let name = |_: &Inventory, rollout: &Rollout<'_>| rollout.run.spec.placement.clone();
        let others = runs::rows(reading, reach, ReadDepth::Nothing, |_| true, name)?;
        let names = others.runs.iter().map(|(_, name)| name.as_str());
        let near = closest(&wanted.name, names);
        return Ok(match near {
            Some(near) if near != wanted.name => format!(
                "{place} has no {what} on placement {:?}; did you mean {near}?",
                wanted.name
            ),
            _ => format!("{place} has no {what} on placement {:?}", wanted.name),
        });
    }
    if reach.is_everywhere() {
        return Ok(format!("{place} has no {what}"));
    }
    let wanted = |run: &UpdateRun| !args.active || !choose::is_finished(run);
    Ok(match reading.every_run(None, true, wanted)?.len() {
        0 => format!("{place} has no {what}"),
        1 => format!("{place} has no {what} in this scope, but one in another: use -A"),
        more => format!("{place} has no {what} in this scope, but {more} in others: use -A"),
    })
}

/// Clusters done and clusters in all.
fn clusters(rollout: &Rollout<'_>) -> (usize, usize) {
    let done = rollout
        .clusters()
        .filter(|cluster| cluster.state == ClusterState::Done);
    (done.count(), rollout.clusters().count())
}

const COMPARED: &str = " compared";

/// What stands behind the clusters that are done of a run that applies nothing.
pub(in crate::commands) fn compared(rollout: &Rollout<'_>) -> &'static str {
    if rollout.only_compares() {
        COMPARED
    } else {
        ""
    }
}

fn filled(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| text.to_owned())
}

fn item(rollout: &Rollout<'_>) -> RunItem {
    let run = rollout.run;
    let ObjectRef {
        kind,
        namespace,
        name,
    } = run.object();
    let (done, total) = clusters(rollout);
    RunItem {
        hub: None,
        kind: kind.name().to_owned(),
        namespace,
        name,
        placement: run.spec.placement.clone(),
        strategy: run.spec.strategy.clone(),
        verdict: diagnose::verdict(rollout),
        active: !choose::is_finished(run),
        stage: rollout.current_stage().map(|stage| StageNow {
            name: stage.name().to_owned(),
            state: stage.state,
        }),
        only_compares: rollout.only_compares(),
        done,
        total,
        snapshot: filled(&run.status.snapshot_index),
        asked_snapshot: filled(&run.spec.snapshot_index),
        created: run.meta.created,
        started: rollout.started(),
        ended: rollout.ended(),
    }
}

/// Which columns there are.
struct RunColumns {
    hubs: bool,
    namespaces: bool,
    wide: bool,
}

fn table(runs: &[(ObjectRef, RunItem)], view: &RunColumns, now: Timestamp) -> Table {
    let mut columns = Vec::new();
    if view.hubs {
        columns.push(Column::shrinking("HUB", 6));
    }
    if view.namespaces {
        columns.push(Column::shrinking("NAMESPACE", 9));
    }
    columns.extend([
        Column::shrinking("NAME", 7),
        Column::shrinking("PLACEMENT", 9),
        Column::new("VERDICT"),
        Column::shrinking("STAGE", 5),
        Column::new("DONE"),
        Column::new("SNAP"),
        Column::new("AGE"),
    ]);
    if view.wide {
        columns.extend([
            Column::new("STAGE STATE"),
            Column::new("STRATEGY"),
            Column::new("REQUESTED"),
            Column::new("STARTED"),
            Column::new("ENDED"),
        ]);
    }
    let mut table = Table::new(columns);
    for (run, item) in runs {
        let stage = item.stage.as_ref();
        let compared = if item.only_compares { COMPARED } else { "" };
        let mut cells: Vec<Cell> = Vec::new();
        if view.hubs {
            cells.push(Cell::from(item.hub.as_ref()));
        }
        if view.namespaces {
            cells.push(Cell::from(&run.namespace));
        }
        cells.extend([
            Cell::from(&run.name),
            Cell::from(&item.placement),
            Cell::styled(item.verdict.as_str(), verdict_style(item.verdict)),
            Cell::from(stage.map(|stage| &stage.name)),
            Cell::from(format!("{}/{}{compared}", item.done, item.total)),
            Cell::from(item.snapshot.as_ref()),
            Cell::from(age(item.created, now)),
        ]);
        if view.wide {
            cells.extend([
                Cell::from(stage.map(|stage| stage.state.describe())),
                Cell::from(&item.strategy),
                Cell::from(item.asked_snapshot.as_ref()),
                Cell::from(item.started.map(|at| at.to_string())),
                Cell::from(item.ended.map(|at| at.to_string())),
            ]);
        }
        table.row(cells);
    }
    table
}
