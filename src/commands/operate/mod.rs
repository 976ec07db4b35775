//! Commands that write: shown, confirmed, sent once, followed.

pub mod approve;
mod changed_objects;
pub mod delete;
pub mod init;
pub(in crate::commands) mod launching;
pub(in crate::commands) mod operation;
pub(in crate::commands) mod refusal;
pub mod resume;
pub mod retry;
pub mod rollback;
pub mod run;
mod safeguards;
pub(in crate::commands) mod steering;
pub mod stop;
pub(in crate::commands) mod writing;
