//! One file per command.

pub mod completion;
pub mod diagnose;
pub mod explain;
mod findings;
pub mod global;
mod names;
pub mod schema;
pub mod version;
