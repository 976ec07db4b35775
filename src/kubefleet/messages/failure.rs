//! Why an update run, a stage or a cluster failed: the text of Initialized=False and Succeeded=False.

use super::cause::Cause;
use super::pattern::{capture, normalise, strip_prefix};
use super::wordings::{FailureWording, WORDINGS};

/// How deep failures may be nested (a stage's failure, an aggregate) before the rest is left unread.
const MAX_DEPTH: u8 = 8;

/// How many bytes are looked at to tell whether a member of an aggregate begins.
const MEMBER_LOOKAHEAD: usize = 1_024;

/// How many colons and commas of an unknown beginning are tried.
const UNKNOWN_SEPARATORS: usize = 32;

/// Reads the message of Initialized=False or Succeeded=False of a run, a stage or a cluster: the causes
/// it names, at least one; several for an aggregate, each once.
///
/// The wordings are those of v0.0.1 to HEAD, listed in `wordings.rs`.
/// Source: updaterun/controller.go, initialization.go, validation.go, execution.go, stop.go.
pub fn parse_failure(text: &str) -> Vec<Cause> {
    parse_at(&normalise(text), 0)
}

/// Reads a folded text at a depth of nesting.
fn parse_at(text: &str, depth: u8) -> Vec<Cause> {
    let (beginnings, rest) = strip_beginnings(text);
    if depth >= MAX_DEPTH {
        return vec![Cause::Unrecognized {
            text: rest.to_owned(),
        }];
    }
    if let Some(listed) = rest.strip_prefix('[') {
        return aggregate(listed, depth);
    }
    let cause = at_start(rest, depth, WORDINGS.iter());
    let cause = cause.or_else(|| behind_unknown(rest, depth));
    vec![cause.unwrap_or_else(|| {
        let detail = rest.to_owned();
        match beginnings.class {
            // Only the overrides' errors are wrapped as a failed validation without being looked at.
            Some(ErrorClass::Expected | ErrorClass::ApiServer) if beginnings.validating => {
                Cause::OverrideFetchFailed { detail }
            }
            Some(ErrorClass::ApiServer) => Cause::ApiServerError { detail },
            _ => Cause::Unrecognized { text: detail },
        }
    })]
}

/// The causes of the members of `[a, b]` (the opening bracket is gone).
fn aggregate(listed: &str, depth: u8) -> Vec<Cause> {
    let mut causes = Vec::new();
    for member in members(closed(listed)) {
        for cause in parse_at(member, depth + 1) {
            if !causes.contains(&cause) {
                causes.push(cause);
            }
        }
    }
    causes
}

/// The content up to the bracket that closes the list, all of it where none does.
fn closed(listed: &str) -> &str {
    let mut open = 1_usize;
    for (at, c) in listed.char_indices() {
        match c {
            '[' => open += 1,
            ']' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return listed.get(..at).unwrap_or(listed);
        }
    }
    listed.strip_suffix(']').unwrap_or(listed)
}

/// Splits an aggregate where a member with a known beginning follows a comma.
///
/// Members hold commas and brackets themselves; a comma inside brackets never separates unless the
/// brackets do not match.
fn members(listed: &str) -> Vec<&str> {
    let balanced = listed.matches('[').count() == listed.matches(']').count();
    let mut found = Vec::new();
    let mut start = 0;
    let mut open = 0_i64;
    for (at, c) in listed.char_indices() {
        match c {
            '[' => open += 1,
            ']' => open -= 1,
            ',' if open == 0 || !balanced => {
                let before = listed.get(start..at).unwrap_or_default();
                let after = listed.get(at + 1..).unwrap_or_default();
                if let Some(next) = after.strip_prefix(' ')
                    && begins_member(next)
                    && !ends_with_beginning(before)
                {
                    found.push(before);
                    start = at + 2;
                }
            }
            _ => {}
        }
    }
    found.push(listed.get(start..).unwrap_or_default());
    found
}

fn begins_member(text: &str) -> bool {
    let text = text
        .get(..text.floor_char_boundary(MEMBER_LOOKAHEAD))
        .unwrap_or(text);
    strip_beginning(text).is_some()
        || text.starts_with('[')
        || fixed().any(|wording| capture(wording.template, text).is_some())
}

/// The wordings that begin with words of their own.
fn fixed() -> impl Iterator<Item = &'static FailureWording> {
    let wordings = WORDINGS.iter();
    wordings.filter(|wording| !wording.template.starts_with("{}"))
}

/// Whether only known beginnings were read so far: the comma joins two of them.
fn ends_with_beginning(text: &str) -> bool {
    strip_beginnings(text).1.is_empty()
}

fn at_start(
    text: &str,
    depth: u8,
    mut wordings: impl Iterator<Item = &'static FailureWording>,
) -> Option<Cause> {
    wordings.find_map(|wording| {
        let found = capture(wording.template, text)?;
        let build = wording.build;
        Some(build(&found, &|inner| parse_at(inner, depth + 1)))
    })
}

/// Finds the first cause behind a beginning that nobody knows yet.
fn behind_unknown(text: &str, depth: u8) -> Option<Cause> {
    text.match_indices([':', ','])
        .take(UNKNOWN_SEPARATORS)
        .filter_map(|(at, _)| text.get(at + 1..)?.strip_prefix(' '))
        .find_map(|rest| at_start(strip_beginnings(rest).1, depth, fixed()))
}

/// How KubeFleet classes an error (utils/controller/controller.go).
#[derive(Clone, Copy)]
enum ErrorClass {
    /// NewUserError
    User,
    /// NewUnexpectedBehaviorError
    Unexpected,
    /// NewExpectedBehaviorError
    Expected,
    /// NewAPIServerError
    ApiServer,
}

/// What the beginnings of a text say of it.
#[derive(Default)]
struct FailurePrefixes {
    /// Validation or initialization failed (updaterun/controller.go:errValidationFailed; up to v0.1.2
    /// errInitializedFailed). Later checks of a running run say it too.
    validating: bool,
    class: Option<ErrorClass>,
}

#[derive(Clone, Copy)]
enum FailurePrefix {
    /// The run cannot continue (updaterun/controller.go:errStagedUpdatedAborted).
    Aborted,
    Validating,
    Class(ErrorClass),
}

const CLASSES: [(&str, ErrorClass); 4] = [
    (
        "failed to process the request due to a client error",
        ErrorClass::User,
    ),
    (
        "unexpected behavior which cannot be handled by the controller",
        ErrorClass::Unexpected,
    ),
    (
        "expected behavior which can be recovered by itself",
        ErrorClass::Expected,
    ),
    ("error returned by the API server", ErrorClass::ApiServer),
];

/// What comes before the kind of a run.
const OF_RUNS: [(&str, FailurePrefix); 3] = [
    ("cannot continue the ", FailurePrefix::Aborted),
    ("failed to validate the ", FailurePrefix::Validating),
    ("failed to initialize the ", FailurePrefix::Validating),
];

/// A failure's text without the phrases that begin every one of them; the text where there is nothing
/// else.
pub fn essence(text: &str) -> &str {
    match strip_beginnings(text).1.trim() {
        "" => text,
        rest => rest,
    }
}

/// Drops all known beginnings, in any order and number, joined by colon or comma.
fn strip_beginnings(text: &str) -> (FailurePrefixes, &str) {
    let mut beginnings = FailurePrefixes::default();
    let mut rest = text.trim_start();
    while let Some((beginning, after)) = strip_beginning(rest) {
        match beginning {
            FailurePrefix::Aborted => {}
            FailurePrefix::Validating => beginnings.validating = true,
            FailurePrefix::Class(class) => {
                beginnings.class.get_or_insert(class);
            }
        }
        rest = after;
    }
    (beginnings, rest)
}

/// A text without the error classes before it.
pub(super) fn strip_classes(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some((FailurePrefix::Class(_), after)) = strip_beginning(rest) {
        rest = after;
    }
    rest
}

fn strip_beginning(text: &str) -> Option<(FailurePrefix, &str)> {
    let class = CLASSES.iter().find_map(|(phrase, class)| {
        let after = strip_prefix(text, phrase)?;
        Some((FailurePrefix::Class(*class), after))
    });
    let (beginning, after) = class.or_else(|| {
        let mut of_runs = OF_RUNS.iter();
        of_runs.find_map(|(phrase, beginning)| Some((*beginning, strip_run(text, phrase)?)))
    })?;
    if after.is_empty() {
        return Some((beginning, after));
    }
    let after = after.strip_prefix([':', ','])?;
    Some((beginning, after.trim_start()))
}

/// Drops a phrase and the kind of update run that ends it, however that kind is written.
fn strip_run<'t>(text: &'t str, phrase: &str) -> Option<&'t str> {
    let rest = strip_prefix(text, phrase)?;
    ["updateRun", "stagedUpdateRun", "clusterStagedUpdateRun"]
        .iter()
        .find_map(|kind| strip_prefix(rest, kind))
}
