//! Objects of any kind: what the API server serves, and lists of it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::Value;

use super::answer::{self, Expected};
use super::bounds::{self, PAGES};
use super::error::HubError;
use super::read::outcome;
use super::request::{Asking, Connection, JSON};
use super::{Hub, side_by_side, wait};
use crate::kubefleet::path::{Resource, encode};
use crate::manifests::live::{LiveAnswer, LiveQuery, ServedKind};
use crate::query::{Outcome, Which};

/// How many objects a page holds.
const PAGE: usize = 500;

/// The groups of an API server with their resources, in one answer.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
    application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

#[derive(Deserialize)]
struct ApiGroups {
    items: Option<Vec<GroupDiscovery>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct GroupDiscovery {
    metadata: GroupName,
    versions: Vec<VersionDiscovery>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct GroupName {
    name: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct VersionDiscovery {
    version: String,
    resources: Vec<ResourceDiscovery>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct ResourceDiscovery {
    resource: String,
    scope: String,
    verbs: Vec<String>,
    response_kind: ResponseKind,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ResponseKind {
    kind: String,
}

#[derive(Deserialize)]
struct ObjectPage {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    items: Option<Vec<Value>>,
    #[serde(default)]
    metadata: PageMeta,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct PageMeta {
    #[serde(rename = "continue")]
    next: Option<String>,
}

impl Hub {
    /// Every kind that the hub serves, and that can be listed and watched.
    pub fn kinds_served(&mut self) -> Result<Vec<ServedKind>, HubError> {
        let connection = self.connection.clone();
        wait(
            &self.runtime,
            &self.on_wait,
            "what the hub serves",
            async move {
                let mut kinds = Vec::new();
                for path in ["/api", "/apis"] {
                    let body = connection.get(path, AGGREGATED).await?;
                    let wanted = Expected::List {
                        group: "apidiscovery.k8s.io",
                        kind: "APIGroupDiscovery",
                    };
                    let groups: ApiGroups = answer::read(&wanted, &body)?;
                    let groups = groups.items.unwrap_or_default();
                    kinds.extend(groups.into_iter().flat_map(kinds_of));
                }
                Ok(kinds)
            },
        )
    }

    /// Objects of any kind, as many answers as questions.
    pub fn objects(&mut self, queries: &[LiveQuery]) -> Vec<LiveAnswer> {
        let connection = self.connection.clone();
        let queries = queries.to_vec();
        let what = "what the placement selects";
        wait(&self.runtime, &self.on_wait, what, async move {
            side_by_side(queries, |query| {
                let connection = connection.clone();
                async move { read(&connection, &query).await }
            })
            .await
        })
    }
}

/// The kinds of a group; of several versions the first is preferred.
fn kinds_of(group: GroupDiscovery) -> Vec<ServedKind> {
    let mut preferred = BTreeSet::new();
    let mut kinds = Vec::new();
    for version in group.versions {
        for resource in version.resources {
            let can = |verb: &str| resource.verbs.iter().any(|it| it == verb);
            if !can("list") || !can("watch") {
                continue;
            }
            kinds.push(ServedKind {
                group: group.metadata.name.clone(),
                version: version.version.clone(),
                kind: resource.response_kind.kind,
                is_namespaced: resource.scope == "Namespaced",
                is_preferred: preferred.insert(resource.resource.clone()),
                plural: resource.resource,
            });
        }
    }
    kinds
}

async fn read(connection: &Connection, query: &LiveQuery) -> LiveAnswer {
    let read = match &query.which {
        Which::Named { .. } => named(connection, query).await,
        Which::All { .. } => listed(connection, query).await,
    };
    match read {
        Ok(objects) => LiveAnswer {
            objects,
            outcome: Outcome::Listed,
        },
        Err(error) => LiveAnswer {
            objects: Vec::new(),
            outcome: outcome(&error),
        },
    }
}

async fn named(connection: &Connection, query: &LiveQuery) -> Result<Vec<Value>, HubError> {
    let (namespace, name) = match &query.which {
        Which::Named { namespace, name } => (namespace.as_str(), name.as_str()),
        Which::All { .. } => ("", ""),
    };
    let wanted = Expected::Object {
        group: &query.kind.group,
        kind: &query.kind.kind,
        namespace,
        name,
    };
    match connection.get(&path(query), JSON).await {
        Ok(body) => Ok(vec![answer::read(&wanted, &body)?]),
        Err(HubError::NotFound(_)) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

async fn listed(connection: &Connection, query: &LiveQuery) -> Result<Vec<Value>, HubError> {
    let path = path(query);
    let kind = &query.kind;
    let wanted = Expected::List {
        group: &kind.group,
        kind: &kind.kind,
    };
    let version = match kind.group.as_str() {
        "" => kind.version.clone(),
        group => format!("{group}/{}", kind.version),
    };
    let deadline = connection.deadline();
    let mut objects = Vec::new();
    let mut next = String::new();
    for _ in 0..PAGES {
        let mut url = path.clone();
        if !next.is_empty() {
            let _ = write!(url, "&continue={}", encode(&next));
        }
        let asking = Asking {
            most: bounds::PAGE,
            deadline,
            ..connection.asking(&url, JSON)
        };
        let body = connection.patiently(&asking).await?.body;
        let page: ObjectPage = answer::read(&wanted, &body)?;
        for mut object in page.items.unwrap_or_default() {
            connection.budget.object()?;
            // The items of a list of a built-in kind do not say what they are.
            if let Some(fields) = object.as_object_mut() {
                let own = page.kind.strip_suffix("List").unwrap_or(&kind.kind);
                fields
                    .entry("apiVersion")
                    .or_insert_with(|| version.clone().into());
                fields.entry("kind").or_insert_with(|| own.into());
                objects.push(object);
            }
        }
        match page.metadata.next.filter(|next| !next.is_empty()) {
            Some(more) => next = more,
            None => return Ok(objects),
        }
    }
    Err(HubError::TooMuch(format!(
        "the list of {} has more than {PAGES} pages",
        kind.plural
    )))
}

fn path(query: &LiveQuery) -> String {
    let resource = Resource {
        group: &query.kind.group,
        version: &query.kind.version,
        plural: &query.kind.plural,
    };
    match &query.which {
        Which::Named { namespace, name } => resource.path(Some(namespace), Some(name)),
        Which::All { namespace, labels } => {
            let mut path = resource.path(namespace.as_deref(), None);
            let _ = write!(path, "?limit={PAGE}");
            if let Some(labels) = labels.as_ref().filter(|labels| !labels.is_empty()) {
                let _ = write!(path, "&labelSelector={}", encode(&labels.describe()));
            }
            path
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{GroupDiscovery, kinds_of, path};
    use crate::kubefleet::selector::LabelSelector;
    use crate::manifests::live::LiveQuery;

    const GROUP: &str = r#"{"metadata": {"name": "apps"}, "versions": [
        {"version": "v1", "resources": [
            {"resource": "deployments", "scope": "Namespaced", "verbs": ["list", "watch"],
             "responseKind": {"kind": "Deployment"}},
            {"resource": "reviews", "scope": "Cluster", "verbs": ["create"]}]},
        {"version": "v1beta1", "resources": [
            {"resource": "deployments", "scope": "Namespaced", "verbs": ["list", "watch"],
             "responseKind": {"kind": "Deployment"}}]}]}"#;

    #[test]
    fn kinds_that_can_be_watched_are_known_by_version() {
        let group: GroupDiscovery = serde_json::from_str(GROUP).unwrap();
        let kinds = kinds_of(group);
        let words: Vec<_> = kinds
            .iter()
            .map(|it| (it.version.as_str(), it.kind.as_str(), it.is_preferred))
            .collect();
        assert_eq!(
            words,
            [("v1", "Deployment", true), ("v1beta1", "Deployment", false)]
        );
        let labels = LabelSelector::parse("app=web").unwrap();
        let query = LiveQuery::with_labels(kinds[0].clone(), "shop", labels);
        assert_eq!(
            path(&query),
            "/apis/apps/v1/namespaces/shop/deployments?limit=500&labelSelector=app%20in%20%28web%29"
        );
        let query = LiveQuery::named(kinds[0].clone(), "shop", "web");
        assert_eq!(
            path(&query),
            "/apis/apps/v1/namespaces/shop/deployments/web"
        );
    }
}
