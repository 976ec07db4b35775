//! What the hub serves: versions by discovery, and the words that its schema allows.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use super::error::HubError;
use super::request::{Connection, JSON};
use crate::kubefleet::Kind;
use crate::kubefleet::kind::{CLUSTER_GROUP, PLACEMENT_GROUP};

/// All groups in one answer, where the server can; the plain list of groups where it cannot.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
    application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

/// The versions in which each kind is served.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Served {
    versions: BTreeMap<Kind, BTreeSet<String>>,
    /// Whether discovery was refused, so that nothing is known.
    pub unknown: bool,
}

impl Served {
    /// The version to read: the first of ours that the hub has. `None` when it serves none.
    pub fn version(&self, kind: Kind) -> Option<&'static str> {
        if self.unknown {
            return kind.versions().first().copied();
        }
        let served = self.versions.get(&kind)?;
        kind.versions()
            .iter()
            .copied()
            .find(|version| served.contains(*version))
    }

    /// The kinds with all their versions.
    pub fn kinds(&self) -> impl Iterator<Item = (Kind, &BTreeSet<String>)> {
        self.versions
            .iter()
            .map(|(kind, versions)| (*kind, versions))
    }

    /// Every kind and version, as `clusterstagedupdateruns.placement.kubernetes-fleet.io/v1beta1`.
    pub fn names(&self) -> Vec<String> {
        let name =
            |kind: Kind, version: &String| format!("{}.{}/{version}", kind.plural(), kind.group());
        self.kinds()
            .flat_map(|(kind, versions)| versions.iter().map(move |version| name(kind, version)))
            .collect()
    }

    /// Whether the server has KubeFleet's placements or update runs at all.
    pub fn is_hub(&self) -> bool {
        self.unknown
            || self
                .versions
                .keys()
                .any(|kind| kind.group() == PLACEMENT_GROUP && *kind != Kind::Work)
    }

    fn add(&mut self, group: &str, version: &str, plural: &str) {
        let kind = Kind::ALL
            .iter()
            .copied()
            .find(|kind| kind.group() == group && kind.plural() == plural);
        if let Some(kind) = kind {
            self.versions
                .entry(kind)
                .or_default()
                .insert(version.to_owned());
        }
    }
}

#[derive(Deserialize)]
struct Apis {
    kind: String,
    #[serde(default)]
    items: Vec<Value>,
    #[serde(default)]
    groups: Vec<Value>,
}

#[derive(Deserialize)]
struct Resources {
    #[serde(default)]
    resources: Vec<Value>,
}

/// Asks what is served: one request, or one more for each version of our groups on a server
/// without aggregated discovery.
pub(super) async fn discover(connection: &Connection) -> Result<Served, HubError> {
    let body = match connection.get("/apis", AGGREGATED).await {
        Ok(body) => body,
        // Every request will be tried as if the kind were served as it is today.
        Err(HubError::Forbidden(_)) => {
            return Ok(Served {
                unknown: true,
                ..Served::default()
            });
        }
        Err(error) => return Err(error),
    };
    let groups: Apis = serde_json::from_slice(&body)
        .map_err(|error| HubError::Broken(format!("/apis is no list of API groups: {error}")))?;
    let mut served = Served::default();
    if groups.kind == "APIGroupDiscoveryList" {
        for group in &groups.items {
            let name = group["metadata"]["name"].as_str().unwrap_or_default();
            for version in items(&group["versions"]) {
                let number = version["version"].as_str().unwrap_or_default();
                for resource in items(&version["resources"]) {
                    served.add(
                        name,
                        number,
                        resource["resource"].as_str().unwrap_or_default(),
                    );
                }
            }
        }
        return Ok(served);
    }
    for group in &groups.groups {
        let name = group["name"].as_str().unwrap_or_default();
        if name != PLACEMENT_GROUP && name != CLUSTER_GROUP {
            continue;
        }
        for version in items(&group["versions"]) {
            let number = version["version"].as_str().unwrap_or_default();
            let path = format!("/apis/{name}/{number}");
            let resources: Resources = match connection.get(&path, JSON).await {
                Ok(body) => serde_json::from_slice(&body)
                    .map_err(|error| HubError::Broken(format!("{path}: {error}")))?,
                Err(HubError::NotFound(_) | HubError::NotRouted(_)) => continue,
                Err(error) => return Err(error),
            };
            for resource in &resources.resources {
                served.add(name, number, resource["name"].as_str().unwrap_or_default());
            }
        }
    }
    Ok(served)
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The values that the schema allows for `spec.state` of a run, as every user may read it; empty
/// when there is no such field.
pub(super) async fn run_states(
    connection: &Connection,
    kind: Kind,
    version: &str,
) -> Result<Vec<String>, HubError> {
    let path = format!("/openapi/v3/apis/{}/{version}", kind.group());
    let body = connection.get(&path, JSON).await?;
    let document: Value = serde_json::from_slice(&body)
        .map_err(|error| HubError::Broken(format!("{path}: {error}")))?;
    let schemas = document["components"]["schemas"].as_object();
    let own = schemas.into_iter().flatten().find(|(_, schema)| {
        items(&schema["x-kubernetes-group-version-kind"])
            .any(|entry| entry["kind"] == kind.name() && entry["version"] == version)
    });
    let Some((_, schema)) = own else {
        return Err(HubError::NotServed(kind));
    };
    let state = &schema["properties"]["spec"]["properties"]["state"];
    let words = items(&state["enum"]).filter_map(Value::as_str);
    Ok(words.map(str::to_owned).collect())
}
