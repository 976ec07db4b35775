//! The command: makes what was asked for, and says what it wrote.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::archive::Compression;
use crate::product::Target;
use crate::{checksums, compile, debian, homebrew, krew, make, notices};
use clap::Args;

/// What to make.
#[derive(Debug, Args)]
pub struct ReleaseArgs {
    /// A platform, by Rust's name; this machine's without
    #[arg(long = "target", value_name = "TRIPLE")]
    targets: Vec<String>,
    /// A program that is built already
    #[arg(long = "binary", value_name = "TRIPLE=PATH")]
    binaries: Vec<String>,
    /// Where everything is written
    #[arg(long, value_name = "FOLDER", default_value = "dist")]
    out: PathBuf,
    /// Make Debian packages too, with cargo-deb
    #[arg(long)]
    deb: bool,
    /// Build nothing: describe the archives that are there for krew and Homebrew
    #[arg(long, conflicts_with_all = ["targets", "binaries", "deb"])]
    manifest: bool,
    /// Describe also when platforms are missing, to try it out
    #[arg(long, requires = "manifest")]
    incomplete: bool,
}

/// Makes it.
pub fn run(root: &Path, args: &ReleaseArgs) -> Result<()> {
    let version = &compile::version(root)?;
    let out = root.join(&args.out);
    std::fs::create_dir_all(&out).with_context(|| out.display().to_string())?;
    if args.manifest {
        let made = make::describe(&out, version, args.incomplete)?;
        make::check(root, &made.manifest, &out, version)?;
        write(&out.join(krew::manifest::FILE), made.manifest.as_bytes())?;
        write(&out.join(homebrew::FILE), made.formula.as_bytes())?;
    } else {
        let time = compile::time(root)?;
        for (target, program) in platforms(root, args)? {
            let program = match program {
                Some(program) => program,
                None => compile::compile(root, target, time)?,
            };
            let made = make::package(root, target, &program, time, Compression::best())?;
            write(&out.join(target.archive(version)), &made.archive)?;
            write(&out.join(target.sbom(version)), made.sbom.as_bytes())?;
            if args.deb {
                package_for_debian(root, &out, target, &made.notices, time)?;
            }
        }
    }
    write(
        &out.join(checksums::FILE),
        checksums::list(&out)?.as_bytes(),
    )
}

/// The platforms, and their programs where they are built already.
fn platforms(root: &Path, args: &ReleaseArgs) -> Result<Vec<(Target, Option<PathBuf>)>> {
    let mut found = Vec::new();
    for binary in &args.binaries {
        let (triple, path) = binary
            .split_once('=')
            .with_context(|| format!("{binary} is not TRIPLE=PATH"))?;
        found.push((Target::find(triple)?, Some(PathBuf::from(path))));
    }
    for triple in &args.targets {
        found.push((Target::find(triple)?, None));
    }
    if found.is_empty() {
        found.push((Target::find(&compile::host(root)?)?, None));
    }
    if args.deb
        && found
            .iter()
            .any(|(target, path)| target.os != "linux" || path.is_some())
    {
        bail!("a Debian package is made of a program for Linux that is built here");
    }
    Ok(found)
}

/// The table in Cargo.toml says what is in it.
fn package_for_debian(
    root: &Path,
    out: &Path,
    target: Target,
    others: &str,
    time: u64,
) -> Result<()> {
    let folder = root.join(debian::NOTICES);
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    write(&folder.join(notices::FILE), others.as_bytes())?;
    let status = Command::new(compile::cargo())
        .args(["deb", "--no-build", "--no-strip", "--locked"])
        .args(["--profile", compile::PROFILE])
        .args(["--target", target.triple, "--output"])
        .arg(out)
        .current_dir(root)
        .env("SOURCE_DATE_EPOCH", time.to_string())
        .status()
        .context("cargo")?;
    if !status.success() {
        bail!("cargo deb failed; `cargo install --locked cargo-deb` installs it");
    }
    Ok(())
}

#[allow(clippy::print_stderr)] // a developer's tool has no other place to say it
fn write(path: &Path, data: &[u8]) -> Result<()> {
    std::fs::write(path, data).with_context(|| path.display().to_string())?;
    eprintln!("wrote {}", path.display());
    Ok(())
}
