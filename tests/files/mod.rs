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

/// The bundles below folders of the repository, in order: files that hold the whole of each.
pub fn yaml_files(folders: &[&str]) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = folders.iter().flat_map(|it| below(root.join(it), "yaml"));
    files.map(whole).collect()
}

/// The file with the whole bundle of a fixture.
pub fn whole(fixture: impl AsRef<Path>) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixtures");
    test_fixtures::written(fixture.as_ref(), &folder).unwrap()
}
