//! The stages of a run that is followed: a bar for each, in the columns and rows that there are.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

use super::current;
use crate::diagnose::status::Status;
use crate::kubefleet::duration;
use crate::render::style::TextPaint;
use crate::render::table::cut_middle;
use crate::render::tone::ColorTone;
use crate::render::tree::{groups, lasting, wait};
use crate::render::wrap::{list, shares};
use crate::render::{escape, meter};
use crate::rollout::{GateFacts, GateState, StageProgress, StageState};
use crate::words::count;

/// Names of clusters in one line, before the rest is only counted.
const NAMED: usize = 3;
/// The columns that a stage's name may always have.
const NAME: usize = 6;
/// What stands between two columns.
const GAP: &str = "  ";

/// In which room bars are drawn, and what is said around them.
#[derive(Debug, Clone, Copy)]
pub struct BarFrame<'f> {
    /// What is waited for, in words.
    pub wanted: &'f str,
    /// Why hubs do not answer at the moment.
    pub away: &'f [String],
    pub columns: usize,
    pub rows: usize,
    pub paint: TextPaint,
}

#[derive(Debug, Clone, Copy)]
pub struct BarRun<'r> {
    pub label: &'r str,
    pub status: Option<&'r Status>,
    pub is_over: bool,
}

/// Draws a state. No line has more columns than there are, and there are no more lines than rows.
pub fn bars(status: &Status, frame: &BarFrame<'_>) -> Vec<String> {
    let lead = escape::line(&format!("waiting for {}:", frame.wanted));
    let (text, rest) = head(&lead, status);
    let lines = vec![if text.width() <= frame.columns {
        format!("{lead} {}{rest}", frame.paint.verdict(status.verdict))
    } else {
        // Whoever waits knows for what.
        cut(&format!("{}{rest}", status.verdict.as_str()), frame.columns)
    }];
    framed(lines, frame, |rows| {
        let stages = status.run.as_ref().map_or(&[][..], |it| &it.stages);
        some(stages, status, rows, frame)
    })
}

/// The same for several runs, which share the rows; `pending` are hubs that have told nothing yet.
pub fn all_bars(runs: &[BarRun<'_>], pending: &[&str], frame: &BarFrame<'_>) -> Vec<String> {
    let over = runs.iter().filter(|run| run.is_over).count();
    let of = count(runs.len(), "run");
    let mut lead = format!("waiting for {}: {over} of {of} done", frame.wanted);
    if !pending.is_empty() {
        lead = format!("{lead}, no answer yet: {}", list(pending, NAMED));
    }
    framed(vec![cut(&lead, frame.columns)], frame, |rows| {
        let inner = BarFrame {
            columns: frame.columns.saturating_sub(GAP.len()),
            ..*frame
        };
        let block = |run: &BarRun<'_>, rows: usize| {
            let mut lines = vec![run.head(frame)];
            if let Some(status) = run.status.filter(|_| !run.is_over) {
                let stages = status.run.as_ref().map_or(&[][..], |it| &it.stages);
                let stages = some(stages, status, rows.saturating_sub(1), &inner);
                lines.extend(stages.iter().map(|line| format!("{GAP}{line}")));
            }
            lines.truncate(rows);
            lines
        };
        let mut runs = runs.to_vec();
        if runs.len() > rows {
            // Those that are waited for come first.
            runs.sort_by_key(|run| run.is_over);
        }
        let whole: Vec<_> = runs
            .iter()
            .map(|run| block(run, frame.rows).len())
            .collect();
        let hidden = runs.len().saturating_sub(rows);
        // One row says how many have none.
        let rows = rows.saturating_sub(usize::from(hidden > 0));
        let shares = shares(&whole, rows);
        let blocks = runs.iter().zip(&shares);
        let mut lines: Vec<_> = blocks.flat_map(|(run, share)| block(run, *share)).collect();
        let hidden = shares.iter().filter(|share| **share == 0).count();
        if hidden > 0 {
            let text = format!("… {}", count(hidden, "more run"));
            lines.push(frame.paint.dim(&cut(&text, frame.columns)));
        }
        lines
    })
}

impl BarRun<'_> {
    /// How far it has come.
    fn head(&self, frame: &BarFrame<'_>) -> String {
        let label = escape::line(&format!("{}:", self.label));
        let Some(status) = self.status else {
            return cut(&format!("{label} no longer followed"), frame.columns);
        };
        let (text, rest) = head(&label, status);
        if text.width() <= frame.columns {
            let verdict = frame.paint.verdict(status.verdict);
            format!("{} {verdict}{rest}", frame.paint.bold(&label))
        } else {
            cut(&text, frame.columns)
        }
    }
}

/// What is drawn, and below it which hubs do not answer.
fn framed(
    mut lines: Vec<String>,
    frame: &BarFrame<'_>,
    inner: impl FnOnce(usize) -> Vec<String>,
) -> Vec<String> {
    let away = frame.away.iter().map(|why| {
        let text = format!("warning: {why}; retrying");
        frame.paint.warning(&cut(&text, frame.columns))
    });
    let rows = frame.rows.saturating_sub(lines.len() + away.len());
    lines.extend(inner(rows));
    lines.extend(away);
    lines.truncate(frame.rows);
    lines
}

/// How far a run has come, behind what is said before that, and without.
fn head(lead: &str, status: &Status) -> (String, String) {
    let progress = status.run.as_ref().filter(|it| it.total > 0);
    let rest = progress.map_or_else(String::new, |progress| {
        format!(", {}/{} clusters done", progress.done, progress.total)
    });
    (format!("{lead} {}{rest}", status.verdict.as_str()), rest)
}

/// The stages that have room: those around the current one, and how many others there are.
fn some(
    stages: &[StageProgress],
    status: &Status,
    rows: usize,
    frame: &BarFrame<'_>,
) -> Vec<String> {
    let columns = BarColumns::of(stages, frame.columns);
    let blocks: Vec<_> = stages
        .iter()
        .map(|stage| {
            let mut lines = vec![columns.row(stage, frame)];
            lines.extend(notes(stage, status, frame));
            lines
        })
        .collect();
    let pending = || {
        let mut stages = stages.iter();
        stages.position(|stage| stage.state == StageState::NotReached)
    };
    let last = stages.len().saturating_sub(1);
    let at = current(stages).or_else(pending).unwrap_or(last);
    let (mut first, mut end) = (at, stages.len().min(at + 1));
    let fits = |first: usize, end: usize| {
        let shown = blocks.get(first..end);
        let lines: Option<usize> = shown.map(|shown| shown.iter().map(Vec::len).sum());
        let marks = usize::from(first > 0) + usize::from(end < blocks.len());
        lines.is_some_and(|lines| lines + marks <= rows)
    };
    if !fits(first, end) {
        let mut only = blocks.into_iter().nth(at).unwrap_or_default();
        only.truncate(rows);
        return only;
    }
    loop {
        let before = (first, end);
        if fits(first, end + 1) {
            end += 1;
        }
        if first > 0 && fits(first - 1, end) {
            first -= 1;
        }
        if (first, end) == before {
            break;
        }
    }
    let (earlier, later) = (&stages[..first], &stages[end..]);
    let mut lines = Vec::from_iter(left_out(earlier, "before", frame));
    lines.extend(blocks[first..end].concat());
    lines.extend(left_out(later, "after", frame));
    lines
}

fn left_out(stages: &[StageProgress], side: &str, frame: &BarFrame<'_>) -> Option<String> {
    let done: usize = stages.iter().map(StageProgress::done).sum();
    let total: usize = stages.iter().map(|stage| stage.clusters.len()).sum();
    let what = count(stages.len(), "stage");
    let text = format!("… {what} {side}: {done}/{total} clusters done");
    let text = frame.paint.dim(&cut(&text, frame.columns));
    (!stages.is_empty()).then_some(text)
}

/// How the columns of all rows share the room.
struct BarColumns {
    name: usize,
    meter: usize,
    counts: usize,
}

impl BarColumns {
    /// Names and numbers come first; a meter is for those who have room for it.
    fn of(stages: &[StageProgress], room: usize) -> Self {
        let widest = |of: fn(&StageProgress) -> String| {
            let widths = stages.iter().map(|stage| of(stage).width());
            widths.max().unwrap_or(0)
        };
        Self {
            name: widest(name).min(NAME.max(room / 4)),
            meter: match room {
                0..45 => 0,
                45..65 => 10,
                65..90 => 20,
                _ => 30,
            },
            counts: widest(counts),
        }
    }

    fn row(&self, stage: &StageProgress, frame: &BarFrame<'_>) -> String {
        let paint = frame.paint;
        let text = cut(&name(stage), self.name);
        let fill = self.name.saturating_sub(text.width());
        let counts = format!("{:>1$}", counts(stage), self.counts);
        let meter = if self.meter > 0 {
            self.meter + 2 + GAP.len()
        } else {
            0
        };
        let used = self.name + meter + GAP.len() + counts.width();
        if used > frame.columns {
            return cut(&format!("{text} {}", counts.trim_start()), frame.columns);
        }
        let mut row = if stage.state.is_settled() {
            text
        } else {
            paint.bold(&text)
        };
        row.push_str(&" ".repeat(fill));
        if self.meter > 0 {
            let _ = write!(row, "{GAP}[{}]", meter::meter(stage, self.meter, paint));
        }
        let _ = write!(row, "{GAP}{counts}");
        let words = words(stage, frame.columns.saturating_sub(used + GAP.len()));
        if !words.is_empty() {
            let _ = write!(row, "{GAP}{}", paint.stage_state(stage.state, &words));
        }
        row
    }
}

fn name(stage: &StageProgress) -> String {
    escape::line(stage.label())
}

fn counts(stage: &StageProgress) -> String {
    format!("{}/{}", stage.done(), stage.clusters.len())
}

/// A stage's state, in as many words as fit.
fn words(stage: &StageProgress, room: usize) -> String {
    let state = stage.state.describe();
    let mut choices = Vec::new();
    if let (StageState::Done, Some(started), Some(ended)) =
        (stage.state, stage.started, stage.ended)
    {
        let took = duration::describe(ended.duration_since(started));
        choices.push(format!("done after {took}"));
    }
    let used = stage.in_flight();
    if used > 0 && !stage.deletes {
        let slots = stage.concurrency;
        choices.push(format!(
            "{state}, {used} of {} in use",
            count(slots, "slot")
        ));
        choices.push(format!("{state}, {used}/{slots} slots"));
        choices.push(format!("{used}/{slots} slots"));
    }
    choices.push(state.to_owned());
    let fitting = choices.into_iter().find(|words| words.width() <= room);
    fitting.unwrap_or_else(|| cut(state, room))
}

/// What a stage waits for: clusters, and gates.
fn notes(stage: &StageProgress, status: &Status, frame: &BarFrame<'_>) -> Vec<String> {
    let room = frame.columns.saturating_sub(GAP.len());
    let mut lines = Vec::new();
    for (state, clusters) in groups(stage) {
        if ColorTone::of_cluster(state) == ColorTone::Bad {
            let names: Vec<_> = clusters.iter().map(|cluster| &cluster.name).collect();
            let text = |most| {
                let names = list(&names, most);
                format!("{} {}: {names}", clusters.len(), state.describe())
            };
            let fitting = (1..=NAMED).rev().map(text);
            let fitting = fitting.map(|text| escape::line(&text));
            let fitting = fitting.into_iter().find(|text| text.width() <= room);
            let text = fitting.unwrap_or_else(|| cut(&text(1), room));
            lines.push(format!("{GAP}{}", frame.paint.error(&text)));
        }
    }
    let gates = status.gates.iter().filter(|gate| gate.stage == stage.name);
    lines.extend(gates.map(|gate| {
        let text = gate_words(gate, status, room);
        if gate.needs_a_person() {
            format!("{GAP}{}", frame.paint.warning(&text))
        } else {
            format!("{GAP}{text}")
        }
    }));
    lines
}

/// What an open gate waits for. Of a request's long name the middle goes.
fn gate_words(gate: &GateFacts, status: &Status, room: usize) -> String {
    let (lead, request, tail) = match (&gate.request, gate.state) {
        (None, _) => {
            let lead = format!("{}:", gate.kind);
            (lead, "", wait(gate, status.as_of))
        }
        (Some(request), GateState::Pending | GateState::Unknown) => {
            let since = gate.since.map(|since| lasting(since, status.as_of));
            let tail = since.map_or_else(String::new, |since| format!(", for {since}"));
            ("waits for approval".to_owned(), request.as_str(), tail)
        }
        (Some(request), _) => {
            let tail = format!(": {}", wait(gate, status.as_of));
            ("approval".to_owned(), request.as_str(), tail)
        }
    };
    let tail = escape::line(&tail);
    let left = room.saturating_sub(lead.width() + 1 + tail.width());
    // A long tail leaves the name a third.
    let least = if tail.width() > room / 3 { room / 3 } else { 0 };
    let name = cut(request, left.max(least));
    let left = room.saturating_sub(lead.width() + 1 + name.width());
    // When a wait is over follows from how much of it is left.
    let tail = match tail.split_once(", until ") {
        Some((short, _)) if tail.width() > left => short,
        _ => &tail,
    };
    cut(&format!("{lead} {name}{}", cut_middle(tail, left)), room)
}

/// Harmless text that fits.
fn cut(text: &str, columns: usize) -> String {
    cut_middle(&escape::line(text), columns)
}

impl TextPaint {
    fn stage_state(self, state: StageState, text: &str) -> String {
        match ColorTone::of_stage(state) {
            ColorTone::Quiet => self.dim(text),
            _ if state == StageState::Stopping => self.warning(text),
            tone => self.tone(tone, text),
        }
    }
}

#[cfg(test)]
mod tests;
