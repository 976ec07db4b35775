//! Commands about the program, its findings, and what it needs.

pub mod completion;
pub mod doctor;
pub mod explain;
pub mod permissions;
pub mod schema;
pub mod version;
