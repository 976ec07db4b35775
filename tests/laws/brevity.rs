//! Reports say what there is to say once, in few lines.

use kubectl_fleet_stage::diagnose::status::Status;
use kubectl_fleet_stage::inventory::{Inventory, Walk};
use kubectl_fleet_stage::render;
use kubectl_fleet_stage::report::Report;

use super::fixtures::yaml_files;
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

#[test]
fn half_of_all_reports_have_at_most_24_lines() {
    let mut lines: Vec<_> = all()
        .iter()
        .map(|(_, report)| formats(report, false)[0].1.lines().count())
        .collect();
    lines.sort_unstable();
    let median = lines[lines.len() / 2];
    println!("{} reports, median {median}", lines.len());
    assert!(median <= 24, "{median}");
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
            if report.progress.as_ref().is_none_or(|it| it.ended.is_none()) {
                continue;
            }
            let hub = bundle.hub.clone();
            let mut walk = Walk::shallow(target);
            walk.drive(&mut bundle);
            let status = Status::new(&Inventory::new(walk, report.as_of.unwrap(), hub));
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
