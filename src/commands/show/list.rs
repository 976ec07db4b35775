//! `list`: the update runs and how they are.

use std::cmp::Reverse;

use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use crate::commands::gather::argument::ArgumentKind;
use crate::commands::gather::hubs::{HubMoments, HubRows};
use crate::commands::gather::reading::SourceReading;
use crate::commands::gather::runs::{self, ReadDepth};
use crate::commands::gather::selection::ListReach;
use crate::commands::gather::session::Session;
use crate::commands::output::age;
use crate::commands::show::listing::{self, HubRow, ItemList, ListCommand, ListingArgs};
use crate::diagnose;
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::Inventory;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Concept, Kind, ObjectRef};
use crate::render::style::verdict_style;
use crate::render::table::{Cell, Column, TableOf};
use crate::report::{NotChecked, RunFacts, Verdict};
use crate::rollout::{Rollout, StageState};
use crate::ui::Ui;
use crate::words::{closest, said_if};

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
    listing: ListingArgs,
    /// List only runs on this placement: NAME, crp/NAME, or with -n rp/NAME
    #[arg(long, value_name = "PLACEMENT", add = ArgumentKind::Placements)]
    placement: Option<String>,
    /// List only unfinished runs
    #[arg(long)]
    active: bool,
    /// Order of the runs [default: by scope, namespace, and name]
    #[arg(long, value_enum, value_name = "KEY")]
    sort_by: Option<RunOrder>,
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
    fn sort(self, runs: &mut [HubRow<ListedRun>]) {
        match self {
            Self::Age => runs.sort_by_key(|(_, (_, item))| Reverse(item.created)),
            Self::Name => runs.sort_by(|(_, (a, _)), (_, (b, _))| a.name.cmp(&b.name)),
            Self::Progress => {
                runs.sort_by(|(_, (_, a)), (_, (_, b))| progress(a).total_cmp(&progress(b)));
            }
            Self::Verdict => runs.sort_by_key(|(_, (_, item))| urgency(item.verdict)),
        }
    }
}

/// The share of a run's clusters that are done. A run that has none yet has done nothing.
fn progress(item: &RunFacts) -> f64 {
    #[allow(clippy::cast_precision_loss)] // clusters are few
    let share = item.done as f64 / item.total.max(1) as f64;
    share
}

/// How soon a run needs a person: the less the sooner.
pub(super) const fn urgency(verdict: Verdict) -> u8 {
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

pub type RunList = ItemList<RunItem>;

/// One update run.
#[skip_serializing_none]
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Run")]
pub struct RunItem {
    /// The context of the hub; absent if only one hub was asked.
    hub: Option<String>,
    #[serde(flatten)]
    run: RunFacts,
}

pub fn run(args: &ListArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    listing::run(args, session)
}

type ListedRun = (ObjectRef, RunFacts);

impl ListCommand for ListArgs {
    const COMMAND: &'static str = "list";
    const NOUN: &'static str = "update run";
    type Row = ListedRun;
    type Item = RunItem;

    fn flags(&self) -> &ListingArgs {
        &self.listing
    }

    fn check(&self, reach: &ListReach) -> Result<(), Error> {
        WantedRuns::of_args(self, reach).map(drop)
    }

    fn read(
        &self,
        reading: &mut SourceReading,
        reach: &ListReach,
    ) -> Result<HubRows<ListedRun>, Error> {
        let placement = WantedRuns::of_args(self, reach)?;
        let wanted = |run: &UpdateRun| {
            runs::is_asked_for(self.active, run)
                && placement.as_ref().is_none_or(|wanted| wanted.matches(run))
                && self.listing.selection.has(run)
        };
        let row = |_: &Inventory, rollout: &Rollout<'_>| {
            RunFacts::listed(rollout, diagnose::verdict(rollout))
        };
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

    fn none(&self, reading: &mut SourceReading, reach: &ListReach) -> Result<String, Error> {
        none(reading, reach, self)
    }

    fn sort(&self, rows: &mut [HubRow<ListedRun>]) {
        if let Some(order) = self.sort_by {
            order.sort(rows);
        }
    }

    fn key((run, _): &ListedRun) -> String {
        run.to_string()
    }

    fn namespace((run, _): &ListedRun) -> &str {
        &run.namespace
    }

    fn object((run, _): &ListedRun) -> Option<ObjectRef> {
        Some(run.clone())
    }

    fn item((hub, (_, run)): &HubRow<ListedRun>) -> RunItem {
        RunItem {
            hub: hub.clone(),
            run: run.clone(),
        }
    }

    fn columns<'t>(
        &self,
        table: TableOf<'t, HubRow<ListedRun>>,
        now: &'t HubMoments,
        _: &'t Ui,
    ) -> TableOf<'t, HubRow<ListedRun>> {
        let wide = self.listing.output.is_wide();
        table
            .column(Column::name("NAME"), |(_, (_, it))| &it.object.name)
            .column(
                Column::shrinking("PLACEMENT", 9).spare(1),
                |(_, (_, it))| &it.placement,
            )
            .column(Column::new("VERDICT"), |(_, (_, it))| {
                Cell::styled(it.verdict.as_str(), verdict_style(it.verdict))
            })
            .column(Column::shrinking("STAGE", 5).spare(3), |(_, (_, it))| {
                it.stage.as_ref()
            })
            .column(Column::new("DONE").spare(4), |(_, (_, it))| {
                let compared = if it.only_compares { COMPARED } else { "" };
                format!("{}/{}{compared}", it.done, it.total)
            })
            .column(Column::new("SNAP").spare(0), |(_, (_, it))| {
                it.snapshot.as_ref()
            })
            .column(Column::new("AGE").spare(2), |(hub, (_, it))| {
                age(it.created, now.on(hub))
            })
            .column_if(wide, Column::new("STAGE STATE"), |(_, (_, it))| {
                it.stage_state.map(StageState::describe)
            })
            .column_if(wide, Column::new("STRATEGY"), |(_, (_, it))| &it.strategy)
            .column_if(wide, Column::new("REQUESTED"), |(_, (_, it))| {
                it.requested_snapshot.as_ref()
            })
            .column_if(wide, Column::new("STARTED"), |(_, (_, it))| {
                it.started.map(|at| at.to_string())
            })
            .column_if(wide, Column::new("ENDED"), |(_, (_, it))| {
                it.ended.map(|at| at.to_string())
            })
    }
}

/// Rollouts that the hub also serves, and that are not among the runs.
fn elsewhere(reading: &mut SourceReading) -> Option<NotChecked> {
    let what = reading.hub()?.served().other_engine()?;
    Some(NotChecked::new(
        what,
        "these rollouts belong to a different engine, which this plugin version does not read",
    ))
}

struct WantedRuns {
    kind: Option<Kind>,
    name: String,
}

impl WantedRuns {
    fn of_args(args: &ListArgs, reach: &ListReach) -> Result<Option<Self>, Error> {
        let word = args.placement.as_deref();
        word.map(|word| Self::of(word, reach)).transpose()
    }

    fn of(word: &str, reach: &ListReach) -> Result<Self, Error> {
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

fn none(reading: &mut SourceReading, reach: &ListReach, args: &ListArgs) -> Result<String, Error> {
    let what = runs::noun(args.active);
    let place = reading.place();
    if args.listing.selection.narrows() {
        return Ok(format!("{place} has no {what} that matches the selectors"));
    }
    if let Some(wanted) = WantedRuns::of_args(args, reach)? {
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
    runs::none_in_scope(args.active, reading)
}

const COMPARED: &str = " compared";

/// What stands behind the clusters that are done of a run that applies nothing.
pub(in crate::commands) fn compared(rollout: &Rollout<'_>) -> &'static str {
    said_if(rollout.only_compares(), COMPARED)
}
