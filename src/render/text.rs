//! A report for people: readable at 80 columns, with and without colour.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::escape;
use super::invocation::Invocation;
use super::style::Paint;
use crate::diagnose::finding::count;
use crate::diagnose::report::{Effect, Finding, Report};
use crate::rollout::{ClusterState, Progress, StageProgress, TaskState};

/// How to draw.
#[derive(Debug, Clone)]
pub struct Look {
    /// Columns to fill.
    pub width: usize,
    /// Colour or not.
    pub paint: Paint,
    /// How commands are written.
    pub invocation: Invocation,
    /// Whether long lists are shown whole.
    pub verbose: bool,
}

/// Writes a report.
pub fn report(report: &Report, look: &Look) -> String {
    let mut out = String::new();
    let target = escape::line(&report.target.to_string());
    let _ = writeln!(
        out,
        "{}  {}",
        look.paint.verdict(report.verdict),
        look.paint.bold(&target)
    );
    paragraph(&mut out, &report.summary, "", look);
    if let Some(progress) = &report.progress {
        out.push('\n');
        tree(&mut out, progress, look);
    }
    for finding in report
        .findings
        .iter()
        .filter(|finding| finding.caused_by.is_empty())
    {
        out.push('\n');
        self::finding(&mut out, finding, look);
        for echo in report.findings.iter().filter(|echo| {
            echo.caused_by
                .first()
                .is_some_and(|cause| cause.code == finding.code && cause.subject == finding.subject)
        }) {
            out.push('\n');
            self::finding(&mut out, echo, look);
        }
    }
    if !report.not_checked.is_empty() {
        let _ = writeln!(out, "\n{}", look.paint.bold("not checked"));
        for gap in &report.not_checked {
            let what = gap
                .subject
                .as_ref()
                .map_or_else(|| gap.what.clone(), ToString::to_string);
            let mut text = format!("{what}: {}", gap.why);
            if !gap.clusters.is_empty() {
                let _ = write!(text, " ({})", clusters(&gap.clusters, look));
            }
            item(&mut out, "- ", &text, look);
        }
    }
    if let Some(left_out) = report.left_out {
        let _ = writeln!(out, "\n{} not shown, as asked.", count(left_out, "finding"));
    }
    if let Some(as_of) = report.as_of {
        let _ = writeln!(out, "\n{}", look.paint.dim(&format!("as of {as_of}")));
    }
    out
}

/// Evidence shown of a finding, unless asked for all.
const EVIDENCE: usize = 5;

fn finding(out: &mut String, finding: &Finding, look: &Look) {
    let role = if finding.root_cause {
        "  (root cause)".to_owned()
    } else if let Some(cause) = finding.caused_by.first() {
        format!("  (because of {})", cause.code)
    } else {
        String::new()
    };
    let _ = writeln!(
        out,
        "{} {} {}{}",
        look.paint.severity(finding.severity),
        look.paint.bold(&finding.code),
        look.paint.bold(&finding.name),
        look.paint.dim(&role)
    );
    paragraph(out, &finding.message, "  ", look);
    if finding.clusters.len() > 1 {
        let label = match &finding.stage {
            Some(stage) => format!("clusters (stage {stage}): "),
            None => "clusters: ".to_owned(),
        };
        hanging(
            out,
            "  ",
            "    ",
            &format!("{label}{}", clusters(&finding.clusters, look)),
            look,
        );
    }
    let shown = if look.verbose {
        finding.evidence.len()
    } else {
        EVIDENCE
    };
    for evidence in finding.evidence.iter().take(shown) {
        let value = if evidence.value.is_empty() {
            "\"\""
        } else {
            evidence.value.as_str()
        };
        let value = if look.verbose {
            value.to_owned()
        } else {
            shorten(value, 160)
        };
        let text = format!("{} {} = {value}", evidence.object, evidence.path);
        hanging(out, "  | ", "  |   ", &text, look);
    }
    if finding.evidence.len() > shown {
        let _ = writeln!(out, "  | and {} more (-v)", finding.evidence.len() - shown);
    }
    for (at, remedy) in finding.remedies.iter().enumerate() {
        let effect = match remedy.effect {
            Effect::Disruptive => " (disruptive)",
            Effect::Changes | Effect::ReadOnly => "",
        };
        let label = format!("  {}. ", at + 1);
        hanging(
            out,
            &label,
            "     ",
            &format!("{}{effect}", remedy.action),
            look,
        );
        if let Some(command) = &remedy.command {
            let command = look.invocation.command(&escape::line(command));
            let _ = writeln!(out, "       {}", look.paint.command(&command));
        }
    }
    let more = look
        .invocation
        .command(&format!("kubectl fleet-stage explain {}", finding.code));
    let more = more.split(" --").next().unwrap_or_default();
    let _ = writeln!(out, "  {}", look.paint.dim(&format!("more: {more}")));
}

/// The chain that was walked: placement, snapshot, stages, clusters.
fn tree(out: &mut String, progress: &Progress, look: &Look) {
    let snapshot = match &progress.snapshot {
        Some(index) => format!("snapshot {index}"),
        None => "no snapshot yet".to_owned(),
    };
    let head = format!(
        "placement {}, {snapshot}, strategy {}, {}/{} clusters done",
        progress.placement, progress.strategy, progress.done, progress.total
    );
    hanging(out, "", "  ", &head, look);
    for (at, stage) in progress.stages.iter().enumerate() {
        let last = at + 1 == progress.stages.len();
        let (branch, trunk) = if last { ("`- ", "   ") } else { ("|- ", "|  ") };
        hanging(out, branch, trunk, &stage_line(stage), look);
        for task in &stage.tasks {
            let state = match (task.state, task.until) {
                (TaskState::Open, Some(until)) => format!("until {until}"),
                (TaskState::Open, None) => "open".to_owned(),
                (TaskState::Done, _) => "done".to_owned(),
                (TaskState::Pending, _) => continue,
            };
            let name = task
                .approval_request
                .as_deref()
                .map_or_else(String::new, |name| format!(" {name}"));
            let text = format!("{} {}{name}: {state}", task.when.as_str(), task.kind);
            hanging(
                out,
                &format!("{trunk}  "),
                &format!("{trunk}    "),
                &text,
                look,
            );
        }
        let mut states: BTreeMap<u8, (ClusterState, Vec<String>)> = BTreeMap::new();
        for cluster in &stage.clusters {
            let name = match &cluster.snapshot {
                Some(index) if progress.snapshot.as_ref() != Some(index) => {
                    format!("{} (has snapshot {index})", cluster.name)
                }
                _ => cluster.name.clone(),
            };
            states
                .entry(rank(cluster.state))
                .or_insert_with(|| (cluster.state, Vec::new()))
                .1
                .push(name);
        }
        for (state, names) in states.values() {
            let number = if names.len() > SHOWN {
                format!(" ({})", names.len())
            } else {
                String::new()
            };
            let text = format!("{}{number}: {}", state.describe(), clusters(names, look));
            hanging(
                out,
                &format!("{trunk}  "),
                &format!("{trunk}    "),
                &text,
                look,
            );
        }
    }
}

fn stage_line(stage: &StageProgress) -> String {
    let done = stage
        .clusters
        .iter()
        .filter(|c| c.state == ClusterState::Done)
        .count();
    let what = if stage.deletes {
        "removal".to_owned()
    } else {
        format!("stage {}", stage.name)
    };
    let slots = if stage.deletes || stage.clusters.len() < 2 {
        String::new()
    } else {
        format!(", {} at a time", stage.max_concurrency)
    };
    format!(
        "{what}: {}, {done}/{} done{slots}",
        stage.state.describe(),
        stage.clusters.len()
    )
}

const fn rank(state: ClusterState) -> u8 {
    match state {
        ClusterState::Failed => 0,
        ClusterState::Stuck | ClusterState::Left => 1,
        ClusterState::Updating => 2,
        ClusterState::Pending => 3,
        ClusterState::Done => 4,
    }
}

/// Names shown of a list, unless asked for all.
const SHOWN: usize = 12;

fn clusters(names: &[String], look: &Look) -> String {
    if look.verbose || names.len() <= SHOWN {
        names.join(", ")
    } else {
        let shown: Vec<_> = names.iter().take(SHOWN).map(String::as_str).collect();
        format!("{} and {} more (-v)", shown.join(", "), names.len() - SHOWN)
    }
}

fn shorten(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn paragraph(out: &mut String, text: &str, indent: &str, look: &Look) {
    hanging(out, indent, indent, text, look);
}

fn item(out: &mut String, bullet: &str, text: &str, look: &Look) {
    hanging(out, &format!("  {bullet}"), "    ", text, look);
}

/// Wraps text from the cluster: harmless, and never wider than the terminal where it can break.
fn hanging(out: &mut String, first: &str, rest: &str, text: &str, look: &Look) {
    let options = textwrap::Options::new(look.width)
        .initial_indent(first)
        .subsequent_indent(rest)
        .break_words(false)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    for line in textwrap::wrap(&escape::line(text), options) {
        let _ = writeln!(out, "{}", line.trim_end());
    }
}
