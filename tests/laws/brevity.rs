//! Reports say what there is to say once, in few lines.

use kubectl_fleet_stage::diagnose::status::Status;
use kubectl_fleet_stage::inventory::{Inventory, Walk};
use kubectl_fleet_stage::render;
use kubectl_fleet_stage::report::{Remedy, Report, Verdict};

use super::fixtures::yaml_files;
use super::lengths::{lengths, median};
use super::{formats, look, read, reports};

/// All reports about all bundles, with what they are about.
fn all() -> Vec<(String, Report)> {
    let mut all = Vec::new();
    for path in yaml_files(&["tests/findings", "tests/healthy", "tests/real", "examples"]) {
        let text = std::fs::read_to_string(&path).unwrap();
        let about = |target| format!("{}, {target}", path.display());
        let reports = reports(&text).into_iter();
        all.extend(reports.map(|(target, report)| (about(target), report)));
    }
    all
}

/// What fits on a screen at night, and how far down the first command may be.
#[test]
fn reports_are_short_and_say_soon_what_to_do() {
    let bundles = yaml_files(&["tests/findings", "tests/healthy", "tests/real", "examples"]);
    let all = lengths(&bundles);
    let stuck = all.iter().filter(|it| it.verdict == Verdict::Stuck);
    let stuck = median(stuck.map(|it| it.lines)).unwrap();
    let median = median(all.iter().map(|it| it.lines)).unwrap();
    assert!(median <= 17, "half of all have more than {median} lines");
    assert!(stuck <= 22, "half of Stuck have more than {stuck} lines");
    let acting = all.iter().filter(|it| it.needs_a_person());
    let commands: Vec<_> = acting.filter_map(|it| it.command).collect();
    let soon = commands.iter().filter(|line| **line <= 10).count();
    assert!(
        soon * 100 >= commands.len() * 95,
        "the first command is on line 10 or before in {soon} of {}",
        commands.len()
    );
}

/// What a step gives to do is in some line, whole: at most three steps, and never none of them.
#[test]
fn what_explains_the_verdict_keeps_its_first_step() {
    let mut wrong = Vec::new();
    for (about, report) in all() {
        let shown = formats(&report, false)[0].1.clone();
        for finding in report.findings.iter().filter(|finding| finding.root_cause) {
            let Some(first) = finding.remedies.first() else {
                continue;
            };
            let command = first.command.as_ref().map(ToString::to_string);
            if command.is_some_and(|command| !shown.contains(&command)) {
                wrong.push(format!("{about}: {}", finding.code));
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Where few steps are shown, one that lets a run continue is not shown without what comes first; and no step
/// makes a run that a later one warns of.
#[test]
fn what_comes_first_is_shown_before_what_follows() {
    let mut wrong = Vec::new();
    for (about, report) in all() {
        let shown = formats(&report, false)[0].1.clone();
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        // What follows from another finding shows no steps.
        for finding in report.findings.iter().filter(|it| it.caused_by.is_empty()) {
            let first = |it: &Remedy| {
                it.action.starts_with("Resolve ") || it.action.starts_with("Check this first")
            };
            let mut before = Vec::new();
            let mut starts = false;
            for step in &finding.remedies {
                if first(step) {
                    before.push(&step.action);
                } else if step.is_our(&["approve", "resume", "run", "retry"])
                    && shown.contains(&step.action)
                    && before.iter().any(|action| !shown.contains(*action))
                {
                    wrong.push(format!("{about}: {}: {}", finding.code, step.action));
                }
                if starts && step.action.contains("a run that is created before") {
                    wrong.push(format!(
                        "{about}: {}: {} comes late",
                        finding.code, step.action
                    ));
                }
                starts |= step.is_our(&["run", "retry"]);
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

fn words(text: &str) -> Vec<&str> {
    let words = text.split_whitespace();
    let bare = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    bare.filter(|word| !word.is_empty()).collect()
}

/// No eight words in a row stand in both.
#[test]
fn the_first_finding_adds_to_the_summary() {
    const RUN: usize = 8;
    let mut wrong = Vec::new();
    for (about, report) in all() {
        let Some(first) = report.findings.first() else {
            continue;
        };
        let (summary, message) = (words(&report.summary), words(&first.message));
        let is_in_summary = |run: &&[&str]| summary.windows(RUN).any(|other| other == *run);
        if let Some(run) = message.windows(RUN).find(is_in_summary) {
            wrong.push(format!("{about}: {} {}", first.code, run.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Once a run is over, nothing is still to come.
#[test]
fn a_run_that_is_over_has_nothing_pending() {
    for path in yaml_files(&["tests/findings", "tests/healthy", "tests/real", "examples"]) {
        let text = std::fs::read_to_string(&path).unwrap();
        let Some(mut bundle) = read(&text) else {
            continue;
        };
        for (target, report) in reports(&text) {
            let about = format!("{}, {target}", path.display());
            if report.run.as_ref().is_none_or(|it| it.ended.is_none()) {
                continue;
            }
            let hub = bundle.hub.clone();
            let mut walk = Walk::shallow(target);
            walk.drive(&mut bundle);
            let status = Status::with_ends(&Inventory::new(walk, report.as_of.unwrap(), hub));
            let status = render::status::status(&status, &look(true));
            for (format, shown) in formats(&report, true)
                .into_iter()
                .chain([("status", status)])
            {
                let mut words = shown.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
                assert!(
                    !words.any(|word| word == "pending"),
                    "{about}: {format}\n{shown}"
                );
            }
        }
    }
}
