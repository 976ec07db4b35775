//! Operates and explains KubeFleet staged update runs.
//!
//! The library never touches the process: it is given its arguments, streams and clock, and
//! returns an exit code. See `ARCHITECTURE.md` for the floors and the direction of the arrows.

pub mod bundle;
pub mod diagnose;
pub mod error;
pub mod exit;
pub mod inventory;
pub mod kubefleet;
pub mod render;
pub mod rollout;
pub mod ui;
