//! What the agent of a pipeline obeys, in text from a cluster: nothing of it is printed as it is.

use serde_json::Value;

use super::{ends, program};

const MARKS: [&str; 6] = [
    "##vso[task.setvariable variable=x]y",
    "it failed ##[set-env name=A]b",
    "::set-output name=x::y",
    "::add-mask::x",
    "a\n::error::b ##VSO[task.x]",
    "##teamcity[x] \u{9b}31m\u{7f}\u{202e}",
];

/// What an agent would obey, or a terminal.
fn obeyed(text: &str, is_ours: bool) -> Option<&str> {
    text.lines().find(|line| {
        let marked = line.match_indices("##").any(|(at, _)| {
            let rest = line[at + 2..].trim_start_matches(|c: char| c.is_ascii_alphabetic());
            rest.starts_with('[')
        });
        let hidden = ['\u{9b}', '\u{7f}', '\u{202e}'];
        marked || line.contains(hidden) || !is_ours && line.trim_start().starts_with("::")
    })
}

#[test]
fn no_output_holds_what_a_pipeline_obeys() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        std::fs::read_to_string("tests/attack/../../examples/cluster/waiting-for-approval.yaml");
    let documents: Vec<Value> = serde_saphyr::from_multiple(&text.unwrap()).unwrap();
    for (number, mark) in MARKS.into_iter().enumerate() {
        let path = folder.path().join(format!("{number}.yaml"));
        let hostile = documents.iter().map(|document| {
            let mut document = document.clone();
            spoil(&mut document, "", mark);
            document.to_string()
        });
        std::fs::write(&path, hostile.collect::<Vec<_>>().join("\n---\n")).unwrap();
        let path = path.to_str().unwrap();
        for words in [
            &["diagnose", "example-run"][..],
            &["diagnose", "example-run", "-v"],
            &["diagnose", "example-run", "-o", "json"],
            &["diagnose", "example-run", "-o", "yaml"],
            &["diagnose", "example-run", "-o", "markdown"],
            &["diagnose", "example-run", "-o", "github"],
            &["diagnose", "example-run", "-o", "junit"],
            &["diagnose", "example-run", "-o", "html"],
            &["status", "example-run"],
            &["status", "example-run", "-o", "json"],
            &["status", "example-run", "-o", "yaml"],
            &["list", "-o", "wide"],
            &["list", "-o", "json"],
            &["approvals", "-o", "yaml"],
            &["history", "crp/example-placement"],
            &["clusters", "crp/example-placement", "-o", "json"],
            &["strategies"],
            &["status", mark],
            &["diagnose", "csur/##vso[x]"],
        ] {
            let output = ends(program(words).args(["-f", path]));
            let is_ours = words.contains(&"github");
            for stream in [&output.stdout, &output.stderr] {
                let text = String::from_utf8_lossy(stream);
                assert_eq!(obeyed(&text, is_ours), None, "{words:?} {mark:?}");
            }
            if words.contains(&"json") {
                let text = String::from_utf8_lossy(&output.stdout);
                let read: Value = serde_json::from_str(&text).unwrap();
                // The document holds what the cluster holds.
                let held = text.contains("\\u0023") || !mark.contains("##");
                assert!(
                    held || !read.to_string().contains("##"),
                    "{words:?}: {text}"
                );
            }
        }
    }
    for words in [
        &["##vso[x]"][..],
        &["list", "--##[x]"],
        &["status", "a", "::set-env::x"],
    ] {
        let output = ends(&mut program(words));
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(obeyed(&text, false), None, "{words:?}");
    }
}

/// Puts it wherever someone's words stand.
fn spoil(value: &mut Value, key: &str, mark: &str) {
    match value {
        // A reason that the program knows stays one.
        Value::String(text) if key == "message" => *text = format!("{mark} {text} {mark}"),
        Value::Array(items) => items.iter_mut().for_each(|item| spoil(item, key, mark)),
        Value::Object(fields) => {
            for (key, value) in fields {
                spoil(value, key, mark);
            }
        }
        _ => {}
    }
}
