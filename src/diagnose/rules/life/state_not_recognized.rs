//! The run has a state, a reason to wait, or a task that no rule knows.

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::messages::essence;
use crate::kubefleet::reasons;
use crate::kubefleet::run::UnknownTerm;
use crate::words::CommandLine;

/// A later controller has words of its own. Source: utils/condition/reason.go, stageupdate_types.go:State,
/// StageTaskType.
pub const RULE: Rule = Rule::warning("FS613", "state-not-recognized", One(check));

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let rollout = cx.rollout.as_ref().filter(|it| !it.is_finished())?;
    let run = cx.run_object();
    let progressing = rollout.run.condition(reasons::PROGRESSING);
    let spec = &rollout.run.spec;
    let state = spec.state.as_ref().filter(|_| spec.is_unknown_state());
    let what = match rollout.run.unknown_term()? {
        UnknownTerm::State(state) => format!("has the state {state}"),
        UnknownTerm::Reason(halt) if halt.message.is_empty() => {
            format!("has a condition {} without a message", halt.kind)
        }
        UnknownTerm::Reason(halt) => {
            format!("reports {}: `{}`", halt.reason, essence(&halt.message))
        }
        UnknownTerm::Task(stage, task) => {
            format!("has a task of type {} in stage {}", task.kind, stage.name)
        }
    };
    let message =
        format!("The run {what}. No known KubeFleet has that, so what comes next is unknown.");
    let finding = rule
        .finding(&run, message)
        .root()
        .condition(&run, progressing)
        .known(&run, "spec.state", state);
    Some(
        finding
            .look(
                "Read the controller's messages in the evidence: they say what the run waits for.",
            )
            .look_with(
                "Check whether a later version of this plugin knows it.",
                CommandLine::fleet("version"),
            ),
    )
}
