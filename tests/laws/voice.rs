//! One voice: what `status`, `list`, `approvals` and `history` say of a run, and what they suggest, is
//! what `diagnose` says, and what it suggests first.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;

use jiff::SignedDuration;
use kubectl_fleet_stage::controller::predict_next;
use kubectl_fleet_stage::diagnose::status::Status;
use kubectl_fleet_stage::inventory::{Inventory, Walk};
use kubectl_fleet_stage::kubefleet::Concept;
use kubectl_fleet_stage::kubefleet::approval::ApprovalRequest;
use kubectl_fleet_stage::report::{Finding, Report, Severity, Verdict};
use kubectl_fleet_stage::rollout::ClusterState;
use kubectl_fleet_stage::ui::UiEnvironment;
use kubectl_fleet_stage::words::{CommandClass, CommandLine, enumerate};
use serde_json::Value;

use super::{fixtures, one_of_each_folder, read_with_reports, reports};
use crate::calls;
use crate::fixtures::yaml_files;

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
    if next.class() != CommandClass::Changes || step != Some(next) {
        return Some(format!("next is {next}, and diagnose begins with {step:?}"));
    }
    // The controller checks a run that waits each minute; it checks no run that rests.
    let ends = |finding: &&Finding| ENDS_RUN.contains(&finding.code.as_str());
    let ends = report.findings.iter().find(ends);
    let rests = matches!(status.verdict, Verdict::Stopped | Verdict::NotStarted);
    ends.filter(|_| rests)
        .map(|ends| format!("next is {next}, and {} ends the run", ends.code))
}

/// An approval that a status tells of, and whether it counts.
fn told_approval(status: &Status, inventory: &Inventory) -> Option<bool> {
    let (before, _) = status.summary.split_once(" is approved;")?;
    let name = before.rsplit(' ').next().unwrap_or_default();
    let request = inventory.approval(name);
    Some(request.present().is_some_and(ApprovalRequest::counts))
}

#[test]
fn status_and_diagnose_say_the_same() {
    let mut wrong = Vec::new();
    let mut approvals = 0;
    for path in fixtures() {
        let Some((mut bundle, reports)) = read_with_reports(&path) else {
            continue;
        };
        let hub = bundle.hub.clone();
        for (target, report) in reports {
            let mut walk = Walk::to_content(target.clone(), report.as_of.unwrap());
            walk.drive(&mut bundle);
            let inventory = Inventory::new(walk, report.as_of.unwrap(), hub.clone());
            let status = Status::new(&inventory);
            let approval = told_approval(&status, &inventory);
            approvals += usize::from(approval.is_some());
            let why = other(&status, &report);
            let claims = (approval == Some(false)).then(|| status.summary.clone());
            let why = why.into_iter().chain(claims);
            wrong.extend(why.map(|why| format!("{}: {target}: {why}", path.display())));
        }
    }
    assert!(approvals > 3, "{approvals}");
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// What lets a run continue that waits for a person.
fn continues(command: &CommandLine) -> bool {
    command.is_ours() && ["approve", "resume", "run"].contains(&command.verb())
}

/// Whether a command is about the run itself, and makes no new one.
fn is_of(command: &CommandLine, run: &str) -> bool {
    command.verb() == "approve" || command.operand(0) == Some(run)
}

/// What the controller may miss before it counts as late.
const SLOWEST: SignedDuration = SignedDuration::from_secs(130);

/// What is said of the next step otherwise than the model of the controller does.
fn ahead(status: &Status, report: &Report) -> Option<String> {
    let expected = report.expected.as_ref();
    let rests = matches!(
        report.verdict,
        Verdict::WaitingForApproval | Verdict::Stopped | Verdict::NotStarted
    );
    let remedies = report.findings.iter().flat_map(|finding| &finding.remedies);
    let gates = status.gates.iter().filter_map(|gate| gate.command.as_ref());
    let offered = remedies.filter_map(|remedy| remedy.command.as_ref());
    let offered = offered.chain(gates).chain(&status.next);
    let offered: Vec<_> = offered
        .filter(|command| continues(command) && is_of(command, &report.target.name))
        .collect();
    let says = |text: &str| [&status.summary, &report.summary].map(|it| it.contains(text));
    if let Some(fails) = expected.and_then(|it| it.fails.as_deref())
        && rests
    {
        let first = report.findings.first().map(|it| it.code.as_str());
        // What it is because of may come before it.
        let is_of_first = |it: &Finding| it.caused_by.iter().any(|it| Some(&*it.code) == first);
        let causes = report.findings.iter().filter(|it| it.code == fails);
        // What is being deleted is named by another.
        if causes.clone().count() == 0 && !report.summary.contains(", unless binding") {
            return Some(format!("it fails ({fails}), and no finding says why"));
        }
        let known = causes.into_iter().any(|it| !is_of_first(it));
        if !offered.is_empty() {
            return Some(format!("it fails ({fails}), and {} is offered", offered[0]));
        }
        if says("the controller aborts it") != [true; 2] {
            return Some(format!("it fails ({fails}): {}", report.summary));
        }
        if known && first != Some(fails) {
            return Some(format!("it fails ({fails}), and {first:?} comes first"));
        }
    } else if rests && says("aborts it") != [false; 2] {
        return Some(format!("it does not fail: {}", report.summary));
    }
    let waits = expected.and_then(|it| it.waits_for.as_deref());
    let waits = waits.unwrap_or_default().contains("approval ");
    if waits != (report.verdict == Verdict::WaitingForApproval)
        && expected.is_some_and(|it| it.fails.is_none() && it.conditions.is_empty())
    {
        return Some(format!("{:?}, and it waits: {waits}", report.verdict));
    }
    let told = report.findings.iter().find(|it| it.code == "FS122");
    let told = told.filter(|_| report.verdict != Verdict::Initializing);
    // Late is not silent: the next try may come.
    let silent = told.is_some_and(|it| it.severity == Severity::Error);
    if silent && !matches!(report.verdict, Verdict::Stuck) && !rests {
        return Some(format!("a silent controller, and {:?}", report.verdict));
    }
    let by = expected.and_then(|it| it.by).zip(report.as_of);
    let late = by.map(|(by, now)| now.duration_since(by));
    let gone = matches!(report.verdict, Verdict::Deleting | Verdict::Initializing);
    if silent && late.is_some_and(|late| late < SignedDuration::from_mins(1)) {
        return Some(format!("silent, and due by {by:?}"));
    }
    let of_request = |it: &Finding| ["FS405", "FS406"].contains(&it.code.as_str());
    let is_told = told.is_some() || report.findings.iter().any(of_request);
    if !is_told && !gone && late.is_some_and(|late| late > SLOWEST) {
        return Some(format!("due by {by:?}, and nobody says so"));
    }
    None
}

/// What the controller says, and the change that leads to it.
const LEADS_TO: [(&str, &str); 3] = [("FS101", "FS206"), ("FS113", "FS204"), ("FS204", "FS205")];

/// The failure that the model foretells, where the report explains it by another that is not its cause.
fn misnamed(inventory: &Inventory, report: &Report) -> Option<String> {
    let fails = report.expected.as_ref()?.fails.as_deref()?;
    let model = predict_next(inventory).ok()?.failure?.code;
    (model != fails && !LEADS_TO.contains(&(model, fails)))
        .then(|| format!("the model says {model}, the report {fails}"))
}

/// A time by which the controller writes that becomes later as one waits for it.
fn moves(inventory: &Inventory, later: &Inventory) -> Option<String> {
    let now = predict_next(inventory).ok()?;
    let then = predict_next(later).ok()?;
    let (by, is_ahead) = (now.by?, now.by? > later.now);
    // When somebody edited what a run fails for, or set its state, is not always known.
    let is_dated = now.failure.is_none() && now.late.is_some();
    let same = is_dated && now.conditions == then.conditions;
    let moved = then.by.filter(|then| is_ahead && same && *then > by)?;
    Some(format!("due by {by}, and five seconds later by {moved}"))
}

/// The clusters that are stuck in the tree and not in the summary.
fn counted(status: &Status) -> Option<String> {
    let stages = status.run.iter().flat_map(|run| &run.stages);
    let clusters = stages.filter(|stage| !stage.deletes);
    let stuck = clusters
        .flat_map(|stage| &stage.clusters)
        .filter(|cluster| cluster.state == ClusterState::Stuck);
    let names = enumerate(stuck.map(|cluster| cluster.name.as_str()));
    let told = status.summary.contains("not finished");
    (told && !status.summary.contains(&names)).then(|| format!("{names}: {}", status.summary))
}

#[test]
fn nobody_says_otherwise_what_comes_next() {
    let mut wrong = Vec::new();
    let (mut count, mut failing, mut silent) = (0, 0, 0);
    for path in fixtures().into_iter().chain(yaml_files(&["examples"])) {
        let Some((mut bundle, reports)) = read_with_reports(&path) else {
            continue;
        };
        let hub = bundle.hub.clone();
        for (target, report) in reports {
            if target.kind.concept() != Concept::UpdateRun {
                continue;
            }
            let mut walk = Walk::to_decision(target.clone());
            walk.drive(&mut bundle);
            let inventory = Inventory::new(walk, report.as_of.unwrap(), hub.clone());
            let mut again = Walk::to_decision(target.clone());
            again.drive(&mut bundle);
            let soon = inventory.now + SignedDuration::from_secs(5);
            let later = Inventory::new(again, soon, hub.clone());
            let status = Status::new(&inventory);
            let expected = report.expected.as_ref();
            count += usize::from(expected.is_some());
            failing += usize::from(expected.is_some_and(|it| it.fails.is_some()));
            let mut codes = report.findings.iter().map(|finding| finding.code.as_str());
            silent += usize::from(codes.any(|code| code == "FS122"));
            let why = ahead(&status, &report)
                .or_else(|| counted(&status))
                .or_else(|| misnamed(&inventory, &report))
                .or_else(|| moves(&inventory, &later));
            wrong.extend(why.map(|why| format!("{}: {target}: {why}", path.display())));
            if status.verdict != report.verdict {
                wrong.push(format!(
                    "{}: {target}: {:?}",
                    path.display(),
                    status.verdict
                ));
            }
        }
    }
    assert!(
        count > 500 && failing > 10 && silent > 4,
        "{count}, {failing}, {silent}"
    );
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

fn ask(words: &[&str], path: &Path) -> Value {
    let name = "kubectl-fleet_stage";
    let environment = UiEnvironment {
        called_as: name.into(),
        ..UiEnvironment::default()
    };
    let file = path.to_str().unwrap();
    let words = [&[name], words, &["-o", "json", "-f", file]].concat();
    let words = words.into_iter().map(OsString::from);
    let clock = || panic!("files tell the time");
    let (_, out, _) = calls::call(words, None, environment, clock);
    serde_json::from_str(&out).unwrap_or(Value::Null)
}

/// What approvals suggest, who read less than `diagnose` does, and many runs at once.
#[test]
fn approvals_and_diagnose_say_the_same() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for path in one_of_each_folder() {
        let text = std::fs::read_to_string(&path).unwrap();
        let reports = reports(&text);
        if reports.is_empty() {
            continue;
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        for item in ask(&["approvals", "-A"], &path)["items"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let argv = item["argv"].as_array().into_iter().flatten();
            let argv: Vec<_> = argv.map(&text).collect();
            let mut of_run = reports.iter().filter(|(target, _)| {
                target.kind.concept() == Concept::UpdateRun
                    && target.namespace == text(&item["run"]["namespace"])
                    && target.name == text(&item["run"]["name"])
            });
            let fits = of_run.any(|(_, report)| is_suggested(report, &argv));
            if !argv.is_empty() && !looks(&argv) && !fits {
                wrong.push(format!("{}: only approvals has {argv:?}", path.display()));
            }
            count += 1;
        }
    }
    assert!(count > 30, "{count}");
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
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let placement = |((namespace, _), report): (&(String, String), &Report)| {
            let run = report.run.as_ref()?;
            Some((namespace.clone(), run.placement.clone()))
        };
        let placements: BTreeSet<_> = reports.iter().filter_map(placement).collect();
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
