//! The model of the controller, played on.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

#[path = "controller/fleets.rs"]
mod fleets;
#[path = "controller/played.rs"]
mod played;
