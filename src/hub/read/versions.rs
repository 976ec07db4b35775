//! The versions of objects, of which the hub sends the metadata alone.

use std::collections::HashMap;

use serde::Deserialize;

use crate::hub::error::HubError;
use crate::hub::read::pages::{MANY, PagedList};
use crate::hub::read::served::ServedVersions;
use crate::hub::request::answer::{self, ExpectedAnswer};
use crate::hub::request::connection::Connection;
use crate::inventory::source::{HubQuery, QuerySelection};
use crate::kubefleet::path::path;

/// The object's metadata and nothing else.
const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
/// The same of each object of a list.
const LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const GROUP: &str = "meta.k8s.io";
const KIND: &str = "PartialObjectMetadata";

pub(in crate::hub) type ObjectVersions = HashMap<(String, String), String>;

#[derive(Deserialize)]
struct PartialVersion {
    metadata: VersionMetadata,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct VersionMetadata {
    namespace: String,
    name: String,
    resource_version: Option<String>,
}

pub(in crate::hub) async fn version_of(
    connection: &Connection,
    served: &ServedVersions,
    query: &HubQuery,
) -> Result<Option<String>, HubError> {
    let (Some(version), QuerySelection::Named { namespace, name }) =
        (served.version(query.kind), &query.which)
    else {
        return Ok(None);
    };
    let path = path(query.kind, version, Some(namespace), Some(name));
    let body = connection.get(&path, METADATA).await?;
    let wanted = ExpectedAnswer::Object {
        group: GROUP,
        kind: KIND,
        namespace,
        name,
    };
    let partial: PartialVersion = answer::read(&wanted, &body)?;
    Ok(partial.metadata.resource_version)
}

pub(in crate::hub) async fn versions_of(
    connection: &Connection,
    served: &ServedVersions,
    lists: &[HubQuery],
) -> Result<ObjectVersions, HubError> {
    let mut versions = ObjectVersions::new();
    for query in lists {
        let (Some(version), QuerySelection::All { namespace, .. }) =
            (served.version(query.kind), &query.which)
        else {
            continue;
        };
        let path = path(query.kind, version, namespace.as_deref(), None);
        let wanted = ExpectedAnswer::list(GROUP, KIND);
        let mut pages = PagedList::new(connection, wanted, path, MANY).in_form(LIST);
        let found = pages.all(|text| answer::parse::<PartialVersion>(text.as_bytes()));
        versions.extend(found.await?.into_iter().map(|PartialVersion { metadata }| {
            let version = metadata.resource_version.unwrap_or_default();
            ((metadata.namespace, metadata.name), version)
        }));
    }
    Ok(versions)
}
