use super::{answer, script};
use crate::commands::gather::argument::ArgumentKind;
use crate::render::invocation::Invocation;
use std::ffi::OsString;

fn kubectl(words: &[&str]) -> Vec<String> {
    let mut args = vec![OsString::from("/bin/kubectl_complete-fleet_stage")];
    args.extend(words.iter().map(Into::into));
    let text = answer(&args, None).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn kubectl_gets_candidates_with_their_meaning_and_a_directive() {
    for (words, wanted) in [
        (&["expl"][..], "explain\t"),
        (&[], "approve\t"),
        (
            &["explain", "FS40"],
            "FS401\tapproval-observed-generation-mismatch",
        ),
        (
            &["explain", "approval-obs"],
            "approval-observed-generation-mismatch\tFS401",
        ),
        (&["diagnose", "-o", ""], "markdown"),
    ] {
        let lines = kubectl(words);
        let is_offered = lines.iter().any(|line| line.starts_with(wanted));
        assert!(is_offered, "{wanted}: {lines:?}");
        assert_eq!(lines.last().unwrap(), ":4");
    }
}

/// kubectl's scripts put the flag before what they get.
#[test]
fn a_flag_before_an_equals_sign_is_not_repeated() {
    for (typed, wanted) in [
        ("--output=ma", "markdown"),
        ("-o=ma", "markdown"),
        ("--output", "--output"),
        ("--suppress=FS401=", ""),
    ] {
        let lines = kubectl(&["diagnose", typed]);
        let first = lines[0].split('\t').next().unwrap();
        let is_none = wanted.is_empty() && first == ":4";
        assert!(first == wanted || is_none, "{typed}: {lines:?}");
    }
}

#[test]
fn wherever_a_run_is_named_runs_are_offered() {
    let mut command = crate::cli::command(&Invocation::default());
    command.build();
    let mut found = 0;
    for sub in command.get_subcommands() {
        for argument in sub.get_positionals() {
            let names = argument.get_value_names().unwrap_or_default();
            // What is initialized is new.
            if sub.get_name() == "init" || !names.iter().any(|name| name.contains("RUN")) {
                continue;
            }
            found += 1;
            let kind = argument.get::<ArgumentKind>();
            assert!(kind.is_some(), "{} {}", sub.get_name(), argument.get_id());
        }
    }
    assert!(found > 10, "{found}");
}

#[test]
fn of_several_conditions_the_last_is_completed() {
    let lines = kubectl(&[
        "wait",
        "x",
        "--kubeconfig",
        "/dev/null",
        "--for",
        "stopped,succ",
    ]);
    assert_eq!(lines, ["stopped,succeeded\tthe run has succeeded", ":4"],);
}

#[test]
fn of_several_hubs_the_last_is_completed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    std::fs::write(&path, "contexts: [{name: eu}, {name: us}, {name: us-2}]").unwrap();
    let path = path.to_str().unwrap();
    let offered = |typed| kubectl(&["list", "--kubeconfig", path, "--contexts", typed]);
    assert_eq!(offered("u"), ["us", "us-2", ":4"]);
    assert_eq!(offered("eu,us-2,"), ["eu,us-2,us", ":4"]);
}

#[test]
fn a_hub_that_is_away_is_silence() {
    for words in [
        &["approve", "--kubeconfig", "/nowhere", ""][..],
        &["status", "--server", "https://127.0.0.1:1", ""],
        &[
            "rollback",
            "crp/x",
            "--server",
            "https://127.0.0.1:1",
            "--to",
            "",
        ],
    ] {
        let lines = kubectl(words);
        assert_eq!(lines, [":4"], "{words:?}");
    }
}

#[test]
fn every_shell_has_a_script() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = script(shell).unwrap();
        assert!(script.contains("FLEET_STAGE_COMPLETE"), "{shell}");
        assert!(!script.contains("kubectl fleet"), "{shell}");
    }
    assert!(script("tcsh").is_none());
    // What is typed is read without its quotes.
    assert!(script("zsh").unwrap().contains("${compstate[quote]}"));
    let fish = script("fish").unwrap();
    assert!(fish.contains("(set -l word (commandline --current-token --tokenize);"));
}

#[test]
fn nobody_asks_without_the_variable() {
    let args = ["kubectl-fleet-stage".into(), "list".into()];
    assert!(answer(&args, None).is_none());
    assert!(answer(&args, Some("")).is_none());
}
