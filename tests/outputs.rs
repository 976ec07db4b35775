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

use std::path::{Path, PathBuf};
use std::process::Command;

/// What a command printed, and how it ended.
struct Said {
    out: String,
    err: String,
    code: i32,
}

/// Runs the program in the repository, with no hub to be found.
fn say(line: &str) -> Said {
    let output = Command::new(env!("CARGO_BIN_EXE_kubectl-fleet-stage"))
        .args(line.split_whitespace())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("KUBECONFIG", "/nonexistent")
        .env("KUBECACHEDIR", "/dev/null")
        .env("COLUMNS", "80")
        .env_remove("CLICOLOR_FORCE")
        .output()
        .unwrap();
    Said {
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap(),
    }
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
