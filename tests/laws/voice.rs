//! One voice: what `status`, `list`, `approvals` and `history` say of a run, and what they suggest, is
//! what `diagnose` says, and what it suggests first.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command as Process;

use kubectl_fleet_stage::diagnose::status::Status;
use kubectl_fleet_stage::inventory::{Inventory, Walk};
use kubectl_fleet_stage::kubefleet::Concept;
use kubectl_fleet_stage::report::{Finding, Report, Verdict};
use kubectl_fleet_stage::words::{Class, CommandLine};
use serde_json::Value;

use super::{fixtures, one_of_each_folder, read, reports};

/// What a live run fails for when it is checked next.
const ENDS_RUN: [&str; 6] = ["FS201", "FS202", "FS203", "FS204", "FS205", "FS206"];

/// The state, in the words that begin a summary: the target, and how it is, without how far it is.
fn state(summary: &str) -> &str {
    let end = summary.find([':', ',', ';']).unwrap_or(summary.len());
    let words = summary[..end].trim_end_matches('.');
    let mut brackets = words.match_indices(" (");
    let how_far =
        brackets.find(|(at, _)| words[at + 2..].starts_with(|c: char| c.is_ascii_digit()));
    how_far.map_or(words, |(at, _)| &words[..at])
}

/// The steps of the finding that explains the verdict.
fn first(report: &Report) -> Option<&Finding> {
    let mut findings = report.findings.iter();
    findings.find(|finding| finding.root_cause)
}

fn looks(argv: &[String]) -> bool {
    let ours = |verb: &str| argv.get(2).is_some_and(|word| word == verb);
    ours("diagnose") || ours("approvals")
}

fn is_suggested(report: &Report, argv: &[String]) -> bool {
    let remedies = report.findings.iter().flat_map(|finding| &finding.remedies);
    let mut commands = remedies.filter_map(|remedy| remedy.command.as_ref());
    commands.any(|command| command.argv() == argv)
}

/// What `status` says otherwise than `diagnose`.
fn other(status: &Status, report: &Report) -> Option<String> {
    let (says, should) = (state(&status.summary), state(&report.summary));
    if says != should && !should.starts_with(says) && !says.starts_with(should) {
        return Some(format!("status says {says:?}, diagnose {should:?}"));
    }
    for gate in &status.gates {
        let argv = gate.command.as_ref().map(CommandLine::argv);
        if argv.is_some_and(|argv| !is_suggested(report, &argv)) {
            return Some(format!("only status has {:?}", gate.command));
        }
    }
    let Some(next) = &status.next else {
        let wanted = [
            Verdict::WaitingForApproval,
            Verdict::Stuck,
            Verdict::Stopped,
            Verdict::NotStarted,
            Verdict::Failed,
            Verdict::InitializationFailed,
        ];
        return wanted
            .contains(&status.verdict)
            .then(|| "nothing is next".to_owned());
    };
    if looks(&next.argv()) {
        return None;
    }
    let steps = &first(report)?.remedies;
    let step = steps.iter().find_map(|step| step.command.as_ref());
    if next.class() != Class::Changes || step != Some(next) {
        return Some(format!("next is {next}, and diagnose begins with {step:?}"));
    }
    // The controller checks a run that waits each minute; it checks no run that rests.
    let ends = |finding: &&Finding| ENDS_RUN.contains(&finding.code.as_str());
    let ends = report.findings.iter().find(ends);
    let rests = matches!(status.verdict, Verdict::Stopped | Verdict::NotStarted);
    ends.filter(|_| rests)
        .map(|ends| format!("next is {next}, and {} ends the run", ends.code))
}

#[test]
fn status_and_diagnose_say_the_same() {
    let mut wrong = Vec::new();
    for path in fixtures() {
        let text = std::fs::read_to_string(&path).unwrap();
        let reports = reports(&text);
        let Some(mut bundle) = read(&text) else {
            continue;
        };
        let hub = bundle.hub.clone();
        for (target, report) in reports {
            let mut walk = Walk::to_decision(target.clone());
            walk.drive(&mut bundle);
            let inventory = Inventory::new(walk, report.as_of.unwrap(), hub.clone());
            let status = Status::new(&inventory);
            let why = other(&status, &report);
            wrong.extend(why.map(|why| format!("{}: {target}: {why}", path.display())));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

fn ask(words: &[&str], path: &Path) -> Value {
    let output = Process::new(env!("CARGO_BIN_EXE_kubectl-fleet-stage"))
        .args(words)
        .args(["-o", "json", "-f"])
        .arg(path)
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
}

/// Lists read less than `diagnose` does, and many runs at once.
#[test]
fn lists_and_diagnose_say_the_same() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for path in one_of_each_folder() {
        let text = std::fs::read_to_string(&path).unwrap();
        let reports: BTreeMap<_, _> = reports(&text)
            .into_iter()
            .map(|(target, report)| {
                let name = (target.kind.name().to_owned(), target.namespace, target.name);
                (name, report)
            })
            .collect();
        if reports.is_empty() {
            continue;
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        for item in ask(&["list", "-A"], &path)["items"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let name = (
                text(&item["kind"]),
                text(&item["namespace"]),
                text(&item["name"]),
            );
            let verdict = reports.get(&name).map(|report| report.verdict.as_str());
            if verdict != item["verdict"].as_str() {
                wrong.push(format!(
                    "{}: {name:?} is {}",
                    path.display(),
                    item["verdict"]
                ));
            }
            count += 1;
        }
        for item in ask(&["approvals", "-A"], &path)["items"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let argv = item["argv"].as_array().into_iter().flatten();
            let argv: Vec<_> = argv.map(&text).collect();
            let mut of_run = reports.iter().filter(|((kind, namespace, name), _)| {
                kind.ends_with("UpdateRun")
                    && *namespace == text(&item["namespace"])
                    && *name == text(&item["run"])
            });
            let fits = of_run.any(|(_, report)| is_suggested(report, &argv));
            if !argv.is_empty() && !looks(&argv) && !fits {
                wrong.push(format!("{}: only approvals has {argv:?}", path.display()));
            }
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// A history is of a placement, and its notes are about runs.
#[test]
fn history_and_diagnose_say_the_same() {
    let mut wrong = Vec::new();
    let (mut count, mut threats) = (0, 0);
    for path in fixtures() {
        let text = std::fs::read_to_string(&path).unwrap();
        let reports: BTreeMap<_, _> = reports(&text)
            .into_iter()
            .filter(|(target, _)| target.kind.concept() == Concept::UpdateRun)
            .map(|(target, report)| ((target.namespace, target.name), report))
            .collect();
        if reports.is_empty() {
            continue;
        }
        let items = ask(&["list", "-A"], &path);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let items = items["items"].as_array().into_iter().flatten();
        let placements: BTreeSet<_> = items
            .map(|item| (text(&item["namespace"]), text(&item["placement"])))
            .collect();
        for (namespace, placement) in placements {
            let kind = if namespace.is_empty() { "crp" } else { "rp" };
            let name = format!("{kind}/{placement}");
            let mut words = vec!["history", name.as_str()];
            if !namespace.is_empty() {
                words.extend(["-n", namespace.as_str()]);
            }
            let history = ask(&words, &path);
            for run in history["runs"].as_array().into_iter().flatten() {
                count += 1;
                let report = reports.get(&(namespace.clone(), text(&run["name"])));
                let verdict = report.map(|report| report.verdict.as_str());
                if verdict != run["verdict"].as_str() {
                    wrong.push(format!("{}: {run}", path.display()));
                }
            }
            for note in history["notes"].as_array().into_iter().flatten() {
                if note["kind"] != "WouldGoBack" {
                    continue;
                }
                threats += 1;
                let report = &reports[&(namespace.clone(), text(&note["run"]))];
                let mut codes = report.findings.iter().map(|finding| finding.code.as_str());
                if !codes.any(|code| code == "FS703") {
                    wrong.push(format!("{}: only history has {note}", path.display()));
                }
            }
        }
    }
    assert!(count > 500 && threats > 5, "{count}, {threats}");
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
