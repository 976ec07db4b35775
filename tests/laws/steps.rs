//! The first step of every finding looks, or changes what can be changed back; and what a step is
//! called follows from its command.

use std::collections::BTreeMap;

use kubectl_fleet_stage::diagnose::rules;
use kubectl_fleet_stage::report::{Effect, Finding, Remedy, Severity, Verdict};
use kubectl_fleet_stage::words::{CommandClass, CommandLine};

use super::fixtures::documents;
use super::{fixtures, reports};

/// Every finding of every fixture, with the verdict and what to call it.
fn findings() -> Vec<(String, Verdict, Finding)> {
    let mut found = Vec::new();
    for path in fixtures() {
        let text = std::fs::read_to_string(&path).unwrap();
        for (target, report) in reports(&text) {
            for finding in report.findings {
                let place = format!("{}: {target}: {}", path.display(), finding.code);
                found.push((place, report.verdict, finding));
            }
        }
    }
    found
}

fn is(remedy: &Remedy, verb: &str) -> bool {
    let command = remedy.command.as_ref();
    command.is_some_and(|command| command.is_ours() && command.verb() == verb)
}

fn wrong(verdict: Verdict, finding: &Finding) -> Option<String> {
    for remedy in &finding.remedies {
        let class = remedy.command.as_ref().map(CommandLine::class);
        let least = match class {
            Some(CommandClass::Destroys) => Effect::Disruptive,
            Some(CommandClass::Changes) => Effect::Changes,
            _ => Effect::ReadOnly,
        };
        let rank = |effect| match effect {
            Effect::ReadOnly => 0,
            Effect::Changes => 1,
            Effect::Disruptive => 2,
        };
        if rank(remedy.effect) < rank(least) {
            return Some(format!(
                "{:?} is called {:?}",
                remedy.command, remedy.effect
            ));
        }
    }
    if let Some(why) = idle(finding) {
        return Some(why);
    }
    let first = finding.remedies.first()?;
    if first.effect == Effect::Disruptive {
        return Some(format!("begins with: {}", first.action));
    }
    // Nothing undoes an approval that was taken.
    if finding.root_cause && is(first, "approve") && verdict != Verdict::WaitingForApproval {
        return Some(format!("begins with: {}", first.action));
    }
    if first.action.starts_with("Or ") || first.action.starts_with("Then ") {
        return Some(format!("nothing is before: {}", first.action));
    }
    None
}

/// Verbs that change something: a step that only looks does not begin with them.
const CHANGES: [&str; 16] = [
    "Add", "Approve", "Change", "Create", "Delete", "Fix", "Label", "Move", "Raise", "Remove",
    "Restore", "Resume", "Roll", "Set", "Start", "Stop",
];

/// What a step says that its command does not do, or that is not to be done.
fn idle(finding: &Finding) -> Option<String> {
    let mut changed = false;
    let absent: Vec<_> = finding
        .evidence
        .iter()
        .filter(|it| it.path == "metadata.name" && it.value == "absent")
        .map(|it| it.object.name.as_str())
        .collect();
    for remedy in &finding.remedies {
        let action = &remedy.action;
        let argv = remedy.command.as_ref().map(CommandLine::argv);
        let argv = argv.unwrap_or_default();
        let has = |word: &str| argv.iter().any(|it| it == word);
        let looks = remedy.effect == Effect::ReadOnly;
        if looks
            && !argv.is_empty()
            && CHANGES
                .iter()
                .any(|it| action.split(' ').next() == Some(it))
        {
            return Some(format!("only looks: {action}: {argv:?}"));
        }
        if action.starts_with("Or ") && !changed && !looks {
            return Some(format!("is an alternative to a look: {action}"));
        }
        if has("NAME") && finding.clusters.len() == 1 && has("label") {
            return Some(format!("leaves the only cluster out: {argv:?}"));
        }
        if has("get") && absent.iter().any(|name| has(name)) {
            return Some(format!("shows what does not exist: {argv:?}"));
        }
        changed |= !looks;
    }
    None
}

#[test]
fn the_first_step_is_safe() {
    let mut unsafe_ = Vec::new();
    let mut count = 0;
    for (place, verdict, finding) in findings() {
        count += finding.remedies.len();
        unsafe_.extend(wrong(verdict, &finding).map(|why| format!("{place} {why}")));
    }
    assert!(count > 1000, "{count}");
    assert!(unsafe_.is_empty(), "{}", unsafe_.join("\n"));
}

/// What is wrong with a step beside its sentence: what it is called, what it is put beside, or a
/// command that shows more, or another thing, than what the sentence is about.
fn misled(finding: &Finding) -> Option<String> {
    let mut acts = false;
    for remedy in &finding.remedies {
        // A second way is beside a first one: a look is none.
        let follows = ["Or ", "Then wait: the run"];
        if follows.iter().any(|it| remedy.action.starts_with(it)) && !acts {
            return Some(format!("only looked before: {}", remedy.action));
        }
        acts |= remedy.effect != Effect::ReadOnly;
        let Some(command) = &remedy.command else {
            continue;
        };
        if command.class() == CommandClass::Looks && remedy.effect != Effect::ReadOnly {
            return Some(format!("{command} is called {:?}", remedy.effect));
        }
        let words = command.argv();
        let has = |word: &str| words.iter().any(|it| it == word);
        if has("NAME") {
            return Some(format!("names nothing: {command}"));
        }
        let of_works = command.verb() == "get"
            && command
                .operand(0)
                .is_some_and(|it| it.starts_with("works."));
        if of_works && command.operand(1).is_none() && !has("-l") {
            return Some(format!("gets the Works of all placements: {command}"));
        }
        if remedy.action.contains(" log") && has("pods") && has("get") {
            return Some(format!("no log: {}: {command}", remedy.action));
        }
    }
    None
}

#[test]
fn a_step_does_what_it_says() {
    let wrong: Vec<_> = findings()
        .iter()
        .filter_map(|(place, _, finding)| Some(format!("{place} {}", misled(finding)?)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What may be somebody else's too: a step that destroys it names what else goes, or is no command.
#[test]
fn what_is_shared_is_not_deleted() {
    let shared = ["FS507", "FS508", "FS506", "FS524"];
    let mut wrong = Vec::new();
    for (place, _, finding) in findings() {
        for remedy in &finding.remedies {
            let words = remedy
                .command
                .as_ref()
                .map(CommandLine::argv)
                .unwrap_or_default();
            let deletes = |word: &str| words.iter().any(|it| it == word);
            let namespace = deletes("delete") && (deletes("namespace") || deletes("namespaces"));
            let foreign = shared.contains(&finding.code.as_str())
                && deletes("delete")
                && !deletes("fleet-stage");
            if namespace || foreign {
                wrong.push(format!("{place}: {words:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Of these nobody knows whose fault they are.
const UNKNOWN: [&str; 2] = ["FS124", "FS521"];

#[test]
fn whatever_holds_a_cluster_says_whose_fault_it_is() {
    let silent = rules::ALL.iter().filter(|rule| {
        rule.severity == Severity::Error && rule.fault.is_none() && !UNKNOWN.contains(&rule.code)
    });
    let silent: Vec<_> = silent.map(|rule| rule.code).collect();
    assert!(silent.is_empty(), "{silent:?}");
    let holds = [
        Verdict::Stuck,
        Verdict::Failed,
        Verdict::InitializationFailed,
    ];
    let mut wrong = Vec::new();
    for (place, verdict, finding) in findings() {
        let is_known = finding.fault.is_some() || UNKNOWN.contains(&finding.code.as_str());
        if holds.contains(&verdict) && finding.root_cause && !is_known {
            wrong.push(place);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A step that starts a run says which content it rolls out, and what a run pinned stays pinned.
#[test]
fn a_step_that_starts_a_run_names_the_content() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for path in fixtures() {
        let text = std::fs::read_to_string(&path).unwrap();
        let pins = pins(&text);
        for (target, report) in reports(&text) {
            for (finding, remedy) in report
                .findings
                .iter()
                .flat_map(|finding| finding.remedies.iter().map(move |it| (finding, it)))
            {
                if !["run", "retry", "rollback"]
                    .iter()
                    .any(|verb| is(remedy, verb))
                {
                    continue;
                }
                count += 1;
                let words = remedy.command.as_ref().unwrap().argv();
                let after = |flag: &str| {
                    let at = words.iter().position(|word| word == flag)?;
                    words.get(at + 1)
                };
                let place = format!("{}: {target}: {}", path.display(), finding.code);
                let action = &remedy.action;
                if !["snapshot", "current content"]
                    .iter()
                    .any(|it| action.contains(it))
                {
                    wrong.push(format!("{place}: {action}"));
                }
                // A run of the same placement is made from this one, whatever the command names.
                let own = after("--placement").filter(|_| !OF_SNAPSHOTS.contains(&&*finding.code));
                let own = own.filter(|it| placement_of(&text, &target.name).as_ref() == Some(it));
                let from = after("--from").or(own.map(|_| &target.name));
                let pinned = from.and_then(|from| pins.get(from));
                let back = after("--snapshot").is_some_and(|index| goes_back(&text, index));
                if back && is(remedy, "run") && !words.contains(&"--allow-older".to_owned()) {
                    wrong.push(format!(
                        "{place}: {words:?} is refused: it takes clusters back"
                    ));
                }
                // Where that snapshot is at fault, another is named.
                let is_named = after("--snapshot").is_some();
                if pinned.is_some() && !is_named {
                    wrong.push(format!("{place}: {words:?} drops {pinned:?}"));
                }
            }
        }
    }
    assert!(count > 300, "{count}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Findings about the snapshot that a run asks for: their steps choose another.
const OF_SNAPSHOTS: [&str; 7] = [
    "FS114", "FS115", "FS116", "FS117", "FS510", "FS702", "FS803",
];

/// Whether a cluster that stays has a snapshot newer than this one.
fn goes_back(text: &str, index: &str) -> bool {
    let Ok(index) = index.parse::<u64>() else {
        return false;
    };
    let documents = documents(text);
    let newest = documents.iter().filter_map(|it| {
        let stays =
            it["metadata"]["deletionTimestamp"].is_null() && it["spec"]["state"] != "Unscheduled";
        let name = it["spec"]["resourceSnapshotName"]
            .as_str()
            .filter(|_| stays)?;
        name.strip_suffix("-snapshot")?
            .rsplit('-')
            .next()?
            .parse()
            .ok()
    });
    newest.max().is_some_and(|newest: u64| newest > index)
}

/// The placement of a run.
fn placement_of(text: &str, run: &str) -> Option<String> {
    let runs = documents(text);
    let mut runs = runs.iter().filter(|it| it["metadata"]["name"] == run);
    let name = runs.find_map(|it| it["spec"]["placementName"].as_str());
    name.map(str::to_owned)
}

/// The snapshots that runs of a bundle pinned, by the runs' names.
fn pins(text: &str) -> BTreeMap<String, String> {
    let pin = |run: &serde_json::Value| {
        let index = run["spec"]["resourceSnapshotIndex"].as_str()?;
        let name = run["metadata"]["name"].as_str()?;
        (!index.is_empty()).then(|| (name.to_owned(), index.to_owned()))
    };
    documents(text).iter().filter_map(pin).collect()
}
