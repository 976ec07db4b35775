//! Reports as text: functions of data, without streams.

pub mod escape;
pub mod github;
pub mod html;
pub mod invocation;
pub mod junit;
mod look;
pub mod markdown;
mod meter;
pub mod plain;
pub mod plan;
pub mod status;
pub mod style;
pub mod table;
pub mod text;
mod tone;
mod tree;
pub mod wrap;

pub use crate::words::{json, yaml};
pub use look::RenderLook;
