//! The manual: a page for each command, without a fault that mandoc knows, found by `man`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use kubectl_fleet_stage::cli;
use kubectl_fleet_stage::render::invocation::Invocation;
use test_hub::Ran;

use crate::setting::{ROOT, has};

/// What mandoc may say. A page has no date: it changes with the program, not with the day.
const ACCEPTED: [&str; 1] = ["missing date, using \"\": TH"];

fn pages() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(format!("{ROOT}/man")).unwrap();
    let mut pages: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    pages
}

fn collect(command: &clap::Command, name: &str, names: &mut BTreeSet<String>) {
    names.insert(format!("{name}.1"));
    for sub in command.get_subcommands() {
        collect(sub, &format!("{name}-{}", sub.get_name()), names);
    }
}

#[test]
fn each_command_has_a_page_and_each_page_a_command() {
    let mut commands = BTreeSet::new();
    let command = cli::command(&Invocation::default());
    collect(&command, "kubectl-fleet-stage", &mut commands);
    let name = |page: &PathBuf| page.file_name().unwrap().to_str().unwrap().to_owned();
    let pages: BTreeSet<_> = pages().iter().map(name).collect();
    assert_eq!(pages, commands);
    assert!(pages.contains("kubectl-fleet-stage-snapshots-diff.1"));
}

#[test]
fn mandoc_finds_no_fault() {
    if !has("mandoc") {
        return;
    }
    let mut command = Command::new("mandoc");
    command.args(["-T", "lint", "-W", "warning"]).args(pages());
    let ran = Ran::of(&mut command);
    let faults: Vec<_> = ran
        .out
        .lines()
        .chain(ran.err.lines())
        .filter(|line| !ACCEPTED.iter().any(|accepted| line.ends_with(accepted)))
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
    // It does look.
    assert!(
        ran.out.contains(ACCEPTED[0]) || ran.err.contains(ACCEPTED[0]),
        "{ran:?}"
    );
}

/// A page as it is shown, without what makes letters bold.
fn assert_page(page: &str, shown: &str) {
    for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES"] {
        assert!(
            shown.lines().any(|line| line == section),
            "{page}: no {section}:\n{shown}"
        );
    }
    for line in shown.lines() {
        assert!(line.chars().count() <= 80, "{page}: {line}");
        assert!(
            !line.contains(r"\-") && !line.contains("\\f"),
            "{page}: {line}"
        );
    }
    // Every flag says what it does.
    let lines: Vec<_> = shown.lines().collect();
    for pair in lines.windows(2) {
        // The text of a short flag stands beside it; what is further to the right is no flag.
        let flag = pair[0].strip_prefix("       ").unwrap_or_default();
        let (_, beside) = flag.split_once(' ').unwrap_or_default();
        let has_text = flag.contains("  ") || beside.starts_with(|c: char| c.is_ascii_uppercase());
        let is_flag = flag.starts_with('-') && !has_text && !flag.ends_with('.');
        assert!(
            !is_flag || !pair[1].trim().is_empty(),
            "{page}: {}",
            pair[0]
        );
    }
}

fn without_bold(text: &str) -> String {
    let mut out: Vec<char> = Vec::new();
    for c in text.chars() {
        if c == '\u{8}' {
            out.pop();
        } else {
            out.push(c);
        }
    }
    out.into_iter().collect()
}

#[test]
fn pages_fit_80_columns() {
    if !has("mandoc") {
        return;
    }
    for page in pages() {
        let mut command = Command::new("mandoc");
        let command = command.args(["-T", "ascii", "-O", "width=80"]).arg(&page);
        let ran = Ran::of(command);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_page(page.to_str().unwrap(), &without_bold(&ran.out));
    }
}

#[test]
fn man_finds_them_where_they_are_installed() {
    if !has("man") {
        return;
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let section = folder.path().join("man1");
    std::fs::create_dir(&section).unwrap();
    for page in pages() {
        std::fs::copy(&page, section.join(page.file_name().unwrap())).unwrap();
    }
    let man = |arguments: &[&str]| {
        let mut command = Command::new("man");
        command
            .args(arguments)
            .env("MANPATH", folder.path())
            .env("MANWIDTH", "80")
            .env("LC_ALL", "C.UTF-8")
            .env("PAGER", "cat")
            .env("MANPAGER", "cat");
        Ran::of(&mut command)
    };
    for page in [
        "kubectl-fleet-stage",
        "kubectl-fleet-stage-diagnose",
        "kubectl-fleet-stage-snapshots-diff",
    ] {
        let found = man(&["-w", page]);
        let file = section.join(format!("{page}.1"));
        assert_eq!(found.out.trim_end(), file.to_str().unwrap(), "{found:?}");
        let shown = man(&[page]);
        assert_eq!(shown.code, 0, "{shown:?}");
        assert_page(page, &without_bold(&shown.out));
        let local = man(&["-l", file.to_str().unwrap()]);
        assert_eq!(without_bold(&local.out), without_bold(&shown.out));
    }
    // A near miss is no page.
    assert_ne!(man(&["-w", "kubectl-fleet-stage-approv"]).code, 0);
}
