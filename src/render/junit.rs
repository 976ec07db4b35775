//! Reports as JUnit XML, for the test views of CI systems.
//!
//! A report is a test suite. Its first case is the verdict; then comes one case for every finding
//! that there is to make, so that a case keeps its name from run to run and passes where nothing was
//! found; then what could not be checked, skipped.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use maud::{Markup, PreEscaped, html};

use super::escape;
use super::invocation::{CANONICAL, Invocation};
use crate::diagnose::finding::count;
use crate::diagnose::report::{Effect, Finding, NotChecked, Report, Severity, Verdict};
use crate::diagnose::rules;
use crate::rollout::timeline::Timeline;
use crate::words::brief;

/// Characters of a value.
const VALUE: usize = 600;
/// Characters of a sentence, which may quote a controller.
const SENTENCE: usize = 1000;

/// Writes reports: findings of at least this severity are failures.
pub fn reports(reports: &[Report], least: Severity, invocation: &Invocation) -> String {
    let suites: Vec<_> = reports
        .iter()
        .map(|report| suite(report, least, invocation))
        .collect();
    let sum = |number: fn(&Suite) -> usize| suites.iter().map(number).sum::<usize>();
    let document = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"))
        testsuites name=(format!("{CANONICAL} diagnose")) tests=(sum(|suite| suite.cases.len()))
            failures=(sum(Suite::failures)) errors=(sum(Suite::errors)) {
            @for suite in &suites { "\n" (suite.write()) }
            "\n"
        }
        "\n"
    };
    sink(&document.into_string())
}

/// The one sink of this format: markup is escaped where it is put in; here what XML cannot hold, or
/// hides, becomes visible.
fn sink(document: &str) -> String {
    let mut out = String::with_capacity(document.len());
    for c in escape::lines(document).chars() {
        // The two that XML 1.0 leaves out beside the control characters.
        if matches!(c, '\u{fffe}' | '\u{ffff}') {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// The cases about a report.
struct Suite {
    name: String,
    timestamp: Option<String>,
    /// How long the run takes, or took.
    seconds: i64,
    cases: Vec<Case>,
}

/// One case.
struct Case {
    class: String,
    name: String,
    seconds: i64,
    end: End,
    /// What is said where nothing failed.
    notes: String,
}

/// How a case ends.
enum End {
    Passed,
    Failed(Trouble),
    /// It could not be said.
    Broken(Trouble),
    Skipped(String),
}

/// Why a case did not pass.
struct Trouble {
    kind: String,
    message: String,
    text: String,
}

impl Suite {
    fn failures(&self) -> usize {
        self.count(|end| matches!(end, End::Failed(_)))
    }

    fn errors(&self) -> usize {
        self.count(|end| matches!(end, End::Broken(_)))
    }

    fn count(&self, is_meant: fn(&End) -> bool) -> usize {
        self.cases.iter().filter(|case| is_meant(&case.end)).count()
    }

    fn write(&self) -> Markup {
        html! {
            testsuite name=(self.name) tests=(self.cases.len()) failures=(self.failures())
                errors=(self.errors())
                skipped=(self.count(|end| matches!(end, End::Skipped(_))))
                time=(self.seconds) timestamp=[&self.timestamp] {
                @for case in &self.cases { "\n  " (case.write()) }
                "\n"
            }
        }
    }
}

impl Case {
    fn new(class: &str, name: impl Into<String>) -> Self {
        Self {
            class: format!("fleet-stage.{class}"),
            name: name.into(),
            seconds: 0,
            end: End::Passed,
            notes: String::new(),
        }
    }

    fn write(&self) -> Markup {
        html! {
            testcase classname=(self.class) name=(self.name) time=(self.seconds) {
                @match &self.end {
                    End::Passed => {}
                    End::Failed(trouble) => {
                        failure type=(trouble.kind) message=(trouble.message) { (trouble.text) }
                    }
                    End::Broken(trouble) => {
                        error type=(trouble.kind) message=(trouble.message) { (trouble.text) }
                    }
                    End::Skipped(why) => { skipped message=(why) {} }
                }
                @if !self.notes.is_empty() { system-out { (self.notes) } }
            }
        }
    }
}

fn suite(report: &Report, least: Severity, invocation: &Invocation) -> Suite {
    let timeline = report
        .progress
        .as_ref()
        .zip(report.as_of)
        .and_then(|(progress, now)| Timeline::new(progress, now));
    let seconds = timeline.map_or(0, |timeline| timeline.lasts().as_secs().max(0));
    let mut cases = vec![verdict(report, seconds)];
    let known: BTreeSet<_> = rules::ALL.iter().map(|rule| rule.code).collect();
    let all = rules::ALL.iter().map(|rule| (rule.code, rule.name));
    let others = report.findings.iter();
    let others = others.filter(|finding| !known.contains(finding.code.as_str()));
    for (code, name) in all.chain(others.map(|one| (one.code.as_str(), one.name.as_str()))) {
        let found: Vec<_> = report.findings.iter().filter(|f| f.code == code).collect();
        cases.push(finding(code, name, &found, least, invocation));
    }
    cases.extend(report.not_checked.iter().map(not_checked));
    Suite {
        name: escape::line(&report.target.to_string()),
        // The readers know no zone: it is UTC.
        timestamp: report
            .as_of
            .map(|as_of| as_of.to_string().trim_end_matches('Z').to_owned()),
        seconds,
        cases,
    }
}

/// The first case: where the rollout is.
fn verdict(report: &Report, seconds: i64) -> Case {
    let mut case = Case::new("verdict", "verdict");
    case.seconds = seconds;
    let summary = escape::line(&brief(&report.summary, SENTENCE));
    let trouble = || Trouble {
        kind: report.verdict.as_str().to_owned(),
        message: summary.clone(),
        text: format!("{}\n{summary}", report.verdict.as_str()),
    };
    case.end = match report.verdict {
        Verdict::Failed | Verdict::InitializationFailed | Verdict::Stuck => End::Failed(trouble()),
        Verdict::Unknown => End::Broken(trouble()),
        _ => End::Passed,
    };
    if matches!(case.end, End::Passed) {
        case.notes = format!("{}\n{summary}", report.verdict.as_str());
    }
    if let Some(left_out) = report.left_out {
        let _ = write!(
            case.notes,
            "\n{} left out, as asked",
            count(left_out, "finding")
        );
    }
    case
}

/// The case of a finding that there is to make; it may have been made several times, or never.
fn finding(
    code: &str,
    name: &str,
    found: &[&Finding],
    least: Severity,
    invocation: &Invocation,
) -> Case {
    let area = rules::area(code).unwrap_or("other");
    let mut case = Case::new(area, format!("{code} {name}"));
    let text = |findings: &[&&Finding]| {
        let texts = findings.iter().map(|one| describe(one, invocation));
        texts.collect::<Vec<_>>().join("\n\n")
    };
    let (failing, notes): (Vec<&&Finding>, Vec<&&Finding>) =
        found.iter().partition(|finding| finding.severity >= least);
    if let Some(first) = failing.first() {
        let more = match failing.len() {
            1 => String::new(),
            all => format!(" (and {} more)", all - 1),
        };
        case.end = End::Failed(Trouble {
            kind: code.to_owned(),
            message: escape::line(&brief(&first.message, SENTENCE)) + &more,
            text: text(&failing),
        });
    }
    case.notes = text(&notes);
    case
}

/// A finding as text.
fn describe(finding: &Finding, invocation: &Invocation) -> String {
    let mut out = format!(
        "{} {}: {}",
        finding.severity.as_str(),
        escape::line(&finding.code),
        escape::line(&brief(&finding.message, SENTENCE))
    );
    if let Some(stage) = &finding.stage {
        let _ = write!(out, "\nstage: {}", escape::line(stage));
    }
    if !finding.clusters.is_empty() {
        let clusters = escape::line(&finding.clusters.join(", "));
        let _ = write!(out, "\nclusters: {clusters}");
    }
    let mut codes: Vec<_> = finding.caused_by.iter().map(|c| c.code.as_str()).collect();
    codes.dedup();
    if finding.root_cause {
        out.push_str("\nroot cause");
    } else if !codes.is_empty() {
        let _ = write!(out, "\nbecause of: {}", escape::line(&codes.join(", ")));
    }
    for evidence in &finding.evidence {
        let cluster = match &evidence.cluster {
            Some(cluster) => format!(" on {cluster}"),
            None => String::new(),
        };
        let line = format!(
            "{}{cluster} {} {}",
            evidence.object,
            evidence.label(),
            brief(&evidence.value, VALUE)
        );
        let _ = write!(out, "\nevidence: {}", escape::line(&line));
    }
    for (at, remedy) in finding.remedies.iter().enumerate() {
        let effect = match remedy.effect {
            Effect::ReadOnly => String::new(),
            effect => format!(" [{}]", effect.as_str()),
        };
        let action = escape::line(&remedy.action);
        let _ = write!(out, "\n{}. {action}{effect}", at + 1);
        if let Some(command) = &remedy.command {
            let _ = write!(out, "\n   {}", invocation.command(command));
        }
    }
    let _ = write!(out, "\nsee: {}", finding.docs);
    out
}

fn not_checked(gap: &NotChecked) -> Case {
    let name = match &gap.subject {
        Some(subject) if gap.what == subject.kind => subject.to_string(),
        Some(subject) => format!("{} ({subject})", gap.what),
        None => gap.what.clone(),
    };
    let mut case = Case::new("not-checked", escape::line(&name));
    let mut why = escape::line(&gap.why);
    if !gap.clusters.is_empty() {
        let _ = write!(why, " ({})", escape::line(&gap.clusters.join(", ")));
    }
    case.end = End::Skipped(why);
    case
}
