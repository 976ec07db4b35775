//! Errors of an API server that KubeFleet passes on inside its own texts.

use super::manifest_problem::ManifestProblem;
use super::pattern::{PatternCaptures, capture, capture_within, contains};

type ReadProblem = fn(&PatternCaptures<'_>, &str) -> ManifestProblem;

/// The wordings that occur anywhere in a text; the more telling ones come first, since they contain the others.
/// `Other` contains words of another problem, and is not that one: a conversion that its webhook refuses, a full
/// database, or an object whose name is taken, because one of that name is still being deleted.
#[rustfmt::skip]
const WORDINGS: &[(&str, ReadProblem)] = &[
    ("failed calling webhook \"{}\"", |c, _| ManifestProblem::WebhookUnreachable { webhook: format!("admission webhook {}", c.text(0)) }),
    ("conversion webhook for {} failed: Post ", |c, _| ManifestProblem::WebhookUnreachable { webhook: format!("conversion webhook for {}", c.text(0)) }),
    ("conversion webhook for {} failed: ", |_, text| ManifestProblem::Other { text: text.to_owned() }),
    ("admission webhook \"{}\" denied the request", |c, text| ManifestProblem::AdmissionDenied { webhook: c.text(0), said: after(text, "denied the request: ") }),
    ("ValidatingAdmissionPolicy '{}'", |c, text| ManifestProblem::AdmissionPolicyDenied { policy: c.text(0), said: after(text, "denied request: ") }),
    ("exceeded quota: {}", |c, _| ManifestProblem::QuotaExceeded { quota: c.word(0) }),
    ("violates PodSecurity \"{}\"", |c, _| ManifestProblem::PodSecurity { level: c.text(0) }),
    ("because it is being terminated", |_, text| ManifestProblem::NamespaceTerminating { namespace: capture_within("new content in namespace {} because", text).map(|c| c.word(0)) }),
    ("namespaces \"{}\" not found", |c, _| ManifestProblem::NamespaceNotFound { namespace: c.text(0) }),
    ("no matches for kind \"{}\"", |c, text| ManifestProblem::KindNotFound { kind: Some(c.text(0)), version: capture_within("in version \"{}\"", text).map(|c| c.text(0)) }),
    ("no matches for ", |_, _| UNNAMED_KIND),
    ("could not find the requested resource", |_, _| UNNAMED_KIND),
    ("Apply failed with {} conflict", |_, text| ManifestProblem::ApplyConflict { managers: managers(text) }),
    ("request is too large", |_, _| ManifestProblem::TooLarge),
    ("Request entity too large", |_, _| ManifestProblem::TooLarge),
    ("Too long: must have at most", |_, _| ManifestProblem::TooLarge),
    ("trying to send message larger than max", |_, _| ManifestProblem::TooLarge),
    ("database space exceeded", |_, text| ManifestProblem::Other { text: text.to_owned() }),
    ("object is being deleted: {} already exists", |_, text| ManifestProblem::Other { text: text.to_owned() }),
];

pub(super) const UNNAMED_KIND: ManifestProblem = ManifestProblem::KindNotFound {
    kind: None,
    version: None,
};

const IMMUTABLE: [&str; 5] = [
    "is immutable",
    "may not change once set",
    "updates to statefulset spec for fields other than",
    "updates to parameters are forbidden",
    "cannot change roleRef",
];

const UNAVAILABLE: [&str; 15] = [
    "connection refused",
    "connection reset by peer",
    "i/o timeout",
    "context deadline exceeded",
    "the server is currently unable to handle the request",
    "the server was unable to return a response in the time allotted",
    "no such host",
    "no route to host",
    "TLS handshake timeout",
    "client connection lost",
    "etcdserver: ",
    "too many requests",
    "unexpected EOF",
    ": EOF",
    "the server rejected our request for an unknown reason",
];

/// Reads a folded text.
pub(super) fn parse(text: &str) -> Option<ManifestProblem> {
    let mut wordings = WORDINGS.iter();
    let told =
        wordings.find_map(|(wording, read)| Some(read(&capture_within(wording, text)?, text)));
    if told.is_some() {
        return told;
    }
    let immutable = IMMUTABLE
        .iter()
        .filter_map(|needle| super::pattern::find(text, needle))
        .min();
    if let Some(at) = immutable {
        return Some(ManifestProblem::ImmutableField {
            field: field_before(text, at),
        });
    }
    // What cannot be read as its kind is refused before its fields are checked.
    if contains(text, " is invalid: ") || contains(text, " cannot be handled as a ") {
        return Some(ManifestProblem::Invalid {
            field: field_before(text, text.len()),
        });
    }
    if contains(text, "the object has been modified")
        || contains(text, "Operation cannot be fulfilled on")
    {
        return Some(ManifestProblem::ObjectModified);
    }
    let unknown = text.eq_ignore_ascii_case("unauthorized") || text.ends_with(": Unauthorized");
    let forbidden = contains(text, " is forbidden: ").then(|| after(text, " is forbidden: "));
    if let Some(said) = forbidden.or_else(|| unknown.then(|| "Unauthorized".to_owned())) {
        return Some(ManifestProblem::Forbidden { said });
    }
    UNAVAILABLE
        .iter()
        .any(|needle| contains(text, needle))
        .then(|| ManifestProblem::ApiServerUnavailable {
            detail: text.to_owned(),
        })
}

/// What stands behind some words; empty where they are missing.
fn after(text: &str, words: &str) -> String {
    let rest = super::pattern::find(text, words).and_then(|at| text.get(at + words.len()..));
    rest.unwrap_or_default().trim().to_owned()
}

/// The field managers of a server-side apply conflict, each once.
fn managers(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for start in ["conflict with \"", "conflicts with \""] {
        let mut rest = text;
        while let Some(at) = super::pattern::find(rest, start) {
            let Some(after) = rest.get(at + start.len()..) else {
                break;
            };
            let name = after.split('"').next().unwrap_or_default().to_owned();
            if !name.is_empty() && !found.contains(&name) {
                found.push(name);
            }
            rest = after;
        }
    }
    found
}

/// The field path of the last field error that begins before `end`.
///
/// A field error reads `path: Kind of error: …`; several are listed in brackets.
fn field_before(text: &str, end: usize) -> Option<String> {
    const KINDS: [&str; 9] = [
        "Invalid value",
        "Forbidden",
        "Required value",
        "Unsupported value",
        "Duplicate value",
        "Not found",
        "Too long",
        "Too many",
        "Internal error",
    ];
    let errors = capture_within(" is invalid: {}", text)?.get(0);
    let offset = text.len() - errors.len();
    let starts = std::iter::once(0).chain(errors.match_indices(", ").map(|(at, _)| at + 2));
    let mut field = None;
    for start in starts.filter(|start| offset + start < end) {
        let Some(error) = errors.get(start..) else {
            continue;
        };
        let Some(found) = capture("{}: {}", error.trim_start_matches('[')) else {
            continue;
        };
        let path = found.get(0);
        let known = KINDS
            .iter()
            .any(|kind| super::pattern::strip_prefix(found.get(1), kind).is_some());
        if known && !path.is_empty() && !path.contains(' ') {
            field = Some(path.to_owned());
            if end == text.len() {
                break;
            }
        }
    }
    field
}
