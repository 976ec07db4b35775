//! What a real fish completes, and the scripts of shells that are not here.

use std::process::Command;

use test_hub::Ran;

use crate::setting::{ODD, ROOT, Setting, has};
use crate::typing::{EQUALS, LIVE, assert_candidates};

/// Values and descriptions.
fn candidates(setting: &Setting, setup: &str, line: &str) -> Vec<(String, String)> {
    let mut command = Command::new("fish");
    setting.equip(&mut command);
    let script = format!("{setup}; complete -C '{line}'");
    let ran = Ran::of(command.args(["--no-config", "-c", &script]));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{line}: {ran:?}");
    let lines = ran.out.lines();
    let pairs = lines.map(|line| line.split_once('\t').unwrap_or((line, "")));
    pairs
        .map(|(value, help)| (value.to_owned(), help.to_owned()))
        .collect()
}

#[test]
fn both_scripts_and_kubectls_complete() {
    let Some(setting) = Setting::get() else {
        return;
    };
    if !has("fish") {
        return;
    }
    let checked_in = format!("source {ROOT}/completions/kubectl-fleet-stage.fish");
    let printed = "kubectl-fleet-stage completion fish | source";
    let kubectl = "kubectl completion fish | source";
    for (setup, form) in [
        (checked_in.as_str(), "kubectl-fleet-stage"),
        (printed, "kubectl-fleet-stage"),
        (kubectl, "kubectl fleet-stage"),
        (kubectl, "kubectl fleet stage"),
    ] {
        for (line, wanted, complete) in LIVE {
            let line = format!("{form} {line}");
            let found = candidates(setting, setup, &line);
            let values: Vec<_> = found.iter().map(|(value, _)| value.clone()).collect();
            assert_candidates(&format!("{setup}: {line}"), &values, wanted, complete);
            if line.ends_with("approve ") {
                let meant = |(_, help): &(String, String)| help.starts_with("canary of checkout-2");
                assert!(found.iter().any(meant), "{found:?}");
            }
        }
        for (line, wanted) in EQUALS {
            let found = candidates(setting, setup, &format!("{form} {line}"));
            let values: Vec<_> = found.iter().map(|(value, _)| value.as_str()).collect();
            assert_eq!(values, [wanted], "{setup}: {line}");
        }
    }
}

/// fish quotes what it inserts; a word in open quotes has candidates.
#[test]
fn words_in_quotes_have_candidates() {
    let Some(setting) = Setting::get() else {
        return;
    };
    if !has("fish") {
        return;
    }
    let setup = format!(
        "set -x KUBECONFIG {}; source {ROOT}/completions/kubectl-fleet-stage.fish",
        setting.odd_contexts("odd-fish")
    );
    for (typed, wanted) in [
        ("\"the o", "the other"),
        ("the\\\\ o", "the other"),
        ("\"it", "it's"),
        ("od", ODD),
    ] {
        let line = format!("kubectl-fleet-stage list --context {typed}");
        let found = candidates(setting, &setup, &line);
        assert_eq!(found, [(wanted.to_owned(), String::new())], "{line}");
    }
}

/// Neither is to be had on our machines: their scripts are there, and ask for candidates.
#[test]
fn elvish_and_powershell_have_scripts() {
    let Some(setting) = Setting::get() else {
        return;
    };
    for (shell, file) in [
        ("elvish", "kubectl-fleet-stage.elv"),
        ("powershell", "_kubectl-fleet-stage.ps1"),
    ] {
        let ran = setting.run(&format!("kubectl-fleet-stage completion {shell}"));
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        let text = std::fs::read_to_string(format!("{ROOT}/completions/{file}")).unwrap();
        assert_eq!(ran.out, text, "{shell}");
        assert!(text.contains("FLEET_STAGE_COMPLETE"), "{shell}");
        assert!(text.contains("kubectl-fleet-stage"), "{shell}");
    }
}
