//! How right the program is, counted: the page that says so.

mod diagnoses;
#[allow(clippy::expect_used)] // a test measures the same
#[path = "../../../tests/laws/lengths.rs"]
mod lengths;
mod masking;
mod ordinary;
#[path = "../../../tests/attack/planted.rs"]
mod planted;
mod reports;
#[allow(clippy::expect_used)] // a test reads the same fixtures
#[path = "../../../tests/laws/situations.rs"]
mod situations;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// The page.
pub const PAGE: &str = "docs/accuracy.md";

/// What the page says: one section for each thing that is counted.
pub fn page(root: &Path) -> Result<String> {
    let sections = [
        diagnoses::section(root)?,
        reports::section(root)?,
        crate::conform::section(root)?,
        masking::section(root)?,
    ];
    Ok(format!(
        "# Accuracy\n\nCounted by `cargo xtask gen`; CI counts again.\n\n{}",
        sections.join("\n")
    ))
}

/// The bundles at these places of the repository, which are files or folders, in order: files that
/// hold the whole of each.
pub fn bundles(root: &Path, places: &[impl AsRef<Path>]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open: Vec<_> = places.iter().map(|place| root.join(place)).collect();
    while let Some(place) = open.pop() {
        let read = || place.display().to_string();
        if !place.is_file() {
            for entry in std::fs::read_dir(&place).with_context(read)? {
                open.push(entry.with_context(read)?.path());
            }
        } else if place.extension().is_some_and(|ending| ending == "yaml") {
            found.push(place);
        }
    }
    found.sort();
    let whole = |file: &PathBuf| crate::fixture::whole(root, file);
    found.iter().map(whole).collect()
}
