//! The bundles that laws are held against, and their documents as they stand in the files.

use std::path::{Path, PathBuf};

use serde_json::Value;

pub use crate::files::below;

/// The YAML files below folders of the repository.
pub fn yaml_files(folders: &[&str]) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = folders.iter().map(|folder| root.join(folder));
    folders.flat_map(|folder| below(folder, "yaml")).collect()
}

/// The documents of a bundle, as they were written.
pub fn documents(text: &str) -> Vec<Value> {
    text.split("\n---\n")
        .map(|document| serde_saphyr::from_str(document).unwrap_or_default())
        .filter(Value::is_object)
        .collect()
}
