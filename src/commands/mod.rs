//! One file per command.

pub mod approvals;
pub mod approve;
mod around;
mod awaiting;
pub mod collect;
pub mod completion;
pub mod controller_logs;
pub mod delete;
pub mod diagnose;
pub mod doctor;
pub mod explain;
mod findings;
mod following;
pub mod global;
pub mod history;
pub mod init;
mod launching;
pub mod list;
pub mod members;
mod names;
pub mod output;
pub mod permissions;
mod picking;
pub mod plan;
mod planning;
pub mod reading;
mod refusal;
pub mod resume;
pub mod rollback;
pub mod run;
mod runs;
pub mod saving;
pub mod schema;
pub mod snapshots;
pub mod status;
mod steering;
pub mod stop;
pub mod strategies;
pub mod version;
pub mod wait;
mod writing;

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
