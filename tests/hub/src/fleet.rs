//! Objects of a fleet, and a hand to put them on a hub the way a person would.

mod big;
mod objects;
mod plan;

use std::time::Duration;

use kube::Client;
use serde_json::{Value, json};
use tokio::time::Instant;

pub use big::Big;
pub use objects::{
    Placement, Run, Stage, annotated, config_map, deployment, member, namespace, strategy,
};

use crate::standin::{
    Api, Condition, Conditions, Failure, Kind, Object, Scope, Served, conditions,
};
use crate::{Error, path_of};

/// The result of something done on the hub.
pub type Done<T> = Result<T, Error>;

fn explain(what: &str) -> impl FnOnce(Failure) -> Error {
    move |failure| {
        Error::Failed(match failure {
            Failure::Conflict => format!("cannot {what}: it exists, or changed in between"),
            Failure::NotFound => format!("cannot {what}: not found"),
            Failure::Other(text) => text,
        })
    }
}

/// A hub that is being filled.
#[derive(Clone)]
pub struct Fleet {
    api: Api,
}

impl Fleet {
    /// Works on the hub behind this client.
    pub fn new(client: Client) -> Self {
        Self {
            api: Api::new(client, "kubectl"),
        }
    }

    /// Finds out at which version the hub serves update runs; that of a current hub without it.
    pub async fn discover(mut self) -> Self {
        self.api.discover().await;
        self
    }

    /// What it serves of update runs.
    pub const fn served(&self) -> &Served {
        &self.api.served
    }

    /// Creates an object of any kind that a fleet has, its status included.
    pub async fn create(&self, object: &Value) -> Done<Value> {
        let object = &self.api.versioned(object);
        let what = format!("create {} {}", object.text("/kind"), object.name());
        let path = path_of(object, false)?;
        let mut created = self
            .api
            .create_at(&path, object)
            .await
            .map_err(explain(&what))?;
        if let Some(status) = object.get("status") {
            created["status"] = status.clone();
            created = self
                .api
                .update_status_at(&path, &created)
                .await
                .map_err(explain(&what))?;
        }
        Ok(created)
    }

    /// Creates several objects, in order.
    pub async fn create_all(&self, objects: &[Value]) -> Done<()> {
        for object in objects {
            self.create(object).await?;
        }
        Ok(())
    }

    /// One object of a fleet kind.
    pub async fn get(&self, kind: Kind, scope: &Scope, name: &str) -> Done<Value> {
        let what = format!("get {} {}", kind.name(), scope.reference(name));
        self.api
            .get(kind, scope.namespace(), name)
            .await
            .map_err(explain(&what))
    }

    /// Reads an object, changes it and writes it back; again when somebody else was faster. What
    /// is changed of the status is not written, see [`Fleet::change_status`].
    pub async fn change(
        &self,
        kind: Kind,
        scope: &Scope,
        name: &str,
        change: impl Fn(&mut Value),
    ) -> Done<Value> {
        let what = format!("change {} {}", kind.name(), scope.reference(name));
        loop {
            let mut object = self.get(kind, scope, name).await?;
            change(&mut object);
            match self.api.update(kind, &object).await {
                Err(Failure::Conflict) => {}
                done => return done.map_err(explain(&what)),
            }
        }
    }

    /// The same for the status alone.
    pub async fn change_status(
        &self,
        kind: Kind,
        scope: &Scope,
        name: &str,
        change: impl Fn(&mut Value),
    ) -> Done<Value> {
        let what = format!(
            "change the status of {} {}",
            kind.name(),
            scope.reference(name)
        );
        loop {
            let mut object = self.get(kind, scope, name).await?;
            change(&mut object);
            match self.api.update_status(kind, &object).await {
                Err(Failure::Conflict) => {}
                done => return done.map_err(explain(&what)),
            }
        }
    }

    /// Asks the API server to delete an object.
    pub async fn delete(&self, kind: Kind, scope: &Scope, name: &str) -> Done<()> {
        let what = format!("delete {} {}", kind.name(), scope.reference(name));
        let object = json!({"metadata": {"name": name, "namespace": scope.namespace()}});
        self.api.delete(kind, &object).await.map_err(explain(&what))
    }

    /// Replaces the data of a ConfigMap: the content of a placement changes.
    pub async fn set_data(&self, namespace: &str, name: &str, data: &[(&str, &str)]) -> Done<()> {
        let new = config_map(namespace, name, data);
        let what = format!("change ConfigMap {namespace}/{name}");
        let path = path_of(&new, false)?;
        let mut object = self.api.get_at(&path, name).await.map_err(explain(&what))?;
        object["data"] = new["data"].clone();
        self.api
            .update_at(&path, &object)
            .await
            .map(|_| ())
            .map_err(explain(&what))
    }

    /// Sets `spec.state` of a run.
    pub async fn set_state(&self, scope: &Scope, run: &str, state: &str) -> Done<Value> {
        self.change(scope.kinds().run, scope, run, |object| {
            object["spec"]["state"] = json!(state);
        })
        .await
    }

    /// Approves a request the right way: for its generation.
    pub async fn approve(&self, scope: &Scope, request: &str) -> Done<Value> {
        self.approve_for(scope, request, None).await
    }

    /// Approves a request for another generation than its own, as a typo in a patch does; the
    /// controllers ignore it.
    pub async fn approve_for_generation(
        &self,
        scope: &Scope,
        request: &str,
        generation: i64,
    ) -> Done<Value> {
        self.approve_for(scope, request, Some(generation)).await
    }

    async fn approve_for(
        &self,
        scope: &Scope,
        request: &str,
        generation: Option<i64>,
    ) -> Done<Value> {
        self.change_status(scope.kinds().approval, scope, request, |object| {
            let mut list = conditions::of_status(object);
            let generation = generation.unwrap_or(object.generation());
            let says = ("True", "ApprovedByHand", "Looks good");
            let approved = Condition::new("Approved", says, generation);
            conditions::set(&mut list, approved, jiff::Timestamp::now());
            object.put(&["status", "conditions"], json!(list));
        })
        .await
    }

    /// Waits until an object exists and fulfils a wish.
    #[allow(clippy::too_many_arguments)] // each is another thing
    pub async fn wait(
        &self,
        kind: Kind,
        scope: &Scope,
        name: &str,
        limit: Duration,
        wish: impl Fn(&Value) -> bool,
    ) -> Done<Value> {
        const PAUSE: Duration = Duration::from_millis(50);
        let until = Instant::now() + limit;
        let mut last = Err(Error::Failed(String::new()));
        while Instant::now() < until {
            last = self.get(kind, scope, name).await;
            if let Ok(object) = &last
                && wish(object)
            {
                return last;
            }
            tokio::time::sleep(PAUSE).await;
        }
        let last = match last {
            Ok(object) => format!("{:#}", object["status"]),
            Err(error) => error.to_string(),
        };
        Err(Error::Failed(format!(
            "{} {} did not get there within {limit:?}; last seen: {last}",
            kind.name(),
            scope.reference(name),
        )))
    }

    /// Waits until a member cluster has joined: a placement passes over it before that.
    pub async fn wait_for_member(&self, cluster: &str, limit: Duration) -> Done<Value> {
        let kind = Kind::MemberCluster;
        self.wait(kind, &Scope::Cluster, cluster, limit, |object| {
            conditions::of_status(object).is_true("Joined", object.generation())
        })
        .await
    }

    /// Waits until a placement has its clusters.
    pub async fn wait_for_scheduling(
        &self,
        scope: &Scope,
        placement: &str,
        limit: Duration,
    ) -> Done<Value> {
        let kind = scope.kinds().placement;
        let wanted = format!("{}Scheduled", kind.name());
        self.wait(kind, scope, placement, limit, |object| {
            conditions::of_status(object).is_true(&wanted, object.generation())
        })
        .await
    }

    /// Waits until a run has a condition with this status and reason at its own generation.
    pub async fn wait_for_run(
        &self,
        scope: &Scope,
        run: &str,
        (kind, status, reason): (&str, &str, &str),
        limit: Duration,
    ) -> Done<Value> {
        self.wait(scope.kinds().run, scope, run, limit, |object| {
            conditions::of_status(object)
                .find(kind)
                .is_some_and(|found| {
                    found.status == status
                        && found.reason == reason
                        && found.observed_generation == object.generation()
                })
        })
        .await
    }
}
