//! How a hub is reached: kubeconfig, address, TLS, credentials, and the client made of them.

pub(in crate::hub) mod address;
pub(in crate::hub) mod client;
pub(in crate::hub) mod config;
pub(in crate::hub) mod credentials;
pub(in crate::hub) mod files;
pub(in crate::hub) mod kubeconfig;
pub(in crate::hub) mod tls;
