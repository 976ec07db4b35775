//! How right the program is, counted: the page that says so.

mod diagnoses;
mod masking;
mod ordinary;
#[path = "../../../tests/attack/planted.rs"]
mod planted;
#[allow(clippy::expect_used)] // a test reads the same fixtures
#[path = "../../../tests/laws/situations.rs"]
mod situations;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// The page.
pub const PAGE: &str = "docs/accuracy.md";

/// What the page says: one section for each thing that is counted.
pub fn page(root: &Path) -> Result<String> {
    let sections = [diagnoses::section(root)?, masking::section(root)?];
    Ok(format!(
        "# Accuracy\n\nCounted by `cargo xtask gen`; CI counts again.\n\n{}",
        sections.join("\n")
    ))
}

/// The bundles below folders of the repository, in order.
fn bundles(root: &Path, folders: &[&str]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open: Vec<_> = folders.iter().map(|folder| root.join(folder)).collect();
    while let Some(folder) = open.pop() {
        let read = || folder.display().to_string();
        for entry in std::fs::read_dir(&folder).with_context(read)? {
            let path = entry.with_context(read)?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "yaml") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
