//! Outputs for pipelines and for keeping, made from the bundles of `examples/`: schemas, test
//! results, annotations, pages.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

#[path = "outputs/github.rs"]
mod github;
#[path = "outputs/html.rs"]
mod html;
#[path = "outputs/junit.rs"]
mod junit;
#[path = "outputs/published.rs"]
mod published;
#[path = "outputs/schemas.rs"]
mod schemas;

use crate::calls;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use kubectl_fleet_stage::ui::UiEnvironment;

/// What a command printed, and how it ended.
struct Said {
    out: String,
    err: String,
    code: i32,
}

/// Calls the program in this process, in the repository.
fn say(line: &str) -> Said {
    let name = "kubectl-fleet-stage";
    let environment = UiEnvironment {
        columns: Some(80),
        called_as: name.into(),
        ..UiEnvironment::default()
    };
    let words = std::iter::once(name).chain(line.split_whitespace());
    let words = words.map(OsString::from);
    let (code, out, err) = calls::call(words, None, environment, Timestamp::now);
    let code = code.into();
    Said { out, err, code }
}

/// The bundles of the examples.
fn examples() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut found = Vec::new();
    for scope in ["cluster", "namespaced"] {
        for entry in std::fs::read_dir(root.join(scope)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "yaml") {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(found.len() > 40, "{found:?}");
    found
}

/// What a bundle of the examples is about, and the bundle.
fn about(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("# args: "));
    format!("{} -f {}", line.unwrap(), path.display())
}

/// The same, of a bundle by its name.
fn example(name: &str) -> String {
    about(&Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("examples/{name}.yaml")))
}

/// A bundle in which every text that somebody else wrote is hostile.
const HOSTILE: &str = "tests/outputs/hostile.yaml";
