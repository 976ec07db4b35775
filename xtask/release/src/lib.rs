//! What a release consists of, and how it is made. [`product`] is the one table of facts; archives,
//! checksums, the list of components and the descriptions for krew, Homebrew and Debian follow
//! from it.

pub mod archive;
pub mod checksums;
pub mod compile;
pub mod components;
pub mod contents;
pub mod debian;
pub mod homebrew;
pub mod krew;
pub mod make;
pub mod notices;
pub mod product;
pub mod sbom;
pub mod task;

use std::path::Path;

use anyhow::{Context as _, Result, bail};

/// Runs a program in a folder, and gives what it wrote.
fn output(folder: &Path, program: &str, arguments: &[&str]) -> Result<String> {
    let shown = || format!("{program} {}", arguments.join(" "));
    let output = std::process::Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .with_context(shown)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{} failed: {}", shown(), said.trim());
    }
    String::from_utf8(output.stdout).with_context(shown)
}

/// Reads a file; an error names it.
fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| path.display().to_string())
}

/// The names of the files in a folder, sorted.
pub fn files(folder: &Path) -> Result<Vec<String>> {
    let failed = || folder.display().to_string();
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(failed)? {
        let name = entry.with_context(failed)?.file_name();
        names.push(name.to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}
