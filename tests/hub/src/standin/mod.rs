//! A small stand-in for KubeFleet's controllers and member agents.
//!
//! It does to the objects on a hub what KubeFleet does, as far as somebody who reads them can
//! tell: the same texts, reasons, conditions, generations, labels, annotations and names, in the
//! same order. It is not KubeFleet: it places the usual kinds of content, knows no overrides,
//! envelopes, taints, drift or diff reports, and member clusters that exist on the hub alone.
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
pub(crate) mod placements;
mod placing;
#[cfg(test)]
mod recorded;
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

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future;
use kube::Client;
use tokio::task::JoinSet;
use tokio::time::Instant;

pub use kinds::{Kind, Scope};
pub use timing::{SnapshotDelay, Timing};
pub use trouble::{TROUBLE, Trouble};

// What the fleet's objects are made with, too.
pub(crate) use api::{Api, Failure};
pub(crate) use conditions::{Condition, Conditions};
pub(crate) use object::Object;

use members::{Members, Troubles};
use runs::Runs;

/// Changes come in bursts; they are looked at together.
const BURST: Duration = Duration::from_millis(5);
/// Everything is looked at again after this long, should a change have been missed.
const IDLE: Duration = Duration::from_secs(10);
/// How many of the last errors are kept.
const ERRORS: usize = 50;

/// The stand-in at work. It stops when this is dropped.
pub struct StandIn {
    api: Api,
    shared: Arc<Shared>,
    tasks: JoinSet<()>,
}

#[derive(Default)]
struct Shared {
    troubles: Mutex<Troubles>,
    errors: Mutex<Vec<String>>,
}

impl StandIn {
    /// Starts the controllers and member agents on a hub whose CRDs are installed. Must be called
    /// within a Tokio runtime.
    pub fn start(client: Client, timing: Timing) -> Self {
        let api = Api::new(client, api::HUB_AGENT);
        let shared = Arc::new(Shared::default());
        let mut tasks = JoinSet::new();
        tasks.spawn(run(api.clone(), timing, Arc::clone(&shared)));
        Self { api, shared, tasks }
    }

    /// From now on this is wrong with a member cluster. The annotation of the cluster no longer
    /// counts.
    pub fn trouble(&self, cluster: &str, trouble: Trouble) {
        lock(&self.shared.troubles).insert(cluster.to_owned(), trouble);
        self.api.wake();
    }

    /// Nothing is wrong with a member cluster any more, unless its annotation says so.
    pub fn recover(&self, cluster: &str) {
        lock(&self.shared.troubles).remove(cluster);
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
        lock(&self.shared.errors).clone()
    }

    /// Stops everything and waits until nothing is written any more.
    pub async fn stop(mut self) {
        self.tasks.shutdown().await;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn run(api: Api, timing: Timing, shared: Arc<Shared>) {
    // Dropped with this task, the watches end.
    let mut watches = JoinSet::new();
    let loaded = future::join_all(Kind::ALL.map(|kind| api.load(kind))).await;
    for (kind, version) in Kind::ALL.into_iter().zip(loaded) {
        watches.spawn(api.clone().follow(kind, version.unwrap_or_default()));
    }
    let mut runs = Runs::default();
    let mut members = Members::default();
    loop {
        let troubles = lock(&shared.troubles).clone();
        let (due_members, mut errors) = members.pass(&api, &timing, &troubles).await;
        errors.extend(placing::pass(&api).await);
        errors.extend(delivery::pass(&api).await);
        let (due_runs, more) = runs.pass(&api, &timing).await;
        errors.extend(more);
        let failed = !errors.is_empty();
        {
            let mut kept = lock(&shared.errors);
            kept.extend(errors);
            let surplus = kept.len().saturating_sub(ERRORS);
            kept.drain(..surplus);
        }
        let mut wake = Instant::now() + if failed { BURST * 100 } else { IDLE };
        wake = [due_members, due_runs]
            .into_iter()
            .flatten()
            .fold(wake, Instant::min);
        tokio::select! {
            () = tokio::time::sleep_until(wake) => {}
            () = api.change() => tokio::time::sleep(BURST).await,
        }
    }
}
