//! What clusters get, against what KubeFleet wrote and what its own code makes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

#[path = "manifests/command.rs"]
mod command;
#[path = "manifests/kubefleet.rs"]
mod kubefleet;
#[path = "manifests/works.rs"]
mod works;
