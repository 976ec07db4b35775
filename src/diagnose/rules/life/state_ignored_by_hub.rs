//! The run's state asks for something that the hub does not listen to.

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::{Conditions, reasons};
use crate::rollout::Phase;

/// Up to KubeFleet 0.1.2 the field exists, with other words, and the controller never reads it.
/// Source: apis/placement/v1beta1 and updaterun/controller.go at v0.1 and v0.1.2.
pub const RULE: Rule = Rule::info("FS608", "state-ignored-by-hub", Search::One(check));

fn check(cx: &Context<'_>, rule: &Rule) -> Option<Finding> {
    let rollout = cx
        .rollout
        .as_ref()
        .filter(|rollout| rollout.state_ignored && rollout.phase == Phase::Executing)?;
    let run = rollout.run;
    let state = run.spec.state.as_deref().filter(|state| {
        // Words that ask for what happens anyway.
        !matches!(*state, "" | "Run" | "Started" | "Execute")
    })?;
    // Without a look at the hub's schema the run's own texts tell who initialized it, and the hub
    // agent may have been upgraded since.
    let known = cx.inventory.hub.ignores_state();
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
    let mut finding =
        rule.finding(run.object(), message)
            .evidence(run.object(), "spec.state", state);
    finding = finding.condition(
        &run.object(),
        rollout
            .progressing()
            .or_else(|| run.status.conditions.condition(reasons::INITIALIZED)),
    );
    if !known {
        finding = finding.fix_with(
            "Start it, if it has stalled since an upgrade of the hub agent.",
            cx.command("run").arg(&run.meta.name),
        );
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
