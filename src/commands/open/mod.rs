//! From arguments to an open reading: which hub, which object, what around it.

pub mod argument;
pub(in crate::commands) mod around;
mod attending;
pub mod eligible;
pub(in crate::commands) mod findings;
pub(in crate::commands) mod following;
pub mod global;
pub mod hubs;
pub(in crate::commands) mod live;
mod look;
pub(in crate::commands) mod manifests;
pub mod members;
pub(in crate::commands) mod names;
pub(in crate::commands) mod picking;
pub(in crate::commands) mod planning;
pub mod reading;
pub mod runs;
pub(in crate::commands) mod selection;
pub mod session;
mod target;
