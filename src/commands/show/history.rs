//! `history`: which runs rolled out which version, and what of it still holds.

mod document;
mod notes;

use clap::Args;
use jiff::{SignedDuration, Timestamp};

use crate::commands::gather::argument::{ArgumentKind, ChosenAtTerminal};
use crate::commands::gather::reading::InputArgs;
use crate::commands::gather::session::Session;
use crate::commands::gather::{placement_objects, runs};
use crate::commands::output::Output;
use crate::commands::show::clusters::shown_index;
use crate::commands::show::list::compared;
use crate::diagnose;
use crate::error::Error;
use crate::exit::Exit;
use crate::kubefleet::{Concept, duration};
use crate::render::style::verdict_style;
use crate::render::table::{Cell, Column, Table};
use crate::render::wrap::{hanging, list};
use crate::rollout::approvals::{Approval, of_run};
use crate::rollout::history::{History, RunEpisode, history};
use crate::rollout::{Gate, GateState, StageState, StageView, TaskState};
use crate::ui::Ui;
pub use document::HistoryView;
use notes::{HistoryNote, NoteSeverity, notes};

/// Show a placement's rollout history
///
/// Lists the placement's runs: snapshot, time, duration of each stage, approvers if the requests
/// name them, and outcome. Then lists which clusters run each version now, according to their
/// bindings. A run stays Succeeded even after another run replaces its snapshot. Notes point out
/// rollouts that replaced a newer version with an older one, and runs that got outdated content.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage history example-placement\n  \
    kubectl fleet-stage history rp/web-app -n my-app-namespace -o wide\n  \
    kubectl fleet-stage history example-placement -o json | jq '.notes[].message'")]
pub struct HistoryArgs {
    /// Placement or a run on it: NAME, crp/NAME, csur/NAME, or with -n rp/NAME, sur/NAME
    /// [default: at a terminal, chosen from a list]
    #[arg(required = true, add = ArgumentKind::Targets, add = ChosenAtTerminal)]
    placement: Option<String>,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    output: Output,
}

pub fn run(args: &HistoryArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    let mut reading = session.open(&args.input, "history")?;
    let target = reading.placement_or_chosen(args.placement.as_deref(), session.ui)?;
    let useful = [
        Concept::ApprovalRequest,
        Concept::Binding,
        Concept::ResourceSnapshot,
    ];
    let around = placement_objects::read(&mut reading, &target, &[Concept::UpdateRun], &useful)?;
    runs::warn(&around.gaps, session.ui);
    let history = history(&around.inventory);
    let notes = notes(&history, &around.inventory);
    if history.runs.is_empty() {
        session.ui.status(&format!(
            "{} has no update run on {target}",
            reading.place()
        ));
    }
    let verbose = session.global.verbose;
    args.output.print(
        session.ui,
        |output, ui| {
            let wide = output.is_wide();
            let mut text = output.draw(&episodes(&history, wide), ui);
            let now = clusters(&history, &around.inventory, wide || verbose);
            if !text.is_empty() && !now.is_empty() {
                text.push('\n');
            }
            text.push_str(&output.draw(&now, ui));
            write_notes(&mut text, &notes, ui);
            text
        },
        history.runs.iter().map(|it| it.rollout.run.object()),
        || HistoryView::new(&target, &history, notes.clone(), around.gaps.clone()),
    )?;
    Ok(Exit::Done)
}

fn write_notes(text: &mut String, notes: &[HistoryNote], ui: &Ui) {
    if notes.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    for note in notes {
        let label = if note.severity == NoteSeverity::Info {
            "note:".to_owned()
        } else {
            ui.paint().warning("note:")
        };
        hanging(
            text,
            &format!("{label} "),
            "      ",
            &note.message,
            ui.width(),
        );
        if let Some(command) = &note.command {
            let command = ui.invocation().command(command);
            let line = ["        ", &ui.paint().command(&command), "\n"];
            text.push_str(&line.concat());
        }
    }
}

/// A moment, to the minute or second, in UTC.
fn moment(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

fn time_between(start: Option<Timestamp>, end: Option<Timestamp>) -> Option<SignedDuration> {
    Some(end?.duration_since(start?))
}

fn episodes(history: &History<'_>, wide: bool) -> Table {
    let mut columns = vec![
        Column::name("RUN"),
        Column::new("SNAPSHOT"),
        Column::new("STATE"),
        Column::new("DONE").spare(2),
        Column::new("STARTED (UTC)").spare(1),
        Column::new("TOOK").spare(0),
    ];
    if wide {
        columns.extend([
            Column::new("STILL ON"),
            Column::new("REQUESTED"),
            Column::new("STRATEGY"),
            Column::new("ENDED (UTC)"),
        ]);
    }
    let mut table = Table::new(columns);
    for episode in &history.runs {
        let rollout = &episode.rollout;
        let run = rollout.run;
        let verdict = diagnose::verdict(rollout);
        let (started, ended) = (rollout.started(), rollout.ended());
        let (done, total) = rollout.done_of();
        let mut cells = vec![
            Cell::from(&run.meta.name),
            Cell::from(
                if episode.earlier && !run.status.snapshot_index.is_empty() {
                    format!("{} (earlier)", run.status.snapshot_index)
                } else {
                    run.status.snapshot_index.clone()
                },
            ),
            Cell::styled(verdict.as_str(), verdict_style(verdict)),
            Cell::from(format!("{done}/{total}{}", compared(rollout))),
            Cell::from(started.map(moment)),
            Cell::from(took(started, ended, rollout.now)),
        ];
        if wide {
            cells.extend([
                Cell::from(episode.holds.len()),
                Cell::from(&run.spec.snapshot_index),
                Cell::from(&run.spec.strategy),
                Cell::from(ended.map(moment)),
            ]);
        }
        table.row(cells);
        let approvals = of_run(rollout);
        for stage in &rollout.stages {
            // What a run has not reached is worth a row while it may come there.
            let comes = rollout.is_live() && started.is_some();
            let reached = wide || comes || stage.state != StageState::NotReached;
            if reached && (!stage.deletes || !stage.clusters.is_empty()) {
                stage_rows(&mut table, episode, stage, &approvals);
            }
        }
    }
    table
}

/// How long it took, or has taken so far.
fn took(started: Option<Timestamp>, ended: Option<Timestamp>, now: Timestamp) -> Option<String> {
    match time_between(started, ended) {
        Some(took) => Some(duration::describe(took)),
        None => {
            started.map(|started| format!("{} …", duration::describe(now.duration_since(started))))
        }
    }
}

fn stage_rows(
    table: &mut Table,
    episode: &RunEpisode<'_>,
    stage: &StageView<'_>,
    approvals: &[Approval],
) {
    let rollout = &episode.rollout;
    let done = stage.done();
    let (started, ended) = (stage.status.started, stage.status.ended);
    let live = !stage.state.is_settled() && rollout.is_live();
    table.row([
        Cell::from(stage.name()).indented(2),
        Cell::blank(),
        Cell::from(stage.state.describe()),
        Cell::from(format!("{done}/{}", stage.clusters.len())),
        Cell::from(started.map(moment)),
        Cell::from(if ended.is_some() || live {
            took(started, ended, rollout.now)
        } else {
            None
        }),
    ]);
    for approval in approvals
        .iter()
        .filter(|approval| approval.gate.stage == stage.status.name)
    {
        let answered = approval.gate.answer.is_some();
        if matches!(
            approval.gate.state,
            GateState::NotReached | GateState::RunOver
        ) && !answered
        {
            continue;
        }
        let time = approval.gate.side();
        let text = format!("{time}: {}", describe_approval(approval, rollout.now));
        table.line(Cell::from(text).indented(4));
    }
    for gate in stage.gates.iter().filter(|gate| gate.task.is_timed_wait()) {
        if let Some(text) = waited(gate) {
            table.line(Cell::from(text).indented(4));
        }
    }
}

/// What became of an approval, in a few words.
fn describe_approval(approval: &Approval, now: Timestamp) -> String {
    let answer = approval.gate.answer.as_ref();
    let by = match answer.map(|answer| (&answer.by, &answer.with)) {
        Some((Some(by), _)) => format!(" by {by}"),
        Some((None, Some(with))) => format!(" with {with}"),
        _ => String::new(),
    };
    let text = answer
        .and_then(|answer| match answer.by {
            Some(_) => answer.reason.as_deref(),
            None => Some(answer.message.as_str()).filter(|text| !text.is_empty()),
        })
        .map_or_else(String::new, |text| format!(" ({text:?})"));
    let after = time_between(approval.gate.since, answer.and_then(|answer| answer.at))
        .filter(|waited| !waited.is_negative())
        .map_or_else(String::new, |waited| {
            format!(" after {}", duration::describe(waited))
        });
    match approval.gate.state {
        GateState::Accepted if answer.is_some_and(|answer| answer.is_too_late) => {
            format!("approved; withdrawn{by} too late{text}")
        }
        GateState::Accepted | GateState::Approved => {
            format!("approved{by}{after}{text}")
        }
        GateState::Pending => {
            let asked = approval.gate.since.map(|asked| now.duration_since(asked));
            format!("approval pending{}", duration::lasting(asked))
        }
        GateState::Ignored => format!("approved{by}, which KubeFleet ignores{text}"),
        other => format!("approval {}", other.describe()),
    }
}

/// What became of a timed wait; nothing before it began.
fn waited(gate: &Gate<'_>) -> Option<String> {
    let wait = gate.wait().map(duration::describe).unwrap_or_default();
    let time = gate.time.as_str();
    match gate.state {
        TaskState::NotReached => None,
        TaskState::Done => Some(format!("{time}: waited {wait}").trim_end().to_owned()),
        TaskState::Open => Some(match gate.until() {
            Some(until) => format!("{time}: waiting until {}", moment(until)),
            None => format!("{time}: waiting"),
        }),
    }
}

/// Names of clusters, before the rest is only counted.
const NAMED: usize = 5;

fn clusters(history: &History<'_>, inventory: &crate::inventory::Inventory, all: bool) -> Table {
    let most = if all { usize::MAX } else { NAMED };
    Table::of(&history.now)
        .column(Column::new("NOW ON"), |it| {
            Some(shown_index(it.index?, it.undelivered))
        })
        .column(Column::name("WRITTEN BY"), |it| {
            let writer = it.writer.as_deref()?;
            let known = inventory.run_on(writer).is_some();
            Some(if known || !inventory.runs.is_complete() {
                writer.to_owned()
            } else {
                format!("{writer} (deleted)")
            })
        })
        .column(Column::new("SINCE (UTC)").spare(0), |it| {
            it.since.map(moment)
        })
        .column(Column::number("CLUSTERS"), |it| it.clusters.len())
        .column(Column::wrapping("NAMES", 10), |it| list(&it.clusters, most))
        .table()
}
