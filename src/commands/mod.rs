//! One file per command.

pub mod approvals;
mod around;
pub mod collect;
pub mod completion;
pub mod diagnose;
pub mod doctor;
pub mod explain;
mod findings;
mod following;
pub mod global;
pub mod history;
pub mod list;
pub mod members;
mod names;
pub mod output;
pub mod permissions;
pub mod plan;
mod planning;
pub mod reading;
mod runs;
pub mod schema;
pub mod snapshots;
pub mod status;
pub mod strategies;
pub mod version;
pub mod wait;

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
