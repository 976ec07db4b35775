//! One sentence, true on its own, for a chat message or a log line.

use super::case::Case;
use super::finding::count;
use super::report::{Finding, Severity, Verdict};

/// The sentence about a case, with what was found.
pub(super) fn summarize(case: &Case<'_>, findings: &[Finding]) -> String {
    let because = findings
        .iter()
        .find(|finding| finding.root_cause)
        .or_else(|| {
            findings
                .iter()
                .find(|finding| finding.severity == Severity::Error)
        });
    sentence(case, because.map(|finding| finding.message.as_str()))
}

/// The sentence about a case: its state, how far it has come, and why, when that is known.
pub(super) fn sentence(case: &Case<'_>, because: Option<&str>) -> String {
    let subject = case.run_object();
    let about = if subject == *case.target() {
        case.target().to_string()
    } else {
        format!("{} (update run {})", case.target(), subject.name)
    };
    let progress = case.rollout.as_ref().map(crate::rollout::Rollout::progress);
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
        Verdict::Succeeded => match &progress {
            Some(progress) => match &progress.snapshot {
                Some(index) => format!(
                    "has succeeded: snapshot {index} of {} was rolled out to {}",
                    progress.placement,
                    count(progress.total, "cluster")
                ),
                None => "has succeeded".to_owned(),
            },
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
        Verdict::Unknown => "cannot be judged: the evidence needed is missing".to_owned(),
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
