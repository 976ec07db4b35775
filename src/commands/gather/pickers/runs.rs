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
use crate::inventory::Inventory;
use crate::kubefleet::{Concept, ObjectRef};
use crate::render::table::Column;
use crate::report::RunFacts;
use crate::rollout::Rollout;
use crate::rollout::approvals::of_run;
use crate::ui::Ui;
use crate::words::{CommandLine, Hint};

pub fn run(
    eligible: &RunFilter,
    reading: &mut SourceReading,
    ui: &mut Ui,
) -> Result<ObjectRef, Error> {
    let runs = eligible_runs(eligible, reading, ui)?;
    let (chosen, word) = runs.one("Choose an update run", 0, reading, ui)?;
    let said = chosen.scope().fleet(reading.command());
    say(said.arg(word), reading, ui);
    Ok(chosen)
}

/// Lets the user choose one run or more. `command` completes the command that is then said.
pub fn several(
    eligible: &RunFilter,
    reading: &mut SourceReading,
    ui: &mut Ui,
    command: impl FnOnce(CommandLine) -> CommandLine,
) -> Result<Vec<ObjectRef>, Error> {
    let runs = eligible_runs(eligible, reading, ui)?;
    let what = ("Choose an update run", "Choose update runs");
    let chosen = runs.several(what, reading, ui)?;
    let (chosen, words): (Vec<_>, Vec<_>) = chosen.into_iter().unzip();
    if let Some(first) = chosen.first() {
        let said = first.scope().fleet(reading.command());
        say(command(said.args(words)), reading, ui);
    }
    Ok(chosen)
}

/// The runs that can be chosen, each with the word that names it: a bare name may be that of a placement
/// too.
fn eligible_runs(
    eligible: &RunFilter,
    reading: &mut SourceReading,
    ui: &mut Ui,
) -> Result<CandidateRows<(ObjectRef, String)>, Error> {
    let reach = reach(reading);
    let row = |_: &Inventory, rollout: &Rollout<'_>| {
        let facts = RunFacts::listed(rollout, diagnose::verdict(rollout));
        ((eligible.is)(rollout), rollout.is_live(), facts)
    };
    let rows = runs::rows(reading, &reach, ReadDepth::Verdict, |_| true, row)?;
    runs::warn(&rows.gaps, ui);
    let mut runs = rows.runs;
    let placements = runs.iter().map(|(_, (.., it))| it.placement.clone());
    let placements: HashSet<_> = placements.collect();
    runs.retain(|(_, (is_eligible, ..))| *is_eligible);
    runs.sort_by_key(|(_, (_, is_live, it))| (!is_live, Reverse(it.created)));
    let table = namespaced(&runs, |(run, _)| run.namespace.as_str())
        .column(Column::name("NAME"), |(run, _)| &run.name)
        .column(Column::new("VERDICT"), |(_, (.., it))| it.verdict.as_str())
        .column(Column::new("DONE").spare(2), |(_, (.., it))| {
            done((it.done, it.total))
        })
        .column(Column::new("AGE").spare(0), |(_, (.., it))| {
            age(it.created, reading.now)
        })
        .column(Column::shrinking("STAGE", 5).spare(1), |(_, (.., it))| {
            it.stage.as_ref()
        })
        .column(
            Column::shrinking("PLACEMENT", 9).spare(3),
            |(_, (.., it))| &it.placement,
        )
        .table();
    let named = |run: ObjectRef| {
        let word = placements.contains(&run.name).then(|| run.word());
        let word = word.unwrap_or_else(|| run.name.clone());
        (run, word)
    };
    let runs = runs.into_iter().map(|(run, _)| named(run)).collect();
    CandidateRows::new(table, runs, || no_run(eligible, &reach, reading))
}

/// How far a run has come.
fn done((done, total): (usize, usize)) -> String {
    format!("{done}/{total}")
}

fn no_run(eligible: &RunFilter, reach: &ListReach, reading: &SourceReading) -> Error {
    let error = no_candidates(&format!("update runs{}", eligible.that), reach, reading);
    let all = CommandLine::fleet("list").switch("-A");
    error.hint(Hint::new("see all update runs:").command(reading.again(all)))
}

/// Lets the user choose among the gates that wait for a person.
pub fn gates(reading: &mut SourceReading, ui: &mut Ui) -> Result<Vec<ObjectRef>, Error> {
    let reach = reach(reading);
    let row = |_: &Inventory, rollout: &Rollout<'_>| {
        let mut gates = of_run(rollout);
        gates.retain(|gate| gate.gate.state.needs_a_person());
        (gates, done(rollout.done_of()))
    };
    let rows = runs::rows(reading, &reach, ReadDepth::Approvals, |_| true, row)?;
    runs::warn(&rows.gaps, ui);
    let mut waiting = Vec::new();
    for (run, (gates, done)) in rows.runs {
        for gate in gates {
            let request = run.scope().object(Concept::ApprovalRequest, gate.request());
            waiting.push((request, done.clone(), gate));
        }
    }
    let table = namespaced(&waiting, |(request, ..)| request.namespace.as_str())
        .column(Column::name("REQUEST"), |(request, ..)| &request.name)
        .column(Column::new("STATE"), |(.., gate)| {
            gate.gate.state.describe()
        })
        .column(Column::new("DONE").spare(0), |(_, done, _)| done)
        .column(Column::new("SINCE").spare(1), |(.., gate)| {
            age(gate.gate.since, reading.now)
        })
        .column(Column::shrinking("PLACEMENT", 9).spare(2), |(.., gate)| {
            &gate.placement
        })
        .table();
    let requests = waiting.iter().map(|(request, ..)| request.clone());
    let requests = requests.collect();
    let if_none = || {
        let scope = in_this_scope(&reach);
        let all = CommandLine::fleet("approvals").switch("-A");
        Error::failed(format!("no gate waits for an approval{scope}"))
            .hint(Hint::new("see all approvals:").command(all))
    };
    let what = "Choose what to approve";
    let candidates = CandidateRows::new(table, requests, if_none)?;
    let chosen = candidates.several((what, what), reading, ui)?;
    for request in &chosen {
        say(request.fleet("approve"), reading, ui);
    }
    Ok(chosen)
}
