//! End to end: the real binary against a real API server, with the stand-in for KubeFleet's
//! controllers, or against the hub of `FLEET_STAGE_E2E_KUBECONFIG` with KubeFleet's own agents.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr
)] // a test may fail

// Tests start in the order of their names, and this is the longest.
mod advice;
mod faults;
#[path = "../plan/gates.rs"]
mod gates;
mod guides;
mod harness;
mod hubs;
mod life;
mod lists;
mod look;
mod members;
mod plan;
#[path = "../outputs/published.rs"]
mod published;
mod rights;
mod scene;
mod status;
mod versions;
mod write;
