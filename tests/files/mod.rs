//! The files of the repository that tests look at.

use std::path::{Path, PathBuf};

use walkdir::WalkDir;

/// The files below a folder with this extension, in order.
pub fn below(folder: impl AsRef<Path>, extension: &str) -> Vec<PathBuf> {
    let entries = WalkDir::new(folder).sort_by_file_name().into_iter();
    entries
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect()
}
