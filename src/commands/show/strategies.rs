//! `strategies`: the staged update strategies, and who uses them.

use std::collections::{BTreeMap, BTreeSet};

use clap::{Args, Subcommand};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::gather::argument::{ArgumentKind, ChosenAtTerminal};
use crate::commands::gather::pickers;
use crate::commands::gather::reading::{InputArgs, SourceReading};
use crate::commands::gather::runs::{self, ReadDepth};
use crate::commands::gather::selection::ListReach;
use crate::commands::gather::session::Session;
use crate::commands::output::{Format, Output, age};
use crate::diagnose;
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::Inventory;
use crate::inventory::source::{HubQuery, QueryAnswer};
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::selector::LabelSelector;
use crate::kubefleet::strategy::Strategy;
use crate::kubefleet::{Concept, Kind, ObjectRef};
use crate::render::style::verdict_style;
use crate::render::table::{Cell, Column, Table};
use crate::report::{NotChecked, RunFacts, TypeMeta};
use crate::rollout::{Rollout, StageDefinition, TaskTime};
use crate::words::by_key;

/// List update strategies and the runs that use them
///
/// A run keeps the strategy from when it was initialized. Editing or deleting a strategy does not
/// affect runs that have started.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage strategies\n  \
    kubectl fleet-stage strategies -A -l team=payments\n  \
    kubectl fleet-stage strategies show example-strategy\n  \
    kubectl fleet-stage strategies show team-a-strategy -n my-app-namespace -o yaml")]
pub struct StrategiesArgs {
    #[command(subcommand)]
    command: Option<StrategiesAction>,
    /// List both scopes and all namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// List only strategies with these labels, as kubectl takes them
    #[arg(short = 'l', long, value_name = "SELECTOR", value_parser = LabelSelector::parse)]
    selector: Option<LabelSelector>,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Subcommand)]
enum StrategiesAction {
    Show(ShowStrategyArgs),
}

/// Show one strategy: its stages, gates, and runs
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage strategies show example-strategy\n  \
    kubectl fleet-stage strategies show sus/team-a-strategy -n my-app-namespace")]
struct ShowStrategyArgs {
    /// Update strategy: NAME, csus/NAME, or with -n sus/NAME
    #[arg(required = true, value_name = "STRATEGY")]
    #[arg(add = ArgumentKind::Strategies, add = ChosenAtTerminal)]
    strategy: Option<String>,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    output: Output,
}

/// Update strategies.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StrategyList {
    #[serde(flatten)]
    meta: TypeMeta,
    /// The strategies, by scope, namespace and name.
    items: Vec<StrategyItem>,
    /// Kinds that could not be listed in full, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_checked: Vec<NotChecked>,
}

/// One update strategy.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct StrategyItem {
    /// `ClusterStagedUpdateStrategy` or `StagedUpdateStrategy`.
    kind: String,
    /// Its namespace; empty for cluster-scoped strategies.
    namespace: String,
    /// Its name.
    name: String,
    /// When it was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    created: Option<Timestamp>,
    /// Its stages in order.
    stages: Vec<StageDefinition>,
    /// The runs that use it, by name.
    used_by: Vec<RunFacts>,
}

/// A strategy.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StrategyView {
    #[serde(flatten)]
    meta: TypeMeta,
    /// The strategy.
    strategy: StrategyItem,
    /// Kinds that could not be listed in full, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_checked: Vec<NotChecked>,
}

pub fn run(args: &StrategiesArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    match &args.command {
        None => list(args, session),
        Some(StrategiesAction::Show(_)) if args.all_namespaces => Err(Error::usage(
            "-A cannot be used with show: set the strategy's namespace with -n",
        )),
        Some(StrategiesAction::Show(_)) if args.selector.is_some() => Err(Error::usage(
            "-l cannot be used with show, which takes a name",
        )),
        Some(StrategiesAction::Show(show)) => self::show(args, show, session),
    }
}

fn list(args: &StrategiesArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    let reach = ListReach::of(session.global.namespace.as_deref(), args.all_namespaces)?;
    let reach = reach.selecting(Concept::Strategy, args.selector.as_ref());
    let mut reading = session.open(&args.input, "strategies")?;
    // A table shows who is active, which the runs tell by themselves.
    let evidence = match args.output.format() {
        Format::Json | Format::Yaml => ReadDepth::VerdictIfListed,
        Format::Table | Format::Wide | Format::Name => ReadDepth::Nothing,
    };
    let found = FoundStrategies::read(&mut reading, &reach, evidence)?;
    runs::warn(&found.gaps, session.ui);
    if found.strategies.is_empty() {
        let scope = if reach.selects() {
            " with these labels"
        } else if reach.is_everywhere() {
            ""
        } else {
            " in this scope; use -A to list all scopes"
        };
        session
            .ui
            .status(&format!("{} has no strategies{scope}", reading.place()));
    }
    args.output.print(
        session.ui,
        |output, ui| output.draw(&found.table(&reach, output.is_wide(), reading.now), ui),
        found.strategies.iter().map(|(object, _)| object),
        || found.list(),
    )?;
    Ok(Exit::Done)
}

fn show(
    args: &StrategiesArgs,
    show: &ShowStrategyArgs,
    session: &mut Session<'_>,
) -> Result<Exit, Error> {
    let input = show.input.or(&args.input);
    let output = show.output.or(&args.output);
    let mut reading = session.open(&input, "strategies show")?;
    let ui = &mut *session.ui;
    let target = match show.strategy.as_deref() {
        Some(word) => reading.target_of(Some(word), &[Concept::Strategy], ui)?,
        None => pickers::named_strategy(&mut reading, ui)?,
    };
    let found = FoundStrategies::one(&mut reading, &target)?;
    runs::warn(&found.gaps, session.ui);
    let Some(item) = found.items().pop() else {
        return Err(Error::not_found(format!("{target} does not exist")));
    };
    output.print(
        session.ui,
        |output, ui| {
            let mut text = output.draw(&stages(&item.stages), ui);
            let runs = used_by(&item.used_by);
            if !runs.is_empty() {
                text.push('\n');
                text.push_str(&output.draw(&runs, ui));
            }
            text
        },
        [&target],
        || StrategyView {
            meta: TypeMeta::new("Strategy"),
            strategy: item.clone(),
            not_checked: found.gaps.clone(),
        },
    )?;
    Ok(Exit::Done)
}

struct FoundStrategies {
    strategies: Vec<(ObjectRef, std::sync::Arc<Strategy>)>,
    /// The runs by the strategy that they were made from, each list in their order.
    users: BTreeMap<ObjectRef, Vec<RunFacts>>,
    gaps: Vec<NotChecked>,
}

impl FoundStrategies {
    fn read(
        reading: &mut SourceReading,
        reach: &ListReach,
        evidence: ReadDepth,
    ) -> Result<Self, Error> {
        let queries = reach.queries(Concept::Strategy);
        let answers = reading.list_all(&queries)?;
        let gaps = runs::gaps(&queries, &answers);
        Self::with_runs(&answers, gaps, reading, reach, evidence)
    }

    fn one(reading: &mut SourceReading, target: &ObjectRef) -> Result<Self, Error> {
        let answers = reading.list_all(&[HubQuery::object(target)])?;
        let reach = ListReach::one(target.scope());
        let evidence = ReadDepth::VerdictIfListed;
        Self::with_runs(&answers, Vec::new(), reading, &reach, evidence)
    }

    /// The strategies, and the runs that were made from one of them; without these the strategies are
    /// worth showing all the same.
    fn with_runs(
        answers: &[QueryAnswer],
        mut gaps: Vec<NotChecked>,
        reading: &mut SourceReading,
        reach: &ListReach,
        evidence: ReadDepth,
    ) -> Result<Self, Error> {
        let objects = answers.iter().flat_map(|answer| answer.objects.iter());
        let mut strategies: Vec<_> = objects
            .filter_map(|object| Some((object.reference(), object.get::<Strategy>()?.clone())))
            .collect();
        strategies.sort_by(|a, b| a.0.cmp(&b.0));
        let known: BTreeSet<_> = strategies.iter().map(|(object, _)| object).collect();
        let wanted = |run: &UpdateRun| known.contains(&strategy_of(run));
        let row = |_: &Inventory, rollout: &Rollout<'_>| (strategy_of(rollout.run), user(rollout));
        let runs = runs::rows(reading, reach, evidence, wanted, row)?;
        let users = by_key(runs.runs.into_iter().map(|(_, user)| user));
        gaps.extend(runs.gaps);
        Ok(Self {
            strategies,
            users,
            gaps,
        })
    }

    fn list(&self) -> StrategyList {
        StrategyList {
            meta: TypeMeta::new("StrategyList"),
            items: self.items(),
            not_checked: self.gaps.clone(),
        }
    }

    fn items(&self) -> Vec<StrategyItem> {
        self.strategies
            .iter()
            .map(|(object, strategy)| StrategyItem {
                kind: object.kind.name().to_owned(),
                namespace: object.namespace.clone(),
                name: object.name.clone(),
                created: strategy.meta.created,
                stages: strategy
                    .spec
                    .stages
                    .iter()
                    .map(StageDefinition::new)
                    .collect(),
                used_by: self.users.get(object).cloned().unwrap_or_default(),
            })
            .collect()
    }

    fn table(&self, reach: &ListReach, wide: bool, now: Timestamp) -> Table {
        fn active(item: &StrategyItem) -> Vec<&str> {
            let active = item.used_by.iter().filter(|user| user.active);
            active.map(|user| user.object.name.as_str()).collect()
        }
        let counted = |it: &StrategyItem, number: usize| {
            let runs = if it.namespace.is_empty() {
                Kind::ClusterStagedUpdateRun
            } else {
                Kind::StagedUpdateRun
            };
            let mut gaps = self.gaps.iter();
            (!gaps.any(|gap| gap.what == runs.name())).then(|| number.to_string())
        };
        Table::of(&self.items())
            .column_if(
                reach.is_everywhere(),
                Column::shrinking("NAMESPACE", 9),
                |it| &it.namespace,
            )
            .column(Column::name("NAME"), |it| &it.name)
            .column(Column::wrapping("STAGES", 12), |it| {
                let stages: Vec<_> = it.stages.iter().map(|stage| stage.name.as_str()).collect();
                stages.join(" > ")
            })
            .column(Column::wrapping("GATES", 9), |it| gates(&it.stages))
            .column(Column::new("RUNS").spare(0), |it| {
                counted(it, it.used_by.len())
            })
            .column(Column::new("ACTIVE"), |it| counted(it, active(it).len()))
            .column(Column::new("AGE").spare(1), |it| age(it.created, now))
            .column_if(wide, Column::new("ACTIVE RUNS"), |it| active(it).join(", "))
            .table()
    }
}

fn strategy_of(run: &UpdateRun) -> ObjectRef {
    run.scope().object(Concept::Strategy, &run.spec.strategy)
}

fn user(rollout: &Rollout<'_>) -> RunFacts {
    RunFacts::listed(rollout, diagnose::verdict(rollout))
}

/// How many gates of which kind: `2 approvals, 1 wait`.
fn gates(stages: &[StageDefinition]) -> Option<String> {
    let gates = || stages.iter().flat_map(|stage| &stage.gates);
    let number = |kind: &str| gates().filter(|task| task.kind == kind).count();
    let parts: Vec<_> = [("Approval", "approval"), ("TimedWait", "wait")]
        .into_iter()
        .map(|(kind, noun)| (number(kind), noun))
        .filter(|(number, _)| *number > 0)
        .map(|(number, noun)| crate::words::count(number, noun))
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn tasks(stage: &StageDefinition, when: TaskTime) -> Option<String> {
    let words: Vec<_> = stage
        .gates(when)
        .map(|task| match &task.wait {
            Some(wait) => format!("{} {wait}", task.kind),
            None => task.kind.clone(),
        })
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn stages(stages: &[StageDefinition]) -> Table {
    Table::of(stages)
        .column(Column::shrinking("STAGE", 6), |it| &it.name)
        .column(Column::shrinking("CLUSTERS", 12), |it| {
            it.selector.as_deref().unwrap_or("none")
        })
        .column(Column::shrinking("ORDERED BY", 10), |it| {
            it.ordered_by.as_deref().unwrap_or("name")
        })
        .column(Column::new("AT ONCE"), |it| &it.max_concurrency)
        .column(Column::shrinking("BEFORE", 8), |it| {
            tasks(it, TaskTime::Before)
        })
        .column(Column::shrinking("AFTER", 10), |it| {
            tasks(it, TaskTime::After)
        })
        .table()
}

fn used_by(users: &[RunFacts]) -> Table {
    Table::of(users)
        .column(Column::name("USED BY RUN"), |it| &it.object.name)
        .column(Column::shrinking("PLACEMENT", 9).spare(0), |it| {
            &it.placement
        })
        .column(Column::new("VERDICT"), |it| {
            Cell::styled(it.verdict.as_str(), verdict_style(it.verdict))
        })
        .table()
}
