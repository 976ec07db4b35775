//! The lines of a watch: one event each.

use http_body_util::BodyExt;
use kube::client::Body;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::hub::connect::config::chain;
use crate::hub::error::HubError;
use crate::hub::read::found::parse_object;
use crate::hub::request::answer::{self, ExpectedAnswer};
use crate::hub::request::bounds::{OBJECT, too_large_an_object};
use crate::kubefleet::Kind;
use crate::kubefleet::object::Object;
use crate::mask;

/// What an event may have beside its object.
const FRAME: usize = 64 << 10;
/// No event is as long as this.
const LONGEST: usize = OBJECT.saturating_add(FRAME);

#[derive(Debug)]
pub(super) enum WatchLine {
    Put(Object, String),
    Gone(Object, String),
    /// Nothing happened up to this version.
    Bookmark(String),
    Error(HubError),
}

#[derive(Deserialize)]
struct RawEvent<'t> {
    #[serde(rename = "type")]
    kind: &'t str,
    #[serde(borrow)]
    object: &'t RawValue,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct VersionedObject {
    metadata: LineMeta,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct LineMeta {
    resource_version: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct LineStatus {
    code: u16,
    reason: String,
    message: String,
}

pub(super) fn parse(kind: Kind, line: &[u8]) -> Result<WatchLine, HubError> {
    let Ok(raw) = serde_json::from_slice::<RawEvent<'_>>(line) else {
        return Err(answer::wrong(&ExpectedAnswer::kind("", "WatchEvent"), line));
    };
    let version = || {
        let object: VersionedObject = serde_json::from_str(raw.object.get()).unwrap_or_default();
        let version = object.metadata.resource_version;
        if version.is_empty() {
            // A watch that goes on from nowhere would tell everything again.
            return Err(HubError::Broken("an event without a version".to_owned()));
        }
        Ok(version)
    };
    let object = || parse_object(kind, raw.object.get());
    Ok(match raw.kind {
        "ADDED" | "MODIFIED" => WatchLine::Put(object()?, version()?),
        "DELETED" => WatchLine::Gone(object()?, version()?),
        "BOOKMARK" => WatchLine::Bookmark(version()?),
        "ERROR" => {
            let status: LineStatus = serde_json::from_str(raw.object.get()).unwrap_or_default();
            WatchLine::Error(failure(status))
        }
        other => {
            let text = format!("an event has the unknown type {other:?}");
            WatchLine::Error(HubError::Broken(text))
        }
    })
}

fn failure(status: LineStatus) -> HubError {
    let message = mask::prose(&status.message).into_owned();
    match (status.code, status.reason.as_str()) {
        (410, _) | (_, "Expired" | "Gone") => HubError::Gone,
        (401, _) => HubError::Unauthorized(message),
        (403, _) => HubError::Forbidden(message),
        (code, _) => HubError::Refused {
            code,
            message,
            reason: status.reason,
        },
    }
}

/// A stream, cut into lines.
pub(super) struct LineStream {
    body: Body,
    kind: Kind,
    rest: Vec<u8>,
    /// How much of it was looked at in vain.
    looked: usize,
}

impl LineStream {
    pub(super) const fn new(kind: Kind, body: Body) -> Self {
        Self {
            body,
            kind,
            rest: Vec::new(),
            looked: 0,
        }
    }

    /// The next line; `None` when the server ended the stream. A line that is cut off in the middle
    /// tells nothing: what it was about comes again.
    pub(super) async fn next(&mut self) -> Result<Option<WatchLine>, HubError> {
        loop {
            let new = self.rest.iter().skip(self.looked);
            let end = new.into_iter().position(|byte| *byte == b'\n');
            if let Some(end) = end {
                let end = self.looked.saturating_add(end);
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                self.looked = 0;
                if line.trim_ascii().is_empty() {
                    continue;
                }
                return parse(self.kind, &line).map(Some);
            }
            self.looked = self.rest.len();
            if self.looked > LONGEST {
                return Err(too_large_an_object());
            }
            let Some(frame) = self.body.frame().await else {
                return Ok(None);
            };
            let frame = frame.map_err(|error| {
                HubError::Broken(format!("a watch ended early: {}", chain(&error)))
            })?;
            if let Ok(data) = frame.into_data() {
                self.rest.extend_from_slice(&data);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::WatchLine;
    use crate::hub::error::HubError;
    use crate::kubefleet::Kind;

    fn parse(line: &[u8]) -> Result<WatchLine, HubError> {
        super::parse(Kind::ClusterStagedUpdateRun, line)
    }

    #[test]
    fn a_line_is_an_event() {
        let run = |event: &str| {
            format!(
                r#"{{"type":"{event}","object":{{"apiVersion":"placement.kubernetes-fleet.io/v1beta1","kind":"ClusterStagedUpdateRun","metadata":{{"name":"x","resourceVersion":"7"}}}}}}"#
            )
        };
        for event in ["ADDED", "MODIFIED"] {
            let line = parse(run(event).as_bytes()).unwrap();
            let is_put = matches!(line, WatchLine::Put(_, version) if version == "7");
            assert!(is_put, "{event}");
        }
        let line = parse(run("DELETED").as_bytes()).unwrap();
        assert!(matches!(line, WatchLine::Gone(_, version) if version == "7"));
        let line = parse(run("BOOKMARK").as_bytes()).unwrap();
        assert!(matches!(line, WatchLine::Bookmark(version) if version == "7"));
    }

    /// What the error says of a line, and the line.
    const NO_EVENTS: &str = r#"
Pod of v1 instead of ClusterStagedUpdateRun <= {"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x","resourceVersion":"8"}}}
of other.example/v1 <= {"type":"ADDED","object":{"kind":"ClusterStagedUpdateRun","apiVersion":"other.example/v1","metadata":{"name":"x","resourceVersion":"8"}}}
a Status ("no") <= {"type":"DELETED","object":{"kind":"Status","apiVersion":"v1","message":"no","metadata":{}}}
an event without a version <= {"type":"MODIFIED","object":{"apiVersion":"placement.kubernetes-fleet.io/v1beta1","kind":"ClusterStagedUpdateRun","metadata":{"name":"x"}}}
an event without a version <= {"type":"BOOKMARK","object":{"metadata":{}}}
null <= {"type":"ADDED","object":null}
a Status ("gone away") <= {"kind":"Status","apiVersion":"v1","message":"gone away"}
a web page ("Log in") <= <html><title>Log in</title>
null <= null
"#;

    #[test]
    fn what_is_no_event_of_this_kind_is_an_error() {
        for case in NO_EVENTS.trim().lines() {
            let (words, line) = case.split_once(" <= ").unwrap();
            let error = parse(line.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(words), "{line}: {error}");
        }
    }

    #[test]
    fn an_error_says_what_it_is() {
        let cases = [
            (
                r#"{"code":410,"reason":"Expired","message":"too old"}"#,
                HubError::Gone,
            ),
            (r#"{"reason":"Expired"}"#, HubError::Gone),
            (
                r#"{"code":401,"message":"who?"}"#,
                HubError::Unauthorized("who?".into()),
            ),
            (
                r#"{"code":403,"message":"no"}"#,
                HubError::Forbidden("no".into()),
            ),
            (
                r#"{"code":500,"reason":"InternalError","message":"oh"}"#,
                HubError::Refused {
                    code: 500,
                    message: "oh".into(),
                    reason: "InternalError".into(),
                },
            ),
        ];
        for (object, wanted) in cases {
            let text = format!(r#"{{"type":"ERROR","object":{object}}}"#);
            let WatchLine::Error(error) = parse(text.as_bytes()).unwrap() else {
                panic!("{object}");
            };
            assert_eq!(error, wanted);
        }
        let odd = parse(br#"{"type":"NEWS","object":{}}"#).unwrap();
        assert!(matches!(odd, WatchLine::Error(_)));
        assert!(parse(br#"{"type":"ADDED","obj"#).is_err());
    }
}
