//! Choosing what a new run is made of: placement, strategy, and snapshot.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::candidates::{CandidateRows, namespaced};
use super::{no_candidates, reach, say};
use crate::commands::gather::reading::SourceReading;
use crate::commands::gather::runs::{self, ReadDepth};
use crate::commands::gather::selection::ListReach;
use crate::commands::gather::{names, placement_objects};
use crate::commands::output::age;
use crate::diagnose;
use crate::error::Error;
use crate::inventory::Inventory;
use crate::inventory::source::{HubQuery, all_of};
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::placement::Placement;
use crate::kubefleet::strategy::Strategy;
use crate::kubefleet::{Concept, Kind, ObjectRef, Scope};
use crate::render::table::{Column, Table};
use crate::report::Verdict;
use crate::rollout::versions::{Version, versions};
use crate::rollout::{Phase, Rollout, rollback};
use crate::ui::Ui;
use crate::words::{CommandLine, Hint};

pub fn placement(reading: &mut SourceReading, ui: &mut Ui) -> Result<ObjectRef, Error> {
    let reach = reach(reading);
    let answers = reading.list_all(&reach.queries(Concept::Placement))?;
    let row = |_: &Inventory, rollout: &Rollout<'_>| {
        let (run, verdict) = (rollout.run, diagnose::verdict(rollout));
        (run.placement(), run.meta.created, verdict)
    };
    let runs = runs::rows(reading, &reach, ReadDepth::VerdictIfListed, |_| true, row)?;
    let mut newest: BTreeMap<ObjectRef, (Option<Timestamp>, String, Verdict)> = BTreeMap::new();
    for (run, (placement, created, verdict)) in runs.runs {
        let seen = newest.get(&placement);
        if seen.is_none_or(|(seen, ..)| *seen < created) {
            newest.insert(placement, (created, run.name, verdict));
        }
    }
    let placements: Vec<_> = all_of::<Placement>(&answers)
        .map(|placement| (placement.object(), placement.meta.created))
        .collect();
    let table = namespaced(&placements, |(it, _)| it.namespace.as_str())
        .column(Column::name("PLACEMENT"), |(it, _)| &it.name)
        .column(Column::new("VERDICT"), |(it, _)| {
            newest
                .get(it)
                .map_or("no run", |(.., verdict)| verdict.as_str())
        })
        .column(Column::new("AGE").spare(0), |(_, created)| {
            age(*created, reading.now)
        })
        .column(Column::shrinking("NEWEST RUN", 10).spare(1), |(it, _)| {
            newest.get(it).map(|(_, run, _)| run)
        })
        .table();
    let objects = placements.iter().map(|(it, _)| it.clone()).collect();
    let if_none = || {
        let error = no_candidates("placements", &reach, reading);
        error.hint("to choose from the placements in a namespace, use -n NAMESPACE")
    };
    CandidateRows::new(table, objects, if_none)?.one("Choose a placement", 0, reading, ui)
}

/// Lets the user choose a placement, and says it as the command's only name.
pub fn named_placement(reading: &mut SourceReading, ui: &mut Ui) -> Result<ObjectRef, Error> {
    let chosen = placement(reading, ui)?;
    say(chosen.fleet(reading.command()), reading, ui);
    Ok(chosen)
}

fn strategy(scope: &Scope, reading: &mut SourceReading, ui: &mut Ui) -> Result<String, Error> {
    let reach = ListReach::one(scope.clone());
    let answers = reading.list_all(&reach.queries(Concept::Strategy))?;
    let strategies: Vec<_> = all_of::<Strategy>(&answers).collect();
    let table = Table::of(&strategies)
        .column(Column::name("STRATEGY"), |it| &it.meta.name)
        .column(Column::new("STAGES"), |it| it.spec.stages.len())
        .column(Column::new("AGE").spare(0), |it| {
            age(it.meta.created, reading.now)
        })
        .column(Column::ending("NAMES", 12), |it| {
            let names = it.spec.stages.iter().map(|stage| stage.name.as_str());
            names.collect::<Vec<_>>().join(", ")
        })
        .table();
    let names = strategies.iter().map(|it| it.meta.name.clone()).collect();
    let if_none = || {
        let all = CommandLine::fleet("strategies").switch("-A");
        no_candidates("strategies", &reach, reading).hint(Hint::new("see all:").command(all))
    };
    CandidateRows::new(table, names, if_none)?.one("Choose a strategy", 0, reading, ui)
}

/// Lets the user choose a strategy, and says it as the command's only name.
pub fn named_strategy(reading: &mut SourceReading, ui: &mut Ui) -> Result<ObjectRef, Error> {
    let scope = reading.scope();
    let chosen = strategy(&scope, reading, ui)?;
    let object = scope.object(Concept::Strategy, &chosen);
    say(object.fleet(reading.command()), reading, ui);
    Ok(object)
}

pub fn member(
    command: CommandLine,
    reading: &mut SourceReading,
    ui: &mut Ui,
) -> Result<String, Error> {
    let answers = reading.list_all(&[HubQuery::all(Kind::MemberCluster, "")])?;
    let members: Vec<_> = all_of::<MemberCluster>(&answers).collect();
    let table = Table::of(&members)
        .column(Column::name("CLUSTER"), |it| &it.meta.name)
        .column(Column::new("AGE").spare(0), |it| {
            age(it.meta.created, reading.now)
        })
        .table();
    let names = members.iter().map(|it| it.meta.name.clone()).collect();
    let if_none = || Error::failed(format!("{} has no member clusters", reading.place()));
    let candidates = CandidateRows::new(table, names, if_none)?;
    let chosen = candidates.one("Choose a member cluster", 0, reading, ui)?;
    say(command.flag("--member", &chosen), reading, ui);
    Ok(chosen)
}

/// What a command line says a new run is made of.
pub struct MadeOf {
    pub placement: Option<ObjectRef>,
    pub strategy: Option<String>,
    /// Whether the strategy is read from somewhere else.
    pub has_strategy: bool,
}

impl MadeOf {
    /// What these words mean in a scope.
    pub fn new(
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
            has_strategy: false,
        })
    }

    /// The placement, and the name of the strategy unless it is read from somewhere else; of these the
    /// user chooses what was not given. `command` is what then names them.
    pub fn completed(
        self,
        command: CommandLine,
        reading: &mut SourceReading,
        ui: &mut Ui,
    ) -> Result<(ObjectRef, Option<String>), Error> {
        let needs_strategy = self.strategy.is_none() && !self.has_strategy;
        let placement = match self.placement {
            Some(placement) if !needs_strategy => return Ok((placement, self.strategy)),
            None if !ui.offers_choices() => return Err(Error::usage("--placement is missing")),
            Some(_) if !ui.offers_choices() => return Err(Error::usage("--strategy is missing")),
            Some(placement) => placement,
            None => placement(reading, ui)?,
        };
        let strategy = if needs_strategy {
            Some(strategy(&placement.scope(), reading, ui)?)
        } else {
            self.strategy
        };
        let command = command.namespace(&placement.namespace);
        let said = command.flag("--placement", &placement.name);
        let said = said.flag_of("--strategy", strategy.as_ref());
        say(said, reading, ui);
        Ok((placement, strategy))
    }
}

/// Lets the user choose the snapshot that a placement goes back to, by its index.
pub fn snapshot(
    placement: &ObjectRef,
    reading: &mut SourceReading,
    ui: &mut Ui,
) -> Result<String, Error> {
    let required = [Concept::UpdateRun, Concept::ResourceSnapshot];
    let around = placement_objects::read(reading, placement, &required, &[Concept::Binding])?;
    let inventory = &around.inventory;
    let usable = rollback::destinations(inventory);
    let good = rollback::current(inventory)
        .and_then(|now| rollback::last_good(inventory, now).ok())
        .map(|good| good.index);
    let versions = versions(inventory);
    let versions: Vec<_> = versions
        .iter()
        .rev()
        .filter(|version| usable.contains(&version.index))
        .collect();
    let is_good = |version: &&Version<'_>| good == Some(version.index.as_str());
    let first = versions.iter().position(is_good).unwrap_or_default();
    let table = Table::of(&versions)
        .column(Column::name("SNAPSHOT"), |it| {
            let mark = if it.is_latest() { " (latest)" } else { "" };
            format!("{}{mark}", it.index)
        })
        .column(Column::new("CLUSTERS"), |it| it.bindings.len())
        .column(Column::new("AGE").spare(0), |it| {
            age(it.created(), reading.now)
        })
        .column(Column::shrinking("COMPLETED", 12), |it| {
            let runs = it.runs.iter().map(|run| Rollout::of(inventory, run));
            let completed = runs.filter(|rollout| rollout.phase == Phase::Succeeded);
            let Some(last) = completed.max_by_key(Rollout::ended) else {
                return "by no run".to_owned();
            };
            let ago = age(last.ended(), reading.now).unwrap_or_default();
            format!("{ago} ago by {}", last.run.meta.name)
        })
        .table();
    let indexes = versions.iter().map(|it| it.index.clone()).collect();
    let if_none = || Error::failed(format!("{placement} has no snapshot"));
    let candidates = CandidateRows::new(table, indexes, if_none)?;
    let chosen = candidates.one("Choose the snapshot to roll back to", first, reading, ui)?;
    let said = placement.scope().fleet("rollback").arg(placement.word());
    say(said.flag("--to", &chosen), reading, ui);
    Ok(chosen)
}
