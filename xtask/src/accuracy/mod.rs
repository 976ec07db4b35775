//! How right the program is, counted: the page that says so.

mod masking;
mod ordinary;
#[path = "../../../tests/attack/planted.rs"]
mod planted;

use std::path::Path;

/// The page.
pub const PAGE: &str = "docs/accuracy.md";

/// What the page says: one section for each thing that is counted.
pub fn page(root: &Path) -> Result<String, String> {
    let sections = [masking::section(root)?];
    Ok(format!(
        "# Accuracy\n\nCounted by `cargo xtask gen`; CI counts again.\n\n{}",
        sections.join("\n")
    ))
}
