//! Commands that read and say how things are.

pub mod approvals;
pub mod clusters;
pub mod collect;
pub mod controller_logs;
pub mod diagnose;
pub mod history;
pub mod list;
pub(in crate::commands) mod listing;
pub mod plan;
pub mod render;
pub(in crate::commands) mod rollout_wait;
pub mod saving;
pub mod snapshots;
pub mod status;
pub mod strategies;
pub mod trace;
pub mod wait;
pub(in crate::commands) mod watch_view;
