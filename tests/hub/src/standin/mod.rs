//! A small stand-in for KubeFleet's controllers and member agents.
//!
//! It does to the objects on a hub what KubeFleet does, as far as somebody who reads them can
//! tell: the same texts, reasons, conditions, generations, labels, annotations and names, in the
//! same order. It is not KubeFleet: it places the usual kinds of content, knows no overrides,
//! envelopes, taints, drift or diff reports, and member clusters that exist on the hub alone.
//!
//! On a hub whose runs know no `spec.state: Run`, it behaves as KubeFleet 0.1 does: every run is
//! executed at once, and the controller of placements makes the resource snapshots. The texts stay
//! those of KubeFleet's main branch, but for the one that tells an old controller.
//!
//! Each look at a run is a pure function of the objects in memory ([`initialize`], [`validate`],
//! [`execute`], [`stop`]); what it decides on is sent by [`runs`]. How fast everything goes is
//! in [`Timing`], and what goes wrong on which cluster in [`Trouble`].

pub(crate) mod agent;
mod api;
pub(crate) mod bindings;
mod clusters;
pub(crate) mod conditions;
pub(crate) mod content;
mod control;
mod deletion;
mod delivery;
mod execute;
mod gates;
mod halt;
pub(crate) mod initialize;
mod inputs;
mod kinds;
mod look;
pub(crate) mod marks;
pub(crate) mod members;
pub(crate) mod names;
mod object;
mod paper;
pub(crate) mod placements;
mod placing;
#[cfg(test)]
mod recorded;
mod resolve;
mod runs;
pub(crate) mod scheduler;
mod selector;
pub(crate) mod snapshots;
mod stages;
pub(crate) mod status;
mod stop;
mod timing;
mod trouble;
pub(crate) mod validate;
pub(crate) mod world;

use std::sync::Arc;
use std::time::Duration;

use futures::future;
use kube::Client;
use tokio::task::JoinSet;

pub use api::Served;
pub use kinds::{Kind, Scope};
pub use paper::{Paper, PaperLook};
pub use timing::{SnapshotDelay, Timing};
pub use trouble::{TROUBLE, Trouble};

// What the fleet's objects are made with, too.
pub(crate) use api::{Api, Failure};
pub(crate) use conditions::{Condition, Conditions};
pub(crate) use object::Object;

use control::{Context, Shared};

/// The stand-in at work. It stops when this is dropped.
pub struct StandIn {
    api: Api,
    shared: Arc<Shared>,
    tasks: JoinSet<()>,
}

impl StandIn {
    /// Starts the controllers and member agents on a hub whose CRDs are installed. Must be called
    /// within a Tokio runtime.
    pub fn start(client: Client, timing: Timing) -> Self {
        let api = Api::new(client, api::HUB_AGENT);
        let shared = Arc::new(Shared::default());
        let mut tasks = JoinSet::new();
        tasks.spawn(run(Context {
            api: api.clone(),
            timing,
            shared: Arc::clone(&shared),
            changes: api.changes(),
        }));
        Self { api, shared, tasks }
    }

    /// From now on this is wrong with a member cluster. The annotation of the cluster no longer
    /// counts.
    pub fn trouble(&self, cluster: &str, trouble: Trouble) {
        self.shared.troubles().insert(cluster.to_owned(), trouble);
        self.api.wake();
    }

    /// Nothing is wrong with a member cluster any more, unless its annotation says so.
    pub fn recover(&self, cluster: &str) {
        self.shared.troubles().remove(cluster);
        self.api.wake();
    }

    /// The member agent of a cluster is gone, and has been for this long: its last heartbeat is
    /// put back.
    pub async fn silence(&self, cluster: &str, since: Duration) -> Result<(), String> {
        self.trouble(cluster, Trouble::Gone);
        // A heartbeat that is just being written may come in between.
        for _ in 0..5 {
            match members::silence(&self.api, cluster, since).await {
                Err(api::Failure::Conflict) => {}
                Err(failure) => return Err(format!("cannot silence {cluster}: {failure:?}")),
                Ok(()) => return Ok(()),
            }
        }
        Err(format!("cannot silence {cluster}: it keeps being written"))
    }

    /// The last errors. Conflicts with other writers are none.
    pub fn errors(&self) -> Vec<String> {
        self.shared.errors().clone()
    }

    /// Stops everything and waits until nothing is written any more.
    pub async fn stop(mut self) {
        self.tasks.shutdown().await;
    }
}

async fn run(mut context: Context) {
    context.api.discover().await;
    let api = &context.api;
    // Dropped with this task, all of them end.
    let mut tasks = JoinSet::new();
    let loaded = future::join_all(Kind::ALL.map(|kind| api.load(kind))).await;
    for (kind, version) in Kind::ALL.into_iter().zip(loaded) {
        tasks.spawn(api.clone().follow(kind, version.unwrap_or_default()));
    }
    tasks.spawn(members::control(context.clone()));
    tasks.spawn(placing::control(context.clone()));
    tasks.spawn(delivery::control(context.clone()));
    tasks.spawn(runs::control(context));
    while tasks.join_next().await.is_some() {}
}
