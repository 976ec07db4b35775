//! `list`: the update runs and how they are.

use clap::Args;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::open::reading::{InputArgs, Reading};
use crate::commands::open::runs::{self, Reach, ReadDepth, Rows};
use crate::commands::open::session::Session;
use crate::commands::output::{Format, Output, age, document, names};
use crate::diagnose;
use crate::error::{Error, did_you_mean};
use crate::exit::Exit;
use crate::inventory::{Inventory, choose};
use crate::kubefleet::object::OWN_API_VERSION;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Concept, Kind, ObjectRef};
use crate::render::style::verdict_style;
use crate::render::table::{Cell, Column, Table};
use crate::report::{NotChecked, Verdict};
use crate::rollout::{ClusterState, Rollout, StageState};

/// List update runs and their status
///
/// The verdict is the same as that of `diagnose`. Lists the cluster-scoped runs; with -n those in a
/// namespace, with -A both scopes and all namespaces.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage list\n  \
    kubectl fleet-stage list -A --active\n  \
    kubectl fleet-stage list -n my-app-namespace --placement web-app -o wide\n  \
    kubectl fleet-stage list --active -o name")]
pub struct ListArgs {
    /// List both scopes and all namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// List only runs on this placement: NAME, crp/NAME, or with -n rp/NAME
    #[arg(long, value_name = "PLACEMENT")]
    placement: Option<String>,
    /// List only unfinished runs
    #[arg(long)]
    active: bool,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    output: Output,
}

/// Update runs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunList {
    /// Always `kubectl-fleet-stage/v1`.
    api_version: String,
    /// Always `RunList`.
    kind: String,
    /// The runs, by scope, namespace and name.
    items: Vec<RunItem>,
    /// Kinds that could not be listed in full, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_checked: Vec<NotChecked>,
}

/// One update run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RunItem {
    /// `ClusterStagedUpdateRun` or `StagedUpdateRun`.
    kind: String,
    /// Its namespace; empty for cluster-scoped runs.
    namespace: String,
    /// Its name.
    name: String,
    /// The placement that it rolls out.
    placement: String,
    /// The strategy that it was made from.
    strategy: String,
    /// The state that it is in.
    verdict: Verdict,
    /// Whether it is not over.
    active: bool,
    /// The stage that it is at.
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
    /// The index that its spec asks for; absent where it asks for the current content.
    #[serde(skip_serializing_if = "Option::is_none")]
    asked_snapshot: Option<String>,
    /// When it was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    created: Option<Timestamp>,
    /// When it began with its first cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    started: Option<Timestamp>,
    /// When it was over.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    ended: Option<Timestamp>,
}

/// The stage that a run is at.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct StageNow {
    /// Its name.
    name: String,
    /// Its state.
    state: StageState,
}

pub fn run(args: &ListArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    let reach = Reach::of(session.global, args.all_namespaces)?;
    let placement = args
        .placement
        .as_deref()
        .map(|word| WantedRuns::of(word, &reach))
        .transpose()?;
    let mut reading = session.open(&args.input, "list")?;
    let wanted = |run: &UpdateRun| {
        (!args.active || !choose::is_finished(run))
            && placement.as_ref().is_none_or(|wanted| wanted.matches(run))
    };
    let row = |_: &Inventory, rollout: &Rollout<'_>| item(rollout);
    let mut runs = runs::rows(&mut reading, &reach, ReadDepth::Verdict, wanted, row)?;
    runs.gaps.extend(elsewhere(&mut reading));
    runs.warn(session.ui);
    if runs.runs.is_empty() {
        let none = none(&mut reading, &reach, args, placement.as_ref())?;
        session.ui.status(&none);
    }
    let text = match args.output.format() {
        Format::Table | Format::Wide => {
            let table = table(&runs.runs, &reach, args.output.is_wide(), reading.now);
            args.output.draw(&table, session.ui)
        }
        Format::Name => names(runs.runs.iter().map(|(run, _)| run)),
        format => document(&list(runs), format)?,
    };
    session.ui.answer(&text);
    Ok(Exit::Done)
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
        let fits = match reach {
            Reach::Everywhere => true,
            Reach::One(scope) => kind.is_namespaced() != scope.is_cluster(),
        };
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
    if let Some(wanted) = placement {
        let name = |_: &Inventory, rollout: &Rollout<'_>| rollout.run.spec.placement.clone();
        let others = runs::rows(reading, reach, ReadDepth::Nothing, |_| true, name)?;
        let names = others.runs.iter().map(|(_, name)| name.as_str());
        let near = did_you_mean(&wanted.name, names);
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
    Ok(match reading.every_run(None, true, args.active)?.len() {
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

fn list(runs: Rows<RunItem>) -> RunList {
    RunList {
        api_version: OWN_API_VERSION.to_owned(),
        kind: "RunList".to_owned(),
        items: runs.runs.into_iter().map(|(_, item)| item).collect(),
        not_checked: runs.gaps,
    }
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

fn table(runs: &[(ObjectRef, RunItem)], reach: &Reach, wide: bool, now: Timestamp) -> Table {
    let mut columns = Vec::new();
    if reach.is_everywhere() {
        columns.push(Column::shrinking("NAMESPACE", 9));
    }
    columns.extend([
        Column::shrinking("NAME", 10),
        Column::shrinking("PLACEMENT", 9),
        Column::new("VERDICT"),
        Column::shrinking("STAGE", 5),
        Column::new("DONE"),
        Column::new("SNAP"),
        Column::new("AGE"),
    ]);
    if wide {
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
        if reach.is_everywhere() {
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
        if wide {
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
