//! One file per command.

pub mod completion;
pub mod diagnose;
pub mod explain;
mod findings;
pub mod global;
pub mod schema;
mod target;
pub mod version;
