//! What is in an archive: the program, its license, its manual, its completions.

use std::path::Path;

use anyhow::Result;

use crate::archive::Entry;
use crate::notices;
use crate::product::Target;

/// The license of the program: its place in the repository and in an archive.
pub const LICENCE: &str = "LICENSE";
/// Folders of the repository whose files are in an archive as they are.
pub const FOLDERS: [&str; 2] = ["completions", "man"];

/// The files of an archive: `program` is the program for that platform, `notices` the licenses of
/// what is linked into it.
pub fn of(root: &Path, target: Target, program: &Path, notices: &str) -> Result<Vec<Entry>> {
    let mut entries = vec![
        Entry::new(target.binary(), true, crate::read(program)?),
        Entry::new(LICENCE, false, crate::read(&root.join(LICENCE))?),
        Entry::new(notices::FILE, false, notices),
    ];
    for folder in FOLDERS {
        for name in crate::files(&root.join(folder))? {
            let data = crate::read(&root.join(folder).join(&name))?;
            entries.push(Entry::new(format!("{folder}/{name}"), false, data));
        }
    }
    Ok(entries)
}
