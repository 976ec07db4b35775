//! Reads: one object, a list, or several of them together.

use std::collections::HashMap;

use serde_json::value::RawValue;

use crate::hub::error::HubError;
use crate::hub::read::batch::BatchedRequest;
use crate::hub::read::found::{ListReader, ReadResult, wanted_object};
use crate::hub::read::served::ServedVersions;
use crate::hub::request::answer;
use crate::hub::request::connection::{Connection, JSON};
use crate::inventory::source::{HubQuery, Labels, Outcome, QueryAnswer, QuerySelection};
use crate::kubefleet::path::{parameter, path};

/// Reads what a query asks for.
pub(in crate::hub) async fn read(
    connection: &Connection,
    served: &ServedVersions,
    query: &HubQuery,
    keep_text: bool,
) -> Result<ReadResult, HubError> {
    match &query.which {
        QuerySelection::Named { namespace, name } => {
            let version = served.version(query.kind);
            let version = version.ok_or(HubError::NotServed(query.kind))?;
            let path = path(query.kind, version, Some(namespace), Some(name));
            match connection.get(&path, JSON).await {
                Ok(body) => {
                    let wanted = wanted_object(query.kind, namespace, name);
                    let mut found = ReadResult::default();
                    let text: &RawValue = answer::read(&wanted, &body)?;
                    found.take(connection, query.kind, text.get(), keep_text)?;
                    Ok(found)
                }
                Err(HubError::NotFound(_)) => Ok(ReadResult::default()),
                Err(error) => Err(error),
            }
        }
        QuerySelection::All { .. } => {
            let listing = listing(connection, served, &BatchedRequest::One(query.clone()))?;
            listing.keeping_text(keep_text).all().await
        }
    }
}

/// A list, of which nothing is read yet.
pub(in crate::hub) fn listing(
    connection: &Connection,
    served: &ServedVersions,
    list: &BatchedRequest,
) -> Result<ListReader, HubError> {
    let (kind, namespace) = match list {
        BatchedRequest::One(HubQuery { kind, which }) => (*kind, which.namespace()),
        BatchedRequest::Any {
            kind, namespace, ..
        }
        | BatchedRequest::Names {
            kind, namespace, ..
        } => (*kind, Some(namespace.as_str())),
    };
    let version = served.version(kind).ok_or(HubError::NotServed(kind))?;
    let mut path = path(kind, version, namespace, None);
    if let Some(selector) = list.selector() {
        parameter(&mut path, "labelSelector", &selector);
    }
    Ok(ListReader::new(connection, kind, path))
}

/// The answers to what was asked for together, and the questions that are left.
#[derive(Default)]
pub(in crate::hub) struct ReadReplies {
    pub answered: Vec<(HubQuery, Result<ReadResult, HubError>)>,
    pub rest: Vec<HubQuery>,
}

pub(in crate::hub) async fn ask(
    connection: &Connection,
    served: &ServedVersions,
    ask: &BatchedRequest,
    keep_text: bool,
) -> ReadReplies {
    let queries = ask.queries();
    let read = match ask {
        BatchedRequest::One(query) => {
            let found = read(connection, served, query, keep_text).await;
            return ReadReplies {
                answered: vec![(query.clone(), found)],
                rest: Vec::new(),
            };
        }
        BatchedRequest::Any { .. } => match listing(connection, served, ask) {
            Ok(listing) => listing.keeping_text(keep_text).all().await,
            Err(error) => Err(error),
        },
        BatchedRequest::Names { .. } => match names(connection, served, ask, keep_text).await {
            // Each of them may be allowed, or soon read.
            Ok(None) | Err(HubError::Forbidden(_)) => {
                return ReadReplies {
                    answered: Vec::new(),
                    rest: queries,
                };
            }
            Ok(Some(found)) => Ok(found),
            Err(error) => Err(error),
        },
    };
    ReadReplies {
        answered: shared_out(queries, read),
        rest: Vec::new(),
    }
}

/// All objects of a kind; `None` where those that are wanted are a small part of them.
async fn names(
    connection: &Connection,
    served: &ServedVersions,
    ask: &BatchedRequest,
    keep_text: bool,
) -> Result<Option<ReadResult>, HubError> {
    let most = ask.queries().len().saturating_mul(2);
    let listing = listing(connection, served, ask)?;
    listing.keeping_text(keep_text).up_to(most).await
}

/// Gives each question its objects.
fn shared_out(
    queries: Vec<HubQuery>,
    read: Result<ReadResult, HubError>,
) -> Vec<(HubQuery, Result<ReadResult, HubError>)> {
    let found = match read {
        Ok(found) => found,
        Err(error) => {
            let failed = |query| (query, Err(error.clone()));
            return queries.into_iter().map(failed).collect();
        }
    };
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut answered: Vec<_> = queries
        .into_iter()
        .enumerate()
        .map(|(at, query)| {
            let word = match &query.which {
                QuerySelection::Named { name, .. } => name.clone(),
                QuerySelection::All {
                    labels: Some(Labels::Is(_, value)),
                    ..
                } => value.clone(),
                QuerySelection::All { .. } => String::new(),
            };
            places.insert(word, at);
            (query, ReadResult::default())
        })
        .collect();
    let mut texts = found.texts.into_iter();
    for object in found.objects {
        let text = texts.next();
        let meta = object.body.meta();
        let word = match answered.first().map(|(query, _)| &query.which) {
            Some(QuerySelection::All {
                labels: Some(Labels::Is(key, _)),
                ..
            }) => meta.label(key).unwrap_or_default(),
            _ => meta.name.as_str(),
        };
        if let Some((_, own)) = places.get(word).and_then(|at| answered.get_mut(*at)) {
            own.objects.push(object);
            own.texts.extend(text);
        }
    }
    let done = |(query, found)| (query, Ok(found));
    answered.into_iter().map(done).collect()
}

/// What a failed read means to the walk.
pub(in crate::hub) fn outcome(error: &HubError) -> Outcome {
    match error {
        HubError::Forbidden(words) => Outcome::Denied(words.clone()),
        HubError::NotServed(_) | HubError::NotRouted(_) => Outcome::NotServed,
        other => Outcome::Failed(other.to_string()),
    }
}

/// The answer to a read that failed.
pub(in crate::hub) fn unanswered(error: &HubError) -> QueryAnswer {
    QueryAnswer::none(outcome(error))
}
