//! The bundles that laws are held against, and their documents as they stand in the files.

use serde_json::Value;

pub use crate::files::{below, whole, yaml_files};

/// The documents of a bundle, as they were written.
pub fn documents(text: &str) -> Vec<Value> {
    text.split("\n---\n")
        .map(|document| serde_saphyr::from_str(document).unwrap_or_default())
        .filter(Value::is_object)
        .collect()
}

/// A text in an object; empty where there is none.
pub fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}
