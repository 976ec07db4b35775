//! Every machine-readable output has a schema, and real outputs are what it says.

use std::path::Path;

use serde_json::Value;

use super::published::Schemas;
use super::{about, example, examples, say};

fn check(schemas: &Schemas, name: &str, arguments: &str) {
    let said = say(&format!("{arguments} -o json"));
    let document: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| {
        panic!(
            "{arguments} ended with {}: {error}: {}",
            said.code, said.err
        )
    });
    assert_eq!(schemas.wrong(name, &document), [""; 0], "{arguments}");
    assert_eq!(
        say(&format!("{arguments} -o yaml")).code,
        said.code,
        "{arguments}"
    );
}

#[test]
fn real_outputs_are_what_their_schemas_say() {
    let schemas = Schemas::published();
    let examples: Vec<_> = examples().into_iter().collect();
    std::thread::scope(|scope| {
        for some in examples.chunks(examples.len().div_ceil(4)) {
            scope.spawn(|| some.iter().for_each(|path| check_example(&schemas, path)));
        }
    });
}

/// Checks what each command says of an example.
fn check_example(schemas: &Schemas, path: &Path) {
    let (about, file) = (about(path), path.display());
    for (schema, line) in [
        ("diagnosis", format!("diagnose {about}")),
        ("status", format!("status {about}")),
        ("diagnosis-list", format!("diagnose --all -A -f {file}")),
        ("run-list", format!("list -A -f {file}")),
        ("approval-list", format!("approvals -A -f {file}")),
        ("strategy-list", format!("strategies -A -f {file}")),
    ] {
        check(schemas, schema, &line);
    }
    let placement = placement(&about);
    // It may be what is missing.
    if say(&format!("status {placement} -f {file}")).code == 6 {
        return;
    }
    for (schema, command) in [
        ("diagnosis", "diagnose"),
        ("status", "status"),
        ("history", "history"),
        ("snapshot-list", "snapshots"),
    ] {
        check(schemas, schema, &format!("{command} {placement} -f {file}"));
    }
}

/// The placement that a bundle is about, as it is named on the command line.
fn placement(about: &str) -> String {
    let said = say(&format!("status {about} -o json"));
    let status: Value = serde_json::from_str(&said.out).unwrap();
    let target = &status["target"];
    let name = match target["kind"].as_str().unwrap() {
        kind if kind.ends_with("ResourcePlacement") => &target["name"],
        _ => &status["run"]["placement"],
    };
    match (
        target["namespace"].as_str().unwrap(),
        name.as_str().unwrap(),
    ) {
        ("", name) => format!("crp/{name}"),
        (namespace, name) => format!("rp/{name} -n {namespace}"),
    }
}

#[test]
fn outputs_about_one_thing_are_what_their_schemas_say() {
    let schemas = Schemas::published();
    #[rustfmt::skip]
    let cases = [
        ("version", "version"),
        ("finding-list", "explain --list"),
        ("finding", "explain FS401"),
        ("run-list", "list -A -f tests/lists/payments.yaml"),
        ("approval-list", "approvals -A -f tests/lists/payments.yaml"),
        ("strategy-list", "strategies -A -f tests/lists/payments.yaml"),
        ("strategy", "strategies show example-strategy -f examples/cluster/rolled-back.yaml"),
        ("plan", "plan --placement example-placement --strategy example-strategy \
            -f examples/cluster/rolled-back.yaml"),
        ("snapshot", "snapshots show example-placement 1 -f examples/cluster/rolled-back.yaml"),
        ("snapshot-diff", "snapshots diff example-placement 0 1 \
            -f examples/cluster/rolled-back.yaml"),
    ];
    for (name, line) in cases {
        check(&schemas, name, line);
    }
}

#[test]
fn a_schema_sees_a_wrong_document() {
    let schemas = Schemas::published();
    let said = say(&format!(
        "diagnose {} -o json",
        example("cluster/stuck-workload")
    ));
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
        let said = say(&format!("schema {name}"));
        assert_eq!(said.code, 0, "{name}: {}", said.err);
        let path = format!("docs/reference/schemas/{name}.schema.json");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        assert_eq!(said.out, std::fs::read_to_string(path).unwrap(), "{name}");
    }
}
