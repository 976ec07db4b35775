//! The object model as KubeFleet serves it.

pub mod messages;
