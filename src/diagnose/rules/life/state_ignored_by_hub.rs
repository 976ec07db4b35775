//! The run's state asks for something that the hub does not listen to.

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::reasons;
use crate::rollout::{Phase, goes_on_stopped, old_controller};

/// Up to KubeFleet 0.1.2 the field exists, with other words, and the controller never reads it.
/// Source: apis/placement/v1beta1 and updaterun/controller.go at v0.1 and v0.1.2.
pub const RULE: Rule = Rule::info("FS608", "state-ignored-by-hub", One(check));

/// The state of a run that goes on whatever it says, where it asks for something else.
pub fn state_ignored<'i>(cx: &DiagnosisContext<'i>) -> Option<&'i str> {
    let rollout = cx
        .rollout
        .as_ref()
        .filter(|rollout| rollout.state_ignored && rollout.phase == Phase::Executing)?;
    rollout.run.spec.state.as_deref().filter(|state| {
        // Words that ask for what happens anyway.
        !matches!(*state, "" | "Run" | "Started" | "Execute")
    })
}

/// Whether somebody wrote the state to halt a run: `Initialize` is what it is by default.
pub fn asks_to_halt(state: &str) -> bool {
    !matches!(state, "Initialize" | "NotStarted")
}

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let state = state_ignored(cx)?;
    let rollout = cx.rollout.as_ref()?;
    let run = rollout.run;
    // Without a look at the hub's schema the run's own texts tell who initialized it, and the hub
    // agent may have been upgraded since.
    let hub = &cx.inventory.hub;
    // What a newer agent initialized and did not start, an older one is at work on.
    let is_taken_over = hub.run_states.is_some() && !old_controller(run);
    let known = hub.ignores_state() || goes_on_stopped(run) || is_taken_over;
    let message = if known {
        format!(
            "The state of {} is {state}, but the run executes anyway: the hub agent does not read \
             the field.",
            run.object()
        )
    } else {
        format!(
            "The state of {} is {state}, but the hub agent that initialized the run does not read \
             the field.",
            run.object()
        )
    };
    let mut finding = rule
        .finding(run.object(), message)
        .severity(Severity::warning_if(asks_to_halt(state)))
        .evidence(run.object(), "spec.state", state);
    finding = finding.condition(
        &run.object(),
        rollout
            .progressing()
            .or_else(|| run.condition(reasons::INITIALIZED)),
    );
    // An old agent that is at work would begin it again.
    if !known && hub.run_states.is_none() {
        let action = "Start it, if it has stalled since an upgrade of the hub agent.";
        finding = finding.fix_with(action, cx.command("run").arg(&run.meta.name));
    }
    Some(
        finding
            .disrupt_with(
                "Delete the run to halt it: clusters keep their content.",
                cx.command("delete").arg(&run.meta.name),
            )
            .fix(
                "Let the run end before you upgrade the hub agent: KubeFleet 0.2 and later honor \
                 the field, and a run in another state than Run then stalls.",
            ),
    )
}
