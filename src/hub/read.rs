//! Reads: one object, a list, or several of them together.

use std::collections::HashMap;

use serde_json::value::RawValue;

use super::answer;
use super::batch::Ask;
use super::error::HubError;
use super::found::{Found, ListReader, wanted_object};
use super::request::{Connection, JSON};
use super::served::Served;
use crate::inventory::source::{Answer, HubQuery, Labels, Outcome, Which};
use crate::kubefleet::path::{parameter, path};

/// Reads what a query asks for.
pub(super) async fn read(
    connection: &Connection,
    served: &Served,
    query: &HubQuery,
    keep_text: bool,
) -> Result<Found, HubError> {
    match &query.which {
        Which::Named { namespace, name } => {
            let version = served.version(query.kind);
            let version = version.ok_or(HubError::NotServed(query.kind))?;
            let path = path(query.kind, version, Some(namespace), Some(name));
            match connection.get(&path, JSON).await {
                Ok(body) => {
                    let wanted = wanted_object(query.kind, namespace, name);
                    let mut found = Found::default();
                    let text: &RawValue = answer::read(&wanted, &body)?;
                    found.take(connection, query.kind, text.get(), keep_text)?;
                    Ok(found)
                }
                Err(HubError::NotFound(_)) => Ok(Found::default()),
                Err(error) => Err(error),
            }
        }
        Which::All { .. } => {
            let listing = listing(connection, served, &Ask::One(query.clone()))?;
            listing.keeping_text(keep_text).all().await
        }
    }
}

/// A list, of which nothing is read yet.
pub(super) fn listing(
    connection: &Connection,
    served: &Served,
    list: &Ask,
) -> Result<ListReader, HubError> {
    let (kind, namespace) = match list {
        Ask::One(HubQuery { kind, which }) => match which {
            Which::All { namespace, .. } => (*kind, namespace.as_deref()),
            Which::Named { namespace, .. } => (*kind, Some(namespace.as_str())),
        },
        Ask::Any {
            kind, namespace, ..
        }
        | Ask::Names {
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
pub(super) struct Replies {
    pub answered: Vec<(HubQuery, Result<Found, HubError>)>,
    pub rest: Vec<HubQuery>,
}

pub(super) async fn ask(
    connection: &Connection,
    served: &Served,
    ask: &Ask,
    keep_text: bool,
) -> Replies {
    let queries = ask.queries();
    let read = match ask {
        Ask::One(query) => {
            let found = read(connection, served, query, keep_text).await;
            return Replies {
                answered: vec![(query.clone(), found)],
                rest: Vec::new(),
            };
        }
        Ask::Any { .. } => match listing(connection, served, ask) {
            Ok(listing) => listing.keeping_text(keep_text).all().await,
            Err(error) => Err(error),
        },
        Ask::Names { .. } => match names(connection, served, ask, keep_text).await {
            // Each of them may be allowed, or soon read.
            Ok(None) | Err(HubError::Forbidden(_)) => {
                return Replies {
                    answered: Vec::new(),
                    rest: queries,
                };
            }
            Ok(Some(found)) => Ok(found),
            Err(error) => Err(error),
        },
    };
    Replies {
        answered: shared_out(queries, read),
        rest: Vec::new(),
    }
}

/// All objects of a kind; `None` where those that are wanted are a small part of them.
async fn names(
    connection: &Connection,
    served: &Served,
    ask: &Ask,
    keep_text: bool,
) -> Result<Option<Found>, HubError> {
    let most = ask.queries().len().saturating_mul(2);
    let listing = listing(connection, served, ask)?;
    listing.keeping_text(keep_text).up_to(most).await
}

/// Gives each question its objects.
fn shared_out(
    queries: Vec<HubQuery>,
    read: Result<Found, HubError>,
) -> Vec<(HubQuery, Result<Found, HubError>)> {
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
                Which::Named { name, .. } => name.clone(),
                Which::All {
                    labels: Some(Labels::Is(_, value)),
                    ..
                } => value.clone(),
                Which::All { .. } => String::new(),
            };
            places.insert(word, at);
            (query, Found::default())
        })
        .collect();
    let mut texts = found.texts.into_iter();
    for object in found.objects {
        let text = texts.next();
        let meta = object.body.meta();
        let word = match answered.first().map(|(query, _)| &query.which) {
            Some(Which::All {
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
