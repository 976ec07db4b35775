//! Both names of the plugin through a real kubectl.

use std::path::{Path, PathBuf};
use std::process::Command;

use test_hub::Ran;

use crate::setting::{BINARY, NAMES, Setting, has, link, path};

/// How people call it, and which file kubectl starts for it.
const FORMS: [(&str, &str); 2] = [
    ("kubectl fleet stage", NAMES[0]),
    ("kubectl fleet-stage", NAMES[1]),
];

/// A folder with kubectl and the plugin under these names, as links or as copies.
fn installed(setting: &Setting, folder: &str, names: &[&str], copied: bool) -> PathBuf {
    let folder = setting.folder(folder);
    let kubectl = std::fs::canonicalize(setting.bin.join("kubectl")).unwrap();
    link(&kubectl, &folder.join("kubectl"));
    for name in names {
        let at = folder.join(name);
        if copied {
            // Not by ourselves: what another test's child holds open for writing cannot be run.
            let copied = Command::new("cp").arg(BINARY).arg(&at).status().unwrap();
            assert!(copied.success());
        } else {
            link(Path::new(BINARY), &at);
        }
    }
    folder
}

fn script(folder: &Path, name: &str, text: &str) {
    let at = folder.join(name);
    let make = format!(
        "printf '%s' '{text}' > {0} && chmod +x {0}",
        at.to_str().unwrap()
    );
    let made = Command::new("sh").args(["-c", &make]).status().unwrap();
    assert!(made.success());
}

/// Runs a line with another folder at the head of the PATH.
fn run_in(setting: &Setting, folder: &Path, line: &str) -> Ran {
    Ran::of(setting.line(line).env("PATH", path(folder)))
}

#[test]
fn each_name_answers_to_its_own_form() {
    let Some(setting) = Setting::get() else {
        return;
    };
    for (form, name) in FORMS {
        for copied in [false, true] {
            let folder = format!("{name}-{copied}");
            let folder = installed(setting, &folder, &[name], copied);
            let status = run_in(
                setting,
                &folder,
                &format!("{form} status checkout-2 -o json"),
            );
            assert_eq!(status.code, 4, "{status:?}");
            assert_eq!(status.json()["target"]["name"], "checkout-2", "{status:?}");
            let help = run_in(setting, &folder, &format!("{form} approve -h"));
            assert!(
                help.out.contains(&format!("Usage: {form} approve ")),
                "{help:?}"
            );
            let (_, other) = FORMS.iter().find(|(_, other)| *other != name).unwrap();
            assert!(!folder.join(other).exists());
            let other = run_in(setting, &folder, &format!("kubectl {other} list"));
            assert_ne!(other.code, 0, "{other:?}");
        }
    }
}

#[test]
fn help_errors_and_hints_show_the_form_it_was_called_by() {
    let Some(setting) = Setting::get() else {
        return;
    };
    let direct = ("kubectl-fleet-stage", "");
    for (form, _) in FORMS.into_iter().chain([direct]) {
        let help = setting.run(&format!("{form} --help"));
        assert_eq!(help.code, 0);
        let examples: Vec<_> = help.out.lines().skip_while(|l| *l != "Examples:").collect();
        assert!(
            examples[1].starts_with(&format!("  {form} ")),
            "{examples:?}"
        );
        let usage = setting.run(&format!("{form} approve --zzz"));
        assert_eq!(usage.code, 2);
        assert!(
            usage.err.contains(&format!("\n  {form} approve --help")),
            "{usage:?}"
        );
        let unknown = setting.run(&format!("{form} status web-1"));
        assert_eq!(unknown.code, 6, "{unknown:?}");
        let hint = format!("\n  {form} status sur/web-1 -n team-a");
        assert!(unknown.err.contains(&hint), "{unknown:?}");
        let gates = setting.run(&format!("{form} status checkout-2"));
        let command = format!("{form} approve checkout-2-before-canary");
        assert!(gates.out.contains(&command), "{gates:?}");
        for (other, _) in FORMS.iter().chain([&direct]) {
            for text in [&help.out, &usage.err, &unknown.err, &gates.out] {
                assert!(other == &form || !text.contains(other), "{other}: {text}");
            }
        }
    }
}

/// What leads to the shell's `_` differs; what kubectl does, does not.
#[test]
fn the_form_is_known_whichever_shell_calls() {
    let Some(setting) = Setting::get() else {
        return;
    };
    for (shell, arguments) in [
        ("bash", &["--norc", "-c"][..]),
        ("sh", &["-c"]),
        ("zsh", &["-f", "-c"]),
        ("fish", &["--no-config", "-c"]),
    ] {
        if !has(shell) {
            continue;
        }
        for form in [
            "kubectl fleet stage",
            "kubectl fleet-stage",
            "kubectl-fleet-stage",
        ] {
            for outer in [None, Some("/usr/bin/env")] {
                let mut command = Command::new(shell);
                setting.equip(&mut command);
                if let Some(outer) = outer {
                    command.env("_", outer);
                }
                // Two commands: the shell must not become the first.
                let line = format!("{form} version -h; true");
                let ran = Ran::of(command.args(arguments).arg(&line));
                let usage = format!("Usage: {form} version");
                assert!(ran.out.contains(&usage), "{shell} {outer:?}: {ran:?}");
            }
        }
    }
}

#[test]
fn kubectl_lists_the_plugin_without_a_warning() {
    let Some(setting) = Setting::get() else {
        return;
    };
    let folder = installed(setting, "listed", &NAMES, false);
    script(&folder, "kubectl-fleet", "#!/bin/sh\n");
    let ran = Ran::of(
        setting
            .line("kubectl plugin list")
            .env("PATH", path(&folder)),
    );
    for name in NAMES.iter().chain([&"kubectl-fleet"]) {
        let line = folder.join(name).display().to_string();
        assert!(ran.out.lines().any(|shown| shown == line), "{ran:?}");
    }
    assert!(!ran.err.contains("fleet"), "{ran:?}");
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn the_flags_of_kubectl_and_its_variable_lead_to_the_hub() {
    let Some(setting) = Setting::get() else {
        return;
    };
    let elsewhere = setting.folder("elsewhere").join("config");
    let own = setting.hub.kubeconfig();
    let names = |line: &str, kubeconfig: Option<String>| {
        let mut command = setting.line(line);
        if let Some(kubeconfig) = kubeconfig {
            command.env("KUBECONFIG", kubeconfig);
        }
        let ran = Ran::of(&mut command);
        assert_eq!(ran.code, 0, "{line}: {ran:?}");
        ran.out
    };
    let own = own.display();
    for form in ["kubectl fleet stage", "kubectl fleet-stage"] {
        let all = names(&format!("{form} list -o name"), None);
        assert!(all.contains("checkout-2"), "{all}");
        assert!(!all.contains("web-1"), "{all}");
        let team = names(&format!("{form} list -n team-a -o name"), None);
        assert!(
            team.contains("web-1") && !team.contains("checkout"),
            "{team}"
        );
        for line in [
            format!("{form} list -o name --context=hub"),
            format!("{form} --context hub list -o name"),
            format!("{form} list -o name --kubeconfig {own} --context hub"),
        ] {
            assert_eq!(names(&line, None), all, "{line}");
        }
        // What is not there is passed over, and what comes first wins.
        let variable = format!("{}:{own}", elsewhere.display());
        let line = format!("{form} list -o name --context hub");
        assert_eq!(names(&line, Some(variable)), all);
        // Of another context nobody answers: the flag is not lost on the way.
        let away = setting.run(&format!("{form} list --context away"));
        assert_eq!((away.code, away.out.as_str()), (1, ""), "{away:?}");
        // A hint leads to the same hub.
        let hint = setting.run(&format!("{form} status web-1 --context hub"));
        let wanted = format!("\n  {form} status sur/web-1 -n team-a --context hub");
        assert!(hint.err.contains(&wanted), "{hint:?}");
    }
}

#[test]
fn exit_codes_come_through() {
    let Some(setting) = Setting::get() else {
        return;
    };
    for (arguments, code) in [
        ("diagnose checkout-1", 0),
        ("approve checkout-2-before-canary", 1),
        ("diagnose --zzz", 2),
        ("diagnose orders-1", 3),
        ("diagnose checkout-2", 4),
        ("wait web-1 -n team-a --for=succeeded --timeout 0", 9),
        ("diagnose checkout-9", 6),
        ("diagnose gateway-1", 8),
    ] {
        for form in ["kubectl fleet stage", "kubectl fleet-stage"] {
            let ran = setting.run(&format!("{form} {arguments}"));
            assert_eq!(ran.code, code, "{form} {arguments}: {ran:?}");
        }
    }
}

/// KubeFleet has a plugin of its own: kubectl takes the longest name that fits.
#[test]
fn another_plugin_keeps_its_own_commands() {
    let Some(setting) = Setting::get() else {
        return;
    };
    let folder = installed(setting, "beside", &NAMES, false);
    script(
        &folder,
        "kubectl-fleet",
        "#!/bin/sh\necho the other: \"$@\"\n",
    );
    for (line, theirs) in [
        ("kubectl fleet", true),
        ("kubectl fleet draincluster --clusterName x", true),
        // Near misses of our words.
        ("kubectl fleet stages", true),
        ("kubectl fleet approve checkout-2-before-canary", true),
        ("kubectl fleet stage version", false),
        ("kubectl fleet-stage version", false),
    ] {
        let ran = run_in(setting, &folder, line);
        assert_eq!(ran.code, 0, "{line}: {ran:?}");
        assert_eq!(ran.out.starts_with("the other:"), theirs, "{line}: {ran:?}");
    }
}
