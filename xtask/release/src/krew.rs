//! The plugin's description for krew, and krew's way of installing it.

pub mod install;
pub mod manifest;
pub mod rules;
