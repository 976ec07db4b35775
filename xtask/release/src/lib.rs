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

/// Runs a program in a folder, and gives what it wrote.
fn output(folder: &Path, program: &str, arguments: &[&str]) -> Result<String, String> {
    let shown = || format!("{program} {}", arguments.join(" "));
    let output = std::process::Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .map_err(|error| format!("{}: {error}", shown()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} failed: {}", shown(), said.trim()));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("{}: {error}", shown()))
}

/// Reads a file; an error names it.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}
