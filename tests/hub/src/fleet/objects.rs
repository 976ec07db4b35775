//! Builders of objects, complete enough for the API server and readable in a test.

use serde_json::{Map, Value, json};

use crate::standin::{Object, Scope};

/// A member cluster with labels. Its agent, when there is one, fills in the status.
pub fn member(name: &str, labels: &[(&str, &str)]) -> Value {
    json!({
        "apiVersion": "cluster.kubernetes-fleet.io/v1beta1",
        "kind": "MemberCluster",
        "metadata": {"name": name, "labels": map(labels)},
        "spec": {
            "heartbeatPeriodSeconds": 15,
            "identity": {
                "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name,
            },
        },
    })
}

/// A namespace.
pub fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

/// A ConfigMap.
pub fn config_map(namespace: &str, name: &str, data: &[(&str, &str)]) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": map(data),
    })
}

/// A Deployment of one container.
pub fn deployment(namespace: &str, name: &str, image: &str) -> Value {
    let labels = json!({"app": name});
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{
                    "name": name,
                    "image": image,
                    "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}},
                }]},
            },
        },
    })
}

fn map(pairs: &[(&str, &str)]) -> Map<String, Value> {
    pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), json!(value)))
        .collect()
}

/// An object with one more annotation.
pub fn annotated(mut object: Value, key: &str, value: &str) -> Value {
    object.put(&["metadata", "annotations", key], json!(value));
    object
}

fn in_scope(scope: &Scope, kind: &str, name: &str) -> Value {
    let mut metadata = json!({"name": name});
    if let Scope::Namespace(namespace) = scope {
        metadata["namespace"] = json!(namespace);
    }
    json!({
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": kind,
        "metadata": metadata,
    })
}

/// A placement. It is rolled out by update runs and selects all clusters, unless told otherwise.
#[derive(Debug, Clone)]
pub struct Placement {
    object: Value,
}

impl Placement {
    /// In cluster scope it places the namespace of the same name with everything in it; in a
    /// namespace all ConfigMaps and Deployments there.
    pub fn new(scope: &Scope, name: &str) -> Self {
        let mut object = in_scope(scope, scope.kinds().placement.name(), name);
        let select =
            |group: &str, kind: &str| json!({"group": group, "version": "v1", "kind": kind});
        let selectors = match scope {
            Scope::Cluster => {
                let mut namespace = select("", "Namespace");
                namespace["name"] = json!(name);
                json!([namespace])
            }
            Scope::Namespace(_) => {
                let all = |mut selector: Value| {
                    selector["labelSelector"] = json!({});
                    selector
                };
                json!([
                    all(select("", "ConfigMap")),
                    all(select("apps", "Deployment"))
                ])
            }
        };
        object["spec"] = json!({
            "resourceSelectors": selectors,
            "policy": {"placementType": "PickAll"},
            "strategy": {"type": "External"},
            "revisionHistoryLimit": 10,
        });
        Self { object }
    }

    /// Selects by another policy.
    #[must_use]
    pub fn policy(mut self, policy: Value) -> Self {
        self.object["spec"]["policy"] = policy;
        self
    }

    /// Selects the clusters that have this label.
    #[must_use]
    pub fn on(self, key: &str, value: &str) -> Self {
        self.policy(json!({
            "placementType": "PickAll",
            "affinity": {"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                "clusterSelectorTerms": [{"labelSelector": {"matchLabels": {key: value}}}],
            }}},
        }))
    }

    /// Rolls out by itself instead of by update runs.
    #[must_use]
    pub fn rolling(self) -> Self {
        self.strategy(json!({"type": "RollingUpdate"}))
    }

    /// Rolls out in another way.
    #[must_use]
    pub fn strategy(mut self, strategy: Value) -> Self {
        self.object["spec"]["strategy"] = strategy;
        self
    }

    /// Keeps so many resource snapshots.
    #[must_use]
    pub fn history(mut self, limit: u32) -> Self {
        self.object["spec"]["revisionHistoryLimit"] = json!(limit);
        self
    }

    /// The object.
    pub fn build(self) -> Value {
        self.object
    }
}

/// One stage of a strategy.
#[derive(Debug, Clone)]
pub struct Stage {
    stage: Value,
}

impl Stage {
    /// A stage of the clusters whose label `environment` has its name.
    pub fn new(name: &str) -> Self {
        Self {
            stage: json!({
                "name": name,
                "labelSelector": {"matchLabels": {"environment": name}},
            }),
        }
    }

    /// Takes the clusters that have this label instead.
    #[must_use]
    pub fn matching(mut self, key: &str, value: &str) -> Self {
        self.stage["labelSelector"] = json!({"matchLabels": {key: value}});
        self
    }

    /// Orders the clusters by the number in this label.
    #[must_use]
    pub fn sorted_by(mut self, key: &str) -> Self {
        self.stage["sortingLabelKey"] = json!(key);
        self
    }

    /// Updates so many clusters at once: a number, or a share such as `"50%"`.
    #[must_use]
    pub fn at_once(mut self, limit: impl Into<Value>) -> Self {
        self.stage["maxConcurrency"] = limit.into();
        self
    }

    /// Waits for so long after the stage.
    #[must_use]
    pub fn wait(self, time: &str) -> Self {
        self.after(json!({"type": "TimedWait", "waitTime": time}))
    }

    /// Asks for an approval after the stage.
    #[must_use]
    pub fn approve_after(self) -> Self {
        self.after(json!({"type": "Approval"}))
    }

    /// Asks for an approval before the stage.
    #[must_use]
    pub fn approve_before(mut self) -> Self {
        self.stage["beforeStageTasks"] = json!([{"type": "Approval"}]);
        self
    }

    fn after(mut self, task: Value) -> Self {
        let mut tasks = self.stage.items("/afterStageTasks").to_vec();
        tasks.push(task);
        self.stage["afterStageTasks"] = Value::Array(tasks);
        self
    }
}

impl From<Stage> for Value {
    fn from(stage: Stage) -> Self {
        stage.stage
    }
}

/// A strategy of these stages.
pub fn strategy(
    scope: &Scope,
    name: &str,
    stages: impl IntoIterator<Item = impl Into<Value>>,
) -> Value {
    let mut object = in_scope(scope, scope.kinds().strategy.name(), name);
    let stages: Vec<Value> = stages.into_iter().map(Into::into).collect();
    object["spec"] = json!({"stages": stages});
    object
}

/// An update run. It starts at once unless told otherwise.
#[derive(Debug, Clone)]
pub struct Run {
    object: Value,
}

impl Run {
    /// Rolls a placement out by a strategy.
    pub fn new(scope: &Scope, name: &str, placement: &str, strategy: &str) -> Self {
        let mut object = in_scope(scope, scope.kinds().run.name(), name);
        object["spec"] = json!({
            "placementName": placement,
            "stagedRolloutStrategyName": strategy,
            "state": "Run",
        });
        Self { object }
    }

    /// Begins in another state: `Initialize` or `Stop`.
    #[must_use]
    pub fn state(mut self, state: &str) -> Self {
        self.object["spec"]["state"] = json!(state);
        self
    }

    /// Says nothing of the state, as where the controllers do not look at it.
    #[must_use]
    pub fn stateless(mut self) -> Self {
        if let Some(spec) = self.object["spec"].as_object_mut() {
            spec.remove("state");
        }
        self
    }

    /// Rolls out this snapshot instead of the content as it is.
    #[must_use]
    pub fn snapshot(mut self, index: &str) -> Self {
        self.object["spec"]["resourceSnapshotIndex"] = json!(index);
        self
    }

    /// The object.
    pub fn build(self) -> Value {
        self.object
    }
}
