//! Reports as JUnit XML, for the test views of CI systems.
//!
//! A report is a test suite. Its first case is the verdict; then comes one case for every finding
//! that there is to make, so that a case keeps its name from run to run and passes where nothing was
//! found; then what could not be checked, skipped.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use super::escape;
use super::invocation::{CANONICAL, Invocation};
use crate::diagnose::rules;
use crate::report::{
    NotChecked, OutlinedFinding, Report, ReportDetail, ReportOutline, Severity, Verdict,
};

/// Writes reports: findings of at least this severity are failures.
pub fn reports(
    reports: &[Report],
    least: Severity,
    invocation: &Invocation,
) -> anyhow::Result<String> {
    let mut document = quick_junit::Report::new(format!("{CANONICAL} diagnose"));
    document.add_test_suites(
        reports
            .iter()
            .map(|report| suite(report, least, invocation)),
    );
    Ok(document.to_string()?)
}

/// A case. Every text is escaped: what XML cannot hold, the library would leave out.
fn case(class: &str, name: &str, status: TestCaseStatus, notes: &str) -> TestCase {
    let mut case = TestCase::new(escape::lines(name), status);
    case.set_classname(format!("fleet-stage.{class}"));
    case.set_time(Duration::ZERO);
    if !notes.is_empty() {
        case.set_system_out(escape::lines(notes));
    }
    case
}

/// How a case ends that did not pass: the kind, one line, and the whole text.
fn trouble(end: NonSuccessKind, kind: &str, message: &str, text: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(end);
    status
        .set_type(escape::lines(kind))
        .set_message(escape::lines(message))
        .set_description(escape::lines(text));
    status
}

fn suite(report: &Report, least: Severity, invocation: &Invocation) -> TestSuite {
    let timeline = report
        .run
        .as_ref()
        .and_then(|run| run.timeline(report.as_of));
    let lasts = timeline.and_then(|timeline| timeline.lasts().try_into().ok());
    let lasts: Duration = lasts.unwrap_or_default();
    let mut suite = TestSuite::new(escape::line(&report.about()));
    suite.set_time(lasts);
    suite.timestamp = report
        .as_of
        .and_then(|as_of| as_of.to_string().parse().ok());
    let outline = ReportOutline::new(report, ReportDetail::ISSUE);
    suite.add_test_case(verdict(report.verdict, &outline, lasts));
    let known: BTreeSet<_> = rules::ALL.iter().map(|rule| rule.code).collect();
    let all = rules::ALL.iter().map(|rule| (rule.code, rule.name));
    let others = report.findings.iter();
    let others = others.filter(|finding| !known.contains(finding.code.as_str()));
    for (code, name) in all.chain(others.map(|one| (one.code.as_str(), one.name.as_str()))) {
        let found: Vec<_> = outline.findings.iter().filter(|f| f.code == code).collect();
        suite.add_test_case(finding(code, name, found, least, invocation));
    }
    suite.add_test_cases(report.not_checked.iter().map(not_checked));
    suite
}

fn verdict(verdict: Verdict, outline: &ReportOutline<'_>, lasts: Duration) -> TestCase {
    let summary = escape::line(&outline.summary);
    let word = verdict.as_str();
    let text = format!("{word}\n{summary}");
    let (status, mut notes) = match verdict {
        it if it.is_in_trouble() => (
            trouble(NonSuccessKind::Failure, word, &summary, &text),
            String::new(),
        ),
        Verdict::Unknown => (
            trouble(NonSuccessKind::Error, word, &summary, &text),
            String::new(),
        ),
        _ => (TestCaseStatus::success(), text),
    };
    if let Some(left_out) = &outline.left_out {
        let _ = write!(notes, "\n{left_out}");
    }
    let mut case = case("verdict", "verdict", status, &notes);
    case.set_time(lasts);
    case
}

/// The case of a finding that there is to make; it may have been made several times, or never.
fn finding(
    code: &str,
    name: &str,
    found: Vec<&OutlinedFinding<'_>>,
    least: Severity,
    invocation: &Invocation,
) -> TestCase {
    let area = rules::area(code).unwrap_or("other");
    let text = |findings: &[&OutlinedFinding<'_>]| {
        let texts = findings.iter().map(|one| describe(one, invocation));
        texts.collect::<Vec<_>>().join("\n\n")
    };
    let (failing, notes): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|finding| finding.severity >= least);
    let status = match failing.as_slice() {
        [] => TestCaseStatus::success(),
        [first, others @ ..] => {
            let mut message = escape::line(&first.message);
            if !others.is_empty() {
                let _ = write!(message, " (and {} more)", others.len());
            }
            trouble(NonSuccessKind::Failure, code, &message, &text(&failing))
        }
    };
    case(area, &format!("{code} {name}"), status, &text(&notes))
}

fn describe(finding: &OutlinedFinding<'_>, invocation: &Invocation) -> String {
    let mut out = format!(
        "{} {}: {}",
        finding.severity.as_str(),
        escape::line(&finding.code),
        escape::line(&finding.message)
    );
    if let Some(stage) = &finding.stage {
        let _ = write!(out, "\nstage: {}", escape::line(stage));
    }
    if !finding.clusters.is_empty() {
        let clusters = escape::line(&finding.clusters.join(", "));
        let _ = write!(out, "\nclusters: {clusters}");
    }
    let codes = finding.codes_of_causes();
    if finding.root_cause {
        out.push_str("\nroot cause");
    } else if !codes.is_empty() {
        let _ = write!(out, "\nbecause of: {}", escape::line(&codes));
    }
    for one in &finding.evidence.shown {
        let _ = write!(out, "\nevidence: {}", escape::line(&one.line()));
    }
    for (at, remedy) in finding.remedies.iter().enumerate() {
        let step = escape::line(&remedy.sentence());
        let _ = write!(out, "\n{}. {step}", at + 1);
        if let Some(command) = &remedy.command {
            let _ = write!(out, "\n   {}", invocation.command(command));
        }
    }
    let _ = write!(out, "\nsee: {}", finding.docs);
    out
}

fn not_checked(gap: &NotChecked) -> TestCase {
    let mut why = escape::line(&gap.why);
    if !gap.clusters.is_empty() {
        let _ = write!(why, " ({})", escape::line(&gap.clusters.join(", ")));
    }
    let mut status = TestCaseStatus::skipped();
    status.set_message(escape::lines(&why));
    case("not-checked", &escape::line(&gap.name()), status, "")
}
