//! Reports and the pages about findings speak plain English: short sentences, steps that begin with a
//! verb, and none of the phrases that make a native speaker stop.

use std::collections::BTreeMap;
use std::path::Path;

use kubectl_fleet_stage::report::Report;

use super::banned::{banned, lines};
use super::fixtures::{below, yaml_files};
use super::reports;

/// The most words of a sentence that lists nothing.
const LONGEST: usize = 30;

/// What a step may begin with, before its verb.
const JOINTS: [&str; 2] = ["Or", "Then"];

/// What steps begin with.
const VERBS: &str = include_str!("verbs.txt");

/// A text without what it quotes in backticks: those words are somebody else's.
fn own(text: &str) -> String {
    text.split('`').step_by(2).collect::<Vec<_>>().join("…")
}

/// The sentences of a text.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(". ")
}

/// Whether a sentence lists something: names and numbers in brackets or between commas make it long.
fn lists(sentence: &str) -> bool {
    sentence.matches(", ").count() > 1 || sentence.contains('(')
}

fn begins_with_verb(step: &str) -> bool {
    let mut words = step.split([' ', ':', ',']);
    let first = words.next().unwrap_or_default();
    if !JOINTS.contains(&first) {
        return lines(VERBS).any(|verb| verb == first);
    }
    let second = words.next().unwrap_or_default();
    lines(VERBS).any(|verb| verb.to_lowercase() == second)
}

/// What is wrong with the sentences of a report, each with its place.
fn faults(report: &Report) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut judge = |place: &str, text: &str| {
        let text = own(text);
        let found = banned(&text);
        if !found.is_empty() {
            wrong.push(format!("{place} says {found:?}: {text}"));
        }
        for sentence in sentences(&text) {
            let length = sentence.split_whitespace().count();
            if length > LONGEST && !lists(sentence) {
                wrong.push(format!("{place} has {length} words: {sentence}"));
            }
        }
    };
    let quoted = report.verdict.as_str().ends_with("Failed");
    if !quoted {
        judge("summary", &report.summary);
    }
    for finding in &report.findings {
        judge(&finding.code, &finding.message);
        for step in &finding.remedies {
            judge(&format!("step of {}", finding.code), &step.action);
        }
    }
    for finding in &report.findings {
        if !finding.message.ends_with('.') {
            wrong.push(format!("{} ends without a full stop", finding.code));
        }
        for step in &finding.remedies {
            if !begins_with_verb(&step.action) {
                let code = &finding.code;
                wrong.push(format!(
                    "step of {code} begins without a verb: {}",
                    step.action
                ));
            }
        }
        let joint = |step: &str| JOINTS.iter().any(|it| step.split(' ').next() == Some(*it));
        if let Some(first) = finding.remedies.first().filter(|it| joint(&it.action)) {
            let code = &finding.code;
            wrong.push(format!("{code} has no step before: {}", first.action));
        }
    }
    wrong
}

#[test]
fn reports_speak_plain_english() {
    let mut wrong = BTreeMap::new();
    for path in yaml_files(&["tests/findings", "tests/healthy", "tests/real", "examples"]) {
        let text = std::fs::read_to_string(&path).unwrap();
        for (_, report) in reports(&text) {
            for fault in faults(&report) {
                wrong.entry(fault).or_insert_with(|| path.clone());
            }
        }
    }
    let wrong: Vec<_> = wrong
        .iter()
        .map(|(fault, path)| format!("{}: {fault}", path.display()))
        .collect();
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn pages_of_findings_speak_plain_english() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/findings");
    let mut wrong = Vec::new();
    let pages = below(folder, "md");
    assert!(pages.len() > 100);
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        let prose: Vec<_> = text.split("```").step_by(2).collect();
        let found = banned(&own(&prose.join(" ")));
        wrong.extend((!found.is_empty()).then(|| format!("{}: {found:?}", page.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_step_begins_with_a_verb() {
    assert!(begins_with_verb("Or start a new run."));
    assert!(!begins_with_verb("Or a new run."));
    assert!(!begins_with_verb("If it stays, wait."));
}
