//! Everything that computes and waits for nobody, as one program: what several parts need is read and
//! computed once. `cargo test --test suite findings::` runs one part.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test may fail

mod banned;
mod calls;
mod files;
#[path = "laws/fixtures.rs"]
mod fixtures;
#[path = "laws/situations.rs"]
mod situations;

mod bundle;
mod cli;
mod conform;
mod controller;
mod docs;
mod findings;
mod floors;
mod laws;
mod lists;
mod manifests;
mod members;
mod outputs;
mod packages;
mod plan;
mod prompts;
mod render;
mod settings;
