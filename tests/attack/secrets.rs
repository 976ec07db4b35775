//! Secrets in everything that a cluster can say: none of them is printed, in no format, and a bundle
//! whose secrets were masked is diagnosed like the hub that has them.

use std::collections::HashSet;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use kubectl_fleet_stage::bundle::{self, Bundle, Input};
use kubectl_fleet_stage::diagnose::diagnose;
use kubectl_fleet_stage::kubefleet::object::Object;
use kubectl_fleet_stage::kubefleet::{Concept, ObjectRef};
use kubectl_fleet_stage::mask::mask;
use serde_json::{Value, json};

use super::files::yaml_files;
use super::planted::{self, Dice, PIECE, Planted};
use super::{ends, program, tries};

fn fixtures() -> Vec<PathBuf> {
    yaml_files(&["tests/findings", "tests/real", "tests/lists"])
}

/// Secrets to plant. Those that are missed where nothing is around them are counted elsewhere: here
/// it matters that masking is asked.
struct Garden {
    secrets: Vec<Planted>,
    sentences: Vec<usize>,
    dice: Dice,
}

impl Garden {
    fn new(seed: u64) -> Self {
        let secrets = planted::all(seed);
        let sentences = (0..secrets.len()).filter(|at| sentence(&secrets[*at]).is_some());
        Self {
            sentences: sentences.collect(),
            secrets,
            dice: Dice::new(seed),
        }
    }

    /// Whether one is masked where nothing is around it.
    fn is_found(&self, at: usize) -> bool {
        let mut object = self.secrets[at].object.clone();
        mask(&mut object);
        !self.secrets[at].leaks_into(&object.to_string())
    }

    fn sentence(&mut self, planted: &mut Vec<usize>) -> String {
        loop {
            let at = *self.dice.pick(&self.sentences);
            if self.is_found(at) {
                planted.push(at);
                return sentence(&self.secrets[at]).unwrap_or_default().to_owned();
            }
        }
    }

    fn object(&mut self, planted: &mut Vec<usize>) -> Value {
        loop {
            let at = self.dice.roll(self.secrets.len());
            if self.secrets[at].object["apiVersion"].is_string() && self.is_found(at) {
                planted.push(at);
                return self.secrets[at].object.clone();
            }
        }
    }

    /// The objects of a fixture with secrets in them, and which.
    fn planted_in(&mut self, fixture: &Path) -> (Vec<Value>, Vec<usize>) {
        let (mut documents, mut planted) = (documents(fixture), Vec::new());
        for document in &mut documents {
            self.plant(document, &mut planted);
        }
        (documents, planted)
    }

    /// Plants secrets in every text of an object that someone wrote, in annotations, variables,
    /// manifests and logs; returns which.
    fn plant(&mut self, value: &mut Value, planted: &mut Vec<usize>) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields.iter_mut() {
                    match (key.as_str(), &mut *value) {
                        ("message" | "why" | "note", Value::String(text)) => {
                            let more = self.sentence(planted);
                            *text = format!("{text}\n{more}");
                        }
                        ("annotations", Value::Object(annotations)) => {
                            let text = self.sentence(planted);
                            annotations.insert("example.com/note".into(), text.into());
                        }
                        ("lines", Value::Array(lines)) => lines.push(self.sentence(planted).into()),
                        ("selectedResources" | "manifests", Value::Array(manifests)) => {
                            let mut object = self.object(planted);
                            object["metadata"]["name"] = json!("planted");
                            manifests.push(object);
                            for manifest in manifests {
                                self.plant(manifest, planted);
                            }
                        }
                        ("env", Value::Array(env)) => {
                            let text = self.sentence(planted);
                            env.push(json!({"name": "PLANTED", "value": text}));
                        }
                        ("valueInHub" | "valueInMember", Value::String(text)) => {
                            *text = self.sentence(planted);
                        }
                        (_, value) => self.plant(value, planted),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.plant(item, planted)),
            _ => {}
        }
    }
}

/// The words of a controller in which a secret was planted.
fn sentence(planted: &Planted) -> Option<&str> {
    planted.object["status"]["conditions"][0]["message"].as_str()
}

/// The objects of a fixture.
pub(super) fn documents(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    serde_saphyr::from_multiple(&text).unwrap_or_default()
}

/// JSON is YAML, and keeps every sign as it is.
fn bundle_of(documents: &[Value]) -> String {
    let documents: Vec<_> = documents.iter().map(Value::to_string).collect();
    format!("---\n{}\n", documents.join("\n---\n"))
}

fn read(text: &str) -> Option<Bundle> {
    let text = Cursor::new(text.as_bytes().to_vec());
    bundle::read(vec![Input::Stdin(Box::new(text))]).ok()
}

fn targets(bundle: &Bundle) -> Vec<ObjectRef> {
    let objects = bundle.objects().iter().map(Object::reference);
    objects
        .filter(|one| matches!(one.kind.concept(), Concept::UpdateRun | Concept::Placement))
        .collect()
}

/// The leaks of what was planted into a text, folded or not.
fn leaks<'g>(garden: &'g Garden, planted: &[usize], text: &str) -> Vec<&'g Planted> {
    let joined: String = text.split_whitespace().collect();
    let windows = text.as_bytes().windows(PIECE);
    let windows: HashSet<&[u8]> = windows.chain(joined.as_bytes().windows(PIECE)).collect();
    let is_there = |piece: &String| match piece.len() {
        PIECE => windows.contains(piece.as_bytes()),
        _ => joined.contains(piece),
    };
    let secrets = planted.iter().map(|at| &garden.secrets[*at]);
    secrets
        .filter(|one| one.pieces().iter().any(is_there))
        .collect()
}

#[test]
fn no_command_prints_a_secret_in_any_format() {
    let mut garden = Garden::new(7);
    let fixtures = fixtures();
    let folder = tempfile::tempdir().unwrap();
    let mut printed = 0;
    for turn in 0..tries(6).min(fixtures.len()) {
        let fixture = &fixtures[turn * fixtures.len() / tries(6).min(fixtures.len())];
        let (documents, planted) = garden.planted_in(fixture);
        let text = bundle_of(&documents);
        let Some(bundle) = read(&text) else { continue };
        let path = folder.path().join(format!("{turn}.yaml"));
        std::fs::write(&path, &text).unwrap();
        let file = path.display().to_string();
        for target in targets(&bundle) {
            let name = format!("{}/{}", target.kind.name(), target.name);
            let mut space = vec!["-f", &file];
            if !target.namespace.is_empty() {
                space.extend(["-n", &target.namespace]);
            }
            let mut calls: Vec<Vec<&str>> = Vec::new();
            for format in [
                "text", "json", "yaml", "markdown", "junit", "github", "html",
            ] {
                calls.push(vec!["diagnose", &name, "-v", "-o", format]);
            }
            for format in ["table", "wide", "json", "yaml"] {
                for command in ["list", "approvals", "strategies"] {
                    calls.push(vec![command, "-o", format]);
                }
                calls.push(vec!["history", &name, "-o", format]);
            }
            for format in ["text", "json", "yaml"] {
                calls.push(vec!["status", &name, "-o", format]);
            }
            if target.kind.concept() == Concept::Placement {
                for format in ["table", "wide", "json", "yaml"] {
                    calls.push(vec!["snapshots", &name, "-o", format]);
                    calls.push(vec!["snapshots", "show", &name, "-o", format]);
                    calls.push(vec![
                        "snapshots",
                        "diff",
                        &name,
                        "0",
                        "latest",
                        "-o",
                        format,
                    ]);
                }
                calls.push(vec!["snapshots", "diff", &name, "0", "latest"]);
            }
            for call in calls {
                let call: Vec<&str> = call.iter().chain(&space).copied().collect();
                let output = ends(program(&call).stdin(Stdio::null()));
                let said = [output.stdout, output.stderr].concat();
                let said = String::from_utf8_lossy(&said);
                printed += said.len();
                let leaks = leaks(&garden, &planted, &said);
                assert!(
                    leaks.is_empty(),
                    "{} prints {:?} of {}:\n{said}",
                    call.join(" "),
                    leaks
                        .iter()
                        .map(|one| (&one.kind, one.place, &one.secret))
                        .collect::<Vec<_>>(),
                    fixture.display()
                );
            }
        }
    }
    assert!(printed > 10_000, "little was printed: {printed}");
}

#[test]
fn masked_objects_are_diagnosed_like_those_that_they_were() {
    let mut garden = Garden::new(11);
    let fixtures = fixtures();
    let mut compared = 0;
    let step = (fixtures.len() / tries(40).min(fixtures.len())).max(1);
    for fixture in fixtures.iter().step_by(step) {
        let (mut documents, planted) = garden.planted_in(fixture);
        let before = bundle_of(&documents);
        for document in &mut documents {
            mask(document);
        }
        let after = bundle_of(&documents);
        let (Some(mut before), Some(mut after)) = (read(&before), read(&after)) else {
            continue;
        };
        let Some(now) = before.collected_at.or(before.newest_timestamp()) else {
            continue;
        };
        for target in targets(&before) {
            let hub = before.hub.clone();
            let reports = [
                diagnose(&mut before, &hub, &target, now),
                diagnose(&mut after, &hub, &target, now),
            ]
            .map(|report| serde_json::to_string_pretty(&report).unwrap());
            assert_eq!(reports[0], reports[1], "{}", fixture.display());
            let leaks = leaks(&garden, &planted, &reports[0]);
            assert!(leaks.is_empty(), "{}", fixture.display());
            compared += 1;
        }
    }
    assert!(compared >= 20, "only {compared} were compared");
}

/// No text that a controller is known to write is changed: rules read it as it is.
#[test]
fn what_controllers_write_is_read_as_it_is() {
    for fixture in fixtures() {
        // One that was made with a password in it.
        if fixture.ends_with("lists/payments.yaml") {
            continue;
        }
        for document in documents(&fixture) {
            let mut masked = document.clone();
            let found = mask(&mut masked);
            let of_secrets = |path: &str| path.contains(".data") || path.contains("stringData");
            let wrong: Vec<_> = found.iter().filter(|path| !of_secrets(path)).collect();
            assert!(wrong.is_empty(), "{}: {wrong:?}", fixture.display());
        }
    }
}

#[test]
fn secrets_are_shown_where_they_are_asked_for() {
    let secret = "planted-9f3k2j5h";
    let manifest = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db", "namespace": "shop"},
        "stringData": {"password": secret}});
    let documents = [
        json!({"apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "ClusterResourcePlacement",
            "metadata": {"name": "p", "uid": "1"}, "spec": {"resourceSelectors": []}}),
        json!({"apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "ClusterResourceSnapshot",
            "metadata": {"name": "p-0-snapshot", "uid": "2",
                "labels": {"kubernetes-fleet.io/parent-CRP": "p", "kubernetes-fleet.io/resource-index": "0",
                    "kubernetes-fleet.io/is-latest-snapshot": "true"},
                "annotations": {"kubernetes-fleet.io/number-of-resource-snapshots": "1"}},
            "spec": {"selectedResources": [manifest]}}),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle.yaml");
    std::fs::write(&path, bundle_of(&documents)).unwrap();
    let file = path.display().to_string();
    let show = [
        "snapshots",
        "show",
        "p",
        "latest",
        "-o",
        "yaml",
        "-f",
        &file,
    ];
    let masked = ends(&mut program(&show));
    let masked = String::from_utf8_lossy(&masked.stdout).into_owned();
    assert!(
        masked.contains("••••") && !masked.contains(secret),
        "{masked}"
    );
    let shown = ends(program(&show).arg("--show-secrets"));
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains(secret), "{shown}");
}
