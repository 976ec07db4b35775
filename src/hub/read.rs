//! Reads: one object, or a list in pages, object by object.

use serde::Deserialize;
use serde::de::DeserializeSeed;
use serde_json::value::RawValue;

use super::error::HubError;
use super::request::{Connection, JSON};
use super::served::Served;
use crate::inventory::source::{Answer, Outcome, Query, Which};
use crate::kubefleet::object::{DocumentSeed, Object, Parsed};
use crate::kubefleet::path::{encode, path};

/// How many objects a page holds: a fleet of a thousand clusters in one, and some megabytes at most.
const PAGE: usize = 1000;
/// How often a list is begun again because it grew too old while it was read.
const RESTARTS: usize = 2;

/// What a read brought.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub objects: Vec<Object>,
    /// The text of each object, in their order; empty unless asked for.
    pub texts: Vec<Box<RawValue>>,
    /// From where a watch goes on.
    pub resource_version: String,
}

#[derive(Deserialize)]
struct Page<'t> {
    #[serde(default, borrow)]
    items: Option<Vec<&'t RawValue>>,
    #[serde(default)]
    metadata: ListMeta,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct ListMeta {
    #[serde(rename = "continue")]
    next: Option<String>,
    resource_version: Option<String>,
}

/// Reads what a query asks for.
pub(super) async fn read(
    connection: &Connection,
    served: &Served,
    query: &Query,
    keep_text: bool,
) -> Result<Found, HubError> {
    let Some(version) = served.version(query.kind) else {
        return Err(HubError::NotServed(query.kind));
    };
    match &query.which {
        Which::Named { namespace, name } => {
            let path = path(query.kind, version, Some(namespace), Some(name));
            match connection.get(&path, JSON).await {
                Ok(body) => {
                    let mut found = Found::default();
                    let text: &RawValue = parse(&body)?;
                    found.take(text, keep_text)?;
                    Ok(found)
                }
                Err(HubError::NotFound(_)) => Ok(Found::default()),
                Err(error) => Err(error),
            }
        }
        Which::All { namespace, label } => {
            let mut path = path(query.kind, version, namespace.as_deref(), None);
            if let Some((key, value)) = label {
                path.push_str("?labelSelector=");
                path.push_str(&encode(&format!("{key}={value}")));
            }
            list(connection, &path, keep_text).await
        }
    }
}

/// The object's metadata and nothing else.
const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

/// The resource version of the named object.
pub(super) async fn version_of(
    connection: &Connection,
    served: &Served,
    query: &Query,
) -> Result<Option<String>, HubError> {
    #[derive(Deserialize)]
    struct Partial {
        metadata: ListMeta,
    }
    let (Some(version), Which::Named { namespace, name }) =
        (served.version(query.kind), &query.which)
    else {
        return Ok(None);
    };
    let path = path(query.kind, version, Some(namespace), Some(name));
    let body = connection.get(&path, METADATA).await?;
    let partial: Partial = parse(&body)?;
    Ok(partial.metadata.resource_version)
}

/// Reads a list, in pages.
pub(super) async fn list(
    connection: &Connection,
    path: &str,
    keep_text: bool,
) -> Result<Found, HubError> {
    for restart in 0..=RESTARTS {
        // The last try asks for everything at once, which cannot grow too old.
        let page = (restart < RESTARTS).then_some(PAGE);
        match pages(connection, path, page, keep_text).await {
            Err(HubError::Gone) => {}
            other => return other,
        }
    }
    Err(HubError::Gone)
}

async fn pages(
    connection: &Connection,
    path: &str,
    size: Option<usize>,
    keep_text: bool,
) -> Result<Found, HubError> {
    let mut found = Found::default();
    let mut next = String::new();
    loop {
        let mut url = path.to_owned();
        let mut joint = if path.contains('?') { '&' } else { '?' };
        let mut parameter = |text: String| {
            url.push(joint);
            url.push_str(&text);
            joint = '&';
        };
        if let Some(size) = size {
            parameter(format!("limit={size}"));
        }
        if !next.is_empty() {
            parameter(format!("continue={}", encode(&next)));
        }
        let body = connection.get(&url, JSON).await?;
        let page: Page<'_> = parse(&body)?;
        for text in page.items.unwrap_or_default() {
            found.take(text, keep_text)?;
        }
        found.resource_version = page.metadata.resource_version.unwrap_or_default();
        let more = page.metadata.next.unwrap_or_default();
        if more.is_empty() {
            return Ok(found);
        }
        if more == next {
            return Err(HubError::Broken("a list goes round in a circle".to_owned()));
        }
        next = more;
    }
}

fn parse<'t, T: Deserialize<'t>>(body: &'t [u8]) -> Result<T, HubError> {
    serde_json::from_slice(body)
        .map_err(|error| HubError::Broken(format!("it is no JSON: {error}")))
}

impl Found {
    fn take(&mut self, text: &RawValue, keep_text: bool) -> Result<(), HubError> {
        let objects = parse_object(text)?;
        if keep_text && objects.is_some() {
            self.texts.push(text.to_owned());
        }
        self.objects.extend(objects);
        Ok(())
    }
}

/// Reads one object; none when it is of a kind that the walk does not read.
pub(super) fn parse_object(text: &RawValue) -> Result<Option<Object>, HubError> {
    let mut parsed = Parsed::default();
    let mut reader = serde_json::Deserializer::from_str(text.get());
    DocumentSeed::new(&mut parsed)
        .deserialize(&mut reader)
        .map_err(|error| HubError::Broken(format!("an object cannot be read: {error}")))?;
    Ok(parsed.objects.pop())
}

/// What a failed read means to the walk.
pub(super) fn outcome(error: &HubError) -> Outcome {
    match error {
        HubError::Forbidden(words) => Outcome::Denied(words.clone()),
        HubError::NotServed(_) | HubError::NotRouted(_) => Outcome::NotInstalled,
        other => Outcome::Failed(other.to_string()),
    }
}

/// The answer to a read that failed.
pub(super) fn unanswered(error: &HubError) -> Answer {
    Answer {
        objects: Vec::new(),
        outcome: outcome(error),
    }
}
