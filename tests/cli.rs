//! The binary as a user calls it: every case under `tests/cmd/`, and what those cannot say.

#![allow(clippy::unwrap_used, clippy::expect_used)] // a test may fail

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

#[test]
fn commands_say_what_their_cases_expect() {
    trycmd::TestCases::new()
        .env("NO_COLOR", "1")
        .env("COLUMNS", "80")
        .case("tests/cmd/*.md")
        .run();
}

const BUNDLE: &str = "tests/real/C04-before-approval.yaml";

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-fleet-stage"));
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_remove("_")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn with_input(args: &[&str], input: &[u8]) -> Output {
    let mut child = program().args(args).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn a_flag_of_other_commands_is_said_to_be_theirs() {
    let said = |args: &[&str]| {
        let output = program().args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let theirs = said(&["retry", "shop-1", "--snapshot", "3"]);
    assert!(
        theirs.contains("'--snapshot' is a flag of plan, init, run"),
        "{theirs}"
    );
    assert!(!theirs.contains("as a value"), "{theirs}");
    let nobodys = said(&["retry", "shop-1", "--nothing-of-it"]);
    assert!(!nobodys.contains("is a flag of"), "{nobodys}");
}

#[test]
fn standard_input_gives_the_same_report_as_a_file() {
    let file = program()
        .args(["diagnose", "checkout-1", "-o", "json", "-f", BUNDLE])
        .output()
        .unwrap();
    let input = std::fs::read(BUNDLE).unwrap();
    let piped = with_input(&["diagnose", "checkout-1", "-o", "json", "-f", "-"], &input);
    assert_eq!(piped, file);
    let twice = with_input(&["diagnose", "x", "-f", "-", "-f", "-"], b"");
    assert_eq!(twice.status.code(), Some(2));
}

/// Whoever reads has read enough: nothing is said, and the verdict stays.
#[test]
fn a_closed_pipe_is_no_error() {
    for (args, code) in [
        (&["explain", "--list"][..], 0),
        (&["schema"], 0),
        (&["diagnose", "checkout-1", "-f", BUNDLE], 4),
    ] {
        let mut child = program().args(args).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
        assert_eq!(output.status.code(), Some(code), "{args:?}");
    }
}

#[test]
fn the_form_it_was_called_by_is_shown_in_help_and_hints() {
    // A link: a copy that another test's child still holds open could not be run.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for (name, shell_ran, form) in [
        (
            "kubectl-fleet_stage",
            "/usr/bin/kubectl",
            "kubectl fleet-stage",
        ),
        (
            "kubectl-fleet-stage",
            "/usr/bin/kubectl",
            "kubectl fleet stage",
        ),
        (
            "kubectl-fleet-stage",
            "/usr/bin/make",
            "kubectl-fleet-stage",
        ),
    ] {
        let path = folder.path().join(name);
        if !path.exists() {
            std::fs::hard_link(env!("CARGO_BIN_EXE_kubectl-fleet-stage"), &path).unwrap();
        }
        let call = |args: &[&str]| {
            let mut command = Command::new(&path);
            let output = command.args(args).env("_", shell_ran).output().unwrap();
            let text = [output.stdout, output.stderr].concat();
            String::from_utf8(text).unwrap()
        };
        let help = call(&["diagnose", "-h"]);
        assert!(help.contains(&format!("Usage: {form} diagnose ")), "{help}");
        let hint = call(&["explain", "zzz"]);
        assert!(
            hint.contains(&format!("\n  {form} explain --list")),
            "{hint}"
        );
        let usage = call(&["diagnose", "--zzz"]);
        assert!(
            usage.contains(&format!("\n  {form} diagnose --help")),
            "{usage}"
        );
    }
}

#[test]
fn colour_is_for_those_who_ask() {
    let coloured = |args: &[&str], variable: &str| {
        let mut command = program();
        for name in ["NO_COLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        let output = command.args(args).env(variable, "1").output().unwrap();
        [output.stdout, output.stderr].concat().contains(&0x1b)
    };
    let explain = &["explain", "FS501"][..];
    assert!(!coloured(explain, "X"));
    assert!(coloured(explain, "CLICOLOR_FORCE"));
    assert!(coloured(
        &["explain", "FS501", "--color=always"],
        "NO_COLOR"
    ));
    assert!(!coloured(
        &["--color=never", "explain", "zzz"],
        "CLICOLOR_FORCE"
    ));
    assert!(!coloured(&["--color=never", "--zzz"], "CLICOLOR_FORCE"));
    assert!(coloured(&["--color=always", "--help"], "X"));
}
