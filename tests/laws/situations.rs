//! What fixtures expect: read from the comments that they begin with, and diagnosed.

use std::path::Path;

use kubectl_fleet_stage::bundle::{self, Bundle, Input};
use kubectl_fleet_stage::diagnose::diagnose;
use kubectl_fleet_stage::kubefleet::{Concept, Kind, ObjectRef, Scope};
use kubectl_fleet_stage::report::Report;

/// One thing that is asked about a bundle, and what the report must be.
#[derive(Debug, Default)]
pub struct Expectation {
    /// What is diagnosed: the words behind `diagnose`.
    pub args: String,
    /// What is expected, by key.
    pub rules: Vec<(String, String)>,
}

/// What the comment blocks at the beginning of a fixture expect.
pub fn expectations(text: &str) -> Vec<Expectation> {
    let mut all: Vec<Expectation> = Vec::new();
    for line in text
        .lines()
        .take_while(|line| line.starts_with('#') || line.trim().is_empty())
    {
        let Some((key, value)) = line.trim_start_matches('#').trim().split_once(": ") else {
            continue;
        };
        match key {
            "args" => all.push(Expectation {
                args: value.to_owned(),
                rules: Vec::new(),
            }),
            "verdict" | "findings" | "clusters" | "subject" | "stage" | "says" | "never"
            | "summary" | "first" | "offers" | "avoids" => {
                if let Some(last) = all.last_mut() {
                    last.rules.push((key.to_owned(), value.trim().to_owned()));
                }
            }
            _ => {}
        }
    }
    all
}

fn target(bundle: &Bundle, args: &str) -> ObjectRef {
    let mut words = args.split_whitespace();
    let name = words.next().expect("a name in args");
    let mut scope = Scope::Cluster;
    while let Some(word) = words.next() {
        if word == "-n" {
            scope = Scope::Namespace(words.next().expect("a namespace").to_owned());
        }
    }
    if let Some((kind, name)) = name.split_once('/') {
        let kind = Kind::from_word(kind).expect("a kind");
        return ObjectRef {
            kind,
            namespace: scope.namespace().to_owned(),
            name: name.to_owned(),
        };
    }
    let run = scope.object(Concept::UpdateRun, name);
    let has_run = bundle
        .objects_of(run.kind)
        .iter()
        .any(|object| object.reference() == run);
    if has_run {
        run
    } else {
        scope.object(Concept::Placement, name)
    }
}

/// Diagnoses what an expectation asks about.
pub fn report(path: &Path, args: &str) -> Report {
    let mut bundle = bundle::read(vec![Input::Path(path.to_owned())]).expect("a bundle");
    let now = args
        .split_once("--now ")
        .map(|(_, now)| {
            now.split_whitespace()
                .next()
                .unwrap_or_default()
                .parse()
                .expect("a time")
        })
        .or(bundle.collected_at)
        .or(bundle.newest_timestamp())
        .expect("a clock");
    let target = target(&bundle, args);
    let hub = bundle.hub.clone();
    diagnose(&mut bundle, &hub, &target, now)
}
