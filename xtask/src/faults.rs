//! The table of what becomes of each write when it goes wrong: measured, not written.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The reference page that holds the table.
const PAGE: &str = "docs/reference/faults.md";

/// Measures it anew, writes the page, and prints it.
pub fn run(root: &Path) -> Result<(), String> {
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
        .map_err(|error| format!("starting cargo: {error}"))?;
    if !status.success() {
        return Err("a write did what it must not: see above".to_owned());
    }
    let page = fs::read_to_string(root.join(PAGE));
    let page = page.map_err(|error| format!("reading {PAGE}: {error}"))?;
    print(&page);
    Ok(())
}

#[allow(clippy::print_stdout)] // the table is the answer
fn print(page: &str) {
    println!("{page}");
}
