//! What the hub serves: versions by discovery, and the words that its schema allows.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::hub::error::HubError;
use crate::hub::request::answer::{self, ExpectedAnswer};
use crate::hub::request::connection::{Connection, JSON};
use crate::kubefleet::Kind;
use crate::kubefleet::kind::{CLUSTER_GROUP, PLACEMENT_GROUP};
use crate::words::list;

/// All groups in one answer, where the server can; the plain list of groups where it cannot.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
    application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

pub(in crate::hub) const ALL: ExpectedAnswer<'_> =
    ExpectedAnswer::list("apidiscovery.k8s.io", "APIGroupDiscovery");
const GROUPS: ExpectedAnswer<'_> = ExpectedAnswer::list("", "APIGroup");
const RESOURCES: ExpectedAnswer<'_> = ExpectedAnswer::list("", "APIResource");

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServedVersions {
    versions: BTreeMap<Kind, BTreeSet<String>>,
    /// Whether discovery was refused, so that nothing is known.
    pub unknown: bool,
    /// What looks like staged rollouts of another engine: resources with their groups, or the
    /// groups alone where the server lists no more at once.
    elsewhere: BTreeSet<String>,
}

/// The end of the groups in which another engine may serve rollouts.
const OTHER_GROUPS: &str = ".kubefleet.dev";
/// The one that is about nothing else.
const OTHER_ROLLOUTS: &str = "rollout.kubefleet.dev";

impl ServedVersions {
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

    fn kinds(&self) -> impl Iterator<Item = (Kind, &BTreeSet<String>)> {
        self.versions
            .iter()
            .map(|(kind, versions)| (*kind, versions))
    }

    /// Every kind and version, as `clusterstagedupdateruns.placement.kubernetes-fleet.io/v1beta1`.
    pub fn names(&self) -> Vec<String> {
        self.kinds()
            .flat_map(|(kind, versions)| {
                let versions = versions.iter();
                versions.map(move |version| format!("{}/{version}", name(kind)))
            })
            .collect()
    }

    /// The versions by resource, as `clusterstagedupdateruns.placement.kubernetes-fleet.io`.
    pub(in crate::hub) fn resources(&self) -> BTreeMap<String, BTreeSet<String>> {
        self.kinds()
            .map(|(kind, versions)| (name(kind), versions.clone()))
            .collect()
    }

    /// The other way round; what is not known of it is passed over.
    pub(in crate::hub) fn of_names(
        resources: &BTreeMap<String, BTreeSet<String>>,
        elsewhere: BTreeSet<String>,
    ) -> Self {
        let kinds = Kind::ALL.iter().filter_map(|kind| {
            let versions = resources.get(&name(*kind))?;
            Some((*kind, versions.clone()))
        });
        Self {
            versions: kinds.collect(),
            unknown: false,
            elsewhere,
        }
    }

    pub(in crate::hub) const fn elsewhere(&self) -> &BTreeSet<String> {
        &self.elsewhere
    }

    /// Whether the server has KubeFleet's placements or update runs at all.
    pub fn is_hub(&self) -> bool {
        self.unknown
            || self
                .versions
                .keys()
                .any(|kind| kind.group() == PLACEMENT_GROUP && *kind != Kind::Work)
    }

    /// The rollouts that the hub also serves and that are not read here, as
    /// `stagedupdateruns.rollout.kubefleet.dev`; `None` when there is no sign of any.
    pub fn other_engine(&self) -> Option<String> {
        let names: Vec<_> = self.elsewhere.iter().collect();
        (!names.is_empty()).then(|| list(&names, 3))
    }

    /// Takes note of a resource that may be a rollout of another engine; of a whole group where no
    /// resource is known.
    fn note(&mut self, group: &str, resource: Option<&str>) {
        let of_rollouts = group == OTHER_ROLLOUTS;
        match resource {
            None if of_rollouts => {
                self.elsewhere.insert(group.to_owned());
            }
            Some(resource)
                if of_rollouts
                    || (group.ends_with(OTHER_GROUPS) && resource.contains("updaterun")) =>
            {
                self.elsewhere.insert(format!("{resource}.{group}"));
            }
            _ => {}
        }
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

fn name(kind: Kind) -> String {
    format!("{}.{}", kind.plural(), kind.group())
}

/// The answer of `/apis`: all groups with their resources, or the plain list of groups. What is not
/// read here is not kept: on a hub with many other APIs it is most of the answer.
#[derive(Deserialize)]
struct DiscoveredGroups {
    items: Option<Vec<ApiGroup>>,
    groups: Option<Vec<ApiGroup>>,
}

#[derive(Deserialize)]
struct ApiGroup {
    #[serde(default)]
    name: String,
    /// Where all resources are listed.
    #[serde(default)]
    metadata: NamedResource,
    versions: Option<Vec<ServedVersion>>,
}

#[derive(Deserialize, Default)]
struct NamedResource {
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct ServedVersion {
    #[serde(default)]
    version: String,
    resources: Option<Vec<ApiResource>>,
}

#[derive(Deserialize)]
struct ApiResource {
    #[serde(default)]
    resource: String,
}

/// The resources of one version, on a server that does not list all at once.
#[derive(Deserialize)]
struct ApiResourceList {
    resources: Option<Vec<NamedResource>>,
}

#[derive(Deserialize)]
struct OpenApi<'b> {
    #[serde(default)]
    openapi: String,
    #[serde(borrow, default)]
    components: SchemaComponents<'b>,
}

#[derive(Deserialize, Default)]
struct SchemaComponents<'b> {
    /// Read one by one: one of a hundred is wanted.
    #[serde(borrow, default)]
    schemas: BTreeMap<String, &'b RawValue>,
}

/// Asks what is served: one request, or one more for each version of our groups on a server
/// without aggregated discovery.
pub(in crate::hub) async fn discover(connection: &Connection) -> Result<ServedVersions, HubError> {
    let body = match connection.get("/apis", AGGREGATED).await {
        Ok(body) => body,
        // Every request will be tried as if the kind were served as it is today.
        Err(HubError::Forbidden(_)) => {
            return Ok(ServedVersions {
                unknown: true,
                ..ServedVersions::default()
            });
        }
        Err(error) => return Err(error),
    };
    let mut served = ServedVersions::default();
    if let Ok(all) = answer::read::<DiscoveredGroups>(&ALL, &body) {
        for group in all.items.iter().flatten() {
            for version in group.versions.iter().flatten() {
                for resource in version.resources.iter().flatten() {
                    served.add(&group.metadata.name, &version.version, &resource.resource);
                    served.note(&group.metadata.name, Some(&resource.resource));
                }
            }
        }
        return Ok(served);
    }
    let groups: DiscoveredGroups = answer::read(&GROUPS, &body)?;
    for group in groups.groups.iter().flatten() {
        let name = group.name.as_str();
        served.note(name, None);
        if name != PLACEMENT_GROUP && name != CLUSTER_GROUP {
            continue;
        }
        for ServedVersion { version, .. } in group.versions.iter().flatten() {
            let path = format!("/apis/{name}/{version}");
            let resources: ApiResourceList = match connection.get(&path, JSON).await {
                Ok(body) => answer::read(&RESOURCES, &body)?,
                Err(HubError::NotFound(_) | HubError::NotRouted(_)) => continue,
                Err(error) => return Err(error),
            };
            for resource in resources.resources.iter().flatten() {
                served.add(name, version, &resource.name);
            }
        }
    }
    Ok(served)
}

/// The values that the schema allows for `spec.state` of a run, as every user may read it; empty
/// when there is no such field.
pub(in crate::hub) async fn run_states(
    connection: &Connection,
    kind: Kind,
    version: &str,
) -> Result<Vec<String>, HubError> {
    let path = format!("/openapi/v3/apis/{}/{version}", kind.group());
    let body = connection.get(&path, JSON).await?;
    let document = match serde_json::from_slice::<OpenApi<'_>>(&body) {
        Ok(document) if document.openapi.starts_with("3.") => document,
        _ => {
            return Err(answer::wrong(
                &ExpectedAnswer::kind("", "OpenAPI 3 schemas"),
                &body,
            ));
        }
    };
    let named = format!("{:?}", kind.name());
    let own = document
        .components
        .schemas
        .values()
        .filter(|schema| schema.get().contains(&named))
        .filter_map(|schema| serde_json::from_str::<Value>(schema.get()).ok())
        .find(|schema| {
            items(&schema["x-kubernetes-group-version-kind"])
                .any(|entry| entry["kind"] == kind.name() && entry["version"] == version)
        });
    let Some(schema) = own else {
        return Err(HubError::NotServed(kind));
    };
    let state = &schema["properties"]["spec"]["properties"]["state"];
    let words = items(&state["enum"]).filter_map(Value::as_str);
    Ok(words.map(str::to_owned).collect())
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::ServedVersions;

    #[test]
    fn rollouts_of_another_engine_are_noted() {
        let mut served = ServedVersions::default();
        served.note("placement.kubefleet.dev", Some("placementpolicies"));
        served.note("placement.kubernetes-fleet.io", Some("stagedupdateruns"));
        served.note("apps", Some("deployments"));
        served.note("apps", None);
        let other = |served: &ServedVersions| served.other_engine().unwrap_or_default();
        assert_eq!(other(&served), "");
        served.note("rollout.kubefleet.dev", Some("stagedupdateruns"));
        assert_eq!(other(&served), "stagedupdateruns.rollout.kubefleet.dev");
        served.note("placement.kubefleet.dev", Some("clusterstagedupdateruns"));
        assert_eq!(
            other(&served),
            "clusterstagedupdateruns.placement.kubefleet.dev, stagedupdateruns.rollout.kubefleet.dev"
        );
        for more in ["a", "b"] {
            served.note("rollout.kubefleet.dev", Some(more));
        }
        assert!(other(&served).ends_with("and 1 more"));
        // A server that lists no resources at once.
        let mut plain = ServedVersions::default();
        plain.note("rollout.kubefleet.dev", None);
        assert_eq!(other(&plain), "rollout.kubefleet.dev");
    }
}
