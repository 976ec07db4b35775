//! Reads: one object, a list, or several of them together.

use std::collections::HashMap;

use serde_json::value::RawValue;

use crate::hub::error::HubError;
use crate::hub::read::batch::BatchedRequest;
use crate::hub::read::found::{ListReader, ReadResult, wanted_object};
use crate::hub::read::served::ServedVersions;
use crate::hub::request::answer;
use crate::hub::request::connection::{Connection, JSON};
use crate::inventory::source::{HubQuery, Outcome, QueryAnswer, QuerySelection};
use crate::kubefleet::path::{parameter, path};

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
            let listing = listing(connection, served, &BatchedRequest::from(query.clone()))?;
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
    let (kind, namespace) = (list.first.kind, list.first.which.namespace());
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
    let mut replies = ReadReplies::default();
    if ask.more.is_empty() {
        let found = read(connection, served, &ask.first, keep_text).await;
        replies.answered.push((ask.first.clone(), found));
        return replies;
    }
    let listing = listing(connection, served, ask).map(|it| it.keeping_text(keep_text));
    let read = match (listing, &ask.first.which) {
        (Err(error), _) => Err(error),
        (Ok(listing), QuerySelection::Named { .. }) => {
            let most = queries.len().saturating_mul(2);
            match listing.up_to(most).await {
                // They are a small part of the kind, or each of them may be allowed.
                Ok(None) | Err(HubError::Forbidden(_)) => {
                    replies.rest = queries;
                    return replies;
                }
                Ok(Some(found)) => Ok(found),
                Err(error) => Err(error),
            }
        }
        (Ok(listing), QuerySelection::All { .. }) => listing.all().await,
    };
    replies.answered = shared_out(queries, read);
    replies
}

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
                QuerySelection::Named { name, .. } => name.as_str(),
                QuerySelection::All { .. } => query.label().map_or("", |(_, value)| value),
            };
            places.insert(word.to_owned(), at);
            (query, ReadResult::default())
        })
        .collect();
    let mut texts = found.texts.into_iter();
    for object in found.objects {
        let text = texts.next();
        let meta = object.body.meta();
        let label = answered.first().and_then(|(query, _)| query.label());
        let word = match label {
            Some((key, _)) => meta.label(key).unwrap_or_default(),
            None => meta.name.as_str(),
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

pub(in crate::hub) fn unanswered(error: &HubError) -> QueryAnswer {
    QueryAnswer::none(outcome(error))
}
