//! Reports as text: functions of data, without streams.

pub mod escape;
pub mod github;
pub mod html;
pub mod invocation;
pub mod junit;
mod look;
pub mod markdown;
mod meter;
pub mod plain;
pub mod plan;
pub mod status;
pub mod style;
pub mod table;
pub mod text;
mod tree;
pub mod wrap;

pub use look::Look;

use serde::Serialize;

/// Data as JSON, with a newline at the end.
pub fn json<T: Serialize>(data: &T) -> anyhow::Result<String> {
    let mut text = serde_json::to_string_pretty(data)?;
    text.push('\n');
    Ok(text)
}

/// Data as YAML, with a newline at the end.
pub fn yaml<T: Serialize>(data: &T) -> anyhow::Result<String> {
    let mut text = serde_saphyr::to_string(data)?;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}
