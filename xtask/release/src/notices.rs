//! The licenses of what is linked into the program, which want to be passed on with it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Result;

use crate::components::Component;
use crate::product::NAME;

/// The name of the file in an archive.
pub const FILE: &str = "THIRD-PARTY-LICENSES";
/// How the names of license files begin, in capital letters.
const BEGINNINGS: [&str; 6] = [
    "LICENSE",
    "LICENCE",
    "COPYING",
    "COPYRIGHT",
    "NOTICE",
    "UNLICENSE",
];

/// Every licence text once, under the packages that come with it.
pub fn of(components: &[Component]) -> Result<String> {
    let linked: Vec<_> = components
        .iter()
        .filter(|one| !one.only_builds && one.name != NAME)
        .collect();
    // The texts in the order of the first package that has them.
    let mut texts: Vec<String> = Vec::new();
    let mut owners: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let mut out = format!("{NAME} is linked from these packages.\n\n");
    for one in linked {
        let name = format!("{} {}", one.name, one.version);
        let licence = one.licence.as_deref().unwrap_or("see its licence below");
        let _ = writeln!(out, "{name}: {licence}");
        for text in licences(one)? {
            let at = texts.iter().position(|known| *known == text);
            let at = at.unwrap_or_else(|| {
                texts.push(text);
                texts.len() - 1
            });
            let owners = owners.entry(at).or_default();
            if !owners.contains(&name) {
                owners.push(name.clone());
            }
        }
    }
    for (at, text) in texts.iter().enumerate() {
        let line = "=".repeat(80);
        let owners = owners.get(&at).map(|names| names.join(", "));
        let _ = write!(out, "\n{line}\n{}\n\n{text}\n", owners.unwrap_or_default());
    }
    Ok(out)
}

/// The licence files that a package comes with.
fn licences(one: &Component) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for name in crate::files(&one.folder)? {
        let path = one.folder.join(&name);
        let capital = name.to_uppercase();
        if path.is_file() && BEGINNINGS.iter().any(|begin| capital.starts_with(begin)) {
            let text = crate::read(&path)?;
            let text = String::from_utf8_lossy(&text).replace("\r\n", "\n");
            texts.push(text.trim_end().trim_start_matches('\n').to_owned());
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::tests::small;

    #[test]
    fn a_text_is_there_once_and_names_who_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut components = small();
        for (one, text) in components
            .iter_mut()
            .zip(["ours", "be kind\r\n", "be kind", "unused"])
        {
            one.folder = folder.path().join(&one.name);
            one.only_builds = text == "unused";
            std::fs::create_dir(&one.folder).unwrap();
            std::fs::write(one.folder.join("LICENSE-MIT"), text).unwrap();
            std::fs::write(one.folder.join("README"), "no licence").unwrap();
        }
        let text = of(&components).unwrap();
        assert_eq!(text.matches("be kind").count(), 1, "{text}");
        assert!(
            text.contains("\nlibrary 1.0.0, parser 1.0.0\n\nbe kind\n"),
            "{text}"
        );
        assert!(
            text.contains("\nlibrary 1.0.0: MIT OR Apache-2.0\n"),
            "{text}"
        );
        for absent in ["ours", "unused", "no licence"] {
            assert!(!text.contains(absent), "{absent}: {text}");
        }
    }
}
