//! The plugin at home: under both names with a real kubectl, with TAB in real shells, in manuals and
//! on terminals. All tests share one hub with the playground's rollouts.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr
)] // a test may fail

// Tests start in the order of their names, and these are the longest.
mod as_pasted;
mod bash;
mod examples;
mod fish;
mod kubectl;
mod looks;
mod man;
mod names;
mod setting;
mod slow;
mod typing;
mod zsh;
