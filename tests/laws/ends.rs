//! What a controller says last is what was wrong: no format cuts it, and JSON cuts nothing.

use kubectl_fleet_stage::diagnose::status::Status;
use kubectl_fleet_stage::inventory::{Inventory, Walk};
use kubectl_fleet_stage::kubefleet::messages::essence;
use kubectl_fleet_stage::render;
use kubectl_fleet_stage::report::{Finding, Report, Severity, Verdict};
use serde_json::Value;

use super::fixtures::{documents, whole, yaml_files};
use super::{formats, look, read, reports, reports_of_change};

/// Letters and digits alone, so that breaks, quotes and escapes count for nothing.
fn bare(text: &str) -> String {
    let mut text = text.to_owned();
    for escape in [
        "&quot;", "&lt;", "&gt;", "&amp;", "&#39;", "&apos;", "%25", "%0A", "%0D", "%3A", "%2C",
    ] {
        text = text.replace(escape, "");
    }
    text.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// The last words of a text, of those that are not how every failure begins.
fn end(text: &str) -> String {
    let bare = bare(essence(text));
    bare[bare.len().saturating_sub(40)..].to_owned()
}

/// Whether a finding is shown with its evidence, also where consequences and notes are not.
fn is_open(finding: &Finding, report: &Report) -> bool {
    let is_shown = |code: &str| report.findings.iter().any(|other| other.code == code);
    let follows = finding.caused_by.iter().any(|cause| is_shown(&cause.code));
    finding.root_cause || !follows && finding.severity == Severity::Error
}

/// The long texts of a report, of those that every format shows.
fn long(report: &Report) -> Vec<&str> {
    const SHOWN: usize = 3;
    let open = report
        .findings
        .iter()
        .filter(|finding| is_open(finding, report));
    let values = open.flat_map(|finding| {
        let values = finding.evidence.iter().take(SHOWN);
        values
            .map(|one| one.value.as_str())
            .chain([finding.message.as_str()])
    });
    values.filter(|text| text.len() > 100).collect()
}

/// The names, times and numbers of the summary. A controller's words for a failure are evidence of
/// the finding that the summary names.
fn facts(report: &Report) -> Vec<&str> {
    let first = report.findings.first();
    let is_named = |first: &Finding| report.summary.contains(&format!("({})", first.code));
    let fails = matches!(
        report.verdict,
        Verdict::Failed | Verdict::InitializationFailed
    );
    let (head, tail) = match report.summary.split_once("): ") {
        Some((head, why)) if fails && first.is_some_and(is_named) => (
            head,
            why.rsplit_once("; cause: ").map_or("", |(_, cause)| cause),
        ),
        _ => (report.summary.as_str(), ""),
    };
    let words = head.split(' ').chain(tail.split(' '));
    let is_fact = |word: &&str| word.contains(|c: char| c.is_ascii_digit() || c == '/');
    let names = words
        .filter(is_fact)
        .map(|word| word.rsplit('/').next().unwrap_or(word));
    names.collect()
}

fn missing(report: &Report) -> Vec<String> {
    let mut missing = Vec::new();
    for (format, shown) in formats(report, false) {
        let shown = bare(&shown);
        for text in long(report) {
            if !shown.contains(&end(text)) {
                missing.push(format!("{format} cuts the end of {text:?}"));
            }
        }
        for fact in facts(report) {
            if !shown.contains(&bare(fact)) {
                missing.push(format!("{format} lacks {fact:?} of the summary"));
            }
        }
    }
    missing
}

#[test]
fn the_end_of_a_text_is_in_every_format() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for path in yaml_files(&["tests/findings", "tests/healthy", "tests/real", "examples"]) {
        let text = std::fs::read_to_string(&path).unwrap();
        for (target, report) in reports(&text) {
            count += long(&report).len();
            let missing = missing(&report).into_iter();
            wrong.extend(missing.map(|missing| format!("{}, {target}: {missing}", path.display())));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 500, "{count}");
}

/// Words that fill a text.
fn filler(count: usize) -> String {
    let words: Vec<_> = (0..count)
        .map(|at| format!("container-{at} of the pod template"))
        .collect();
    words.join(", ")
}

/// Long refusals of a manifest, each with its reason at its end.
fn refusals() -> Vec<String> {
    let about = "failed to apply the manifest: failed to patch the manifest object:";
    let objects = filler(40);
    [
        format!(
            "deployments.apps \"nginx-deployment\" is forbidden: ValidatingAdmissionPolicy \
             'images' with binding 'images-prod' denied request: {objects}: every image must be \
             pinned by its sha256 digest"
        ),
        format!(
            "deployments.apps \"nginx-deployment\" is forbidden: exceeded quota: small, \
             requested: {objects}, used: pods=19, limited: pods=20 in the namespace of the team"
        ),
        format!(
            "Deployment.apps \"nginx-deployment\" is invalid: spec.selector: Invalid value: \
             v1.LabelSelector{{{objects}}}: field is immutable once the object was created"
        ),
        format!(
            "admission webhook \"validate.policies.example.com\" denied the request: {objects} \
             must not run as root in a production namespace"
        ),
        format!("something unheard of: {objects}; the last words say why it went wrong"),
    ]
    .into_iter()
    .map(|text| format!("Failed to apply the manifest (error: {about} {text})"))
    .collect()
}

/// Replaces the messages of conditions that begin so.
fn replace(value: &mut Value, beginning: &str, message: &str) -> usize {
    match value {
        Value::Array(items) => items
            .iter_mut()
            .map(|it| replace(it, beginning, message))
            .sum(),
        Value::Object(fields) => {
            if let Some(Value::String(text)) = fields.get_mut("message")
                && text.starts_with(beginning)
            {
                message.clone_into(text);
                return 1;
            }
            fields
                .values_mut()
                .map(|it| replace(it, beginning, message))
                .sum()
        }
        _ => 0,
    }
}

fn with(text: &str, beginning: &str, message: &str) -> String {
    let mut documents = documents(text);
    let replaced: usize = documents
        .iter_mut()
        .map(|it| replace(it, beginning, message))
        .sum();
    assert!(replaced > 0, "{beginning}");
    let texts: Vec<_> = documents.iter().map(Value::to_string).collect();
    texts.join("\n---\n")
}

/// Whether the report has a text whole, and its end in every format.
fn holds(report: &Report, message: &str) {
    let json = serde_json::to_value(report).unwrap();
    let all = json["findings"].as_array().unwrap().iter();
    let mut values = all.flat_map(|finding| finding["evidence"].as_array().unwrap());
    let whole = |one: &Value| one["value"].as_str().unwrap().ends_with(message);
    assert!(values.any(whole), "JSON cuts {message}");
    for verbose in [false, true] {
        for (format, shown) in formats(report, verbose) {
            let is_there = bare(&shown).contains(&end(message));
            assert!(is_there, "{format} cuts the end of {message}:\n{shown}");
        }
    }
}

#[test]
fn long_refusals_keep_their_reason() {
    for name in ["fires-webhook", "fires-quota", "fires-immutable"] {
        let path = whole(format!("tests/findings/FS502/{name}.yaml"));
        let text = std::fs::read_to_string(path).unwrap();
        for message in refusals() {
            let text = with(&text, "Failed to apply the manifest (error:", &message);
            for (_, report) in reports_of_change(&text) {
                assert!(missing(&report).is_empty(), "{:#?}", missing(&report));
                holds(&report, &message);
            }
        }
    }
}

#[test]
fn a_long_failure_keeps_its_end_in_a_state_too() {
    let path = whole("tests/findings/FS124/fires-new-wording.yaml");
    let text = std::fs::read_to_string(path).unwrap();
    let beginning = "cannot continue the ";
    let message = format!(
        "cannot continue the ClusterStagedUpdateRun: failed to process the request due to a client \
         error: {}; the last words say why it went wrong",
        filler(40)
    );
    let text = with(&text, beginning, &message);
    for (target, report) in reports_of_change(&text) {
        holds(&report, &message);
        let mut bundle = read(&text).unwrap();
        let hub = bundle.hub.clone();
        let mut walk = Walk::shallow(target);
        walk.drive(&mut bundle);
        let status = Status::with_ends(&Inventory::new(walk, report.as_of.unwrap(), hub));
        for verbose in [false, true] {
            let shown = render::status::status(&status, &look(verbose));
            assert!(bare(&shown).contains(&end(&message)), "{shown}");
        }
        assert!(
            status.summary.ends_with("why it went wrong"),
            "{}",
            status.summary
        );
    }
}
