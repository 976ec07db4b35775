//! Choosing runs, and the gates of runs.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::candidates::{CandidateRows, namespaced};
use super::{in_this_scope, no_candidates, reach, say};
use crate::commands::gather::eligible::RunFilter;
use crate::commands::gather::reading::SourceReading;
use crate::commands::gather::runs::{self, ReadDepth};
use crate::commands::gather::selection::ListReach;
use crate::commands::output::age;
use crate::diagnose;
use crate::error::Error;
use crate::kubefleet::{Concept, ObjectRef};
use crate::render::table::Column;
use crate::rollout::approvals::of_run;
use crate::rollout::{Rollout, StageView};
use crate::ui::Ui;
use crate::words::{CommandLine, Hint};

/// Lets the user choose a run.
pub(in crate::commands) fn run(
    eligible: &RunFilter,
    namespace: Option<&str>,
    reading: &mut SourceReading,
    ui: &mut Ui,
) -> Result<ObjectRef, Error> {
    let runs = EligibleRuns::read(eligible, namespace, reading, ui)?;
    let chosen = runs
        .candidates
        .one("Choose an update run", 0, reading, ui)?;
    let said = chosen.scope().fleet(reading.command());
    say(said.arg(runs.named_alike.name(&chosen)), reading, ui);
    Ok(chosen)
}

/// Lets the user choose one run or more. `command` completes the command that is then said.
pub(in crate::commands) fn several(
    eligible: &RunFilter,
    namespace: Option<&str>,
    reading: &mut SourceReading,
    ui: &mut Ui,
    command: impl FnOnce(CommandLine) -> CommandLine,
) -> Result<Vec<ObjectRef>, Error> {
    let runs = EligibleRuns::read(eligible, namespace, reading, ui)?;
    let what = ("Choose an update run", "Choose update runs");
    let chosen = runs.candidates.several(what, reading, ui)?;
    if let Some(first) = chosen.first() {
        let said = first.scope().fleet(reading.command());
        let names = chosen.iter().map(|run| runs.named_alike.name(run));
        say(command(names.fold(said, CommandLine::arg)), reading, ui);
    }
    Ok(chosen)
}

/// The runs that can be chosen.
struct EligibleRuns {
    candidates: CandidateRows<ObjectRef>,
    named_alike: PlacementNames,
}

/// The names of the runs' placements.
struct PlacementNames(HashSet<String>);

impl PlacementNames {
    /// What names a run: a bare name may be that of a placement too.
    fn name(&self, run: &ObjectRef) -> String {
        if self.0.contains(&run.name) {
            run.word()
        } else {
            run.name.clone()
        }
    }
}

impl EligibleRuns {
    fn read(
        eligible: &RunFilter,
        namespace: Option<&str>,
        reading: &mut SourceReading,
        ui: &mut Ui,
    ) -> Result<Self, Error> {
        let reach = reach(namespace, reading);
        let runs = runs::read(reading, &reach, ReadDepth::Verdict, |_| true)?;
        runs.warn(ui);
        let mut rollouts = runs.rollouts();
        rollouts.retain(|(_, rollout)| (eligible.is)(rollout));
        rollouts
            .sort_by_key(|(_, rollout)| (!rollout.is_live(), Reverse(rollout.run.meta.created)));
        let table = namespaced(&rollouts, |(_, it)| it.run.meta.namespace.as_str())
            .column(Column::name("NAME"), |(_, it)| &it.run.meta.name)
            .column(Column::new("VERDICT"), |(_, it)| {
                diagnose::verdict(it).as_str()
            })
            .column(Column::new("DONE").spare(2), |(_, it)| done(it))
            .column(Column::new("AGE").spare(0), |(_, it)| {
                age(it.run.meta.created, it.now)
            })
            .column(Column::shrinking("STAGE", 5).spare(1), |(_, it)| {
                it.current_stage().map(StageView::name)
            })
            .column(Column::shrinking("PLACEMENT", 9).spare(3), |(_, it)| {
                &it.run.spec.placement
            });
        let objects = rollouts.iter().map(|(_, it)| it.run.object());
        let if_none = || no_run(eligible, &reach, reading);
        let candidates = CandidateRows::new(table.table(), objects.collect(), if_none)?;
        let placements = runs.placements.iter();
        let names = placements.map(|inventory| inventory.placement_name.clone());
        Ok(Self {
            candidates,
            named_alike: PlacementNames(names.collect()),
        })
    }
}

/// How far a run has come.
fn done(rollout: &Rollout<'_>) -> String {
    let (done, total) = rollout.done_of();
    format!("{done}/{total}")
}

/// That there is no run to choose, and where there are some.
fn no_run(eligible: &RunFilter, reach: &ListReach, reading: &SourceReading) -> Error {
    let error = no_candidates(&format!("update runs{}", eligible.that), reach, reading);
    let all = CommandLine::fleet("list").switch("-A");
    error.hint(Hint::new("see all update runs:").command(reading.again(all)))
}

/// Lets the user choose among the gates that wait for a person.
pub(in crate::commands) fn gates(
    namespace: Option<&str>,
    reading: &mut SourceReading,
    ui: &mut Ui,
) -> Result<Vec<ObjectRef>, Error> {
    let reach = reach(namespace, reading);
    let runs = runs::read(reading, &reach, ReadDepth::Approvals, |_| true)?;
    runs.warn(ui);
    let rollouts = runs.rollouts();
    let waiting: Vec<_> = rollouts
        .iter()
        .flat_map(|(inventory, rollout)| {
            let gates = of_run(rollout).into_iter();
            let gates = gates.filter(|gate| gate.gate.state.needs_a_person());
            gates.map(move |gate| (&inventory.scope, rollout, gate))
        })
        .collect();
    let table = namespaced(&waiting, |(scope, ..)| scope.namespace())
        .column(Column::name("REQUEST"), |(.., gate)| gate.request())
        .column(Column::new("STATE"), |(.., gate)| {
            gate.gate.state.describe()
        })
        .column(Column::new("DONE").spare(0), |(_, it, _)| done(it))
        .column(Column::new("SINCE").spare(1), |(.., gate)| {
            age(gate.gate.since, reading.now)
        })
        .column(Column::shrinking("PLACEMENT", 9).spare(2), |(.., gate)| {
            &gate.placement
        })
        .table();
    let requests = waiting.iter();
    let requests =
        requests.map(|(scope, _, gate)| scope.object(Concept::ApprovalRequest, gate.request()));
    let if_none = || {
        let scope = in_this_scope(&reach);
        let all = CommandLine::fleet("approvals").switch("-A");
        Error::failed(format!("no gate waits for an approval{scope}"))
            .hint(Hint::new("see all approvals:").command(all))
    };
    let what = "Choose what to approve";
    let candidates = CandidateRows::new(table, requests.collect(), if_none)?;
    let chosen = candidates.several((what, what), reading, ui)?;
    for request in &chosen {
        say(request.fleet("approve"), reading, ui);
    }
    Ok(chosen)
}
