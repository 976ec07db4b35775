//! The run was changed and its conditions do not speak of the change yet.

use crate::diagnose::rules::prelude::*;
use jiff::SignedDuration;

use crate::diagnose::subjects::size;
use crate::kubefleet::duration;
use crate::problems::steps;

/// After this long without any change the controller counts as silent.
const QUIET: SignedDuration = SignedDuration::from_secs(120);

/// The controller checks a run at once when its spec changes, and writes the generation that it
/// saw. Source: updaterun/controller.go (GenerationChangedPredicate).
pub const RULE: Rule = Rule::info("FS605", "state-change-not-observed", One(check))
    .reads(&[Concept::UpdateRun])
    .environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let rollout = cx.rollout.as_ref().filter(|rollout| rollout.is_live())?;
    let run = rollout.run;
    // The controller's notes on stages and clusters count as much as those on the run.
    let observed = run.all_conditions().filter_map(|it| it.observed_generation);
    let observed = observed.max();
    let newest = run.all_conditions().filter_map(|it| it.since).max();
    let (Some(observed), Some(generation), Some(newest)) = (observed, run.meta.generation, newest)
    else {
        return None;
    };
    let silent = cx.now().duration_since(newest);
    // Where the object tells when it was edited, the model knows by when that is seen.
    let is_known = run.meta.spec_edited().is_some();
    if generation <= observed || silent <= QUIET || is_known {
        return None;
    }
    let state = run.spec.state.as_deref().unwrap_or("absent");
    let message = format!(
        "The spec of {} is at generation {generation} (state {state}), but the controller's \
         last write, {} ago, covers generation {observed}.",
        run.object(),
        duration::describe(silent)
    );
    let mut finding = rule
        .finding(run.object(), message)
        .evidence(run.object(), "metadata.generation", generation)
        .computed(
            run.object(),
            &["status"],
            format!("the highest observedGeneration of all conditions is {observed}"),
        )
        .last_noted(run.object(), newest)
        .evidence(run.object(), "spec.state", run.spec.state.as_ref());
    finding = finding
        .look_with(
            "Check again, if the change is seconds old: the controller processes it at once.",
            cx.command("diagnose").arg(&run.meta.name),
        )
        .look_with(
            "Check whether the hub agent runs, if this persists.",
            steps::hub_agent(),
        );
    Some(size::explain(cx, finding))
}
