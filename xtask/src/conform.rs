//! Holds the model of the update run controller against recordings of the real one.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;

#[path = "../../tests/conform/recording.rs"]
mod recording;

/// Where the recordings of the repository are.
const RECORDINGS: &str = "tests/real/transitions";

/// Says of each recording how many writes are foretold, and of each other write why not.
pub fn run(files: &[PathBuf]) -> Result<()> {
    crate::report(&table(files)?);
    Ok(())
}

/// The section of the page about accuracy.
pub fn section(root: &Path) -> Result<String> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(root.join(RECORDINGS))? {
        files.push(entry?.path());
    }
    files.sort();
    Ok(format!(
        "## What comes next\n\n\
         The program has a model of KubeFleet's update run controller. It is compared with recordings of hubs on which \
         KubeFleet's own agents ran: from the objects as they were before each write to the conditions of a run, the \
         model computes this write. A write is foretold if exactly the same conditions change, with the same status, \
         reason, and observedGeneration. After each write to a run that waits for nobody, the \
         end of a stage is a range, as `status` prints it; it is counted if the end came. `cargo xtask conform` \
         compares other recordings.\n\n{}",
        table(&files)?
    ))
}

fn table(files: &[PathBuf]) -> Result<String> {
    let mut rows = "| recording | writes | foretold | | of these, with the same messages | by the time foretold | ends of stages foretold | within the range |\n\
                    |---|---|---|---|---|---|---|---|\n"
        .to_owned();
    let mut misses = String::new();
    for file in files {
        let score = recording::conform(file)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let name = name.trim_end_matches(".jsonl.gz");
        let share = score.foretold * 10_000 / score.writes.max(1);
        let _ = writeln!(
            rows,
            "| {name} | {} | {} | {}.{:02} % | {} | {} | {} | {} |",
            score.writes,
            score.foretold,
            share / 100,
            share % 100,
            score.same_texts,
            score.in_time,
            score.ends.0,
            score.ends.1
        );
        for miss in score.misses {
            let at = miss.at;
            let _ = writeln!(misses, "- {name}, {at}, {}: {}", miss.run, miss.reason);
        }
    }
    if misses.is_empty() {
        return Ok(rows);
    }
    Ok(format!("{rows}\nNot foretold:\n\n{misses}"))
}
