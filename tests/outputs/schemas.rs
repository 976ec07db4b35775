//! Every machine-readable output has a schema, and real outputs are what it says.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::published::Schemas;
use super::{examples, say};

fn check(schemas: &Schemas, name: &str, arguments: &[&str]) {
    let words: Vec<_> = arguments.iter().copied().chain(["-o", "json"]).collect();
    let said = say(&words);
    let document: Value = serde_json::from_str(&said.out)
        .unwrap_or_else(|error| panic!("{words:?} ended with {}: {error}: {}", said.code, said.err));
    assert_eq!(schemas.wrong(name, &document), [""; 0], "{words:?}");
    let yaml = say(&[arguments, &["-o", "yaml"]].concat());
    assert_eq!(yaml.code, said.code, "{words:?}");
}

#[test]
fn real_outputs_are_what_their_schemas_say() {
    let schemas = Schemas::published();
    let mut kinds = BTreeSet::new();
    for path in examples() {
        let file = path.to_str().unwrap();
        let large = file.ends_with("large-fleet.yaml");
        check(&schemas, "diagnosis", &["diagnose", "-f", file]);
        check(&schemas, "diagnosis-list", &["diagnose", "--all", "-A", "-f", file]);
        check(&schemas, "status", &["status", "-f", file]);
        if large {
            continue;
        }
        check(&schemas, "run-list", &["list", "-A", "-f", file]);
        check(&schemas, "approval-list", &["approvals", "-A", "-f", file]);
        check(&schemas, "strategy-list", &["strategies", "-A", "-f", file]);
        let placement = placement(file);
        let argument = placement.1.as_str();
        let scope: Vec<&str> = match placement.0.as_str() {
            "" => Vec::new(),
            namespace => vec!["-n", namespace],
        };
        let with = |words: &[&'static str]| {
            let words = words.iter().copied().chain([argument, "-f", file]);
            words.chain(scope.iter().copied()).map(str::to_owned).collect::<Vec<_>>()
        };
        for (name, words) in [
            ("status", &["status"][..]),
            ("diagnosis", &["diagnose"]),
            ("history", &["history"]),
            ("snapshot-list", &["snapshots"]),
        ] {
            let words = with(words);
            let words: Vec<_> = words.iter().map(String::as_str).collect();
            check(&schemas, name, &words);
            kinds.insert(name);
        }
    }
    assert_eq!(kinds.len(), 4);
}

/// The placement that a bundle is about: its namespace, and how it is named on the command line.
fn placement(file: &str) -> (String, String) {
    let said = say(&["status", "-f", file, "-o", "json"]);
    let status: Value = serde_json::from_str(&said.out).unwrap();
    let namespace = status["target"]["namespace"].as_str().unwrap().to_owned();
    let word = if namespace.is_empty() { "crp" } else { "rp" };
    let name = match status["target"]["kind"].as_str().unwrap() {
        kind if kind.ends_with("ResourcePlacement") => &status["target"]["name"],
        _ => &status["progress"]["placement"],
    };
    (namespace, format!("{word}/{}", name.as_str().unwrap()))
}

#[test]
fn outputs_about_one_thing_are_what_their_schemas_say() {
    let schemas = Schemas::published();
    check(&schemas, "version", &["version"]);
    check(&schemas, "finding-list", &["explain", "--list"]);
    check(&schemas, "finding", &["explain", "FS401"]);
    let lists = "tests/lists/payments.yaml";
    for (name, words) in [
        ("plan", &["plan", "example-run", "-f", "examples/cluster/created-in-initialize.yaml"][..]),
        ("history", &["history", "-f", "examples/cluster/rolled-back.yaml"]),
        ("run-list", &["list", "-A", "-f", lists]),
        ("approval-list", &["approvals", "-A", "-f", lists]),
        ("strategy-list", &["strategies", "-A", "-f", lists]),
    ] {
        check(&schemas, name, words);
    }
}

#[test]
fn a_schema_sees_a_wrong_document() {
    let schemas = Schemas::published();
    let said = say(&["diagnose", "-f", "examples/cluster/stuck-workload.yaml", "-o", "json"]);
    let good: Value = serde_json::from_str(&said.out).unwrap();
    let mut wrong = good.clone();
    wrong["verdict"] = "Fine".into();
    assert!(!schemas.wrong("diagnosis", &wrong).is_empty());
    let mut more = good.clone();
    more["findings"][0]["colour"] = "red".into();
    assert!(!schemas.wrong("diagnosis", &more).is_empty());
    let mut less = good;
    less.as_object_mut().unwrap().remove("summary");
    assert!(!schemas.wrong("diagnosis", &less).is_empty());
}

/// What is published is what the program prints.
#[test]
fn every_schema_is_reachable() {
    for name in Schemas::published().0.keys() {
        let said = say(&["schema", name]);
        assert_eq!(said.code, 0, "{name}: {}", said.err);
        let path = format!("docs/reference/schemas/{name}.schema.json");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        assert_eq!(said.out, std::fs::read_to_string(path).unwrap(), "{name}");
    }
}
