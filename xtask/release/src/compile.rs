//! The program for a platform: the same bytes wherever the repository lies.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::product::{NAME, Target};

/// The time that everything in a release has: `SOURCE_DATE_EPOCH`, or that of the last commit.
pub fn time(root: &Path) -> Result<u64> {
    let text = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => text,
        Err(_) => crate::output(root, "git", &["log", "-1", "--format=%ct"])
            .context("without git, set SOURCE_DATE_EPOCH")?,
    };
    let seconds = text.trim().parse();
    seconds.with_context(|| format!("{:?} is no number of seconds", text.trim()))
}

/// The platform of this machine, by Rust's name.
pub fn host(root: &Path) -> Result<String> {
    let text = crate::output(root, "rustc", &["-vV"])?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host
        .context("rustc does not say what its host is")?
        .to_owned())
}

/// The profile in Cargo.toml of what ships, after which cargo names its folder.
pub const PROFILE: &str = "dist";

/// Builds the program and gives its path.
pub fn compile(root: &Path, target: Target, time: u64) -> Result<PathBuf> {
    let places = Places::find(root)?;
    let zig = target.triple != host(root)?
        && crate::output(root, &cargo(), &["zigbuild", "--version"]).is_ok();
    let status = Command::new(cargo())
        .arg(if zig { "zigbuild" } else { "build" })
        .args([
            "--profile",
            PROFILE,
            "--locked",
            "--package",
            NAME,
            "--bin",
            NAME,
        ])
        .args(["--target", target.triple])
        .current_dir(root)
        .env("CARGO_ENCODED_RUSTFLAGS", places.flags(target).join("\x1f"))
        .env("CARGO_INCREMENTAL", "0")
        .env("SOURCE_DATE_EPOCH", time.to_string())
        .status()
        .context("cargo")?;
    if !status.success() {
        bail!("the build for {} failed", target.triple);
    }
    let program = places
        .target
        .join(target.triple)
        .join(PROFILE)
        .join(target.binary());
    places.forgotten_by(&crate::read(&program)?)?;
    Ok(program)
}

/// The program's version.
pub fn version(root: &Path) -> Result<String> {
    let workspace = workspace(root)?;
    let mut packages = workspace["packages"].as_array().into_iter().flatten();
    let own = packages.find(|package| package["name"] == NAME);
    let version = own.and_then(|own| own["version"].as_str());
    let version = version.context("cargo metadata does not know the program")?;
    Ok(version.to_owned())
}

/// What cargo says of the workspace.
fn workspace(root: &Path) -> Result<serde_json::Value> {
    let arguments = ["metadata", "--format-version", "1", "--no-deps", "--locked"];
    let text = crate::output(root, &cargo(), &arguments)?;
    serde_json::from_str(&text).context("cargo metadata")
}

/// The cargo that runs this, or the one on the `PATH`.
pub(crate) fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

/// Folders of this machine that a compiler would write into the program.
struct Places {
    root: PathBuf,
    home: PathBuf,
    sysroot: PathBuf,
    target: PathBuf,
}

impl Places {
    fn find(root: &Path) -> Result<Self> {
        let workspace = workspace(root)?;
        let target = workspace["target_directory"].as_str();
        let target = target.context("cargo metadata does not say where it builds")?;
        let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
        Ok(Self {
            root: root.to_owned(),
            home: home.context("there is no home directory: set CARGO_HOME")?,
            sysroot: crate::output(root, "rustc", &["--print", "sysroot"])?
                .trim()
                .into(),
            target: target.into(),
        })
    }

    /// The compiler's flags: no folder of this machine, and on Windows nothing to install beside it.
    fn flags(&self, target: Target) -> Vec<String> {
        // The last that fits counts, and the target folder may lie in the root.
        let mut flags: Vec<_> = [
            (&self.sysroot, "/rust"),
            (&self.home, "/cargo"),
            (&self.root, "/source"),
            (&self.target, "/target"),
        ]
        .into_iter()
        .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()))
        .collect();
        if target.triple.ends_with("-msvc") {
            flags.push("-Ctarget-feature=+crt-static".to_owned());
            // No time of the build in the program's header.
            flags.push("-Clink-arg=/Brepro".to_owned());
        }
        flags
    }

    /// An error when the program has one of the folders in it.
    fn forgotten_by(&self, program: &[u8]) -> Result<()> {
        for folder in [&self.root, &self.home, &self.sysroot, &self.target] {
            let text = folder.to_string_lossy();
            let remembered = !text.is_empty()
                && program
                    .windows(text.len())
                    .any(|window| window == text.as_bytes());
            if remembered {
                bail!("the program has the folder {text} in it");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        Places {
            root: "/home/me/work".into(),
            home: "/home/me/.cargo".into(),
            sysroot: "/opt/rust".into(),
            target: "/home/me/work/target".into(),
        }
    }

    #[test]
    fn a_program_that_remembers_where_it_was_built_is_refused() {
        let places = places();
        assert!(places.forgotten_by(b"\0/source/src/main.rs\0").is_ok());
        let error = places.forgotten_by(b"\0/home/me/.cargo/registry\0");
        assert!(error.unwrap_err().to_string().contains("/home/me/.cargo"));
    }

    #[test]
    fn the_folder_inside_is_named_after_the_one_around_it() {
        let flags = places().flags(Target::find("x86_64-unknown-linux-gnu").unwrap());
        let at = |end: &str| flags.iter().position(|flag| flag.ends_with(end));
        assert!(at("work=/source") < at("target=/target"), "{flags:?}");
    }
}
