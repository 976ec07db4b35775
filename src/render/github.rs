//! A report as workflow commands of GitHub Actions: annotations of the job that runs the command.
//!
//! Every line is one command. The runner reads a line that begins with `::` as a command of this
//! form and looks for no other in it, so text that cannot end its line cannot add a command.

use std::fmt::Write as _;

use super::escape;
use super::invocation::Invocation;
use super::tone::ColorTone;
use super::wrap::{gap_line, list};
use crate::report::{
    NotChecked, OutlinedFinding, Report, ReportDetail, ReportOutline, Severity, Verdict,
};
use crate::words::count;

pub fn report(report: &Report, invocation: &Invocation) -> String {
    let mut out = String::new();
    let title = format!("{}: {}", report.verdict.as_str(), report.about());
    let outline = ReportOutline::new(report, ReportDetail::ANNOTATION);
    let mut lines = vec![data(&outline.summary)];
    lines.extend(outline.left_out);
    command(&mut out, level_of(report.verdict), &title, &lines);
    for finding in &outline.findings {
        self::finding(&mut out, finding, report, invocation);
    }
    if !report.not_checked.is_empty() {
        let title = format!("Not checked: {}", report.about());
        let gaps: Vec<_> = report.not_checked.iter().map(gap).collect();
        command(&mut out, "notice", &title, &gaps);
    }
    out
}

fn finding(
    out: &mut String,
    finding: &OutlinedFinding<'_>,
    report: &Report,
    invocation: &Invocation,
) {
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let name = &report.target.name;
    let name = match &report.hub {
        Some(hub) => format!("{name} on {hub}"),
        None => name.clone(),
    };
    let title = format!("{} {} ({name})", finding.code, finding.name);
    let mut lines = vec![data(&finding.message)];
    if finding.clusters.len() > 1 {
        let clusters = list(finding.clusters, ReportDetail::ANNOTATION.clusters);
        lines.push(data(&format!("clusters: {clusters}")));
    }
    if !finding.root_cause && !finding.role.is_empty() {
        lines.push(data(&finding.role));
    }
    let evidence = &finding.evidence;
    lines.extend(evidence.shown.iter().map(|one| data(&one.line())));
    if evidence.left() > 0 {
        lines.push(format!("and {} more", count(evidence.left(), "value")));
    }
    for (at, remedy) in finding.remedies.iter().enumerate() {
        lines.push(data(&format!("{}. {}", at + 1, remedy.sentence())));
        if let Some(command) = &remedy.command {
            lines.push(exactly(&invocation.command(command)));
        }
    }
    lines.push(data(&finding.docs));
    command(out, level, &title, &lines);
}

/// How loud a verdict is: what ends a pipeline is an error, what waits for someone a warning.
const fn level_of(verdict: Verdict) -> &'static str {
    match ColorTone::of(verdict) {
        ColorTone::Bad => "error",
        ColorTone::Waiting => "warning",
        _ => "notice",
    }
}

fn gap(gap: &NotChecked) -> String {
    data(&gap_line(
        &gap.name(),
        gap,
        ReportDetail::ANNOTATION.clusters,
    ))
}

/// One command, with the lines of its message as [`data`] or [`exactly`] made them.
fn command(out: &mut String, level: &str, title: &str, lines: &[String]) {
    let _ = write!(out, "::{level} title={}::", property(title));
    for (at, line) in lines.iter().enumerate() {
        let gap = if at == 0 { "" } else { "%0A" };
        let _ = write!(out, "{gap}{line}");
    }
    out.push('\n');
}

/// One line of a message. Line breaks are gone already: those of the runner and all others.
fn data(text: &str) -> String {
    exactly(&escape::line(text))
}

/// A line that keeps its spaces: a command, which is quoted.
fn exactly(text: &str) -> String {
    text.replace('%', "%25")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{command, data, property};

    #[test]
    fn a_command_is_escaped_as_github_reads_it() {
        assert_eq!(data("100% of a:b,c\r\nd"), "100%25 of a:b,c d");
        assert_eq!(property("100% of a:b,c\nd"), "100%25 of a%3Ab%2Cc d");
        assert_eq!(data("%0A::error::x"), "%250A::error::x");
        let mut out = String::new();
        command(&mut out, "error", "a", &["one".into(), "two".into()]);
        assert_eq!(out, "::error title=a::one%0Atwo\n");
    }

    // What the runner makes of such lines is in `tests/outputs/github.rs`.
    proptest! {
        #[test]
        fn no_text_becomes_a_second_command(title in ".*|(?s).*[:,%\r\n]+.*",
            text in ".*|(?s).*\n::(error|set-output|add-mask)::x.*|##\\[error\\].*") {
            let mut out = String::new();
            command(&mut out, "warning", &title, &[data(&text), data(&title)]);
            prop_assert_eq!(out.matches('\n').count(), 1);
            let breaks = ['\r', '\u{85}', '\u{2028}'];
            prop_assert!(!out.contains(breaks), "{out}");
            let title = property(&title);
            prop_assert!(!title.contains([':', ',']), "{title}");
        }
    }
}
