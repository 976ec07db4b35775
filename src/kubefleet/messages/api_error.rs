//! Errors of an API server that KubeFleet passes on inside its own texts.

use super::manifest_problem::ManifestProblem;
use super::pattern::{capture, capture_within, contains};

const TOO_LARGE: [&str; 4] = [
    "request is too large",
    "Request entity too large",
    "Too long: must have at most",
    "trying to send message larger than max",
];

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

/// Reads a folded text; the more telling wordings come first, since they contain the others. `Other` is
/// an object whose name is taken: one of that name is still being deleted.
pub(super) fn parse(text: &str) -> Option<ManifestProblem> {
    if let Some(found) = capture_within("failed calling webhook \"{}\"", text) {
        return Some(ManifestProblem::WebhookUnreachable {
            webhook: found.text(0),
        });
    }
    if let Some(found) = capture_within("admission webhook \"{}\" denied the request", text) {
        return Some(ManifestProblem::AdmissionDenied {
            webhook: found.text(0),
            said: after(text, "denied the request: "),
        });
    }
    if let Some(found) = capture_within("ValidatingAdmissionPolicy '{}'", text) {
        return Some(ManifestProblem::AdmissionPolicyDenied {
            policy: found.text(0),
            said: after(text, "denied request: "),
        });
    }
    if let Some(found) = capture_within("exceeded quota: {}", text) {
        return Some(ManifestProblem::QuotaExceeded {
            quota: found.word(0),
        });
    }
    if let Some(found) = capture_within("violates PodSecurity \"{}\"", text) {
        return Some(ManifestProblem::PodSecurity {
            level: found.text(0),
        });
    }
    if contains(text, "because it is being terminated") {
        let namespace = capture_within("new content in namespace {} because", text);
        return Some(ManifestProblem::NamespaceTerminating {
            namespace: namespace.map(|found| found.word(0)),
        });
    }
    if let Some(found) = capture_within("namespaces \"{}\" not found", text) {
        return Some(ManifestProblem::NamespaceNotFound {
            namespace: found.text(0),
        });
    }
    if let Some(missing) = missing_kind(text) {
        return Some(missing);
    }
    if contains(text, "Apply failed with ") && contains(text, " conflict") {
        return Some(ManifestProblem::ApplyConflict {
            managers: managers(text),
        });
    }
    if TOO_LARGE.iter().any(|needle| contains(text, needle)) {
        return Some(ManifestProblem::TooLarge);
    }
    if contains(text, "object is being deleted: ") && contains(text, " already exists") {
        return Some(ManifestProblem::Other {
            text: text.to_owned(),
        });
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

fn missing_kind(text: &str) -> Option<ManifestProblem> {
    if let Some(found) = capture_within("no matches for kind \"{}\"", text) {
        let version = capture_within("in version \"{}\"", text);
        return Some(ManifestProblem::KindNotFound {
            kind: Some(found.text(0)),
            version: version.map(|found| found.text(0)),
        });
    }
    if contains(text, "no matches for ") || contains(text, "could not find the requested resource")
    {
        return Some(ManifestProblem::KindNotFound {
            kind: None,
            version: None,
        });
    }
    None
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
