//! What an answer is: a success counts only when it is what was asked for.
//!
//! A proxy, a login page, or a gateway answers 200 as well. Nothing that it sends may be taken for
//! an empty list or an object that does not exist.

use serde::Deserialize;
use serde_json::Value;

use crate::hub::error::HubError;

use crate::kubefleet::kind::group_of;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedAnswer<'w> {
    /// An object of this kind; where a name is given, the one of that name.
    Object {
        group: &'w str,
        kind: &'w str,
        namespace: &'w str,
        /// Its name; empty where any will do.
        name: &'w str,
    },
    List {
        group: &'w str,
        kind: &'w str,
    },
    /// The version of the API server, which names no kind.
    Version,
}

impl<'w> ExpectedAnswer<'w> {
    pub const fn kind(group: &'w str, kind: &'w str) -> Self {
        Self::Object {
            group,
            kind,
            namespace: "",
            name: "",
        }
    }

    pub const fn list(group: &'w str, kind: &'w str) -> Self {
        Self::List { group, kind }
    }

    fn words(&self) -> String {
        match self {
            Self::Object { kind, name: "", .. } => (*kind).to_owned(),
            Self::Object { kind, name, .. } => format!("{kind} {name}"),
            Self::List { kind, .. } => format!("{kind}List"),
            Self::Version => "version".to_owned(),
        }
    }

    fn is(&self, head: &AnswerHead) -> bool {
        let group = group_of(&head.api_version);
        match self {
            Self::Object {
                group: own,
                kind,
                namespace,
                name,
            } => {
                let meta = &head.metadata;
                head.kind == *kind
                    && group == *own
                    && !head.api_version.is_empty()
                    && (name.is_empty() || (meta.name == *name && meta.namespace == *namespace))
            }
            Self::List { group: own, kind } => {
                head.kind.strip_suffix("List") == Some(kind)
                    && group == *own
                    && !head.api_version.is_empty()
            }
            Self::Version => !head.git_version.is_empty(),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct AnswerHead {
    api_version: String,
    kind: String,
    metadata: TypedMeta,
    git_version: String,
    status: Value,
    message: String,
    reason: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TypedMeta {
    name: String,
    namespace: String,
}

/// Reads an answer that is to be this; anything else is an error that says what came.
pub fn read<'b, T: Deserialize<'b>>(
    wanted: &ExpectedAnswer<'_>,
    body: &'b [u8],
) -> Result<T, HubError> {
    match serde_json::from_slice::<AnswerHead>(body) {
        Ok(head) if wanted.is(&head) => parse(body),
        _ => Err(wrong(wanted, body)),
    }
}

/// Reads JSON whose kind is checked already.
pub fn parse<'b, T: Deserialize<'b>>(body: &'b [u8]) -> Result<T, HubError> {
    serde_json::from_slice(body)
        .map_err(|error| HubError::Broken(format!("it cannot be read: {error}")))
}

/// Whether a list with this head is the one that was asked for.
pub fn is_list_of(wanted: &ExpectedAnswer<'_>, api_version: &str, kind: &str) -> bool {
    wanted.is(&AnswerHead {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        ..AnswerHead::default()
    })
}

/// Whether the answer to a deletion says that it is done: the object that is about to go, or a
/// `Status` that says so.
pub fn confirms_deletion(wanted: &ExpectedAnswer<'_>, body: &[u8]) -> Result<Value, HubError> {
    match serde_json::from_slice::<AnswerHead>(body) {
        Ok(head) if head.kind == "Status" && head.status == "Success" => parse(body),
        _ => read(wanted, body),
    }
}

/// That the answer is something else, and what.
pub fn wrong(wanted: &ExpectedAnswer<'_>, body: &[u8]) -> HubError {
    HubError::WrongAnswer {
        wanted: wanted.words(),
        got: what_came(wanted, body),
    }
}

/// What an answer is, in the server's words where it has some.
fn what_came(wanted: &ExpectedAnswer<'_>, body: &[u8]) -> String {
    let body = body.trim_ascii();
    if body.is_empty() {
        return "nothing".to_owned();
    }
    if body.starts_with(b"<") {
        return page(body);
    }
    let Ok(value) = serde_json::from_slice::<Value>(body) else {
        let cut = matches!(body.first(), Some(b'{' | b'['));
        return if cut {
            "truncated or invalid JSON".to_owned()
        } else {
            format!("text that is not JSON ({:?})", first_line(body))
        };
    };
    let object = match &value {
        Value::Object(object) => object,
        Value::Null => return "null".to_owned(),
        Value::Array(_) => return "a bare array".to_owned(),
        _ => return "a bare value".to_owned(),
    };
    let word = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    if word("kind") == "Status" {
        let said = [word("message"), word("reason"), word("status")];
        let said = said.into_iter().find(|said| !said.is_empty());
        return said.map_or_else(
            || "a Status without a message".to_owned(),
            |said| format!("a Status ({said:?})"),
        );
    }
    let name = value["metadata"]["name"].as_str().unwrap_or_default();
    match (word("kind"), word("apiVersion")) {
        ("", _) => "an object without a kind".to_owned(),
        (kind, "") => format!("{kind} without an apiVersion"),
        (kind, version) => match wanted {
            ExpectedAnswer::Object { kind: own, .. } if kind == *own && !name.is_empty() => {
                format!("{kind} {name} of {version}")
            }
            _ => format!("{kind} of {version}"),
        },
    }
}

/// A web page: its title says whose it is.
fn page(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let title = text.split_once("<title>").map(|(_, rest)| rest);
    let title = title.and_then(|rest| Some(rest.split_once("</title>")?.0.trim()));
    match title.filter(|title| !title.is_empty()) {
        Some(title) => format!("a web page ({:?})", first_words(title)),
        None => "a web page".to_owned(),
    }
}

fn first_line(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    first_words(text.lines().next().unwrap_or_default())
}

fn first_words(text: &str) -> String {
    text.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::Resource;
    use k8s_openapi::api::coordination::v1::Lease;

    use super::{ExpectedAnswer, confirms_deletion, read};
    use crate::hub::error::HubError;
    use serde_json::Value;

    const GROUP: &str = "placement.kubernetes-fleet.io";
    const RUN: ExpectedAnswer<'static> = ExpectedAnswer::Object {
        group: GROUP,
        kind: "StagedUpdateRun",
        namespace: "team",
        name: "x",
    };
    const RUNS: ExpectedAnswer<'static> = ExpectedAnswer::list(GROUP, "StagedUpdateRun");
    const PODS: ExpectedAnswer<'static> = ExpectedAnswer::list("", "Pod");
    const REVIEW: ExpectedAnswer<'static> =
        ExpectedAnswer::kind("authorization.k8s.io", "SelfSubjectAccessReview");

    fn right(wanted: &ExpectedAnswer<'_>) -> &'static str {
        match wanted {
            ExpectedAnswer::Object { name: "", .. } => {
                r#"{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview"}"#
            }
            ExpectedAnswer::Object { .. } => {
                r#"{"apiVersion":"placement.kubernetes-fleet.io/v1","kind":"StagedUpdateRun","metadata":{"name":"x","namespace":"team"}}"#
            }
            ExpectedAnswer::List { group: "", .. } => {
                r#"{"apiVersion":"v1","kind":"PodList","items":[]}"#
            }
            ExpectedAnswer::List { .. } => {
                r#"{"apiVersion":"placement.kubernetes-fleet.io/v1beta1","kind":"StagedUpdateRunList","items":[]}"#
            }
            ExpectedAnswer::Version => r#"{"major":"1","gitVersion":"v1.34.0"}"#,
        }
    }

    /// What the error calls a wrong answer, and the answer.
    const WRONG: &str = r#"
null <= null
a bare array <= []
a bare value <= 7
an object without a kind <= {}
an object without a kind <= {"items":[]}
PodList without an apiVersion <= {"kind":"PodList","items":[]}
an object without a kind <= {"kind":7,"apiVersion":"v1"}
ConfigMap of v1 <= {"apiVersion":"v1","kind":"ConfigMap"}
List of v1 <= {"apiVersion":"v1","kind":"List","items":[]}
 of other.example/v1 <= {"apiVersion":"other.example/v1","kind":"StagedUpdateRun","metadata":{"name":"x","namespace":"team"}}
StagedUpdateRunList of other.example/v1 <= {"apiVersion":"other.example/v1","kind":"StagedUpdateRunList","items":[]}
PodList of other.example/v1 <= {"apiVersion":"other.example/v1","kind":"PodList","items":[]}
 of placement.kubernetes-fleet.io/v1 <= {"apiVersion":"placement.kubernetes-fleet.io/v1","kind":"StagedUpdateRun","metadata":{"name":"y","namespace":"team"}}
 of placement.kubernetes-fleet.io/v1 <= {"apiVersion":"placement.kubernetes-fleet.io/v1","kind":"StagedUpdateRun","metadata":{"name":"x","namespace":"other"}}
a Status ("etcd is down") <= {"apiVersion":"v1","kind":"Status","status":"Failure","message":"etcd is down","code":500}
a Status ("NotFound") <= {"apiVersion":"v1","kind":"Status","status":"Failure","reason":"NotFound","code":404}
a Status ("Success") <= {"apiVersion":"v1","kind":"Status","status":"Success"}
a web page ("Sign in") <= <!DOCTYPE html><html><head><title> Sign in </title></head></html>
a web page <= <html>
truncated or invalid JSON <= {"kind":"StagedUp
"#;

    /// Every wrong answer to every question.
    #[test]
    fn only_what_was_asked_for_is_an_answer() {
        let text = r#"text that is not JSON ("please log in")"#;
        let more = [
            ("nothing", ""),
            ("nothing", " \n"),
            (text, "please log in\nhere"),
        ];
        let wrong = WRONG.trim().lines();
        let wrong = wrong.map(|line| line.split_once(" <= ").unwrap());
        let wrong: Vec<_> = wrong.chain(more).collect();
        for wanted in [RUN, RUNS, PODS, REVIEW, ExpectedAnswer::Version] {
            let answer = read::<Value>(&wanted, right(&wanted).as_bytes());
            assert!(answer.is_ok(), "{wanted:?}: {answer:?}");
            let others = [RUN, RUNS, PODS, REVIEW, ExpectedAnswer::Version];
            let others = others.iter().filter(|other| **other != wanted);
            let others = others.map(|other| ("", right(other)));
            for (words, body) in wrong.iter().copied().chain(others) {
                let answer = read::<Value>(&wanted, body.as_bytes());
                let Err(HubError::WrongAnswer { got, .. }) = answer else {
                    panic!("{wanted:?} takes {body}: {answer:?}");
                };
                assert!(got.contains(words), "{body}: {got}");
            }
        }
    }

    #[test]
    fn an_object_that_does_not_decode_ends_nothing_else() {
        let wanted = ExpectedAnswer::kind(Lease::GROUP, Lease::KIND);
        let lease = |renewed: &str| {
            let head = r#""apiVersion":"coordination.k8s.io/v1","kind":"Lease""#;
            let body = format!(r#"{{{head},"spec":{{"renewTime":{renewed}}}}}"#);
            read::<Lease>(&wanted, body.as_bytes())
        };
        assert!(lease(r#""2026-01-09T02:00:00.000000Z""#).is_ok());
        for odd in ["7", r#""yesterday""#, "{}"] {
            let Err(error) = lease(odd) else {
                panic!("{odd} is a time")
            };
            assert!(matches!(error, HubError::Broken(_)), "{odd}: {error}");
            assert!(!error.is_fatal(), "{odd}");
        }
    }

    #[test]
    fn a_deletion_is_confirmed_by_a_status_or_the_object() {
        let success = r#"{"apiVersion":"v1","kind":"Status","status":"Success"}"#;
        for body in [success, right(&RUN)] {
            assert!(confirms_deletion(&RUN, body.as_bytes()).is_ok(), "{body}");
        }
        for body in [
            r#"{"apiVersion":"v1","kind":"Status","status":"Failure","message":"no"}"#,
            r#"{"apiVersion":"v1","kind":"Status"}"#,
            "{}",
            "<html>",
        ] {
            assert!(confirms_deletion(&RUN, body.as_bytes()).is_err(), "{body}");
        }
    }
}
