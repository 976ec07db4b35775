//! Findings about what a run failed for, or will fail for when it is checked next: one way to write
//! them for all rules.

use super::case::Case;
use super::report::{Finding, Severity, Subject, Verdict};
use super::rules::Rule;
use crate::kubefleet::run::UpdateRun;
use crate::rollout::Phase;

/// A finding that explains the failure of the run, with the controller's text as evidence.
pub(super) fn finding(
    case: &Case<'_>,
    rule: &Rule,
    subject: impl Into<Subject>,
    message: impl Into<String>,
) -> Finding {
    let finding = rule
        .finding(subject, message)
        .severity(Severity::Error)
        .root_if(matches!(
            case.verdict,
            Verdict::Failed | Verdict::InitializationFailed
        ));
    match &case.failure {
        Some(failure) => finding.evidence(
            case.run_object(),
            case.failure_path(),
            failure.condition.message.clone(),
        ),
        None => finding,
    }
}

/// Whether the run failed before it had done anything.
pub(super) fn initializing(case: &Case<'_>) -> bool {
    case.failure
        .as_ref()
        .is_some_and(|failure| failure.initializing)
}

/// When the controller ran into it: `when RUN was initialized`, `while RUN was under way`.
pub(super) fn when(case: &Case<'_>) -> String {
    let run = case.run_object().name;
    if initializing(case) {
        format!("when {run} was initialized")
    } else {
        format!("while {run} was under way")
    }
}

/// The live run that will be checked against its recorded state again: initialized and not over.
pub(super) fn live_run<'i>(case: &Case<'i>) -> Option<&'i UpdateRun> {
    let rollout = case.rollout.as_ref()?;
    matches!(
        rollout.phase,
        Phase::Idle | Phase::Executing | Phase::Stopping | Phase::Stopped
    )
    .then_some(rollout.run)
}

/// The end of a sentence about a live run that cannot pass its next check. The controller checks
/// a run that waits each minute, and checks it before it checks approvals.
/// Source: updaterun/controller.go:Reconcile.
pub(super) fn will_fail(case: &Case<'_>) -> &'static str {
    match case.verdict {
        Verdict::WaitingForApproval => {
            "so the run will fail at the controller's next check, approved or not"
        }
        Verdict::Stopped => "so the run will fail when it is resumed",
        Verdict::NotStarted => "so the run will fail when it is started",
        _ => "so the run will fail at the controller's next check",
    }
}

/// Adds the step after what ends a run: a new one takes its place.
pub(super) fn new_run(case: &Case<'_>, finding: Finding, action: impl Into<String>) -> Finding {
    let finding = if case.awaits_scheduler() {
        finding.look(
            "Wait until the scheduler has placed the clusters: plan then shows no refusal.",
            case.plan_command(),
        )
    } else {
        finding
    };
    finding.fix(action, case.new_run_command())
}

/// Adds the step that follows every repair: a failed run never continues.
pub(super) fn then_new_run(case: &Case<'_>, finding: Finding) -> Finding {
    finding.fix(
        format!(
            "Then start a new run: {} has failed for good.",
            case.run_object().name
        ),
        case.new_run_command(),
    )
}

/// Adds the only step that is left when the cause is fixed.
pub(super) fn just_new_run(case: &Case<'_>, finding: Finding) -> Finding {
    finding.fix(
        format!(
            "Start a new run: the cause is fixed, but {} has failed for good.",
            case.run_object().name
        ),
        case.new_run_command(),
    )
}

/// The name among `names` that is closest to `wanted`, when it is close enough to be meant.
/// An equal name is not searched.
pub fn similar<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    const CLOSE: f64 = 0.75;
    names
        .into_iter()
        .filter(|name| *name != wanted)
        .map(|name| (strsim::normalized_damerau_levenshtein(wanted, name), name))
        .filter(|(likeness, _)| *likeness >= CLOSE)
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))
        .map(|(_, name)| name)
}
