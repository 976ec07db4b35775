//! What clusters get, against the Works that KubeFleet wrote.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

mod files;
#[path = "manifests/works.rs"]
mod works;
