//! Fixtures as they are written, and as whole bundles.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use test_fixtures::Whole;

/// Folders whose bundles may be bases.
const BASES: [&str; 2] = ["tests/bases", "tests/real"];
/// So many lines more make a base better than a fixture: whoever reads it opens one file less.
const STEP: usize = 6;

/// What is done with fixtures.
#[derive(clap::Subcommand)]
pub enum FixtureTask {
    /// Print the whole bundle that a fixture stands for
    Print {
        /// The fixture
        file: PathBuf,
    },
    /// Write bundles as their differences from the nearest base, or from a fixture beside them
    Fold {
        /// Bundles, which begin with their expectations
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Take this base
        #[arg(long)]
        base: Option<PathBuf>,
    },
}

/// Runs a task.
pub fn run(root: &Path, task: &FixtureTask) -> Result<()> {
    match task {
        FixtureTask::Print { file } => print(file),
        FixtureTask::Fold { files, base } => {
            for file in files {
                fold(root, file, base.as_deref())?;
            }
            Ok(())
        }
    }
}

/// The file with the whole bundle of a fixture.
pub fn whole(root: &Path, file: &Path) -> Result<PathBuf> {
    Ok(test_fixtures::written(file, &root.join("target/fixtures"))?)
}

#[allow(clippy::print_stdout)] // what was asked for
fn print(file: &Path) -> Result<()> {
    print!("{}", test_fixtures::read(&std::path::absolute(file)?)?);
    Ok(())
}

/// Writes a bundle as the shortest fixture.
fn fold(root: &Path, file: &Path, base: Option<&Path>) -> Result<()> {
    let file = std::path::absolute(file)?;
    let bundle = Whole::parse(&test_fixtures::read(&file)?)?;
    let mut best: Option<(usize, String, PathBuf)> = None;
    let bases = match base {
        Some(base) => vec![std::path::absolute(base)?],
        None => bases(root, &file)?,
    };
    for base in bases {
        let own = base.strip_prefix(root).unwrap_or(&base).to_owned();
        let shown = own.to_str().with_context(|| own.display().to_string())?;
        let text = test_fixtures::fold(&bundle, &*test_fixtures::whole(&base)?, shown);
        let Ok(text) = text else { continue };
        let step = if own.starts_with("tests/findings") {
            STEP
        } else {
            0
        };
        let lines = text.lines().count() + step;
        if best.as_ref().is_none_or(|(least, ..)| lines < *least) {
            best = Some((lines, text, own));
        }
    }
    let (_, text, base) = best.context("no base gives this bundle")?;
    std::fs::write(&file, &text).with_context(|| file.display().to_string())?;
    crate::report(&format!(
        "{}: {} lines, based on {}",
        file.display(),
        text.lines().count(),
        base.display()
    ));
    Ok(())
}

/// The bases that a fixture may have, and the fixtures beside it that are based on one of them.
fn bases(root: &Path, file: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let folders = BASES.iter().map(|folder| root.join(folder));
    for folder in folders.chain(file.parent().map(Path::to_owned)) {
        let entries = std::fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
        for entry in entries {
            let path = entry?.path();
            if path != file && path.extension().is_some_and(|ending| ending == "yaml") {
                let fixed = BASES.iter().any(|base| folder == root.join(base));
                let first = test_fixtures::base(&path)?;
                let is_fit = BASES.iter().any(|base| first.starts_with(base));
                found.extend((fixed || is_fit).then_some(path));
            }
        }
    }
    found.sort();
    Ok(found)
}
