//! What needs neither a hub nor objects: how big the program is, and how soon it is there.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::{Program, Table};

/// How often each runs, in turns.
const ROUNDS: usize = 41;
/// Aims: the size, the time, and the share of the other program's.
const MEGABYTES: f64 = 12.0;
const MILLISECONDS: f64 = 10.0;
const SHARE: f64 = 0.2;

/// Measures, and gives back the table. Where another program is named, its `--help` is the measure.
#[allow(clippy::cast_precision_loss)] // a size far below 2^52
pub fn run(binary: &Path, folder: &Path, beside: Option<&Path>) -> Result<String> {
    // The name under which kubectl asks for candidates.
    let completing = folder.join("kubectl_complete-fleet_stage");
    std::fs::copy(binary, &completing).with_context(|| completing.display().to_string())?;
    let nowhere = ["approve", "--kubeconfig", "/nowhere", ""];
    let asked = [
        ("`--help`", binary, &["--help"][..]),
        ("`version`", binary, &["version"]),
        ("`explain FS401`", binary, &["explain", "FS401"]),
        ("TAB after `expl`", &completing, &["expl"]),
        ("TAB after `approve`, without a hub", &completing, &nowhere),
    ];
    let mut programs: Vec<_> = asked
        .iter()
        .map(|(_, program, words)| Program::new(program, words.iter().map(AsRef::as_ref)))
        .collect();
    programs.extend(beside.map(|other| Program::new(other, ["--help".as_ref()])));
    let times = super::in_turns(&programs, ROUNDS, Duration::ZERO)?;
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let other = beside.and_then(|_| times.last()).copied();
    let mut table = Table::new(&["", "measured", "aim"]);
    let size = std::fs::metadata(binary).map_or(0, |data| data.len()) as f64 / 1e6;
    table.row(&[
        "the stripped program".to_owned(),
        format!("{size:.1} MB"),
        format!("at most {MEGABYTES} MB"),
    ]);
    for ((what, ..), time) in asked.iter().zip(&times) {
        let mut measured = format!("{:.1} ms", milliseconds(*time));
        let mut aim = format!("at most {MILLISECONDS} ms");
        if let Some(other) = other {
            let share = time.as_secs_f64() / other.as_secs_f64();
            measured = format!("{measured}, ratio {share:.2}");
            aim = format!("{aim}, ratio at most {SHARE}");
        }
        table.row(&[(*what).to_owned(), measured, aim]);
    }
    if let (Some(program), Some(time)) = (beside.and_then(Path::file_name), other) {
        table.row(&[
            format!("`{} --help`", program.to_string_lossy()),
            format!("{:.1} ms", milliseconds(time)),
            String::new(),
        ]);
    }
    Ok(table.text)
}
