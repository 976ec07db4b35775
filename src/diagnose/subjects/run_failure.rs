//! Findings about what a run failed for, or will fail for when it is checked next: one way to write
//! them for all rules.

use std::collections::BTreeSet;

use crate::diagnose::subjects::context::DiagnosisContext;
use crate::diagnose::subjects::rule::Rule;
use crate::kubefleet::run::UpdateRun;
use crate::problems::Problem;
use crate::report::{ComposeText, Finding, Severity, Subject, Verdict};
use crate::rollout::Phase;
use crate::words::enumerate;

/// A finding that explains the failure of the run, with the controller's text as evidence.
pub fn finding(
    cx: &DiagnosisContext<'_>,
    rule: &Rule,
    subject: impl Into<Subject>,
    message: impl Into<String>,
) -> Finding {
    let explains = cx.verdict.is_in_trouble();
    let text = cx.failure.as_ref();
    let text = text.map(|failure| &failure.condition.message);
    rule.finding(subject, message)
        .severity(Severity::error_if(explains || cx.failure.is_some()))
        .root_if(explains)
        .known(cx.run_object(), cx.failure_path(), text)
}

/// Whether the run failed before it had done anything.
pub fn initializing(cx: &DiagnosisContext<'_>) -> bool {
    cx.failure
        .as_ref()
        .is_some_and(|failure| failure.initializing)
}

/// A refusal as a run met it, and a new run, which every repair needs: a failed one never
/// continues. Or one that a live run will meet, unless it is repaired before.
pub fn refused(cx: &DiagnosisContext<'_>, rule: &Rule, problem: Problem, fixed: bool) -> Finding {
    if cx.failure.is_none() {
        let problem = ahead(cx, problem);
        let name = &cx.run_object().name;
        return finding_without_run(cx, rule, problem)
            .severity(Severity::Warning)
            .fix_with(
                format!("Then start a new run, if {name} has failed by then."),
                cx.new_run_command(),
            );
    }
    let mut finding = finding_without_run(cx, rule, problem);
    if fixed {
        finding.remedies.clear();
        return just_new_run(cx, finding);
    }
    then_new_run(cx, finding)
}

/// The same for a snapshot that a run asks for: what it asks for is the first that was read.
pub fn asked(cx: &DiagnosisContext<'_>, rule: &Rule, problem: Problem) -> Finding {
    let evidence = problem.evidence.clone();
    let asked = cx.run().map(|run| &run.spec.snapshot_index);
    let mut problem = Problem {
        evidence: Vec::new(),
        ..problem
    }
    .evidence(cx.run_object(), "spec.resourceSnapshotIndex", asked);
    problem.evidence.extend(evidence);
    finding_without_run(cx, rule, problem)
}

/// The same without a new run.
pub fn finding_without_run(cx: &DiagnosisContext<'_>, rule: &Rule, problem: Problem) -> Finding {
    let finding = finding(cx, rule, problem.subject.clone(), &problem.message);
    problem.told_in(finding)
}

/// The live run that will be checked against its recorded state again: initialized and not over.
pub fn live_run<'i>(cx: &DiagnosisContext<'i>) -> Option<&'i UpdateRun> {
    let rollout = cx.rollout.as_ref()?;
    matches!(
        rollout.phase,
        Phase::Idle | Phase::Executing | Phase::Stopping | Phase::Stopped
    )
    .then_some(rollout.run)
}

/// The end of a sentence about a live run that cannot pass its next check.
pub fn will_fail(cx: &DiagnosisContext<'_>) -> String {
    format!("so the run will fail {}", cx.outlook.fails_when(cx.verdict))
}

/// A problem for which a live run will fail, which its message says then.
pub fn ahead(cx: &DiagnosisContext<'_>, problem: Problem) -> Problem {
    let lacks = problem.message.trim_end_matches('.');
    let message = format!("{lacks}, {}.", will_fail(cx));
    Problem { message, ..problem }
}

/// The end of a sentence about what ends a run: nothing, once it has failed.
pub fn so(cx: &DiagnosisContext<'_>) -> String {
    match cx.failure {
        Some(_) => String::new(),
        None => format!(", {}", will_fail(cx)),
    }
}

/// Until when a change under a live run can be undone.
pub fn in_time(cx: &DiagnosisContext<'_>) -> &'static str {
    match cx.verdict {
        Verdict::Stopped => "before you resume the run",
        Verdict::NotStarted => "before you start the run",
        Verdict::WaitingForApproval if cx.rollout.as_ref().is_some_and(|it| it.state_ignored) => {
            "before the controller's next check, which an approval triggers"
        }
        Verdict::WaitingForApproval => {
            "before the controller's next check, which an approval or a stop triggers"
        }
        _ => "before the controller's next check",
    }
}

/// The step that takes a change under a live run back.
pub fn undo_in_time(cx: &DiagnosisContext<'_>) -> String {
    format!("Undo the change {}, if it was a mistake.", in_time(cx))
}

/// Adds the step that follows every repair: a failed run never continues.
pub fn then_new_run(cx: &DiagnosisContext<'_>, finding: Finding) -> Finding {
    let action = format!(
        "Then start a new run: {} has failed for good.",
        cx.run_object().name
    );
    finding.fix_with(action, cx.new_run_command())
}

/// Adds the only step that is left when the cause is fixed.
pub fn just_new_run(cx: &DiagnosisContext<'_>, finding: Finding) -> Finding {
    // What is only under way says nothing yet.
    let told = cx.troubles.iter().filter(|it| it.trouble.is_told());
    let names: BTreeSet<_> = told.map(|it| it.cluster).collect();
    let fail = if names.len() == 1 { "fails" } else { "fail" };
    let finding = if names.is_empty() {
        finding
    } else {
        let names = enumerate(names);
        finding.look(format!("Check this first: {names} {fail} already."))
    };
    let action = format!(
        "Start a new run: the cause is fixed, but {} has failed for good.",
        cx.run_object().name
    );
    finding.fix_with(action, cx.new_run_command())
}
