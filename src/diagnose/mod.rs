//! Why a rollout is where it is.

pub mod report;
