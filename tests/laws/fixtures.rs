//! The bundles that laws are held against, and their documents as they stand in the files.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// The YAML files below folders of the repository, in order.
pub fn yaml_files(folders: &[&str]) -> Vec<PathBuf> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "yaml") {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in folders {
        walk(&root.join(folder), &mut found);
    }
    found.sort();
    found
}

/// The documents of a bundle, as they were written.
pub fn documents(text: &str) -> Vec<Value> {
    text.split("\n---\n")
        .map(|document| serde_saphyr::from_str(document).unwrap_or_default())
        .filter(Value::is_object)
        .collect()
}
