//! What a server's refusal of a write means, in the user's words.

use super::reading::Reading;
use crate::change::{Act, Change};
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::HubError;
use crate::inventory::source::{Outcome, Query};
use crate::kubefleet::object::Body;
use crate::words::Hint;

/// Explains why the server refused a change: nothing was changed by it.
pub(super) fn explain(change: &Change, error: &HubError, reading: &mut Reading) -> Error {
    let object = &change.object;
    let would = &change.would;
    match error {
        HubError::Forbidden(words) => forbidden(change, words),
        HubError::NotFound(words) if matches!(change.act, Act::Create { .. }) => {
            Error::not_found(format!("could not {would}: {words}; nothing was changed"))
        }
        HubError::NotFound(_) => Error::not_found(format!(
            "could not {would}: it does not exist any more; nothing was changed"
        )),
        HubError::Refused {
            code: 409, reason, ..
        } if reason == "AlreadyExists" => Error::failed(format!(
            "could not {would}: {object} exists already; nothing was changed"
        ))
        .hint("another name, or --name, makes another run"),
        HubError::Refused {
            code: 409 | 422, ..
        } if !matches!(change.act, Act::Create { .. }) => {
            changed(change, reading).unwrap_or_else(|| in_its_words(change, error))
        }
        HubError::Refused { .. } => in_its_words(change, error),
        _ => {
            let plain: Error = error.clone().into();
            Error {
                message: format!("could not {would}: {error}; nothing was changed"),
                ..plain
            }
        }
    }
}

fn in_its_words(change: &Change, error: &HubError) -> Error {
    let (words, code) = match error {
        HubError::Refused { message, code, .. } => (plain(message), *code),
        other => (other.to_string(), 0),
    };
    let refused = Error::failed(format!(
        "the hub refused to {}: {words}; nothing was changed",
        change.would
    ));
    match code {
        429 => refused.hint("the hub is busy; try again in a while"),
        409 => refused.hint(
            Hint::new("it was changed in between; look, then try again:").command(change.look()),
        ),
        _ => refused,
    }
}

fn forbidden(change: &Change, words: &str) -> Error {
    let object = &change.object;
    let (verb, subresource) = match change.act {
        Act::Create { .. } => ("create", None),
        Act::SetState { .. } => ("patch", None),
        Act::Approve { .. } => ("patch", Some("status")),
        Act::Delete { .. } => ("delete", None),
    };
    let role = match change.act {
        Act::Approve { .. } => "approver",
        _ => "operator",
    };
    let ask = object.can_i(verb);
    Error {
        exit: Exit::Incomplete,
        ..Error::failed(format!(
            "could not {}: forbidden: {words}; nothing was changed",
            change.would
        ))
    }
    .hint(
        Hint::new("ask with:")
            .command(match subresource {
                Some(subresource) => ask.joined("--subresource", subresource),
                None => ask,
            })
            .text("a role that grants it:")
            .command(object.scope().fleet("doctor").flag("--rbac", role)),
    )
}

/// That the object is not what was shown any more, when that is so.
fn changed(change: &Change, reading: &mut Reading) -> Option<Error> {
    let object = &change.object;
    let query = Query::named(object.kind, &object.namespace, &object.name);
    let answer = reading.hub()?.read_back(&query);
    if answer.outcome != Outcome::Listed {
        return None;
    }
    let would = &change.would;
    let now = answer.objects.first();
    let what = match now.map(|now| &now.body) {
        None => format!("{object} does not exist any more"),
        Some(body) if body.meta().uid != shown_uid(change) => {
            format!("{object} was replaced by another of its name since it was shown")
        }
        Some(body) => match (&change.act, body) {
            (Act::SetState { from, .. }, Body::Run(run)) if run.spec.state != *from => format!(
                "its state was {} when it was shown and is {} now",
                from.as_deref().unwrap_or("not set"),
                run.spec.state.as_deref().unwrap_or("not set"),
            ),
            (
                Act::Approve {
                    resource_version, ..
                },
                Body::Approval(request),
            ) if request.meta.resource_version != *resource_version => {
                if request.counts() || request.is_accepted() {
                    format!("{object} was approved by someone else meanwhile")
                } else {
                    format!("{object} was changed since it was shown")
                }
            }
            (
                Act::Delete {
                    resource_version: Some(shown),
                    ..
                },
                body,
            ) if body.meta().resource_version != *shown => {
                format!("{object} was changed since it was shown")
            }
            _ => return None,
        },
    };
    let exit = if now.is_none() {
        Exit::NotFound
    } else {
        Exit::Error
    };
    Some(
        Error {
            exit,
            ..Error::failed(format!("did not {would}: {what}; nothing was sent again"))
        }
        .hint(Hint::new("look, then decide anew:").command(change.look())),
    )
}

fn shown_uid(change: &Change) -> &str {
    match &change.act {
        Act::SetState { uid, .. } | Act::Approve { uid, .. } | Act::Delete { uid, .. } => uid,
        Act::Create { .. } => "",
    }
}

/// The words of an admission or schema error without the server's frame: what follows
/// `is invalid:`, and of each complaint the path and what is wrong.
fn plain(message: &str) -> String {
    let (frame, rest) = message.split_once(" is invalid: ").unwrap_or(("", message));
    let rest = if frame.is_empty() { message } else { rest };
    let rest = rest.trim_start_matches('[').trim_end_matches(']');
    let mut text = String::new();
    let mut left = rest;
    while let Some((before, after)) = left.split_once("Invalid value: ") {
        text.push_str(before);
        left = after.split_once(": ").map_or("", |(value, words)| {
            // The value may be long, and the reader knows it; `object` says nothing at all.
            if !value.starts_with("\"object\"") && value.len() < 80 {
                text.push_str(value);
                text.push_str(": ");
            }
            words
        });
    }
    text.push_str(left);
    text
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn the_servers_frame_is_left_out() {
        for (message, words) in [
            (
                "ClusterStagedUpdateRun.placement.kubernetes-fleet.io \"x\" is invalid: spec: \
                 Invalid value: \"object\": invalid state transition: cannot transition from \
                 Initialize to Stop",
                "spec: invalid state transition: cannot transition from Initialize to Stop",
            ),
            (
                "X \"x\" is invalid: spec.state: Unsupported value: \"Go\": supported values: \
                 \"Initialize\", \"Run\", \"Stop\"",
                "spec.state: Unsupported value: \"Go\": supported values: \"Initialize\", \
                 \"Run\", \"Stop\"",
            ),
            (
                "admission webhook \"guard.example\" denied the request: freeze until Monday",
                "admission webhook \"guard.example\" denied the request: freeze until Monday",
            ),
            (
                "X \"x\" is invalid: [spec: Invalid value: \"object\": a is immutable, \
                 metadata.name: Invalid value: \"x\": too long]",
                "spec: a is immutable, metadata.name: \"x\": too long",
            ),
        ] {
            assert_eq!(plain(message), words);
        }
    }
}
