//! The table of what becomes of each write when it goes wrong: measured, not written.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

/// The reference page that holds the table.
const PAGE: &str = "docs/reference/faults.md";

/// Measures it anew, writes the page, and prints it.
pub fn run(root: &Path) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .current_dir(root)
        .args([
            "test",
            "--quiet",
            "--locked",
            "--test",
            "e2e",
            "write::faults::",
        ])
        .env("FLEET_STAGE_WRITE_FAULTS", "1")
        // Without a hub there is nothing to measure.
        .env("FLEET_STAGE_REQUIRE_HUB", "1")
        .env_remove("FLEET_STAGE_E2E_KUBECONFIG")
        .status()
        .context("starting cargo")?;
    if !status.success() {
        bail!("a write did what it must not: see above");
    }
    let page = fs::read_to_string(root.join(PAGE));
    let page = page.with_context(|| format!("reading {PAGE}"))?;
    print(&page);
    Ok(())
}

#[allow(clippy::print_stdout)] // the table is the answer
fn print(page: &str) {
    println!("{page}");
}
