//! A stage waits for its time.

use crate::diagnose::rules::life::state_ignored_by_hub::{asks_to_halt, state_ignored};
use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::gate::{halt, next_approval, obstacle, unlisted};
use crate::kubefleet::duration;
use crate::rollout::Rollout;

/// The wait counts from the last transition of the stage's `Progressing`: the moment at which its
/// last cluster was done, or at which it was stopped since. A resume keeps that time.
/// Source: updaterun/execution.go:checkAfterStageTasksStatus, stop.go:markStageUpdatingStopped.
pub const RULE: Rule = Rule::info("FS407", "timed-wait-running", Live(check));

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, rollout: &Rollout<'_>) -> Vec<Finding> {
    if !matches!(
        cx.verdict,
        Verdict::WaitingForTimer | Verdict::WaitingForApproval
    ) {
        return Vec::new();
    }
    let run = cx.run_object();
    let obstacle = obstacle(cx).filter(|_| cx.verdict == Verdict::WaitingForTimer);
    let mut findings = Vec::new();
    for gate in rollout.open_timers() {
        let Some(since) = gate.waiting_since else {
            continue;
        };
        let message = match gate.until() {
            Some(until) if until <= cx.now() => continue,
            Some(until) => format!(
                "Stage {} waits until {until}, {} from now, before it is complete.",
                gate.stage,
                duration::describe(until.duration_since(cx.now()))
            ),
            None => format!(
                "Stage {} waits before it is complete; the run does not record how long.",
                gate.stage
            ),
        };
        let stage = gate.stage;
        let mut finding = rule
            .finding(&run, message)
            .root_if(cx.verdict == Verdict::WaitingForTimer)
            .stage(stage)
            .evidence(&run, gate.since_path(), since);
        if let Some(until) = gate.until() {
            finding = finding
                .evidence(&run, gate.wait_path(), gate.wait_text)
                .computed(
                    &run,
                    &[&gate.since_path(), &gate.wait_path()],
                    format!(
                        "until {until}, {} from now",
                        duration::describe(until.duration_since(cx.now()))
                    ),
                );
        }
        let wait = cx.command("wait").arg(&run.name).switch("--for=succeeded");
        finding = match state_ignored(cx) {
            // Somebody wants it to halt, and nothing but its deletion does that.
            Some(state) if asks_to_halt(state) => finding.look_with(
                format!("Decide before that about the run's state, {state}: this hub ignores it."),
                cx.command("status").arg(&run.name),
            )
            .disrupt_with(
                "Delete the run, if the next stage should not start: clusters keep their content.",
                cx.command("delete").arg(&run.name),
            ),
            _ if cx.verdict == Verdict::WaitingForTimer => match next_approval(rollout, gate) {
                Some(next) => finding.look_with(
                    format!("Wait: stage {} then asks for an approval.", next.stage),
                    cx.command("wait").arg(&run.name).joined(
                        "--for",
                        format!("approval={}/{}", next.stage, next.time.as_str()),
                    ),
                ),
                None if let Some(why) = &obstacle => {
                    let why = format!(
                        "before the time is over: {why} It continues by itself otherwise."
                    );
                    halt(cx, finding, &why)
                }
                None => finding.look_with("Wait: nothing else is needed.", wait),
            },
            _ => finding.look("Wait for the timer too: an approval does not shorten it."),
        };
        if !rollout.state_ignored && obstacle.is_none() {
            finding = finding.look(
                "Do not stop the run to extend the wait: the wait restarts at the stop but \
                 continues while the run is stopped.",
            );
        }
        findings.push(finding);
    }
    found_or(findings, || unlisted(cx, rule, false))
}
