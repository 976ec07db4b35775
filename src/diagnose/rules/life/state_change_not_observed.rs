//! The run was changed and its conditions do not speak of the change yet.

use jiff::SignedDuration;

use crate::diagnose::case::Case;
use crate::diagnose::report::{Finding, Severity};
use crate::diagnose::rules::Rule;
use crate::diagnose::{size, steps};
use crate::kubefleet::{Concept, duration};

/// After this long without any change the controller counts as silent.
const QUIET: SignedDuration = SignedDuration::from_secs(120);

/// The controller checks a run at once when its spec changes, and writes the generation that it
/// saw. Source: updaterun/controller.go (GenerationChangedPredicate).
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS605",
    name: "state-change-not-observed",
    severity: Severity::Warning,
    reads: &[Concept::UpdateRun],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(rollout) = case.rollout.as_ref().filter(|rollout| rollout.is_live()) else {
        return Vec::new();
    };
    let run = rollout.run;
    let conditions = &run.status.conditions;
    // The controller's notes on stages and clusters count as much as those on the run.
    let all = || {
        run.all_stages()
            .flat_map(|stage| {
                stage.conditions.iter().chain(
                    stage
                        .clusters
                        .iter()
                        .flat_map(|cluster| &cluster.conditions),
                )
            })
            .chain(conditions)
    };
    let observed = all()
        .filter_map(|condition| condition.observed_generation)
        .max();
    let newest = all().filter_map(|condition| condition.since).max();
    let (Some(observed), Some(generation), Some(newest)) = (observed, run.meta.generation, newest)
    else {
        return Vec::new();
    };
    let silent = case.now().duration_since(newest);
    if generation <= observed || silent <= QUIET {
        return Vec::new();
    }
    // Where the object tells when it was edited, a fresh edit is no news, and an old one is certain.
    let edited = run.meta.spec_edited();
    if edited.is_some_and(|edited| case.now().duration_since(edited) <= QUIET) {
        return Vec::new();
    }
    let state = run.spec.state.as_deref().unwrap_or("absent");
    let mut finding = rule
        .finding(
            run.object(),
            format!(
                "The spec of {} is at generation {generation} (state {state}), but the \
                 controller's last write, {} ago, covers generation {observed}.",
                run.object(),
                duration::describe(silent)
            ),
        )
        .evidence(run.object(), "metadata.generation", generation.to_string())
        .computed(
            run.object(),
            &["status"],
            format!("the highest observedGeneration of all conditions is {observed}"),
        )
        .computed(
            run.object(),
            &["status"],
            format!("the newest lastTransitionTime of all conditions is {newest}"),
        )
        .evidence(run.object(), "spec.state", run.spec.state.as_ref())
        .severity(if edited.is_some() {
            Severity::Warning
        } else {
            Severity::Info
        });
    finding = finding
        .look(
            "Check again, if the change is seconds old: the controller processes it at once.",
            Some(case.command("diagnose").arg(&run.meta.name)),
        )
        .look(
            "Check whether the hub agent runs, and read its log, if this persists.",
            Some(steps::hub_agent()),
        );
    vec![size::explain(case, finding)]
}
