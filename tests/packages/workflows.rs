//! What builds and releases the program: pinned, locked, and with no more rights than it needs.

use std::path::PathBuf;

use serde_json::Value;

use super::root;

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn workflows() -> Vec<(PathBuf, Value)> {
    let folder = std::fs::read_dir(root().join(".github/workflows")).unwrap();
    let paths = folder.map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let workflow = serde_saphyr::from_str(&text);
        let workflow = workflow.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, workflow)
    };
    paths.map(read).collect()
}

fn jobs(workflow: &Value) -> impl Iterator<Item = (&String, &Value)> {
    workflow["jobs"].as_object().unwrap().iter()
}

fn steps(workflow: &Value) -> impl Iterator<Item = &Value> {
    jobs(workflow).flat_map(|(_, job)| job["steps"].as_array().unwrap())
}

/// A tag can be moved to another commit; a commit cannot.
#[test]
fn every_action_is_a_commit() {
    let mut count = 0;
    for (path, workflow) in workflows() {
        for step in steps(&workflow) {
            let Some(uses) = step["uses"].as_str() else {
                continue;
            };
            count += 1;
            let (_, commit) = uses.split_once('@').unwrap_or_default();
            let hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
            assert!(
                commit.len() == 40 && commit.chars().all(hex),
                "{}: {uses}",
                path.display()
            );
            // The version is for people, and for who looks for updates.
            let file = std::fs::read_to_string(&path).unwrap();
            let line = file.lines().find(|line| line.contains(uses)).unwrap();
            assert!(line.contains("# v"), "{}: {line}", path.display());
        }
    }
    assert!(count > 5);
}

/// By default a workflow may read, and a job says what else it needs.
#[test]
fn a_workflow_may_read_and_no_more() {
    for (path, workflow) in workflows() {
        let path = path.display();
        let read = serde_json::json!({"contents": "read"});
        assert_eq!(workflow["permissions"], read, "{path}");
        for (name, job) in jobs(&workflow) {
            assert!(job["timeout-minutes"].is_number(), "{path}: {name}");
            let releases = job["permissions"] != Value::Null;
            assert_eq!(releases, name == "draft", "{path}: {name}");
        }
        for step in steps(&workflow) {
            let checkout = step["uses"]
                .as_str()
                .is_some_and(|uses| uses.contains("/checkout@"));
            if checkout {
                assert_eq!(step["with"]["persist-credentials"], false, "{path}");
            }
            // What others named, such as a branch, is no part of a script.
            let script = step["run"].as_str().unwrap_or_default();
            for word in ["github.event", "github.head_ref", "github.ref"] {
                assert!(!script.contains(word), "{path}: {script}");
            }
        }
    }
}

/// A pull request is tested, its dependencies are checked with the advisories, and it is built on
/// three systems.
#[test]
fn a_change_is_tested_before_it_is_merged() {
    let workflow: Value = serde_saphyr::from_str(&text(".github/workflows/ci.yml")).unwrap();
    // YAML 1.1 reads the key as true.
    let on = ["on", "true"].map(|key| &workflow[key]);
    assert!(
        on.iter().any(|on| on.get("pull_request").is_some()),
        "{workflow:#}"
    );
    let runs: Vec<_> = steps(&workflow)
        .filter_map(|step| step["run"].as_str())
        .collect();
    for wanted in [
        ".ci/run",
        "cargo deny --locked check",
        "cargo test --locked --lib",
    ] {
        assert!(runs.contains(&wanted), "{wanted}: {runs:?}");
    }
    let systems = workflow["jobs"]["build"]["strategy"]["matrix"]["runner"]
        .as_array()
        .unwrap();
    for system in ["ubuntu", "macos", "windows"] {
        let is = |runner: &&Value| runner.as_str().unwrap().starts_with(system);
        assert_eq!(systems.iter().filter(is).count(), 1, "{system}");
    }
}

/// Every file of a release is signed for, and its page says how that is checked.
#[test]
fn a_release_is_signed() {
    let workflow: Value = serde_saphyr::from_str(&text(".github/workflows/release.yml")).unwrap();
    let draft = &workflow["jobs"]["draft"];
    let wanted = serde_json::json!(
        {"contents": "write", "id-token": "write", "attestations": "write"}
    );
    assert_eq!(draft["permissions"], wanted);
    let steps = draft["steps"].as_array().unwrap();
    let place = |is: &dyn Fn(&Value) -> bool| steps.iter().position(is).unwrap();
    let signed = place(&|step| {
        let uses = step["uses"].as_str().unwrap_or_default();
        uses.starts_with("actions/attest-build-provenance@")
            && step["with"]["subject-path"] == "dist/*"
    });
    let run = |step: &Value, words: &str| step["run"].as_str().unwrap_or_default().contains(words);
    // The sums are among the files, and nothing is added between the signature and the release.
    assert!(place(&|step| run(step, "--manifest")) < signed);
    assert!(signed < place(&|step| run(step, "gh release create")));
    let page = text("docs/install.md");
    for words in [
        "gh attestation verify",
        "provenance.sigstore.json",
        "checksums.txt",
    ] {
        assert!(page.contains(words), "{words}");
    }
}

/// Everything is built from the versions in `Cargo.lock`: in CI, in a release, and by who follows the
/// pages.
#[test]
fn cargo_keeps_to_the_lock() {
    let mut files = vec![
        "Makefile".to_owned(),
        ".ci/run".to_owned(),
        "README.md".to_owned(),
        "CONTRIBUTING.md".to_owned(),
        "docs/install.md".to_owned(),
    ];
    for (path, _) in workflows() {
        let path = path.strip_prefix(root()).unwrap();
        files.push(path.to_str().unwrap().replace('\\', "/"));
    }
    let resolves = ["build", "test", "run", "clippy", "install", "check", "deny"];
    for file in files {
        for line in text(&file).lines() {
            for (place, _) in line.match_indices("cargo ") {
                let command = &line[place..];
                let verb = command.split(' ').nth(1).unwrap_or_default();
                let asks = command.contains("--version >") || command.contains("is missing");
                if resolves.contains(&verb) && !asks {
                    assert!(command.contains("--locked"), "{file}: {line}");
                }
            }
        }
    }
    let alias = text(".cargo/config.toml");
    assert!(alias.contains("--locked"), "{alias}");
}

/// Each set of dependencies is looked after.
#[test]
fn updates_are_proposed_for_everything() {
    let settings: Value = serde_saphyr::from_str(&text(".github/dependabot.yml")).unwrap();
    let updates = settings["updates"].as_array().unwrap();
    for (ecosystem, file) in [
        ("cargo", "Cargo.lock"),
        ("github-actions", ".github/workflows/ci.yml"),
        ("gomod", "tests/hub/go.mod"),
        ("npm", "tests/browser/package-lock.json"),
    ] {
        let own = updates
            .iter()
            .find(|update| update["package-ecosystem"] == ecosystem);
        let folder = own.unwrap()["directory"]
            .as_str()
            .unwrap()
            .trim_start_matches('/');
        assert!(root().join(file).exists(), "{file}");
        assert!(file.starts_with(folder), "{ecosystem}: {folder}");
    }
}
