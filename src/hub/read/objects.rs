//! Objects of any kind: what the API server serves, and lists of it.

use std::collections::BTreeSet;

use kube::core::discovery::v2::{APIGroupDiscovery, APIGroupDiscoveryList};
use serde_json::{Map, Value};

use crate::hub::error::HubError;
use crate::hub::read::pages::{FEW, PagedList};
use crate::hub::read::served;
use crate::hub::request::answer::{self, ExpectedAnswer};
use crate::hub::request::connection::{Connection, JSON};
use crate::hub::{Hub, members, read::queries, side_by_side};
use crate::kubefleet::kind::api_version;
use crate::kubefleet::path::{Resource, parameter};
use crate::manifests::live::{LiveAnswer, LiveQuery, ServedKind};
use crate::member::MemberGap;
use crate::query::{Outcome, QuerySelection};
use crate::words::{distinct, enumerate};

/// The groups of an API server with their resources, in one answer.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
    application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

/// Reads objects of any kind, from the hub or from a member cluster.
pub struct ObjectReader<'h> {
    hub: &'h Hub,
    connection: Connection,
    outcome: fn(&HubError) -> Outcome,
}

impl Hub {
    /// Objects of any kind on the hub itself.
    pub fn any_objects(&self) -> ObjectReader<'_> {
        self.reader(self.connection.clone(), queries::outcome)
    }

    /// Objects of any kind in the member cluster to which a context leads.
    pub fn member_objects(&self, context: &str) -> Result<ObjectReader<'_>, MemberGap> {
        let Some(members) = &self.members else {
            return Err(MemberGap::NoWay("there is no context for it".to_owned()));
        };
        let connected = members.connect(context);
        let what = "what the member clusters show";
        let connection = self.wait(what, connected)?;
        Ok(self.reader(connection, members::outcome))
    }

    fn reader(
        &self,
        connection: Connection,
        outcome: fn(&HubError) -> Outcome,
    ) -> ObjectReader<'_> {
        ObjectReader {
            hub: self,
            connection,
            outcome,
        }
    }
}

impl ObjectReader<'_> {
    /// Every kind that the cluster serves, and that can be listed and watched.
    pub fn kinds_served(&self) -> Result<Vec<ServedKind>, HubError> {
        let what = "what the cluster serves";
        self.hub.wait(what, async {
            let mut kinds = Vec::new();
            for path in ["/api", "/apis"] {
                let body = self.connection.get(path, AGGREGATED).await?;
                let groups: APIGroupDiscoveryList = answer::read(&served::ALL, &body)?;
                kinds.extend(groups.items.into_iter().flat_map(kinds_of));
            }
            Ok(kinds)
        })
    }

    /// As many answers as questions.
    pub fn answer(&self, queries: &[LiveQuery]) -> Vec<LiveAnswer> {
        let plurals = queries.iter().map(|query| query.kind.plural.as_str());
        let what = enumerate(distinct(plurals));
        let answers = side_by_side(queries.to_vec(), |query| {
            let (connection, outcome) = (self.connection.clone(), self.outcome);
            async move {
                let objects = objects(&connection, &query).await;
                LiveAnswer {
                    outcome: objects.as_ref().err().map_or(Outcome::Listed, outcome),
                    objects: objects.unwrap_or_default(),
                }
            }
        });
        self.hub.wait(&what, answers)
    }
}

/// The kinds of a group; of several versions the first is preferred.
fn kinds_of(group: APIGroupDiscovery) -> Vec<ServedKind> {
    let name = group.metadata.and_then(|it| it.name).unwrap_or_default();
    let mut preferred = BTreeSet::new();
    let mut kinds = Vec::new();
    for served in group.versions {
        let version = served.version.unwrap_or_default();
        for resource in served.resources {
            let can = |verb: &str| resource.verbs.iter().any(|it| it == verb);
            if !can("list") || !can("watch") {
                continue;
            }
            let plural = resource.resource.unwrap_or_default();
            let kind = resource.response_kind.and_then(|it| it.kind);
            kinds.push(ServedKind {
                group: name.clone(),
                version: version.clone(),
                kind: kind.unwrap_or_default(),
                is_namespaced: resource.scope.as_deref() == Some("Namespaced"),
                is_preferred: preferred.insert(plural.clone()),
                plural,
            });
        }
    }
    kinds
}

async fn objects(connection: &Connection, query: &LiveQuery) -> Result<Vec<Value>, HubError> {
    let QuerySelection::Named { namespace, name } = &query.which else {
        return listed(connection, query).await;
    };
    let wanted = ExpectedAnswer::Object {
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
    let wanted = ExpectedAnswer::list(&kind.group, &kind.kind);
    let version = api_version(&kind.group, &kind.version);
    let mut pages = PagedList::new(connection, wanted, path, FEW);
    pages
        .all(|text| {
            connection.budget.object()?;
            // The items of a list of a built-in kind do not say what they are.
            let mut fields: Map<String, Value> = answer::parse(text.as_bytes())?;
            fields
                .entry("apiVersion")
                .or_insert_with(|| version.clone().into());
            fields
                .entry("kind")
                .or_insert_with(|| kind.kind.clone().into());
            Ok(Value::Object(fields))
        })
        .await
}

fn path(query: &LiveQuery) -> String {
    let resource = Resource {
        group: &query.kind.group,
        version: &query.kind.version,
        plural: &query.kind.plural,
    };
    match &query.which {
        QuerySelection::Named { namespace, name } => resource.path(Some(namespace), Some(name)),
        QuerySelection::All { namespace, labels } => {
            let mut path = resource.path(namespace.as_deref(), None);
            if let Some(labels) = labels.as_ref().filter(|labels| !labels.is_empty()) {
                parameter(&mut path, "labelSelector", &labels.describe());
            }
            path
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{kinds_of, path};
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
        let kinds = kinds_of(serde_json::from_str(GROUP).unwrap());
        let words = kinds.iter();
        let words = words.map(|it| (it.version.as_str(), it.kind.as_str(), it.is_preferred));
        let wanted = [("v1", "Deployment", true), ("v1beta1", "Deployment", false)];
        assert!(words.eq(wanted));
        let base = "/apis/apps/v1/namespaces/shop/deployments";
        let labels = LabelSelector::parse("app=web").unwrap();
        let query = LiveQuery::with_labels(kinds[0].clone(), "shop", labels);
        let by_label = format!("{base}?labelSelector=app%20in%20%28web%29");
        assert_eq!(path(&query), by_label);
        let query = LiveQuery::named(kinds[0].clone(), "shop", "web");
        assert_eq!(path(&query), format!("{base}/web"));
    }
}
