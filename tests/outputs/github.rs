//! Annotations of GitHub Actions: each line is one command that the runner knows.

use super::{HOSTILE, about, example, examples, say};

/// Reads a line as the runner does: level, title, message.
fn read(line: &str) -> (String, String, String) {
    let unescape = |text: &str, more: &[(&str, &str)]| {
        let mut text = text.to_owned();
        for (from, to) in [("%0D", "\r"), ("%0A", "\n")].iter().chain(more) {
            text = text.replace(from, to);
        }
        text.replace("%25", "%")
    };
    let rest = line
        .strip_prefix("::")
        .unwrap_or_else(|| panic!("no command: {line}"));
    let (head, message) = rest.split_once("::").unwrap();
    let (level, title) = head.split_once(" title=").unwrap();
    assert!(["error", "warning", "notice"].contains(&level), "{line}");
    assert!(!title.contains([',', ':']), "{line}");
    let title = unescape(title, &[("%3A", ":"), ("%2C", ",")]);
    (level.to_owned(), title, unescape(message, &[]))
}

fn diagnose(arguments: &str) -> (Vec<(String, String, String)>, i32) {
    let said = say(&format!("diagnose -o github {arguments}"));
    (said.out.lines().map(read).collect(), said.code)
}

#[test]
fn every_example_is_commands_only() {
    for path in examples() {
        let (lines, _) = diagnose(&about(&path));
        assert!(!lines.is_empty());
    }
}

#[test]
fn a_stuck_run_is_an_error_with_its_cause_behind_it() {
    let (lines, code) = diagnose(&example("cluster/stuck-workload"));
    assert_eq!(code, 5);
    let (level, title, message) = &lines[0];
    assert_eq!(
        (level.as_str(), title.as_str()),
        ("error", "Stuck: ClusterStagedUpdateRun example-run")
    );
    assert!(message.contains("example-run"), "{message}");
    let (level, title, message) = &lines[1];
    assert_eq!(level, "error");
    assert!(
        title.starts_with("FS") && title.ends_with("(example-run)"),
        "{title}"
    );
    assert!(
        message.contains("\n1. ") && message.contains("fleet-stage diagnose"),
        "{message}"
    );
}

#[test]
fn what_waits_is_a_warning_and_what_is_well_a_notice() {
    for (file, wanted) in [("waiting-for-approval", "warning"), ("succeeded", "notice")] {
        let (lines, _) = diagnose(&example(&format!("cluster/{file}")));
        assert_eq!(lines[0].0, wanted, "{file}");
        assert!(
            lines.iter().all(|(level, ..)| level != "error"),
            "{lines:?}"
        );
    }
}

#[test]
fn hostile_text_adds_no_command() {
    let said = say(&format!("diagnose --all -A -f {HOSTILE} -o github"));
    assert!(said.out.contains("set-output"), "{}", said.out);
    for line in said.out.lines() {
        assert!(!line.starts_with("::set-output") && !line.starts_with("::add-mask"));
        read(line);
    }
    let reports = say(&format!("diagnose --all -A -f {HOSTILE} -o json"));
    let list: serde_json::Value = serde_json::from_str(&reports.out).unwrap();
    let of = |report: &serde_json::Value| {
        let gaps = report["notChecked"].as_array().unwrap();
        1 + report["findings"].as_array().unwrap().len() + usize::from(!gaps.is_empty())
    };
    let lines: usize = list["items"].as_array().unwrap().iter().map(of).sum();
    assert_eq!(said.out.lines().count(), lines);
}
