//! One file per command.

pub mod completion;
pub mod diagnose;
pub mod explain;
pub mod global;
pub mod schema;
mod target;
pub mod version;
