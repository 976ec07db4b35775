//! kubectl's completion protocol: `kubectl __complete` asks a plugin's other half.

use test_hub::Ran;

use crate::setting::{NAMES, Setting};
use crate::typing::{EQUALS, LIVE, assert_candidates};

/// The candidates as lines, and the directive.
fn complete(setting: &Setting, form: &str, line: &str) -> (Vec<String>, String) {
    let last = if line.ends_with(' ') { "''" } else { "" };
    let line = format!("kubectl __complete {form} {line}{last}");
    let ran = setting.run(&line);
    assert_eq!(ran.code, 0, "{line}: {ran:?}");
    // kubectl itself says what it asks, and what the directive means.
    let own = ["[Debug] ", "Completion ended with directive: "];
    let said = |line: &str| own.iter().any(|begin| line.starts_with(begin));
    assert!(ran.err.lines().all(said), "{line}: {ran:?}");
    let mut lines: Vec<_> = ran.out.lines().map(str::to_owned).collect();
    let directive = lines.pop().unwrap_or_default();
    (lines, directive)
}

fn values(lines: &[String]) -> Vec<String> {
    let first = |line: &String| line.split('\t').next().unwrap_or_default().to_owned();
    lines.iter().map(first).collect()
}

#[test]
fn kubectl_asks_the_plugin() {
    let Some(setting) = Setting::get() else {
        return;
    };
    for form in ["fleet-stage", "fleet stage"] {
        for (line, wanted, all) in LIVE {
            let (lines, directive) = complete(setting, form, line);
            assert_candidates(&format!("{form} {line}"), &values(&lines), wanted, all);
            assert_eq!(directive, ":4", "{form} {line}: {lines:?}");
        }
        let (lines, _) = complete(setting, form, "approve ");
        assert!(lines[0].contains("\tcanary of "), "{lines:?}");
        let (lines, _) = complete(setting, form, " ");
        let explain = "explain\tExplain a finding in detail, offline".to_owned();
        assert!(lines.contains(&explain), "{lines:?}");
        let (lines, _) = complete(setting, form, "list --all-n");
        assert_eq!(values(&lines), ["--all-namespaces"]);
        // As kubectl itself: `kubectl __complete get pods --output=js` has no flag before `json`.
        for (line, wanted) in EQUALS {
            let (lines, _) = complete(setting, form, line);
            let value = line.split_once('=').unwrap().1;
            let fits: Vec<_> = values(&lines)
                .into_iter()
                .filter(|found| found.starts_with(value))
                .collect();
            let wanted = wanted.split_once('=').unwrap().1;
            assert_eq!(fits, [wanted], "{line}: {lines:?}");
        }
        let folder = setting.folder("bundles").join("inner");
        std::fs::create_dir_all(&folder).unwrap();
        let typed = format!("diagnose -f {}/inn", folder.parent().unwrap().display());
        let (lines, directive) = complete(setting, form, &typed);
        assert_eq!(values(&lines), [format!("{}/", folder.display())]);
        assert_eq!(directive, ":2");
    }
}

/// The reference: what kubectl offers for a flag of its own.
#[test]
fn kubectl_has_no_flag_before_a_value_either() {
    let Some(setting) = Setting::get() else {
        return;
    };
    let (lines, _) = complete(setting, "get pods", "--output=js");
    assert_eq!(lines[0], "json", "{lines:?}");
}

#[test]
fn what_was_typed_before_leads_to_the_hub() {
    let Some(setting) = Setting::get() else {
        return;
    };
    let own = setting.hub.kubeconfig().display().to_string();
    let elsewhere = "KUBECONFIG=/nowhere";
    for form in ["fleet-stage", "fleet stage"] {
        for (flags, line, wanted) in [
            ("", "status -n team-a ", &["web-1", "rp/web"][..]),
            ("", "status --namespace=team-a ", &["web-1", "rp/web"]),
            ("", "-n team-a approve ", &[]),
            ("", "resume --context hub ", &["gateway-1"]),
            ("", "resume --context away ", &[]),
            (elsewhere, "resume ", &[]),
            (
                elsewhere,
                &format!("resume --kubeconfig {own} --context hub "),
                &["gateway-1"],
            ),
            (
                elsewhere,
                &format!("resume --kubeconfig={own} --context=hub gate"),
                &["gateway-1"],
            ),
        ] {
            let last = if line.ends_with(' ') { "''" } else { "" };
            let ran = setting.run(&format!("{flags} kubectl __complete {form} {line}{last}"));
            let (found, directive) = ran
                .out
                .trim_end()
                .rsplit_once('\n')
                .unwrap_or(("", &ran.out));
            let found: Vec<_> = found.lines().map(str::to_owned).collect();
            assert_candidates(line, &values(&found), wanted, true);
            assert_eq!(directive.trim_end(), ":4", "{ran:?}");
        }
    }
}

/// The files that kubectl looks for are links to what was called, which what manages plugins keeps.
#[test]
fn the_files_that_kubectl_looks_for_are_installed() {
    let Some(setting) = Setting::get() else {
        return;
    };
    for name in NAMES {
        let folder = setting.folder(&format!("for-{name}"));
        let line = format!("{name} completion kubectl --install {}", folder.display());
        for _ in 0..2 {
            let ran = setting.run(&line);
            assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:?}");
        }
        for name in [
            "kubectl_complete-fleet-stage",
            "kubectl_complete-fleet_stage",
        ] {
            let link = folder.join(name);
            let ran = Ran::of(
                setting
                    .line(&format!("{} expl", link.display()))
                    .env("KUBECONFIG", "/nowhere"),
            );
            assert_eq!(
                ran.out,
                "explain\tExplain a finding in detail, offline\n:4\n"
            );
            assert_eq!(ran.err, "");
        }
        let link = folder.join("kubectl_complete-fleet_stage");
        let to = std::fs::read_link(link).unwrap();
        assert_eq!(to, setting.bin.join(name));
    }
}
