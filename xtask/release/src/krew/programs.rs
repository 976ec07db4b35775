//! krew's own programs: what they refuse, krew-index refuses too. Go builds them when they are first
//! used, in the versions that the test hub's module locks.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use super::manifest;
use crate::product::Target;

/// Checks a manifest as krew-index does, but for its archives.
pub fn validate(root: &Path, manifest: &str) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join(manifest::FILE);
    std::fs::write(&path, manifest)?;
    let mut command = tool(root, "validate-krew-manifest");
    run(command.args(["-skip-install", "-manifest"]).arg(path))
}

/// Installs the archive of a platform into a folder, as krew does there.
pub fn install(
    root: &Path,
    manifest: &str,
    target: Target,
    archive: &Path,
    folder: &Path,
) -> Result<()> {
    let path = folder.join(manifest::FILE);
    std::fs::write(&path, manifest)?;
    let mut command = tool(root, "krew");
    command
        .envs([("KREW_OS", target.os), ("KREW_ARCH", target.arch)])
        .env("KREW_ROOT", folder);
    run(command
        .args(["install", "--manifest"])
        .arg(path)
        .arg("--archive")
        .arg(archive))
}

fn tool(root: &Path, name: &str) -> Command {
    let mut command = Command::new("go");
    command
        .current_dir(root.join("tests").join("hub"))
        .args(["tool", name])
        .stdin(Stdio::null());
    command
}

fn run(command: &mut Command) -> Result<()> {
    let output = command
        .output()
        .context("go, which builds krew, cannot be started")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("krew refuses it: {}", said.trim());
    }
    Ok(())
}
