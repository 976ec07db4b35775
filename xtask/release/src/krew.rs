//! The plugin's description for krew, and krew itself, which says what it makes of it.

pub mod manifest;
pub mod programs;
