//! One sentence, true on its own, for a chat message or a log line.

use crate::diagnose::subjects::context::DiagnosisContext;
use crate::diagnose::{engine::causes, status, subjects::state};
use crate::kubefleet::Kind;
use crate::report::{Finding, Severity, Subject, Verdict};
use crate::words::{distinct, enumerate};

/// The sentence about a case, as every command says it, with the name of what explains it: the
/// finding itself says the rest.
pub fn summarize(cx: &DiagnosisContext<'_>, findings: &[Finding]) -> String {
    let said = |finding: &Finding, text: &str| shares(&finding.message, text);
    let state = match findings.first() {
        Some(first) if said(first, &status::sentence_of(cx)) => state::sentence(cx, None),
        _ => status::sentence_of(cx),
    };
    let wrong = |finding: &&Finding| finding.severity > Severity::Info;
    let is_root = |finding: &&Finding| finding.root_cause;
    let told: Vec<_> = if findings.iter().any(|finding| finding.root_cause) {
        // An expected state is told by its sentence.
        findings.iter().filter(is_root).filter(wrong).collect()
    } else {
        // A run that is over says nothing of what it left: the gravest that was found does.
        let least = match cx.verdict {
            Verdict::Succeeded => Severity::Warning,
            _ => Severity::Error,
        };
        let is_told = |finding: &&Finding| finding.severity >= least;
        findings.iter().find(is_told).into_iter().collect()
    };
    let Some(first) = told.first() else {
        return state;
    };
    let mut by_code: Vec<Vec<&Finding>> = Vec::new();
    for finding in &told {
        match by_code.iter_mut().find(|it| it[0].code == finding.code) {
            Some(same) => same.push(finding),
            None => by_code.push(vec![finding]),
        }
    }
    let label = match by_code.len() {
        // What another run has done is not why this one waits.
        _ if !first.root_cause || causes::is_overtaken(first) => "found",
        1 => "cause",
        _ => "causes",
    };
    let names = enumerate(by_code.iter().map(|same| named(cx, same)));
    format!("{}; {label}: {names}.", state.trim_end_matches('.'))
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

/// `workload-not-available (FS501), Deployment shop/web on member-2`, of findings with one code.
fn named(cx: &DiagnosisContext<'_>, same: &[&Finding]) -> String {
    let [first, ..] = same else {
        return String::new();
    };
    let run = Subject::from(cx.run_object());
    let clusters = distinct(same.iter().flat_map(|finding| &finding.clusters));
    // Of many member clusters that are at fault, none is the subject.
    let of_member = first.subject.kind == Kind::MemberCluster.name();
    let alone = same.iter().all(|finding| finding.subject == first.subject);
    let about = (first.subject != run && alone && (!of_member || clusters.len() < 2))
        .then(|| format!(", {}", first.subject));
    let on = match clusters.as_slice() {
        [one] if **one == first.subject.name => String::new(),
        [] => String::new(),
        several => format!(" on {}", enumerate(several)),
    };
    format!(
        "{} ({}){}{on}",
        first.name,
        first.code,
        about.unwrap_or_default()
    )
}
