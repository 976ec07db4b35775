//! What a server's refusal of a write means, in the user's words.

use crate::change::guard::{self, UnseenRead};
use crate::change::{Change, WriteAction};
use crate::commands::about::permissions;
use crate::commands::gather::reading::SourceReading;
use crate::error::Error;
use crate::exit::Exit;
use crate::hub::HubError;
use crate::inventory::source::{HubQuery, NOT_SERVED, Outcome};
use crate::kubefleet::object::ObjectBody;
use crate::kubefleet::{Concept, Kind, Scope};
use crate::words::{CommandLine, Hint};

/// Explains why the server refused a change: nothing was changed by it.
pub fn explain(change: &Change, error: &HubError, reading: &mut SourceReading) -> Error {
    let object = &change.object;
    let would = &change.would;
    let nothing = reading.record.nothing("changed");
    match error {
        HubError::Forbidden(words) if is_of_admission(words) => {
            in_its_words(change, error, &nothing)
        }
        HubError::Forbidden(words) => forbidden(change, words, &nothing),
        HubError::NotFound(words) if matches!(change.act, WriteAction::Create { .. }) => {
            Error::not_found(format!("could not {would}: {words}; {nothing}"))
        }
        HubError::NotFound(_) => {
            Error::not_found(if matches!(change.act, WriteAction::Delete { .. }) {
                format!("could not {would}: it no longer exists")
            } else {
                format!("could not {would}: it no longer exists; {nothing}")
            })
        }
        HubError::Refused {
            code: 409, reason, ..
        } if reason == "AlreadyExists" => Error::failed(format!(
            "could not {would}: {object} already exists; {nothing}"
        ))
        .hint(
            "run the same command again: it continues with that run if it is the same; or choose another name, \
             with rollback by --name",
        ),
        HubError::Refused {
            code: 409 | 422, ..
        } if !matches!(change.act, WriteAction::Create { .. }) => {
            changed(change, reading).unwrap_or_else(|| in_its_words(change, error, &nothing))
        }
        HubError::Refused { .. } => in_its_words(change, error, &nothing),
        _ => {
            let plain: Error = error.clone().into();
            Error {
                message: format!("could not {would}: {error}; {nothing}"),
                ..plain
            }
        }
    }
}

/// Whether an admission plugin answers, such as a quota or a namespace that goes, and no lack of rights.
/// Source: apiserver/pkg/endpoints/handlers/responsewriters/errors.go:Forbidden.
fn is_of_admission(words: &str) -> bool {
    words.contains(" is forbidden: ") && !words.contains(" cannot ")
}

fn in_its_words(change: &Change, error: &HubError, nothing: &str) -> Error {
    let (words, code) = match error {
        HubError::Refused { message, code, .. } => (plain(message), *code),
        HubError::Forbidden(words) => (plain(words), 403),
        other => (other.to_string(), 0),
    };
    let refused = Error::failed(format!(
        "the hub refused to {}: {words}; {nothing}",
        change.would
    ));
    match code {
        429 => refused.hint("the hub is busy; try again later"),
        409 => refused.hint(
            Hint::new("it changed in the meantime; check it, then try again:")
                .command(change.look()),
        ),
        _ if words.contains("because it is being terminated") => {
            refused.hint("all that is in the namespace goes with it; use it again once it is gone")
        }
        _ => refused,
    }
}

fn forbidden(change: &Change, words: &str, nothing: &str) -> Error {
    let object = &change.object;
    let (verb, subresource) = match change.act {
        WriteAction::Create { .. } => ("create", None),
        WriteAction::SetState { .. } => ("patch", None),
        WriteAction::Approve { .. } => ("patch", Some("status")),
        WriteAction::Delete { .. } => ("delete", None),
    };
    let role = match change.act {
        WriteAction::Approve { .. } => "approver",
        _ => "operator",
    };
    Error::new(
        Exit::Incomplete,
        format!("could not {}: forbidden: {words}; {nothing}", change.would),
    )
    .hint(grant(
        [object.can_i(verb)],
        subresource,
        role,
        &object.scope(),
    ))
}

/// How a permission is asked for, and the role that grants it.
pub fn grant(
    asks: impl IntoIterator<Item = CommandLine>,
    subresource: Option<&str>,
    role: &str,
    scope: &Scope,
) -> Hint {
    let asks = asks.into_iter().map(|ask| match subresource {
        Some(subresource) => ask.joined("--subresource", subresource),
        None => ask,
    });
    Hint::new("check your permission:")
        .commands(asks)
        .text("print a role that grants it:")
        .command(scope.fleet("doctor").flag("--rbac", role))
}

/// That reads are missing without which a write is not safe: which, why, and what to do.
pub fn unseen(reads: &[UnseenRead], scope: &Scope, reading: &SourceReading) -> Error {
    let told: Vec<_> = reads.iter().map(missing).collect();
    let nothing = reading.record.nothing("sent");
    let role = permissions::ALL
        .iter()
        .find(|needs| needs.command == reading.command())
        .map_or(permissions::Role::Operator, |needs| needs.role);
    let mut hints: Vec<Hint> = Vec::new();
    let mut asks = Vec::new();
    for read in reads {
        let hint = match read.outcome {
            Outcome::Denied(_) => {
                let ask = read.kind.can_i(verb_of(read.kind));
                asks.push(if read.kind.is_namespaced() {
                    ask.namespace(scope.namespace())
                } else {
                    ask
                });
                continue;
            }
            Outcome::NotServed => {
                Hint::new("see what the hub serves:").command(scope.fleet("doctor"))
            }
            _ => Hint::new("try again, with a longer --request-timeout if needed"),
        };
        if !hints.contains(&hint) {
            hints.push(hint);
        }
    }
    if !asks.is_empty() {
        hints.insert(0, grant(asks, None, role.as_str(), scope));
    }
    let flags = guard::flags(reads).join(" and ");
    hints.push(Hint::new(format!("or accept the risk with {flags}")));
    let hint = hints.into_iter().reduce(Hint::and);
    Error {
        hint,
        exit: Exit::Incomplete,
        ..Error::failed(format!("{}; {nothing}", told.join("; ")))
    }
}

fn missing(read: &UnseenRead) -> String {
    let unknown: Vec<_> = read.guards.iter().map(|guard| guard.finds_out()).collect();
    format!(
        "{} cannot be read ({}): {} is unknown",
        read.kind,
        describe_outcome(&read.outcome),
        unknown.join(", and ")
    )
}

fn describe_outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Failed(why) => why.clone(),
        Outcome::NotServed => NOT_SERVED.to_owned(),
        other => other.gap().unwrap_or_default(),
    }
}

/// By which verb a kind is read before a write.
const fn verb_of(kind: Kind) -> &'static str {
    match kind.concept() {
        Concept::Placement | Concept::Strategy => "get",
        _ => "list",
    }
}

/// That the object is not what was shown any more, when that is so.
fn changed(change: &Change, reading: &mut SourceReading) -> Option<Error> {
    let object = &change.object;
    let query = HubQuery::object(object);
    let answer = reading.hub()?.read_back(&query);
    if answer.outcome != Outcome::Listed {
        return None;
    }
    let would = &change.would;
    let now = answer.objects.first();
    let what = match now.map(|now| &now.body) {
        None => format!("{object} no longer exists"),
        Some(body) if body.meta().uid != shown_uid(change) => {
            format!("{object} was replaced by another object with the same name since it was shown")
        }
        Some(body) => match (&change.act, body) {
            (WriteAction::SetState { from, .. }, ObjectBody::Run(run))
                if run.spec.state != *from =>
            {
                format!(
                    "its state was {} when it was shown and is now {}",
                    from.as_deref().unwrap_or("not set"),
                    run.spec.state.as_deref().unwrap_or("not set"),
                )
            }
            (
                WriteAction::Approve {
                    resource_version, ..
                },
                ObjectBody::Approval(request),
            ) if request.meta.resource_version != *resource_version => {
                if request.counts() || request.is_accepted() {
                    format!("{object} was approved by someone else in the meantime")
                } else {
                    format!("{object} changed since it was shown")
                }
            }
            (
                WriteAction::Delete {
                    resource_version: Some(shown),
                    ..
                },
                body,
            ) if body.meta().resource_version != *shown => {
                format!("{object} changed since it was shown")
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
        Error::new(
            exit,
            format!("did not {would}: {what}; nothing was sent again"),
        )
        .hint(Hint::new("check it, then decide again:").command(change.look())),
    )
}

fn shown_uid(change: &Change) -> &str {
    match &change.act {
        WriteAction::SetState { uid, .. }
        | WriteAction::Approve { uid, .. }
        | WriteAction::Delete { uid, .. } => uid,
        WriteAction::Create { .. } => "",
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
    use super::{is_of_admission, plain};

    #[test]
    fn the_servers_frame_is_left_out() {
        let objection =
            "admission webhook \"guard.example\" denied the request: freeze until Monday";
        for (message, words) in [
            (objection, objection),
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
                "X \"x\" is invalid: [spec: Invalid value: \"object\": a is immutable, \
                 metadata.name: Invalid value: \"x\": too long]",
                "spec: a is immutable, metadata.name: \"x\": too long",
            ),
        ] {
            assert_eq!(plain(message), words);
        }
    }

    #[test]
    fn a_lack_of_rights_is_told_from_an_objection() {
        let run = "stagedupdateruns.placement.kubernetes-fleet.io \"t-2\" is forbidden: ";
        let goes = "unable to create new content in namespace te because it is being terminated";
        let quota = "exceeded quota: runs, requested: count/stagedupdateruns=1";
        let rights = "User \"ci\" cannot create resource \"stagedupdateruns\" in API group";
        for (why, wanted) in [(goes, true), (quota, true), (rights, false)] {
            assert_eq!(is_of_admission(&format!("{run}{why}")), wanted, "{why}");
        }
        assert!(!is_of_admission("blocked by the proxy"));
    }
}
