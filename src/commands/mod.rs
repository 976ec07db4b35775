//! One file per command, by what commands do.

pub mod about;
pub mod gather;
pub mod operate;
pub mod output;
pub mod show;

use std::time::Duration;

use crate::kubefleet::duration;

/// Reads a flag's duration, as Go writes it; a bare number means seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let parsed = match text.parse::<u32>() {
        Ok(seconds) => return Ok(Duration::from_secs(seconds.into())),
        Err(_) => duration::parse(text),
    };
    parsed
        .and_then(|duration| Duration::try_from(duration).ok())
        .ok_or_else(|| "a duration looks like 90s or 2m30s".to_owned())
}
