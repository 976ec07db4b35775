//! Every fixture is diagnosed by the whole engine, and must give what its comment block expects.
//!
//! A fixture begins with one or more blocks of comments. What follows is a bundle, or a base and what is
//! different in it (see [`test_fixtures`]):
//!
//! ```text
//! # What this situation is.
//! # args: example-run -n my-app-namespace
//! # verdict: Stuck
//! # findings: FS501! FS516        complete, in the report's order; `!` marks a root cause
//! # clusters: FS501 member2       all clusters of that finding
//! # subject: FS501 Deployment/web
//! # stage: FS501 staging
//! # fault: FS501 Environment
//! # says: FS501 words that the message contains
//! # never: FS402
//! # summary: words that the summary contains
//! # first: FS501 words that the first step or its command contains
//! # offers: FS501 words that some step or its command contains
//! # avoids: FS501 words that no step and no command contains
//! base: tests/bases/cluster-stuck.yaml
//! change:
//!   ClusterResourceBinding/example-placement-member2-605ab01b:
//!     status.conditions[Available].status: 'True'
//! remove: [MemberCluster/member3]
//! ```

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

use crate::{fixtures, situations};
use std::collections::BTreeSet;
use std::path::Path;

use fixtures::yaml_files;
use kubectl_fleet_stage::diagnose::{held_regardless, rules};
use kubectl_fleet_stage::report::{Finding, Report, Verdict};
use situations::{expectations, report};

const FOLDERS: [&str; 4] = ["tests/findings", "tests/real", "tests/healthy", "examples"];

fn codes(findings: &[Finding]) -> String {
    let codes: Vec<_> = findings
        .iter()
        .map(|finding| {
            format!(
                "{}{}",
                finding.code,
                if finding.root_cause { "!" } else { "" }
            )
        })
        .collect();
    if codes.is_empty() {
        "none".to_owned()
    } else {
        codes.join(" ")
    }
}

fn check(report: &Report, key: &str, value: &str) -> Result<(), String> {
    let equal = |what: &str, got: String, want: &str| {
        if got == want {
            Ok(())
        } else {
            Err(format!("{what}: got `{got}`, expected `{want}`"))
        }
    };
    let (code, rest) = value.split_once(' ').unwrap_or((value, ""));
    let of_code = || {
        report
            .findings
            .iter()
            .filter(move |finding| finding.code == code)
    };
    match key {
        "verdict" => equal("verdict", report.verdict.as_str().to_owned(), value),
        "findings" => equal("findings", codes(&report.findings), value),
        "never" if of_code().next().is_some() => Err(format!("{code} must keep quiet")),
        "clusters" => {
            let clusters: BTreeSet<_> = of_code().flat_map(|finding| &finding.clusters).collect();
            let got: Vec<_> = clusters.into_iter().map(String::as_str).collect();
            equal(
                &format!("clusters of {code}"),
                got.join(","),
                &rest.replace(", ", ","),
            )
        }
        "subject" => {
            let got: Vec<_> = of_code()
                .map(|f| format!("{}/{}", f.subject.kind, f.subject.name))
                .collect();
            if got.iter().any(|got| got == rest) {
                Ok(())
            } else {
                Err(format!("subject of {code}: got {got:?}, expected {rest}"))
            }
        }
        "stage" => {
            let got: Vec<_> = of_code()
                .filter_map(|finding| finding.stage.as_deref())
                .collect();
            if got.contains(&rest) {
                Ok(())
            } else {
                Err(format!("stage of {code}: {got:?}"))
            }
        }
        "fault" => {
            let got: Vec<_> = of_code()
                .filter_map(|finding| Some(format!("{:?}", finding.fault?)))
                .collect();
            if got.iter().any(|got| got == rest) {
                Ok(())
            } else {
                Err(format!("fault of {code}: {got:?}"))
            }
        }
        "says" => {
            let got: Vec<_> = of_code().map(|finding| finding.message.as_str()).collect();
            if got.iter().any(|got| got.contains(rest)) {
                Ok(())
            } else {
                Err(format!("{code} does not say `{rest}`: {got:?}"))
            }
        }
        "summary" if !report.summary.contains(value) => Err(format!(
            "the summary does not say `{value}`: {}",
            report.summary
        )),
        "first" | "offers" | "avoids" => {
            let steps: Vec<_> = of_code()
                .flat_map(|finding| {
                    let most = if key == "first" { 1 } else { usize::MAX };
                    finding.remedies.iter().take(most)
                })
                .map(|step| match &step.command {
                    Some(command) => format!("{} {command}", step.action),
                    None => step.action.clone(),
                })
                .collect();
            if steps.is_empty() || steps.iter().any(|step| step.contains(rest)) == (key == "avoids")
            {
                Err(format!("{key} {value}: {steps:#?}"))
            } else {
                Ok(())
            }
        }
        _ => Ok(()),
    }
}

/// What is said of a run that has ended, of this one or of another.
const FAILED: [&str; 3] = ["so the run failed", "The run failed", "has failed for good"];

/// Kinds of objects that become available without pods.
const WITHOUT_PODS: [&str; 4] = [
    "CustomResourceDefinition",
    "Namespace",
    "PodDisruptionBudget",
    "Service",
];

/// What every report keeps to, whatever it is about.
fn laws(report: &Report) -> Vec<String> {
    let mut broken = Vec::new();
    let roots = report
        .findings
        .iter()
        .filter(|finding| finding.root_cause)
        .count();
    if report.verdict.wants_root_cause() && roots == 0 {
        broken.push(format!(
            "verdict {} without a root cause",
            report.verdict.as_str()
        ));
    }
    let has_failed = matches!(
        report.verdict,
        Verdict::Failed | Verdict::InitializationFailed
    );
    for finding in &report.findings {
        let code = &finding.code;
        if rules::find(code).is_none_or(|rule| rule.name != finding.name) {
            broken.push(format!(
                "{code} is not in the list under the name {}",
                finding.name
            ));
        }
        if !finding.message.ends_with('.') || finding.message.contains('\n') {
            broken.push(format!(
                "{code}: the message is not one sentence: {}",
                finding.message
            ));
        }
        if finding.evidence.is_empty() {
            broken.push(format!("{code} has no evidence"));
        }
        let actions = finding.remedies.iter().map(|remedy| &remedy.action);
        for text in actions.clone().chain([&finding.message]) {
            if !has_failed && FAILED.iter().any(|words| text.contains(words)) {
                broken.push(format!("{code} says of a run that has not failed: {text}"));
            }
        }
        // What has no pods is not blocked by an image or a probe.
        if finding.code.starts_with("FS5") && WITHOUT_PODS.contains(&finding.subject.kind.as_str())
        {
            for text in actions.filter(|text| text.contains("pods") || text.contains("probe")) {
                broken.push(format!(
                    "{code} speaks of pods for {}: {text}",
                    finding.subject
                ));
            }
        }
        if finding.root_cause && !finding.caused_by.is_empty() {
            broken.push(format!("{code} is a root cause with a cause"));
        }
        if finding.severity as u8 > 0 && finding.remedies.is_empty() {
            broken.push(format!("{code} has no remedy"));
        }
        for remedy in &finding.remedies {
            if remedy.action.contains("kubectl ") {
                broken.push(format!(
                    "{code}: a command in a sentence: {}",
                    remedy.action
                ));
            }
            let Some(command) = &remedy.command else {
                continue;
            };
            let words = command.argv();
            if words.first().is_none_or(|word| word != "kubectl") || words.len() < 3 {
                broken.push(format!("{code}: not a command: {command}"));
            }
        }
        for cause in &finding.caused_by {
            if !report
                .findings
                .iter()
                .any(|f| f.code == cause.code && f.subject == cause.subject)
            {
                broken.push(format!(
                    "{code} is caused by {} which is not there",
                    cause.code
                ));
            }
        }
    }
    broken
}

#[test]
fn every_fixture_gives_what_it_expects() {
    let mut failures = Vec::new();
    let mut cases = 0;
    for path in yaml_files(&FOLDERS) {
        let text = std::fs::read_to_string(&path).unwrap();
        let expectations = expectations(&text);
        let shown = path
            .strip_prefix(env!("CARGO_MANIFEST_DIR"))
            .unwrap_or(&path)
            .display();
        if expectations.is_empty() {
            failures.push(format!("{shown}: no expectation"));
        }
        for expectation in expectations {
            cases += 1;
            let report = report(&path, &expectation.args);
            let mut problems: Vec<_> = expectation
                .rules
                .iter()
                .filter_map(|(key, value)| check(&report, key, value).err())
                .collect();
            problems.extend(laws(&report));
            if shown.to_string().contains("healthy")
                && report
                    .findings
                    .iter()
                    .any(|f| f.severity.as_str() == "error")
            {
                problems.push("a healthy run has an error finding".to_owned());
            }
            if !problems.is_empty() {
                let findings: Vec<_> = report
                    .findings
                    .iter()
                    .map(|f| format!("      {} {}", f.code, f.message))
                    .collect();
                failures.push(format!(
                    "{shown} ({}):\n    {}\n{}",
                    expectation.args,
                    problems.join("\n    "),
                    findings.join("\n")
                ));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {cases} cases fail:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn rules_are_sorted_and_named_once() {
    let codes: Vec<_> = rules::ALL.iter().map(|rule| rule.code).collect();
    let mut sorted = codes.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(
        codes, sorted,
        "rules are listed in the order of their codes, each once"
    );
    let names: BTreeSet<_> = rules::ALL.iter().map(|rule| rule.name).collect();
    assert_eq!(names.len(), codes.len(), "names are unique");
    for rule in rules::ALL {
        let explanation = rules::explanation(rule.code);
        let title = format!("# {}: {}\n", rule.code, rule.name);
        assert!(
            explanation.is_some_and(|it| it.starts_with(&title)),
            "the list has {} under its own code",
            rule.name
        );
        for cause in rule.caused_by {
            assert!(
                rules::find(cause).is_some(),
                "{} names the unknown cause {cause}",
                rule.code
            );
        }
    }
}

/// List ⇔ explanation ⇔ a fixture where it fires ⇔ a fixture where it keeps quiet.
#[test]
fn every_rule_is_explained_and_has_fixtures() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut missing = Vec::new();
    for rule in rules::ALL {
        let explanation = root.join(format!("docs/findings/{}.md", rule.code));
        match std::fs::read_to_string(&explanation) {
            Ok(text) if text.starts_with(&format!("# {}: {}\n", rule.code, rule.name)) => {}
            Ok(_) => missing.push(format!("{}: the title of its explanation", rule.code)),
            Err(_) => missing.push(format!("{}: docs/findings/{}.md", rule.code, rule.code)),
        }
        let found = yaml_files(&[&format!("tests/findings/{}", rule.code)]);
        for (prefix, fires) in [("fires-", true), ("quiet-", false)] {
            let of_kind: Vec<_> = found
                .iter()
                .filter(|path| {
                    path.file_name()
                        .is_some_and(|name| name.to_string_lossy().starts_with(prefix))
                })
                .collect();
            if of_kind.is_empty() {
                missing.push(format!("{}: a fixture {prefix}*.yaml", rule.code));
            }
            for path in of_kind {
                let text = std::fs::read_to_string(path).unwrap();
                let args = &expectations(&text)[0].args;
                let made = report(path, args)
                    .findings
                    .iter()
                    .any(|f| f.code == rule.code);
                if made != fires {
                    missing.push(format!(
                        "{}: {} says the opposite",
                        rule.code,
                        path.display()
                    ));
                }
            }
        }
    }
    for entry in std::fs::read_dir(root.join("docs/findings")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        let code = name.trim_end_matches(".md");
        if code.starts_with("FS") && rules::find(code).is_none() {
            missing.push(format!("docs/findings/{name} explains no rule"));
        }
    }
    assert!(missing.is_empty(), "missing:\n{}", missing.join("\n"));
}

#[test]
fn what_other_content_does_not_mend_is_said_before_a_rollback() {
    let all = yaml_files(&["tests/findings"]);
    for (fixture, held) in [
        ("FS505/fires-replicas", Some("drift-found (FS505)")),
        ("FS502/fires-quota", Some("manifest-apply-failed (FS502)")),
        ("FS502/fires-immutable", None),
        ("FS501/fires-image", None),
        ("FS510/fires-pruned", None),
    ] {
        let name = format!("tests/findings/{fixture}.yaml");
        let path = all.iter().find(|path| path.ends_with(&name)).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        let args = expectations(&text)[0].args.clone();
        let said = held_regardless(&report(path, &args));
        let said: Vec<_> = said
            .iter()
            .filter_map(|it| it.split(" may not").next())
            .collect();
        assert_eq!(said, held.as_slice(), "{fixture}");
    }
}
