//! The plugin at home: under both names with a real kubectl, with TAB in real shells, in manuals and
//! on terminals. All tests share one hub with the playground's rollouts.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr
)] // a test may fail

mod bash;
mod examples;
mod fish;
mod kubectl;
mod looks;
mod man;
mod names;
mod pasted;
mod setting;
mod slow;
mod typing;
mod zsh;
