//! What speaks against a rollout, for a plan before it and a diagnosis after it: each refusal is
//! written once.

pub mod scheduling;
pub mod steps;

use crate::words::{distinct, enumerate};

/// What clusters have of others: `snapshot 3 (from web-2)`.
pub fn put_there<I: Ord + ToString, W: Ord + AsRef<str>>(
    indexes: impl IntoIterator<Item = I>,
    writers: impl IntoIterator<Item = W>,
) -> String {
    let held = match distinct(indexes).as_slice() {
        [one] => format!("snapshot {}", one.to_string()),
        several => format!("snapshots {}", enumerate(several.iter().map(I::to_string))),
    };
    let writers = distinct(writers);
    if writers.is_empty() {
        held
    } else {
        format!("{held} (from {})", enumerate(writers))
    }
}
