//! SECURITY.md promises nothing that no test holds it to.

use std::process::Command;

use super::files::below;
use super::root;

/// The bullets of the page, each with the tests that it names.
fn promises(page: &str) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for line in page.lines() {
        if let Some(words) = line.strip_prefix("- ") {
            found.push((words.to_owned(), Vec::new()));
        }
        if let (Some((_, tests)), Some(promise)) = (line.split_once("<!-- "), found.last_mut()) {
            let tests = tests.trim_end_matches("-->").split(", ");
            promise.1.extend(tests.map(|test| test.trim().to_owned()));
        }
    }
    found
}

#[test]
fn every_promise_is_a_test() {
    let page = std::fs::read_to_string(root().join("SECURITY.md")).unwrap();
    let (promised, scope) = page.split_once("\n## Report").unwrap();
    assert!(scope.contains("## Scope"));
    let promises = promises(promised);
    assert!(promises.len() > 10);
    for (promise, tests) in promises {
        assert!(!tests.is_empty(), "no test: {promise}");
        for test in tests {
            let (file, name) = test.split_once("::").unwrap_or_else(|| panic!("{test}"));
            let text = std::fs::read_to_string(root().join(file));
            let text = text.unwrap_or_else(|error| panic!("{promise}: {file}: {error}"));
            assert!(
                text.contains(&format!("fn {name}(")),
                "{promise}: no {test}"
            );
        }
    }
}

/// The files of the program, without their tests, that hold one of these words.
fn files_with(words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for path in below(root().join("src"), "rs") {
        let text = std::fs::read_to_string(&path).unwrap();
        let own = text
            .split("#[cfg(test)]\nmod tests {")
            .next()
            .unwrap_or_default();
        let is_test = path.file_name().is_some_and(|name| name == "tests.rs");
        if !is_test && words.iter().any(|word| own.contains(word)) {
            let path = path.strip_prefix(root()).unwrap();
            found.push(path.to_str().unwrap().replace('\\', "/"));
        }
    }
    assert!(!found.is_empty(), "{words:?}");
    found
}

#[test]
fn one_room_talks_to_servers() {
    let words = [
        "HttpConnector",
        "TcpStream",
        "UdpSocket",
        "kube::Client",
        "UnixStream",
    ];
    for file in files_with(&words) {
        assert!(file.starts_with("src/hub/"), "{file}");
    }
}

#[test]
fn files_are_written_where_they_are_named() {
    let words = [
        "fs::write",
        "File::create",
        "OpenOptions",
        "create_dir",
        "NamedTempFile",
        "symlink(",
    ];
    let mut files = files_with(&words);
    files.sort();
    assert_eq!(
        files,
        [
            "src/commands/about/completion.rs",
            "src/commands/show/saving.rs",
            "src/hub/read/remembered.rs"
        ]
    );
}

/// A server is named that nobody can reach: with files it is not asked.
#[test]
fn files_need_no_server() {
    let output = Command::new(env!("CARGO_BIN_EXE_kubectl-fleet-stage"))
        .args(["diagnose", "example-run", "--server", "https://127.0.0.1:1"])
        .args(["-f", "examples/cluster/waiting-for-approval.yaml"])
        .current_dir(root())
        .env("KUBECONFIG", "/nonexistent")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4), "{output:?}");
}
