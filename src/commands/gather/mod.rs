//! From arguments to an open reading: which hub, which object, what around it.

pub mod argument;
pub mod eligible;
pub(in crate::commands) mod findings;
pub(in crate::commands) mod followed_rollouts;
pub mod global;
pub mod hubs;
pub(in crate::commands) mod manifests;
mod many_targets;
pub mod members;
pub(in crate::commands) mod names;
pub(in crate::commands) mod pickers;
pub(in crate::commands) mod placement_objects;
pub(in crate::commands) mod plan_inputs;
mod question_signals;
pub mod reading;
pub mod runs;
pub(in crate::commands) mod selected_content;
pub(in crate::commands) mod selection;
pub mod session;
mod target;
