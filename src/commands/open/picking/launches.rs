//! Choosing what a new run is made of: placement, strategy, and snapshot.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::candidates::Candidates;
use super::{in_this_scope, reach, say};
use crate::commands::open::reading::Reading;
use crate::commands::open::runs::{self, ReadDepth};
use crate::commands::open::selection::Reach;
use crate::commands::open::{around, names};
use crate::commands::output::age;
use crate::diagnose;
use crate::error::Error;
use crate::inventory::source::Source;
use crate::inventory::source::all_of;
use crate::kubefleet::placement::Placement;
use crate::kubefleet::strategy::Strategy;
use crate::kubefleet::{Concept, ObjectRef, Scope};
use crate::render::table::{Cell, Column};
use crate::report::Verdict;
use crate::rollout::rollback;
use crate::rollout::versions::versions;
use crate::rollout::{Phase, Rollout};
use crate::ui::Ui;
use crate::words::{CommandLine, Hint, count};

/// Lets the user choose a placement.
pub(in crate::commands) fn placement(
    namespace: Option<&str>,
    reading: &mut Reading,
    ui: &mut Ui,
) -> Result<ObjectRef, Error> {
    let reach = reach(namespace, reading);
    let queries = reach.queries(Concept::Placement);
    let answers = reading.answer(&queries);
    reading.listed(&queries, &answers)?;
    let runs = runs::read(reading, &reach, ReadDepth::VerdictIfListed, |_| true)?;
    let mut newest: BTreeMap<ObjectRef, (Option<Timestamp>, String, Verdict)> = BTreeMap::new();
    for (_, rollout) in &runs.rollouts() {
        let run = rollout.run;
        let placement = run.placement();
        let seen = newest.get(&placement).map(|(created, ..)| *created);
        if seen.is_none_or(|created| created < run.meta.created) {
            let verdict = diagnose::verdict(rollout);
            let last = (run.meta.created, run.meta.name.clone(), verdict);
            newest.insert(placement, last);
        }
    }
    let mut candidates = Candidates::new([
        Column::shrinking("", 12),
        Column::new(""),
        Column::new(""),
        Column::shrinking("", 8),
    ]);
    for placement in all_of::<Placement>(&answers) {
        let reference = placement.object();
        let last = newest.get(&reference);
        let namespace = reference.namespace.clone();
        let cells = [
            Cell::from(&reference.name),
            Cell::from(last.map_or("no run", |(.., verdict)| verdict.as_str())),
            Cell::from(age(placement.meta.created, reading.now)),
            Cell::from(last.map(|(_, run, _)| run)),
        ];
        candidates.add(reference, &namespace, cells);
    }
    if candidates.len() == 0 {
        let place = reading.place();
        return Err(Error::failed(format!(
            "{place} has no placements{}",
            in_this_scope(&reach)
        ))
        .hint("to choose from the placements in a namespace, use -n NAMESPACE"));
    }
    candidates.one("Choose a placement", 0, reading, ui)
}

/// Lets the user choose a placement, and says it as the command's only name.
pub(in crate::commands) fn named_placement(
    namespace: Option<&str>,
    reading: &mut Reading,
    ui: &mut Ui,
) -> Result<ObjectRef, Error> {
    let chosen = placement(namespace, reading, ui)?;
    say(chosen.fleet(reading.command()), reading, ui);
    Ok(chosen)
}

/// Lets the user choose a strategy, by name.
fn strategy(scope: &Scope, reading: &mut Reading, ui: &mut Ui) -> Result<String, Error> {
    let reach = Reach::one(scope.clone());
    let queries = reach.queries(Concept::Strategy);
    let answers = reading.answer(&queries);
    reading.listed(&queries, &answers)?;
    let columns = [
        Column::shrinking("", 12),
        Column::new(""),
        Column::new(""),
        Column::ending("", 12),
    ];
    let mut candidates = Candidates::new(columns);
    for strategy in all_of::<Strategy>(&answers) {
        let stages = &strategy.spec.stages;
        let names: Vec<_> = stages.iter().map(|stage| stage.name.as_str()).collect();
        candidates.add(
            strategy.meta.name.clone(),
            "",
            [
                Cell::from(&strategy.meta.name),
                Cell::from(count(stages.len(), "stage")),
                Cell::from(age(strategy.meta.created, reading.now)),
                Cell::from(names.join(", ")),
            ],
        );
    }
    if candidates.len() == 0 {
        let place = reading.place();
        return Err(Error::failed(format!(
            "{place} has no strategies{}",
            in_this_scope(&reach)
        ))
        .hint(Hint::new("see all:").command(CommandLine::fleet("strategies").switch("-A"))));
    }
    candidates.one("Choose a strategy", 0, reading, ui)
}

/// What a command line says a new run is made of.
pub(in crate::commands) struct MadeOf {
    placement: Option<ObjectRef>,
    strategy: Option<String>,
}

impl MadeOf {
    /// What these words mean in a scope.
    pub(in crate::commands) fn new(
        placement: Option<&str>,
        strategy: Option<&str>,
        scope: &Scope,
    ) -> Result<Self, Error> {
        let meant = |word: Option<&str>, concept| {
            word.map(|word| names::of_one(word, concept, scope))
                .transpose()
        };
        Ok(Self {
            placement: meant(placement, Concept::Placement)?,
            strategy: meant(strategy, Concept::Strategy)?.map(|strategy| strategy.name),
        })
    }
}

/// What a new run is made of.
pub(in crate::commands) struct Made {
    pub placement: ObjectRef,
    /// The strategy's name.
    pub strategy: String,
}

/// The placement and the strategy of a new run; of these the user chooses what was not given.
pub(in crate::commands) fn made(
    run: &ObjectRef,
    given: MadeOf,
    reading: &mut Reading,
    ui: &mut Ui,
) -> Result<Made, Error> {
    let scope = run.scope();
    let (placement, strategy) = match (given.placement, given.strategy) {
        (Some(placement), Some(strategy)) => {
            return Ok(Made {
                placement,
                strategy,
            });
        }
        given if !ui.offers_choices() => {
            let missing = if given.0.is_none() {
                "--placement"
            } else {
                "--strategy"
            };
            return Err(Error::usage(format!("{missing} is missing")));
        }
        given => given,
    };
    let namespace = (!scope.is_cluster()).then(|| scope.namespace());
    let placement = match placement {
        Some(placement) => placement,
        None => self::placement(namespace, reading, ui)?,
    };
    let strategy = match strategy {
        Some(strategy) => strategy,
        None => self::strategy(&scope, reading, ui)?,
    };
    let said = run
        .fleet(reading.command())
        .flag("--placement", &placement.name)
        .flag("--strategy", &strategy);
    say(said, reading, ui);
    Ok(Made {
        placement,
        strategy,
    })
}

/// Lets the user choose the snapshot that a placement goes back to, by its index.
pub(in crate::commands) fn snapshot(
    placement: &ObjectRef,
    reading: &mut Reading,
    ui: &mut Ui,
) -> Result<String, Error> {
    let required = [Concept::UpdateRun, Concept::ResourceSnapshot];
    let around = around::read(reading, placement, &required, &[Concept::Binding])?;
    let inventory = &around.inventory;
    let usable = rollback::destinations(inventory);
    let good = rollback::current(inventory)
        .and_then(|now| rollback::last_good(inventory, now).ok())
        .map(|good| good.index);
    let columns = [
        Column::new(""),
        Column::new(""),
        Column::new(""),
        Column::new(""),
        Column::shrinking("", 12),
    ];
    let mut candidates = Candidates::new(columns);
    let mut first = 0;
    for version in versions(inventory).iter().rev() {
        if !usable.contains(&version.index) {
            continue;
        }
        if good == Some(version.index.as_str()) {
            first = candidates.len();
        }
        let completed = version
            .runs
            .iter()
            .map(|run| Rollout::of(inventory, run))
            .filter(|rollout| rollout.phase == Phase::Succeeded)
            .max_by_key(Rollout::ended);
        let by = completed.as_ref().map(|rollout| {
            let ago = age(rollout.ended(), reading.now).unwrap_or_default();
            format!("completed {ago} ago by {}", rollout.run.meta.name)
        });
        let mark = if version.is_latest() { "latest" } else { "" };
        candidates.add(
            version.index.clone(),
            "",
            [
                Cell::from(format!("snapshot {}", version.index)),
                Cell::from(mark),
                Cell::from(format!("on {}", count(version.bindings.len(), "cluster"))),
                Cell::from(age(version.created(), reading.now)),
                Cell::from(by.unwrap_or_else(|| "no run completed it".to_owned())),
            ],
        );
    }
    if candidates.len() == 0 {
        return Err(Error::failed(format!("{placement} has no snapshot")));
    }
    let chosen = candidates.one("Choose the snapshot to roll back to", first, reading, ui)?;
    let said = placement.scope().fleet("rollback").arg(placement.word());
    say(said.flag("--to", &chosen), reading, ui);
    Ok(chosen)
}
