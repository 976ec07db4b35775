//! Arrows only go down: which module may use which.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

mod files;

use std::path::Path;

use files::below;

/// The modules from the top down; those on one line do not know each other.
const FLOORS: &[&[&str]] = &[
    &["cli"],
    &["commands"],
    &["ui"],
    &["render", "error"],
    &["exit", "bundle", "hub", "settings"],
    &["plan", "diagnose", "change"],
    &["problems"],
    &["report"],
    &["manifests"],
    &["rollout"],
    &["inventory"],
    &["member", "contents"],
    &["kubefleet"],
    &["query"],
    &["words"],
    &["mask"],
];

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&module))
}

#[test]
fn arrows_only_go_down() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut up = Vec::new();
    for file in below(&root, "rs") {
        let relative = file.strip_prefix(&root).unwrap();
        let first = relative
            .components()
            .next()
            .unwrap()
            .as_os_str()
            .to_string_lossy();
        let module = first.trim_end_matches(".rs");
        if matches!(module, "main" | "lib") {
            continue;
        }
        let own = floor(module).unwrap_or_else(|| panic!("{module} has no floor"));
        let text = std::fs::read_to_string(&file).unwrap();
        for (number, line) in text.lines().enumerate() {
            for used in line.split("crate::").skip(1) {
                let used: String = used
                    .chars()
                    .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                    .collect();
                let Some(other) = floor(&used) else { continue };
                let fine = other > own || used == module;
                if !fine {
                    up.push(format!(
                        "{}:{}: {module} uses {used}",
                        relative.display(),
                        number + 1
                    ));
                }
            }
        }
    }
    assert!(
        up.is_empty(),
        "arrows that point up or across:\n{}",
        up.join("\n")
    );
}

/// Only the terminal's module prints, and only the binary and signals end the process.
#[test]
fn only_the_terminal_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for file in below(&root, "rs") {
        let relative = file.strip_prefix(&root).unwrap().display().to_string();
        let text = std::fs::read_to_string(&file).unwrap();
        for forbidden in [
            "println!",
            "eprintln!",
            "std::process::exit",
            "io::stdout",
            "io::stderr",
        ] {
            let allowed = match relative.as_str() {
                "ui.rs" => forbidden.starts_with("io::"),
                // A signal that is minded for the sake of a plugin ends the process all the same.
                "hub/signals.rs" => forbidden == "std::process::exit",
                _ => false,
            };
            assert!(
                allowed || !text.contains(forbidden),
                "{relative} uses {forbidden}"
            );
        }
    }
}
