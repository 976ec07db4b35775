//! What a report says is so, and what it asks for is not done already.

use std::collections::BTreeMap;

use kubectl_fleet_stage::kubefleet::ObjectRef;
use kubectl_fleet_stage::report::{Finding, Report};
use kubectl_fleet_stage::words::CommandLine;
use serde_json::Value;

use super::fixtures::{documents, yaml_files};
use super::reports;

/// A bundle, and the reports about it.
struct Told {
    place: String,
    objects: Vec<Value>,
    reports: Vec<(ObjectRef, Report)>,
}

fn all() -> impl Iterator<Item = Told> {
    let paths = yaml_files(&["tests/findings", "tests/healthy", "tests/real", "examples"]);
    paths.into_iter().map(|path| {
        let text = std::fs::read_to_string(&path).unwrap();
        let unwrapped = |document: Value| match document["items"].as_array() {
            Some(items) if document["kind"] != "MemberObjects" => items.clone(),
            _ => vec![document],
        };
        Told {
            place: path.display().to_string(),
            objects: documents(&text).into_iter().flat_map(unwrapped).collect(),
            reports: reports(&text),
        }
    })
}

/// The words of a command that are no flags, and no values of flags that select.
fn operands(command: &CommandLine) -> Vec<String> {
    let mut argv = command.argv().into_iter().skip(1);
    let mut found = Vec::new();
    while let Some(word) = argv.next() {
        match word.as_str() {
            "-n" | "-l" | "-o" | "--context" | "--type" | "-p" => drop(argv.next()),
            _ if word.starts_with('-') => {}
            _ => found.push(word),
        }
    }
    found
}

impl Told {
    fn find(&self, kind: &str, name: &str) -> Option<&Value> {
        let mut objects = self.objects.iter();
        objects.find(|it| {
            let own = it["kind"].as_str().unwrap_or_default();
            own.trim_start_matches("Cluster") == kind && it["metadata"]["name"] == name
        })
    }

    /// Whether a request is approved for its generation.
    fn is_approved(&self, name: &str) -> Option<bool> {
        let request = self.find("ApprovalRequest", name)?;
        let conditions = request["status"]["conditions"].as_array()?;
        Some(conditions.iter().any(|it| {
            it["type"] == "Approved"
                && it["status"] == "True"
                && it["observedGeneration"] == request["metadata"]["generation"]
        }))
    }

    /// What of a command is so already.
    fn is_done(&self, command: &CommandLine, before: &[&str]) -> Option<String> {
        let words = operands(command);
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let run = |name: &str| self.find("StagedUpdateRun", name);
        let done = match words.as_slice() {
            ["fleet-stage", "stop", name] => run(name)?["spec"]["state"] == "Stop",
            ["fleet-stage", "resume", name] => {
                run(name)?["spec"]["state"] == "Run" && !before.contains(&"stop")
            }
            ["fleet-stage", "run", name] if !command.has_flag("--from") => {
                run(name)?["spec"]["state"] == "Run"
            }
            ["fleet-stage", "delete", name] => {
                run(name)?["metadata"]["deletionTimestamp"].is_string()
            }
            ["fleet-stage", "approve", name] => self.is_approved(name)?,
            ["label", "memberclusters", rest @ ..] => {
                let (key, value) = rest.last()?.split_once('=')?;
                let has = |name: &&str| {
                    let member = self.objects.iter().find(|it| {
                        it["kind"] == "MemberCluster" && it["metadata"]["name"] == **name
                    });
                    member.is_some_and(|it| it["metadata"]["labels"][key] == value)
                };
                rest[..rest.len() - 1].iter().all(has)
            }
            ["patch", _, name] if command.to_string().contains("External") => {
                self.find("ResourcePlacement", name)?["spec"]["strategy"]["type"] == "External"
            }
            _ => false,
        };
        done.then(|| format!("is done already: {command}"))
    }
}

#[test]
fn no_step_asks_for_what_is_done() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for told in all() {
        for (target, report) in &told.reports {
            for finding in &report.findings {
                let commands = finding.remedies.iter().filter_map(|it| it.command.as_ref());
                let mut before = Vec::new();
                for command in commands {
                    count += 1;
                    let why = told.is_done(command, &before);
                    wrong.extend(
                        why.map(|why| format!("{}, {target}: {} {why}", told.place, finding.code)),
                    );
                    before.push(command.verb());
                }
            }
        }
    }
    assert!(count > 1000, "{count}");
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// What two causes may both show: the state of the run, and conditions that sum up several objects.
fn is_shared(path: &str) -> bool {
    path.starts_with("status.conditions") || path.starts_with("status.resourceSnapshotIndexUsed")
}

#[test]
fn no_two_causes_rest_on_one_observation() {
    let mut wrong = Vec::new();
    for told in all() {
        for (target, report) in &told.reports {
            let mut seen = BTreeMap::new();
            for finding in report.findings.iter().filter(|it| it.root_cause) {
                for one in finding.evidence.iter().filter(|it| !is_shared(&it.path)) {
                    let key = (&one.object, &one.cluster, &one.path, &one.value);
                    let of = (&finding.code, &finding.subject);
                    let first = *seen.entry(key).or_insert(of);
                    if first != of {
                        wrong.push(format!(
                            "{}, {target}: {} and {} show {}",
                            told.place,
                            first.0,
                            finding.code,
                            one.label()
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// The Works that a finding shows, as they stand.
fn works<'t>(told: &'t Told, finding: &Finding) -> Vec<&'t Value> {
    let shown = finding.evidence.iter().map(|it| &it.object);
    let shown = shown.filter(|it| it.kind == "Work");
    shown.filter_map(|it| told.find("Work", &it.name)).collect()
}

/// That an agent works on something is seen from what it says of the Work as it is now.
#[test]
fn who_works_on_it_has_spoken_of_it() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for told in all() {
        for (target, report) in &told.reports {
            let working = |it: &&Finding| it.message.contains("has been working on");
            for finding in report.findings.iter().filter(working) {
                count += 1;
                let speaks = works(&told, finding).into_iter().any(|work| {
                    let conditions = work["status"]["conditions"].as_array();
                    conditions
                        .into_iter()
                        .flatten()
                        .any(|it| it["observedGeneration"] == work["metadata"]["generation"])
                });
                if !speaks {
                    wrong.push(format!("{}, {target}: {}", told.place, finding.message));
                }
            }
        }
    }
    assert!(count > 0);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// With a placement its snapshots go: no step counts on one of them.
#[test]
fn content_that_goes_is_not_rolled_out() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for told in all() {
        for (target, report) in &told.reports {
            let name = if target.kind.name().ends_with("Placement") {
                target.name.clone()
            } else {
                let run = told.find("StagedUpdateRun", &target.name);
                let name = run.and_then(|it| it["spec"]["placementName"].as_str());
                name.unwrap_or_default().to_owned()
            };
            let placement = told.find("ResourcePlacement", &name);
            if placement.is_none_or(|it| !it["metadata"]["deletionTimestamp"].is_string()) {
                continue;
            }
            count += 1;
            for step in report.findings.iter().flat_map(|it| &it.remedies) {
                let text = step
                    .command
                    .as_ref()
                    .map_or_else(String::new, ToString::to_string);
                let pins = text.contains("--snapshot ") && !text.contains("--snapshot latest");
                if pins || step.action.contains("or newer") {
                    wrong.push(format!("{}, {target}: {}", told.place, step.action));
                }
            }
        }
    }
    assert!(count > 3, "{count}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
