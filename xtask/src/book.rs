//! The table of contents of the documentation, for mdBook.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

/// The parts of the site: a heading, and a folder with its pages or the pages themselves.
const PARTS: &[(&str, &[&str])] = &[
    ("Get started", &["install.md", "tour.md"]),
    ("Tasks", &["tasks"]),
    ("Pipelines", &["ci"]),
    ("Integrations", &["integrations"]),
    ("Reference", &["reference"]),
    (
        "Behind it",
        &[
            "how-it-works.md",
            "accuracy.md",
            "decisions",
            "benchmarks.md",
        ],
    ),
];

/// The page that has those of the findings below it.
const FINDINGS: &str = "reference/findings.md";

/// `docs/SUMMARY.md`: every page once, in the order in which the pages name each other.
pub fn summary(docs: &Path) -> Result<String> {
    let mut left = pages(docs, "")?;
    left.retain(|page| page != "SUMMARY.md");
    let mut text = String::from("# Summary\n\n");
    let mut list = |page: &str, depth: usize, text: &mut String| -> Result<()> {
        if left.remove(page) {
            let indent = "  ".repeat(depth);
            let dash = if depth == 0 && page == "README.md" {
                ""
            } else {
                "- "
            };
            let _ = writeln!(text, "{indent}{dash}[{}]({page})", title(&docs.join(page))?);
        }
        Ok(())
    };
    list("README.md", 0, &mut text)?;
    for (heading, members) in PARTS {
        let _ = write!(text, "\n# {heading}\n\n");
        for member in *members {
            if docs.join(member).is_file() {
                list(member, 0, &mut text)?;
                continue;
            }
            let index = format!("{member}/README.md");
            let inside = docs.join(&index).is_file();
            list(&index, 0, &mut text)?;
            for page in in_order(docs, member)? {
                list(&page, usize::from(inside), &mut text)?;
                if page == FINDINGS {
                    for finding in pages(docs, "findings")? {
                        list(&finding, 1, &mut text)?;
                    }
                }
            }
        }
    }
    if left.is_empty() {
        return Ok(text);
    }
    bail!("no part of the site has these pages: {left:?}")
}

/// The list of the decisions.
pub fn decisions(docs: &Path) -> Result<String> {
    let mut text = String::from(
        "# Decisions\n\nWhat was chosen, what was measured, what was rejected and why.\n\n",
    );
    for page in pages(docs, "decisions")? {
        let Some(name) = page
            .strip_prefix("decisions/")
            .filter(|name| *name != "README.md")
        else {
            continue;
        };
        let _ = writeln!(text, "- [{}]({name})", title(&docs.join(&page))?);
    }
    Ok(text)
}

/// The pages of a folder: first those that its own page or the first page of all name, as they
/// name them.
fn in_order(docs: &Path, folder: &str) -> Result<Vec<String>> {
    let read = |path: PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    let own = read(docs.join(folder).join("README.md"));
    let first = read(docs.join("README.md"));
    let mut pages: Vec<_> = pages(docs, folder)?.into_iter().collect();
    pages.sort_by_cached_key(|page| {
        let name = page.strip_prefix(&format!("{folder}/")).unwrap_or(page);
        let of = |text: &str, name: &str| text.find(&format!("]({name}")).unwrap_or(usize::MAX);
        (of(&own, name), of(&first, page))
    });
    Ok(pages)
}

/// Every page in a folder and below it, by its path from `docs`.
fn pages(docs: &Path, folder: &str) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let mut folders = vec![docs.join(folder)];
    while let Some(folder) = folders.pop() {
        let failed = || folder.display().to_string();
        for entry in std::fs::read_dir(&folder).with_context(failed)? {
            let path = entry.with_context(failed)?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "md") {
                let path = path.strip_prefix(docs)?;
                found.insert(path.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    Ok(found)
}

fn title(page: &Path) -> Result<String> {
    let text = std::fs::read_to_string(page).with_context(|| page.display().to_string())?;
    text.lines()
        .find_map(|line| line.strip_prefix("# "))
        .map(|title| title.trim().to_owned())
        .with_context(|| format!("{} has no title", page.display()))
}
