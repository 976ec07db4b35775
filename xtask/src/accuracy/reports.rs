//! How long the reports of known situations are, and how soon they say what to do.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

use super::diagnoses::ORIGINS;
use super::lengths::{Length, lengths, median};

pub fn section(root: &Path) -> Result<String> {
    let folders = ORIGINS.map(|(folder, _)| folder);
    let all = lengths(&super::bundles(root, &folders)?);
    let mut verdicts: BTreeMap<_, Vec<Length>> = BTreeMap::new();
    for one in &all {
        verdicts.entry(one.verdict).or_default().push(*one);
    }
    let mut rows = row("all", &all);
    for (verdict, some) in &verdicts {
        rows.push_str(&row(verdict.as_str(), some));
    }
    let acting = all.iter().filter(|one| one.needs_a_person());
    let commands: Vec<_> = acting.filter_map(|one| one.command).collect();
    let soon = commands.iter().filter(|line| **line <= 10).count();
    let tenths = (soon * 1000)
        .checked_div(commands.len())
        .unwrap_or_default();
    Ok(format!(
        "## Length of reports\n\n\
         The lines that `diagnose` prints about the same situations on a terminal of 80 columns. Where somebody has to \
         act, the first command is on line 10 or before in {}.{} % of {} situations.\n\n\
         | verdict | situations | median lines | longest | median line of the first command |\n\
         |---|---|---|---|---|\n{rows}",
        tenths / 10,
        tenths % 10,
        commands.len(),
    ))
}

fn row(name: &str, lengths: &[Length]) -> String {
    let shown = |number: Option<usize>| number.map_or("-".to_owned(), |it| it.to_string());
    let lines = || lengths.iter().map(|one| one.lines);
    format!(
        "| {name} | {} | {} | {} | {} |\n",
        lengths.len(),
        shown(median(lines())),
        shown(lines().max()),
        shown(median(lengths.iter().filter_map(|one| one.command))),
    )
}
