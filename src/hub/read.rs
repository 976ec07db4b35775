//! Reads: one object, or a list in pages, object by object.

use serde::Deserialize;
use serde::de::DeserializeSeed;
use serde_json::value::RawValue;

use super::answer::{self, Expected, Items};
use super::bounds::{self, OBJECT, PAGES, too_large_an_object};
use super::error::HubError;
use super::request::{Asking, Connection, JSON};
use super::served::Served;
use crate::inventory::source::{Answer, Outcome, Query, Which};
use crate::kubefleet::Kind;
use crate::kubefleet::object::{DocumentSeed, Object, Parsed};
use crate::kubefleet::path::{encode, path};

/// How many objects a page holds: a fleet of a thousand clusters in one, and some megabytes as a
/// rule. Of larger objects fewer are asked for.
const SIZES: [usize; 3] = [1000, 100, 10];
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

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Page<'t> {
    api_version: String,
    kind: String,
    #[serde(borrow)]
    items: Items<'t>,
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
                    let wanted = wanted_object(query.kind, namespace, name);
                    let mut found = Found::default();
                    let text: &RawValue = answer::read(&wanted, &body)?;
                    found.take(connection, query.kind, text, keep_text)?;
                    Ok(found)
                }
                Err(HubError::NotFound(_)) => Ok(Found::default()),
                Err(error) => Err(error),
            }
        }
        Which::All { namespace, labels } => {
            let mut path = path(query.kind, version, namespace.as_deref(), None);
            if let Some((key, value)) = labels {
                path.push_str("?labelSelector=");
                path.push_str(&encode(&format!("{key}={value}")));
            }
            list(connection, query.kind, &path, keep_text).await
        }
    }
}

/// The named object of a kind.
pub(super) fn wanted_object<'w>(kind: Kind, namespace: &'w str, name: &'w str) -> Expected<'w> {
    Expected::Object {
        group: kind.group(),
        kind: kind.name(),
        namespace,
        name,
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
    let wanted = Expected::Object {
        group: "meta.k8s.io",
        kind: "PartialObjectMetadata",
        namespace,
        name,
    };
    let partial: Partial = answer::read(&wanted, &body)?;
    Ok(partial.metadata.resource_version)
}

/// Reads a list, in pages, all of them within the time limit of one read.
pub(super) async fn list(
    connection: &Connection,
    kind: Kind,
    path: &str,
    keep_text: bool,
) -> Result<Found, HubError> {
    let mut asking = connection.asking(path, JSON);
    asking.most = bounds::PAGE;
    for restart in 0..=RESTARTS {
        // The last try asks for everything at once, which cannot grow too old.
        let sizes = if restart < RESTARTS { &SIZES[..] } else { &[] };
        match pages(connection, kind, &asking, sizes, keep_text).await {
            Err(HubError::Gone) => {}
            other => return other,
        }
    }
    Err(HubError::Gone)
}

async fn pages(
    connection: &Connection,
    kind: Kind,
    list: &Asking<'_>,
    sizes: &[usize],
    keep_text: bool,
) -> Result<Found, HubError> {
    let wanted = Expected::List {
        group: kind.group(),
        kind: kind.name(),
    };
    let mut found = Found::default();
    let mut next = String::new();
    let mut sizes = sizes.iter().peekable();
    for _ in 0..PAGES {
        let url = page_path(list.path, sizes.peek().copied(), &next);
        let asking = Asking {
            path: &url,
            ..list.clone()
        };
        let body = match connection.patiently(&asking).await {
            Ok(answer) => answer.body,
            // Its objects are large: fewer at a time.
            Err(HubError::TooLarge(_)) if sizes.next().is_some() && sizes.peek().is_some() => {
                continue;
            }
            Err(error) => return Err(error),
        };
        let page = page(&wanted, &body)?;
        for text in page.items.there()? {
            found.take(connection, kind, text, keep_text)?;
        }
        // No watch could go on from here.
        found.resource_version = page.metadata.resource_version.unwrap_or_default();
        if found.resource_version.is_empty() {
            return Err(HubError::Broken("a list without a version".to_owned()));
        }
        let more = page.metadata.next.unwrap_or_default();
        if more.is_empty() {
            return Ok(found);
        }
        if more == next {
            return Err(HubError::Broken("a list that never ends".to_owned()));
        }
        next = more;
    }
    Err(HubError::TooMuch(format!(
        "the list of {} has more than {PAGES} pages",
        kind.plural()
    )))
}

/// The page of a list that is asked for next.
fn page_path(path: &str, size: Option<&usize>, next: &str) -> String {
    let mut parameters = Vec::new();
    parameters.extend(size.map(|size| format!("limit={size}")));
    if !next.is_empty() {
        parameters.push(format!("continue={}", encode(next)));
    }
    if parameters.is_empty() {
        return path.to_owned();
    }
    let joint = if path.contains('?') { '&' } else { '?' };
    format!("{path}{joint}{}", parameters.join("&"))
}

/// Reads a page, which is to be one of this list.
fn page<'b>(wanted: &Expected<'_>, body: &'b [u8]) -> Result<Page<'b>, HubError> {
    match serde_json::from_slice::<Page<'b>>(body) {
        Ok(page) if answer::is_list_of(wanted, &page.api_version, &page.kind) => Ok(page),
        _ => Err(answer::wrong(wanted, body)),
    }
}

impl Found {
    fn take(
        &mut self,
        connection: &Connection,
        kind: Kind,
        text: &RawValue,
        keep_text: bool,
    ) -> Result<(), HubError> {
        connection.budget.object()?;
        self.objects.push(parse_object(kind, text)?);
        if keep_text {
            self.texts.push(text.to_owned());
        }
        Ok(())
    }
}

/// Reads one object of a kind.
pub(super) fn parse_object(kind: Kind, text: &RawValue) -> Result<Object, HubError> {
    if text.get().len() > OBJECT {
        return Err(too_large_an_object());
    }
    let mut parsed = Parsed::default();
    let mut reader = serde_json::Deserializer::from_str(text.get());
    DocumentSeed::new(&mut parsed)
        .deserialize(&mut reader)
        .map_err(|error| HubError::Broken(format!("an object cannot be read: {error}")))?;
    let object = parsed.objects.pop().filter(|object| {
        object.kind == kind && !object.body.meta().name.is_empty() && parsed.objects.is_empty()
    });
    object.ok_or_else(|| {
        let wanted = wanted_object(kind, "", "");
        answer::wrong(&wanted, text.get().as_bytes())
    })
}

/// What a failed read means to the walk.
pub(super) fn outcome(error: &HubError) -> Outcome {
    match error {
        HubError::Forbidden(words) => Outcome::Denied(words.clone()),
        HubError::NotServed(_) | HubError::NotRouted(_) => Outcome::NotServed,
        other => Outcome::Failed(other.to_string()),
    }
}

/// The answer to a read that failed.
pub(super) fn unanswered(error: &HubError) -> Answer {
    Answer::none(outcome(error))
}
