//! The lines of a watch: one event each.

use http_body_util::BodyExt;
use kube::client::Body;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::hub::config::chain;
use crate::hub::error::HubError;
use crate::hub::read::parse_object;
use crate::kubefleet::object::Object;

/// No object of an API server is as long as this: etcd takes 1.5 MB.
const LONGEST: usize = 32 << 20;

/// What one line says.
#[derive(Debug)]
pub(super) enum Line {
    /// An object is new or has changed; none of a kind that the walk does not read.
    Put(Option<Object>, String),
    /// An object is gone.
    Gone(Option<Object>, String),
    /// Nothing happened up to this version.
    Bookmark(String),
    /// The watch is over.
    Error(HubError),
}

#[derive(Deserialize)]
struct Raw<'t> {
    #[serde(rename = "type")]
    kind: &'t str,
    #[serde(borrow)]
    object: &'t RawValue,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Versioned {
    metadata: Meta,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Meta {
    resource_version: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Status {
    code: u16,
    reason: String,
    message: String,
}

/// Reads a line.
pub(super) fn parse(line: &[u8]) -> Result<Line, HubError> {
    let broken =
        |error: serde_json::Error| HubError::Broken(format!("an event is no JSON: {error}"));
    let raw: Raw<'_> = serde_json::from_slice(line).map_err(broken)?;
    let version = || {
        let object: Versioned = serde_json::from_str(raw.object.get()).unwrap_or_default();
        object.metadata.resource_version
    };
    Ok(match raw.kind {
        "ADDED" | "MODIFIED" => Line::Put(parse_object(raw.object)?, version()),
        "DELETED" => Line::Gone(parse_object(raw.object)?, version()),
        "BOOKMARK" => Line::Bookmark(version()),
        "ERROR" => {
            let status: Status = serde_json::from_str(raw.object.get()).unwrap_or_default();
            Line::Error(failure(status))
        }
        other => {
            let text = format!("an event has the unknown type {other:?}");
            Line::Error(HubError::Broken(text))
        }
    })
}

fn failure(status: Status) -> HubError {
    match (status.code, status.reason.as_str()) {
        (410, _) | (_, "Expired" | "Gone") => HubError::Gone,
        (401, _) => HubError::Unauthorized(status.message),
        (403, _) => HubError::Forbidden(status.message),
        (code, _) => HubError::Refused {
            code,
            message: status.message,
            reason: status.reason,
        },
    }
}

/// A stream, cut into lines.
pub(super) struct Lines {
    body: Body,
    /// What came and is not told yet.
    rest: Vec<u8>,
    /// How much of it was looked at in vain.
    looked: usize,
}

impl Lines {
    pub(super) const fn new(body: Body) -> Self {
        Self {
            body,
            rest: Vec::new(),
            looked: 0,
        }
    }

    /// The next line; `None` when the server ended the stream. A line that is cut off in the middle
    /// tells nothing: what it was about comes again.
    pub(super) async fn next(&mut self) -> Result<Option<Line>, HubError> {
        loop {
            let end = self.rest[self.looked..]
                .iter()
                .position(|byte| *byte == b'\n');
            if let Some(end) = end {
                let line: Vec<u8> = self.rest.drain(..=self.looked + end).collect();
                self.looked = 0;
                if line.trim_ascii().is_empty() {
                    continue;
                }
                return parse(&line).map(Some);
            }
            self.looked = self.rest.len();
            if self.looked > LONGEST {
                return Err(HubError::Broken("an event has no end".to_owned()));
            }
            let Some(frame) = self.body.frame().await else {
                return Ok(None);
            };
            let frame = frame.map_err(|error| {
                HubError::Broken(format!("a watch broke off: {}", chain(&error)))
            })?;
            if let Ok(data) = frame.into_data() {
                self.rest.extend_from_slice(&data);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, parse};
    use crate::hub::error::HubError;

    #[test]
    fn a_line_is_an_event() {
        let run = |event: &str| {
            format!(
                r#"{{"type":"{event}","object":{{"apiVersion":"placement.kubernetes-fleet.io/v1beta1","kind":"ClusterStagedUpdateRun","metadata":{{"name":"x","resourceVersion":"7"}}}}}}"#
            )
        };
        for event in ["ADDED", "MODIFIED"] {
            let line = parse(run(event).as_bytes()).unwrap();
            assert!(
                matches!(line, Line::Put(Some(_), version) if version == "7"),
                "{event}"
            );
        }
        let line = parse(run("DELETED").as_bytes()).unwrap();
        assert!(matches!(line, Line::Gone(Some(_), version) if version == "7"));
        let line = parse(run("BOOKMARK").as_bytes()).unwrap();
        assert!(matches!(line, Line::Bookmark(version) if version == "7"));
        let line = parse(br#"{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"8"}}}"#).unwrap();
        assert!(matches!(line, Line::Put(None, version) if version == "8"));
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
            let Line::Error(error) = parse(text.as_bytes()).unwrap() else {
                panic!("{object}");
            };
            assert_eq!(error, wanted);
        }
        assert!(matches!(
            parse(br#"{"type":"NEWS","object":{}}"#).unwrap(),
            Line::Error(_)
        ));
        assert!(parse(br#"{"type":"ADDED","obj"#).is_err());
    }
}
