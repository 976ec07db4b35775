//! One sentence, true on its own, for a chat message or a log line.

use super::case::Case;
use super::finding::{count, enumerate};
use super::report::{Finding, Severity, Subject, Verdict};
use super::status;
use crate::rollout::Rollout;

/// The sentence about a case, as every command says it, with the name of what explains it: the
/// finding itself says the rest.
pub(super) fn summarize(case: &Case<'_>, findings: &[Finding]) -> String {
    let said = |finding: &Finding, text: &str| shares(&finding.message, text);
    let state = match findings.first() {
        Some(first) if said(first, &status::sentence_of(case)) => sentence(case, None),
        _ => status::sentence_of(case),
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
                named(case, cause)
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
fn named(case: &Case<'_>, finding: &Finding) -> String {
    let run = Subject::from(case.run_object());
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

/// The sentence about a case: its state, how far it has come, and why, when that is known.
pub(super) fn sentence(case: &Case<'_>, because: Option<&str>) -> String {
    let subject = case.run_object();
    let about = if subject == *case.target() {
        case.target().to_string()
    } else {
        format!("{} (update run {})", case.target(), subject.name)
    };
    let progress = case.rollout.as_ref().map(Rollout::progress);
    let done = progress
        .as_ref()
        .filter(|progress| progress.total > 0)
        .map(|progress| {
            format!(
                "{} of {} done",
                progress.done,
                count(progress.total, "cluster")
            )
        });
    let lead = match case.verdict {
        Verdict::Succeeded => match &case.rollout {
            Some(rollout) => succeeded(rollout),
            None if only_compares(case) => {
                "was compared with all its clusters, and nothing was applied".to_owned()
            }
            None => "is available on all its clusters".to_owned(),
        },
        Verdict::Progressing => "is progressing".to_owned(),
        Verdict::WaitingForTimer => "waits for a timer".to_owned(),
        Verdict::WaitingForApproval => "waits for an approval".to_owned(),
        Verdict::Stuck => "is stuck".to_owned(),
        Verdict::Stopping => "is stopping".to_owned(),
        Verdict::Stopped => "is stopped".to_owned(),
        Verdict::NotStarted => "has not started".to_owned(),
        Verdict::Initializing => "is being initialized".to_owned(),
        Verdict::InitializationFailed => "could not be initialized".to_owned(),
        Verdict::Failed => "has failed".to_owned(),
        Verdict::Deleting => "is being deleted".to_owned(),
        Verdict::Unknown => "is in an unknown state: the required evidence is missing".to_owned(),
    };
    let done = match (case.verdict, done) {
        (Verdict::Succeeded | Verdict::InitializationFailed | Verdict::Unknown, _) | (_, None) => {
            String::new()
        }
        (_, Some(done)) => format!(" ({done})"),
    };
    // A state that is its own reason is told once.
    let same = because.and_then(|because| because.strip_prefix(&format!("{subject} {lead}")));
    match because {
        _ if let Some(rest) = same => format!("{about} {lead}{rest}"),
        Some(because) => format!("{about} {lead}{done}: {because}"),
        None => format!("{about} {lead}{done}."),
    }
}

/// What a run has done that succeeded: where it brought its snapshot, and where it removed it.
fn succeeded(rollout: &Rollout<'_>) -> String {
    let run = rollout.run;
    let (index, placement) = (&run.status.snapshot_index, &run.spec.placement);
    if index.is_empty() {
        return "has succeeded".to_owned();
    }
    let updated = rollout.updated_clusters().count();
    let removed = rollout.clusters().count().saturating_sub(updated);
    let (updated, removed) = (
        (updated > 0).then(|| count(updated, "cluster")),
        (removed > 0).then(|| count(removed, "cluster")),
    );
    let did = match updated {
        Some(updated) if rollout.only_compares() => format!(
            "snapshot {index} of {placement} was compared with {updated}, and nothing was applied"
        ),
        Some(updated) => format!("snapshot {index} of {placement} was rolled out to {updated}"),
        None => match removed {
            Some(removed) => {
                return format!("has succeeded: {placement} was removed from {removed}");
            }
            None => format!("snapshot {index} of {placement} was rolled out to 0 clusters"),
        },
    };
    match removed {
        Some(removed) => {
            format!("has succeeded: {did}, and {placement} was removed from {removed}")
        }
        None => format!("has succeeded: {did}"),
    }
}

/// Whether the placement applies nothing.
fn only_compares(case: &Case<'_>) -> bool {
    let placement = case.inventory.placement.present();
    placement.is_some_and(|placement| placement.apply_strategy().is_report_diff())
}
