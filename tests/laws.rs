//! What holds for every bundle: no panic, the same report for any order, unrelated objects change
//! nothing, and evidence that is taken away never becomes health.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

#[path = "laws/brevity.rs"]
mod brevity;
#[path = "laws/ends.rs"]
mod ends;
#[path = "laws/evidence.rs"]
mod evidence;
#[path = "laws/lengths.rs"]
mod lengths;
#[path = "laws/steps.rs"]
mod steps;
#[path = "laws/tried.rs"]
mod tried;
#[path = "laws/truth.rs"]
mod truth;
#[path = "laws/voice.rs"]
mod voice;
#[path = "laws/words.rs"]
mod words;

use crate::{banned, fixtures, situations};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex};

use fixtures::yaml_files;
use jiff::Timestamp;
use kubectl_fleet_stage::bundle::{self, Bundle, Input};
use kubectl_fleet_stage::diagnose::diagnose;
use kubectl_fleet_stage::diagnose::status::Status;
use kubectl_fleet_stage::inventory::source::{HubQuery, ObjectSource, QueryAnswer};
use kubectl_fleet_stage::inventory::{Inventory, Walk};
use kubectl_fleet_stage::kubefleet::object::Object;
use kubectl_fleet_stage::kubefleet::{Concept, ObjectRef};
use kubectl_fleet_stage::render::invocation::Invocation;
use kubectl_fleet_stage::render::style::TextPaint;
use kubectl_fleet_stage::render::{self, RenderLook};
use kubectl_fleet_stage::report::{Finding, Report, Severity, Verdict};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Those of the repository, and the bundles of a folder that somebody names.
fn fixtures() -> Vec<PathBuf> {
    let more = std::env::var("FLEET_STAGE_BUNDLES");
    let mut folders = vec!["tests/findings", "tests/real", "tests/healthy"];
    folders.extend(more.as_deref());
    yaml_files(&folders)
}

/// One fixture of every folder: for laws that take many walks over each.
fn one_of_each_folder() -> Vec<PathBuf> {
    let mut fixtures = fixtures();
    fixtures.dedup_by(|a, b| a.parent() == b.parent() && !a.starts_with("tests/real"));
    fixtures
}

fn read(text: &str) -> Option<Bundle> {
    bundle::read(vec![Input::Stdin(Box::new(std::io::Cursor::new(
        text.as_bytes().to_vec(),
    )))])
    .ok()
}

/// The bundle at a path, and the reports of all its runs; `None` where it cannot be read.
fn read_with_reports(path: &std::path::Path) -> Option<(Bundle, Reports)> {
    let text = std::fs::read_to_string(path).unwrap();
    Some((read(&text)?, reports(&text)))
}

/// The targets of a bundle, and their reports.
type Reports = Vec<(ObjectRef, Report)>;

/// The reports of what many laws look at, by their text.
static REPORTS: LazyLock<Mutex<HashMap<String, Reports>>> = LazyLock::new(Mutex::default);

/// The reports of all runs and placements of a fixture, which are made once.
fn reports(text: &str) -> Reports {
    let known = REPORTS.lock().unwrap().get(text).cloned();
    known.unwrap_or_else(|| {
        let reports = reports_of_change(text);
        let mut known = REPORTS.lock().unwrap();
        known.entry(text.to_owned()).or_insert(reports).clone()
    })
}

/// The same of a text that one law makes.
fn reports_of_change(text: &str) -> Reports {
    let Some(mut bundle) = read(text) else {
        return Vec::new();
    };
    let Some(now) = bundle.collected_at.or(bundle.newest_timestamp()) else {
        return Vec::new();
    };
    let targets: Vec<_> = bundle
        .objects()
        .iter()
        .map(Object::reference)
        .filter(|o| matches!(o.kind.concept(), Concept::UpdateRun | Concept::Placement))
        .collect();
    let hub = bundle.hub.clone();
    targets
        .into_iter()
        .map(|target| {
            let report = diagnose(&mut bundle, &hub, &target, now);
            (target, report)
        })
        .collect()
}

fn json(reports: &[(ObjectRef, Report)]) -> String {
    reports
        .iter()
        .map(|(_, report)| serde_json::to_string(report).unwrap())
        .collect::<Vec<_>>()
        .join("\n")
}

fn documents(text: &str) -> Vec<&str> {
    text.split("\n---\n").collect()
}

#[test]
fn the_order_of_objects_means_nothing() {
    for path in fixtures() {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut turned = documents(&text);
        turned.reverse();
        assert_eq!(
            json(&reports(&text)),
            json(&reports_of_change(&turned.join("\n---\n"))),
            "{}",
            path.display()
        );
    }
}

#[test]
fn unrelated_objects_change_nothing() {
    let other = "apiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ClusterResourceBinding\n\
        metadata:\n  name: unrelated-x\n  generation: 1\n  labels:\n    kubernetes-fleet.io/parent-CRP: unrelated\n\
        spec:\n  state: Bound\n  targetCluster: member1\n  resourceSnapshotName: unrelated-7-snapshot\n\
        status:\n  conditions:\n  - {type: Applied, status: 'False', reason: X, message: y, observedGeneration: 1}\n\
        ---\napiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: StagedUpdateRun\nmetadata: {name: example-run, namespace: elsewhere}\n\
        spec: {placementName: unrelated, stagedRolloutStrategyName: s, state: Run}\n\
        ---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: b}\n";
    for path in fixtures() {
        let text = std::fs::read_to_string(&path).unwrap();
        let with = format!("{text}\n---\n{other}");
        let before = reports(&text);
        let after: Vec<_> = reports_of_change(&with)
            .into_iter()
            .filter(|(target, _)| target.namespace != "elsewhere")
            .collect();
        assert_eq!(json(&before), json(&after), "{}", path.display());
    }
}

/// A source that counts what it is asked.
struct Counting<'s> {
    source: &'s mut Bundle,
    asked: Vec<HubQuery>,
}

impl ObjectSource for Counting<'_> {
    fn answer(&mut self, queries: &[HubQuery]) -> Vec<QueryAnswer> {
        self.asked.extend_from_slice(queries);
        self.source.answer(queries)
    }
}

/// The state is the same without what only explains it, and is had with few questions: on a hub,
/// one for what it serves and one for a name that may mean two things come on top.
#[test]
fn the_state_needs_no_reasons() {
    for path in fixtures() {
        let Some((mut bundle, reports)) = read_with_reports(&path) else {
            continue;
        };
        let hub = bundle.hub.clone();
        for (target, report) in reports {
            let mut source = Counting {
                source: &mut bundle,
                asked: Vec::new(),
            };
            let mut walk = Walk::shallow(target.clone());
            walk.drive(&mut source);
            let asked = source.asked;
            let inventory = Inventory::new(walk, report.as_of.unwrap(), hub.clone());
            let status = Status::new(&inventory);
            let place = format!("{}: {target}", path.display());
            assert_eq!(status.verdict, report.verdict, "{place}");
            assert_eq!(status.run, report.run, "{place}");
            assert!(!status.summary.is_empty(), "{place}");
            // Of a placement the runs too.
            let most = 3 + usize::from(target.kind.concept() == Concept::Placement);
            assert!(asked.len() <= most, "{place}: {asked:?}");
        }
    }
}

/// Taking away objects while the header says that their kind was denied must not turn a bad verdict
/// into a good one: the run's own conditions are enough for every verdict.
#[test]
fn denied_evidence_is_not_health() {
    let mut silent = Vec::new();
    let healthy = |verdict| matches!(verdict, Verdict::Succeeded | Verdict::Progressing);
    for path in one_of_each_folder() {
        let text = std::fs::read_to_string(&path).unwrap();
        if !text.contains("kind: Bundle") {
            continue;
        }
        let before = reports(&text);
        for kind in [
            "ClusterResourceBinding",
            "ResourceBinding",
            "Work",
            "MemberCluster",
            "ClusterApprovalRequest",
            "ApprovalRequest",
            "ClusterResourceSnapshot",
            "ClusterSchedulingPolicySnapshot",
            "ClusterResourcePlacement",
            "ClusterResourceOverrideSnapshot",
            "ResourceOverrideSnapshot",
        ] {
            let line = format!("\nkind: {kind}\n");
            let kept: Vec<_> = documents(&text)
                .into_iter()
                .map(|document| {
                    document.replace(
                        &format!("- kind: {kind}\n  outcome: listed"),
                        &format!("- kind: {kind}\n  outcome: denied"),
                    )
                })
                .filter(|document| !document.contains(&line))
                .collect();
            let after = reports_of_change(&kept.join("\n---\n"));
            for (target, report) in &before {
                if target.kind.concept() != Concept::UpdateRun {
                    continue;
                }
                let Some((_, now)) = after.iter().find(|(other, _)| other == target) else {
                    continue;
                };
                let is_lost = |it: &&Finding| !now.findings.iter().any(|new| new.code == it.code);
                let mut grave = report
                    .findings
                    .iter()
                    .filter(|it| it.severity >= Severity::Warning);
                let lost = grave.find(is_lost);
                // A file has what is around one placement, and FS503 is told of others.
                let lost = lost.filter(|it| it.code != "FS503" && !report.verdict.is_over());
                if let Some(lost) = lost.filter(|_| now.not_checked.is_empty()) {
                    silent.push(format!(
                        "{}: {target} without {kind}: {}",
                        path.display(),
                        lost.code
                    ));
                }
                assert!(
                    healthy(report.verdict) || !healthy(now.verdict),
                    "{}: {target} was {:?}, and without {kind} it is {:?}",
                    path.display(),
                    report.verdict,
                    now.verdict
                );
            }
        }
    }
    assert!(
        silent.is_empty(),
        "nothing tells what is not checked:\n{}",
        silent.join("\n")
    );
}

/// Changes a text at a place that `choice` picks.
fn mutate(text: &str, choice: u64, kind: u8) -> String {
    let lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return String::new();
    }
    let at = usize::try_from(choice).unwrap_or(0) % lines.len();
    let mut out: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    let replace = |line: &str, value: &str| match line.split_once(": ") {
        Some((key, _)) => format!("{key}: {value}"),
        None => line.to_owned(),
    };
    match kind % 9 {
        0 => {
            out.remove(at);
        }
        1 => out[at] = replace(&out[at], "null"),
        2 => out[at] = replace(&out[at], "-1"),
        3 => out[at] = replace(&out[at], "[1, {a: b}]"),
        4 => out[at] = replace(&out[at], "'\u{1b}[31m\u{202e}x'"),
        5 => out[at] = replace(&out[at], "99999999999999999999"),
        6 => out[at] = replace(&out[at], "'2026-13-45T99:99:99Z'"),
        7 => {
            let copy = out[at].clone();
            out.insert(at, copy);
        }
        _ => out.truncate(at),
    }
    out.join("\n")
}

/// The first and the last moments that there are, and the years that Kubernetes can write.
const MOMENTS: [&str; 5] = [
    "-009999-01-02T01:59:59Z",
    "0000-01-01T00:00:00Z",
    "1970-01-01T00:00:00Z",
    "9999-12-30T22:00:00Z",
    "9999-12-31T23:59:59Z",
];
const NUMBERS: [&str; 6] = [
    "0",
    "-1",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
];
const WAITS: [&str; 4] = [
    "0s",
    "2562047h47m16.854775807s",
    "9223372036854775807s",
    "-1h",
];

/// Numbers that look random, and are the same each time.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.throw(from.len())]
    }
}

fn is_moment(text: &str) -> bool {
    let form = "0000-00-00T00:00:00Z";
    text.len() == form.len()
        && text
            .chars()
            .zip(form.chars())
            .all(|(c, wanted)| c == wanted || (wanted == '0' && c.is_ascii_digit()))
}

/// Puts extreme values in the place of some moments, numbers and waits.
fn with_extremes(text: &str, dice: &mut Dice) -> String {
    let mut out = Vec::new();
    for line in text.lines() {
        let found = line.split_once(": ").filter(|_| dice.throw(3) == 0);
        let Some((key, value)) = found else {
            out.push(line.to_owned());
            continue;
        };
        let quote = if value.starts_with('\'') { "'" } else { "" };
        let bare = value.trim_matches('\'');
        let is_wait =
            bare.ends_with(['s', 'm', 'h']) && bare.starts_with(|c: char| c.is_ascii_digit());
        let new = if is_moment(bare) {
            dice.pick(&MOMENTS)
        } else if bare.parse::<i64>().is_ok() {
            dice.pick(&NUMBERS)
        } else if is_wait {
            dice.pick(&WAITS)
        } else {
            bare
        };
        let value = if new == bare {
            value.to_owned()
        } else {
            format!("{quote}{new}{quote}")
        };
        out.push(format!("{key}: {value}"));
    }
    out.join("\n")
}

fn look(verbose: bool) -> RenderLook {
    RenderLook {
        width: 80,
        paint: TextPaint::new(false),
        invocation: Invocation::new("kubectl fleet-stage", "", &[]),
        verbose,
    }
}

/// A report in every format for people.
fn formats(report: &Report, verbose: bool) -> [(&'static str, String); 5] {
    let look = look(verbose);
    let invocation = &look.invocation;
    let least = Severity::Info;
    let junit = render::junit::reports(std::slice::from_ref(report), least, invocation);
    [
        ("text", render::text::report(report, &look)),
        ("markdown", render::markdown::report(report, invocation)),
        ("github", render::github::report(report, invocation)),
        ("html", render::html::report(report, invocation)),
        ("junit", junit.expect("a document")),
    ]
}

/// Everything that shows a report, with all that it has.
fn show(report: &Report) {
    assert!(!serde_json::to_string(report).unwrap().is_empty());
    let shown = formats(report, true);
    assert!(shown.iter().all(|(_, text)| !text.is_empty()));
}

/// No moment, number, or wait is too far away, wherever it stands and whatever time it is.
#[test]
fn extremes_end_nothing() {
    let mut dice = Dice(20);
    let mut count = 0;
    for path in one_of_each_folder().into_iter().step_by(2) {
        let text = with_extremes(&std::fs::read_to_string(&path).unwrap(), &mut dice);
        let Some(mut bundle) = read(&text) else {
            continue;
        };
        let hub = bundle.hub.clone();
        let objects = bundle.objects().iter();
        let targets: Vec<_> = objects.map(Object::reference).collect();
        let is_target =
            |o: &&ObjectRef| matches!(o.kind.concept(), Concept::UpdateRun | Concept::Placement);
        for target in targets.iter().filter(is_target) {
            let middle = bundle.collected_at.unwrap_or(Timestamp::UNIX_EPOCH);
            for now in [Timestamp::MIN, middle, Timestamp::MAX] {
                show(&diagnose(&mut bundle, &hub, target, now));
                let mut walk = Walk::new(target.clone());
                walk.drive(&mut bundle);
                let status = Status::with_ends(&Inventory::new(walk, now, hub.clone()));
                assert!(!render::status::line(&status).is_empty());
                let page = render::html::status(&status, &Invocation::new("x", "", &[]));
                assert!(!page.is_empty());
                count += 1;
            }
        }
    }
    assert!(count > 50, "{count}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, rng_seed: RngSeed::Fixed(20), ..ProptestConfig::default() })]

    #[test]
    fn no_mutation_panics(fixture in any::<prop::sample::Index>(), choices in prop::collection::vec((any::<u64>(), any::<u8>()), 1..4)) {
        let fixtures = fixtures();
        let mut text = std::fs::read_to_string(fixture.get(&fixtures)).unwrap();
        for (choice, kind) in choices {
            text = mutate(&text, choice, kind);
        }
        for (_, report) in reports(&text) {
            prop_assert!(serde_json::to_string(&report).is_ok());
            if report.verdict.wants_root_cause() {
                prop_assert!(report.findings.iter().any(|finding| finding.root_cause), "{:?} without a root cause", report.verdict);
            }
        }
    }
}
