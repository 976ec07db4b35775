//! What is shown of a report, and the exit code. Neither changes the verdict.

use std::str::FromStr;

use crate::commands::gather::findings::near;
use crate::diagnose::rules::{self, Rule};
use crate::exit::Exit;
use crate::report::{Finding, Report, Severity};

/// A finding that is not to be shown: `CODE`, or `CODE=OBJECT` for one object.
#[derive(Debug, Clone)]
pub struct FindingSuppression {
    code: &'static str,
    object: Option<String>,
}

impl FromStr for FindingSuppression {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (word, object) = match text.split_once('=') {
            Some((word, object)) => (word, Some(object.to_owned())),
            None => (text, None),
        };
        if object.as_deref() == Some("") {
            return Err("the object after = is missing".to_owned());
        }
        match rules::search(word) {
            Some(Rule { code, .. }) => Ok(Self { code, object }),
            None => Err(match near(word) {
                Some(near) => format!("unknown finding {word:?}; did you mean {near}?"),
                None => format!("unknown finding {word:?}"),
            }),
        }
    }
}

impl FindingSuppression {
    fn covers(&self, finding: &Finding) -> bool {
        let subject = &finding.subject;
        self.code == finding.code
            && self.object.as_deref().is_none_or(|object| {
                let (kind, name) = object.split_once('/').unwrap_or(("", object));
                let same_kind = kind.is_empty() || kind.eq_ignore_ascii_case(&subject.kind);
                // A name may have its namespace before it, with or without the kind.
                let qualified = format!("{}/{}", subject.namespace, subject.name);
                same_kind && (name == subject.name || name == qualified) || object == qualified
            })
    }
}

/// Leaves out what should not be shown, and says how much that is.
pub fn apply(report: &mut Report, least: Option<Severity>, suppressed: &[FindingSuppression]) {
    let before = report.findings.len();
    report.findings.retain(|finding| {
        least.is_none_or(|least| finding.severity >= least)
            && !suppressed.iter().any(|one| one.covers(finding))
    });
    let left_out = before - report.findings.len();
    report.left_out = (left_out > 0).then_some(left_out);
}

/// The exit code of a report: the verdict's, or 0; and 3 instead of 0 for findings that count.
pub fn exit(report: &Report, zero: bool, fail_on: Option<Severity>) -> Exit {
    let exit = if zero {
        Exit::Done
    } else {
        Exit::from(report.verdict)
    };
    let Some(least) = fail_on.filter(|_| exit == Exit::Done) else {
        return exit;
    };
    if report.findings.iter().any(|f| f.severity >= least) {
        Exit::Failed
    } else {
        exit
    }
}
