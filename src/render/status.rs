//! The state of a rollout for people: a tree that fits 80 columns, and a line per change.

pub mod bars;
pub(crate) mod changes;

use std::fmt::Write as _;

use super::escape;
use super::look::RenderLook;
use super::text::{below_title, not_checked, page_end};
use super::tree::{self, LiveTree, TreePart};
use super::wrap::{hanging, list, titled};
use crate::diagnose::status::{PlacedCluster, Status};
use crate::kubefleet::{ConditionStatus, duration};
use crate::report::RunFacts;
use crate::rollout::{StageProgress, Undelivered};
use crate::words::{CommandLine, brief, count, together};

pub use changes::{beginning, changes, gaps, verdict};

/// Clusters of a group, before the rest is only counted.
const CLUSTERS: usize = 12;
/// Characters of a meter beside a stage, and the width from which there is one.
const METER: usize = 10;
const ROOMY: usize = 60;
/// Characters of a sentence, which may quote a controller.
const SENTENCE: usize = 480;

pub fn status(status: &Status, look: &RenderLook) -> String {
    draw(status, 0, look)
}

/// The same while it is watched: with a meter for each stage where there is room for it.
pub fn watched(status: &Status, look: &RenderLook) -> String {
    draw(status, if look.width < ROOMY { 0 } else { METER }, look)
}

fn draw(status: &Status, meter: usize, look: &RenderLook) -> String {
    let mut out = String::new();
    let paint = look.paint;
    let target = escape::line(&status.about());
    let (verdict, about) = (paint.verdict(status.verdict), paint.bold(&target));
    titled(&mut out, &verdict, &about, look.width);
    out.push('\n');
    let summary = brief(&status.summary, look.most(SENTENCE));
    below_title(&mut out, &status.target, &summary, look.width);
    let mut cut = summary != status.summary;
    match (&status.clusters, &status.run) {
        (Some(clusters), _) => {
            out.push('\n');
            if let Some(run) = &status.run {
                let line = run_line(status, run);
                hanging(&mut out, "", "  ", &line, look.width);
            }
            cut |= placed(&mut out, clusters, look);
        }
        (None, Some(progress)) => {
            out.push('\n');
            let live = LiveTree {
                now: status.as_of,
                gates: &status.gates,
                meter,
            };
            cut |= tree::draw(&mut out, progress, TreePart::Live(&live), look);
        }
        (None, None) => {}
    }
    cut |= not_checked(&mut out, &status.not_checked, look);
    out.push('\n');
    // The tree has shown the command already, beside its gate.
    let is_shown = |next: &&CommandLine| {
        let gates = status.gates.iter().filter(|_| status.clusters.is_none());
        gates
            .filter_map(|gate| gate.command.as_ref())
            .any(|command| command == *next)
    };
    if let Some(next) = status.next.as_ref().filter(|next| !is_shown(next)) {
        let command = look.invocation.command(next);
        let _ = writeln!(out, "{} {}", paint.bold("next:"), paint.command(&command));
    }
    page_end(&mut out, cut, status.as_of, look);
    out
}

/// The run that a placement's verdict is about, on one line.
fn run_line(status: &Status, run: &RunFacts) -> String {
    let snapshot = run.snapshot.as_ref();
    let snapshot = snapshot.map_or_else(String::new, |index| format!(", snapshot {index}"));
    format!("update run {}: {}{snapshot}", run.object.name, line(status))
}

/// How far a run has come, in few words: `Progressing, stage canary updating, 1/3 clusters done`.
pub fn line(status: &Status) -> String {
    let mut parts = vec![status.verdict.as_str().to_owned()];
    if let Some(progress) = &status.run {
        if let Some(at) = current(&progress.stages) {
            let stage = &progress.stages[at];
            parts.push(format!("{} {}", stage.title(), stage.state.describe()));
        }
        if progress.total > 0 {
            parts.push(format!(
                "{}/{} clusters done",
                progress.done, progress.total
            ));
        }
    }
    let until = status.gates.iter().filter_map(|gate| gate.until).max();
    if let Some(left) = until.map(|until| until.duration_since(status.as_of))
        && left.is_positive()
    {
        parts.push(format!("{} left", duration::describe(left)));
    }
    parts.join(", ")
}

/// The stage that is neither done nor untouched.
fn current(stages: &[StageProgress]) -> Option<usize> {
    stages.iter().position(|stage| stage.state.is_current())
}

/// Clusters, those that have the same in one group.
pub(super) fn alike(clusters: &[PlacedCluster]) -> Vec<(String, Vec<&str>)> {
    together(clusters.iter().map(|it| (describe(it), it.name.as_str())))
}

/// What clusters have, those with the same in one group. Returns whether something was left out.
fn placed(out: &mut String, clusters: &[PlacedCluster], look: &RenderLook) -> bool {
    let groups = alike(clusters);
    if groups.is_empty() {
        out.push_str("no cluster is selected\n");
    }
    let mut cut = false;
    let most = look.most(CLUSTERS);
    for (at, (what, members)) in groups.iter().enumerate() {
        let (branch, trunk) = look.paint.branch(at + 1 == groups.len());
        let head = format!("{}: {what}", count(members.len(), "cluster"));
        look.twig(out, branch, trunk, &head);
        cut |= members.len() > most;
        hanging(out, trunk, trunk, &list(members, most), look.width);
    }
    cut
}

fn describe(cluster: &PlacedCluster) -> String {
    let mut parts = vec![match &cluster.snapshot {
        Some(index) => format!("snapshot {index}"),
        None => "no content".to_owned(),
    }];
    if cluster.snapshot.is_some() {
        parts.push(health(cluster).to_owned());
    }
    if let Some(run) = &cluster.written_by {
        parts.push(format!("written by {run}"));
    }
    if cluster.removing {
        parts.push("being removed".to_owned());
    }
    if cluster.unselected {
        parts.push("no longer selected: a run removes it".to_owned());
    }
    parts.join(", ")
}

/// How far the content of a cluster is. What is available is applied.
const fn health(cluster: &PlacedCluster) -> &'static str {
    if matches!(cluster.undelivered, Some(Undelivered::Unsent)) {
        return "not sent because its overrides do not fit";
    }
    match (cluster.diff_reported, cluster.applied, cluster.available) {
        (Some(ConditionStatus::True), _, _) => "compared, nothing applied",
        (Some(ConditionStatus::False), _, _) => "not compared, nothing applied",
        (_, _, Some(ConditionStatus::True)) => "available",
        (_, Some(ConditionStatus::False), _) => "not applied",
        (_, Some(ConditionStatus::True), Some(ConditionStatus::False)) => "applied, not available",
        (_, _, Some(ConditionStatus::False)) => "not available",
        (_, Some(ConditionStatus::True), _) => "applied, not available yet",
        _ => "no current report",
    }
}

#[cfg(test)]
mod tests;
