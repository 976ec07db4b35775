//! Requests to the hub, and the watches that keep the copy of it up to date.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use kube::Client;
use kube::api::{DeleteParams, GetParams, ListParams, PostParams, WatchParams};
use kube::core::{Request, WatchEvent};
use serde_json::Value;
use tokio::sync::watch;

use super::kinds::Kind;
use super::object::Object;
use super::world::World;

/// The name under which KubeFleet's hub agent writes.
pub(crate) const HUB_AGENT: &str = "hubagent";

/// Why a request came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Somebody else was faster; the next look sees what is there now.
    Conflict,
    NotFound,
    Other(String),
}

pub(crate) type Answer<T> = Result<T, Failure>;

/// What the hub serves of staged update runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    /// The version to use.
    pub version: String,
    /// Whether runs can be initialized without being executed, and stopped. Old controllers
    /// execute every run at once.
    pub obeys_state: bool,
}

impl Default for Served {
    fn default() -> Self {
        Self {
            version: "v1beta1".to_owned(),
            obeys_state: true,
        }
    }
}

impl Served {
    /// Whether there is v1alpha1 alone: without runs in namespaces, tasks before a stage, clusters
    /// side by side, and a run that names no snapshot.
    pub fn is_alpha(&self) -> bool {
        self.version == "v1alpha1"
    }

    /// Reads it from the definition of runs.
    fn read(definition: &Value) -> Option<Self> {
        let served: Vec<&Value> = definition
            .items("/spec/versions")
            .iter()
            .filter(|version| version["served"] == true)
            .collect();
        let version = served
            .iter()
            .find(|version| version.text("/name") == "v1beta1")
            .or_else(|| served.first())?;
        let states = version.items("/schema/openAPIV3Schema/properties/spec/properties/state/enum");
        Some(Self {
            version: version.text("/name").to_owned(),
            obeys_state: states.iter().any(|state| state == "Run"),
        })
    }
}

/// The hub, as the controllers see it.
#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) client: Client,
    world: Arc<Mutex<World>>,
    changes: Arc<watch::Sender<u64>>,
    manager: &'static str,
    pub(crate) served: Served,
}

impl Api {
    /// Writes as this field manager.
    pub(crate) fn new(client: Client, manager: &'static str) -> Self {
        Self {
            client,
            manager,
            served: Served::default(),
            world: Arc::default(),
            changes: Arc::new(watch::Sender::new(0)),
        }
    }

    /// Finds out what the hub serves; a current hub when it does not tell.
    pub(crate) async fn discover(&mut self) {
        const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        const RUNS: &str = "clusterstagedupdateruns.placement.kubernetes-fleet.io";
        if let Ok(definition) = self.get_at(DEFINITIONS, RUNS).await {
            self.served = Served::read(&definition).unwrap_or_default();
        }
    }

    /// The path of a collection. `namespace` is ignored by kinds without one; empty means all.
    fn path(&self, kind: Kind, namespace: &str) -> String {
        let root = match kind.api_version().split_once('/') {
            None => format!("/api/{}", kind.api_version()),
            Some((group, _)) if kind.is_staged() => {
                format!("/apis/{group}/{}", self.served.version)
            }
            Some(_) => format!("/apis/{}", kind.api_version()),
        };
        let plural = kind.names().1;
        if namespace.is_empty() {
            format!("{root}/{plural}")
        } else {
            format!("{root}/namespaces/{namespace}/{plural}")
        }
    }

    /// All that is known at this moment.
    pub(crate) fn world(&self) -> World {
        self.with_world(|world| world.clone())
    }

    /// Tells of every change.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Wakes whoever waits for a change.
    pub(crate) fn wake(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    fn with_world<T>(&self, with: impl FnOnce(&mut World) -> T) -> T {
        with(&mut self.world.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) async fn create(&self, kind: Kind, object: &Value) -> Answer<Value> {
        let path = self.path(kind, object.namespace());
        let object = self.versioned(object);
        Ok(self.keep(kind, self.create_at(&path, &object).await?))
    }

    /// The object at the version that the hub serves.
    pub(crate) fn versioned(&self, object: &Value) -> Value {
        let mut object = object.clone();
        let kind = Kind::ALL
            .into_iter()
            .find(|kind| kind.name() == object.text("/kind"));
        let group = kind.filter(|kind| kind.is_staged()).map(Kind::api_version);
        if let Some((group, _)) = group.and_then(|version| version.split_once('/')) {
            object["apiVersion"] = format!("{group}/{}", self.served.version).into();
        }
        object
    }

    /// Creates an object in a collection that need not be a watched one.
    pub(crate) async fn create_at(&self, path: &str, object: &Value) -> Answer<Value> {
        let what = describe("create", object);
        let request = Request::new(path).create(&self.post(), bytes(object, &what)?);
        self.send(request, &what).await
    }

    pub(crate) async fn update(&self, kind: Kind, object: &Value) -> Answer<Value> {
        let path = self.path(kind, object.namespace());
        Ok(self.keep(kind, self.update_at(&path, object).await?))
    }

    pub(crate) async fn update_at(&self, path: &str, object: &Value) -> Answer<Value> {
        let what = describe("update", object);
        let bytes = bytes(object, &what)?;
        let request = Request::new(path).replace(object.name(), &self.post(), bytes);
        self.send(request, &what).await
    }

    pub(crate) async fn update_status(&self, kind: Kind, object: &Value) -> Answer<Value> {
        let path = self.path(kind, object.namespace());
        Ok(self.keep(kind, self.update_status_at(&path, object).await?))
    }

    pub(crate) async fn update_status_at(&self, path: &str, object: &Value) -> Answer<Value> {
        let what = describe("update the status of", object);
        let request = Request::new(path).replace_subresource(
            "status",
            object.name(),
            &self.post(),
            bytes(object, &what)?,
        );
        self.send(request, &what).await
    }

    /// Updates an object that goes with its last finalizer; one that is gone already is fine.
    pub(crate) async fn let_go(&self, kind: Kind, object: &Value) -> Answer<()> {
        match self.update(kind, object).await {
            Ok(_) | Err(Failure::NotFound) => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    /// Deletes an object; one that is gone already is fine.
    pub(crate) async fn delete(&self, kind: Kind, object: &Value) -> Answer<()> {
        let what = format!("delete {} {}", kind.name(), object.name());
        let request = Request::new(self.path(kind, object.namespace()))
            .delete(object.name(), &DeleteParams::default());
        match self.send(request, &what).await {
            Ok(_) | Err(Failure::NotFound) => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    pub(crate) async fn get(&self, kind: Kind, namespace: &str, name: &str) -> Answer<Value> {
        self.get_at(&self.path(kind, namespace), name).await
    }

    /// One object of a collection that need not be a watched one.
    pub(crate) async fn get_at(&self, path: &str, name: &str) -> Answer<Value> {
        let request = Request::new(path).get(name, &GetParams::default());
        self.send(request, &format!("get {path}/{name}")).await
    }

    /// The objects of a collection that need not be a watched one.
    pub(crate) async fn list_at(&self, path: &str) -> Answer<Vec<Value>> {
        Ok(self.list(path).await?.0)
    }

    async fn list(&self, path: &str) -> Answer<(Vec<Value>, String)> {
        let request = Request::new(path).list(&ListParams::default());
        let list = self.send(request, &format!("list {path}")).await?;
        let version = list.text("/metadata/resourceVersion").to_owned();
        Ok((list.items("/items").to_vec(), version))
    }

    async fn send<E: std::fmt::Display>(
        &self,
        request: Result<http::Request<Vec<u8>>, E>,
        what: &str,
    ) -> Answer<Value> {
        let request = request.map_err(|error| Failure::Other(format!("cannot {what}: {error}")))?;
        self.client
            .request::<Value>(request)
            .await
            .map_err(|error| failure(error, what))
    }

    fn post(&self) -> PostParams {
        PostParams {
            field_manager: Some(self.manager.to_owned()),
            ..PostParams::default()
        }
    }

    // Own writes are known at once: the next look must not decide on what it has just changed.
    fn keep(&self, kind: Kind, object: Value) -> Value {
        if self.with_world(|world| world.upsert(kind, object.clone())) {
            self.wake();
        }
        object
    }

    /// Reads all objects of a kind once; a kind that is not installed has none.
    pub(crate) async fn load(&self, kind: Kind) -> Answer<String> {
        let (objects, version) = match self.list(&self.path(kind, "")).await {
            Err(Failure::NotFound) => (Vec::new(), String::new()),
            listed => listed?,
        };
        self.with_world(|world| world.replace(kind, objects));
        self.wake();
        Ok(version)
    }

    /// Keeps the copy of one kind up to date, without end.
    pub(crate) async fn follow(self, kind: Kind, mut version: String) {
        const PAUSE: Duration = Duration::from_millis(500);
        loop {
            if version.is_empty() {
                match self.load(kind).await {
                    Ok(loaded) if !loaded.is_empty() => version = loaded,
                    _ => {
                        tokio::time::sleep(PAUSE).await;
                        continue;
                    }
                }
            }
            version = self.watch(kind, version).await.unwrap_or_default();
        }
    }

    // Gives back the version to go on from, or nothing when all has to be read again.
    async fn watch(&self, kind: Kind, mut version: String) -> Option<String> {
        let request = Request::new(self.path(kind, ""))
            .watch(&WatchParams::default(), &version)
            .ok()?;
        let events = self.client.request_events::<Value>(request).await.ok()?;
        let mut events = std::pin::pin!(events);
        while let Some(event) = events.next().await {
            let changed = match event.ok()? {
                WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                    object
                        .text("/metadata/resourceVersion")
                        .clone_into(&mut version);
                    self.with_world(|world| world.upsert(kind, object))
                }
                WatchEvent::Deleted(object) => {
                    object
                        .text("/metadata/resourceVersion")
                        .clone_into(&mut version);
                    self.with_world(|world| world.remove(kind, &object))
                }
                WatchEvent::Bookmark(bookmark) => {
                    version = bookmark.metadata.resource_version;
                    false
                }
                WatchEvent::Error(_) => return None,
            };
            if changed {
                self.wake();
            }
        }
        Some(version)
    }
}

fn bytes(object: &Value, what: &str) -> Answer<Vec<u8>> {
    serde_json::to_vec(object).map_err(|error| Failure::Other(format!("cannot {what}: {error}")))
}

fn describe(verb: &str, object: &Value) -> String {
    let separator = if object.namespace().is_empty() {
        ""
    } else {
        "/"
    };
    format!(
        "{verb} {} {}{separator}{}",
        object.text("/kind"),
        object.namespace(),
        object.name()
    )
}

fn failure(error: kube::Error, what: &str) -> Failure {
    match error {
        kube::Error::Api(status) if status.code == 409 => Failure::Conflict,
        kube::Error::Api(status) if status.code == 404 => Failure::NotFound,
        kube::Error::Api(status) => Failure::Other(format!("cannot {what}: {}", status.message)),
        other => Failure::Other(format!("cannot {what}: {other}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_old_hub_is_told_from_a_current_one() {
        let definition = |name: &str, states: Value| {
            let mut version = json!({"name": name, "served": true});
            version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["state"] =
                json!({"enum": states});
            json!({"spec": {"versions": [{"name": "v1alpha1", "served": false}, version]}})
        };
        let current = definition("v1beta1", json!(["Initialize", "Run", "Stop"]));
        assert_eq!(Served::read(&current), Some(Served::default()));
        let old = definition("v1alpha1", json!(["Initialize", "Execute"]));
        let old = Served::read(&old).unwrap();
        assert!(!old.obeys_state);
        assert_eq!(old.version, "v1alpha1");
        assert_eq!(Served::read(&json!({})), None);
    }
}
