//! One sentence, true on its own, for a chat message or a log line.

use super::context::Context;
use super::{state, status};
use crate::report::{Finding, Severity, Subject};
use crate::words::enumerate;

/// The sentence about a case, as every command says it, with the name of what explains it: the
/// finding itself says the rest.
pub(super) fn summarize(cx: &Context<'_>, findings: &[Finding]) -> String {
    let said = |finding: &Finding, text: &str| shares(&finding.message, text);
    let state = match findings.first() {
        Some(first) if said(first, &status::sentence_of(cx)) => state::sentence(cx, None),
        _ => status::sentence_of(cx),
    };
    let wrong = |finding: &&Finding| finding.severity > Severity::Info;
    let mut roots = findings.iter().filter(|finding| finding.root_cause);
    let cause = match roots.next() {
        // An expected state is told by its sentence.
        Some(first) => Some(first).filter(wrong),
        None => findings
            .iter()
            .find(|finding| finding.severity == Severity::Error),
    };
    match cause {
        Some(cause) => {
            let label = if cause.root_cause { "cause" } else { "found" };
            format!(
                "{}; {label}: {}.",
                state.trim_end_matches('.'),
                named(cx, cause)
            )
        }
        None => state,
    }
}

/// As many words in a row are read as the same sentence.
const SAME: usize = 8;

/// Whether two texts say the same.
fn shares(one: &str, other: &str) -> bool {
    let (one, other) = (words(one), words(other));
    one.windows(SAME)
        .any(|run| other.windows(SAME).any(|other| other == run))
}

fn words(text: &str) -> Vec<&str> {
    let words = text.split_whitespace();
    let bare = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    bare.filter(|word| !word.is_empty()).collect()
}

/// `workload-not-available (FS501), Deployment shop/web on member-2`.
fn named(cx: &Context<'_>, finding: &Finding) -> String {
    let run = Subject::from(cx.run_object());
    let about = (finding.subject != run).then(|| format!(", {}", finding.subject));
    let on = match finding.clusters.as_slice() {
        [one] if *one == finding.subject.name => String::new(),
        [] => String::new(),
        several => format!(" on {}", enumerate(several)),
    };
    format!(
        "{} ({}){}{on}",
        finding.name,
        finding.code,
        about.unwrap_or_default()
    )
}
