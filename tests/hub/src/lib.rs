//! A hub for tests: a real etcd and kube-apiserver on loopback, the CRDs, a fault proxy, and a
//! stand-in for KubeFleet's controllers. See `README.md`.

mod certificates;
mod components;
mod crds;
pub mod fleet;
mod objects;
pub mod playground;
pub mod proxy;
mod ran;
pub mod screen;
mod servers;
pub mod standin;
mod store;
#[cfg(unix)]
pub mod terminal;
pub mod waiting;

pub use components::{CACHE, Components, REQUIRE, kubectl};
pub use crds::{Crds, FOLDER, VERSION, install, published_folder};
pub use objects::path_of;
pub use proxy::{Fault, FaultProxy, Rule, Seen};
pub use ran::{Ran, Running, or_skip};
pub use servers::{ADMIN, Options, TestHub, USERS, client};

/// Why there is no hub.
#[derive(Debug, Clone)]
pub enum Error {
    /// Something that it needs is not installed: a test is skipped.
    Missing(String),
    /// It should work, and does not: a test fails.
    Failed(String),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing(why) | Self::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Error {}

/// Says what was being done when something failed.
pub(crate) fn context<E: std::fmt::Display>(doing: String) -> impl FnOnce(E) -> Error {
    move |error| Error::Failed(format!("{doing}: {error}"))
}
