//! The controller has seen the run and does not get through its initialization.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::state::initialization_overdue;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{duration, names};
use crate::problems::{Problem, bindings_outdated, snapshot_awaited, snapshot_incomplete};
use crate::rollout::versions::{created_twice, versions};

/// Errors that pass are tried again without a word in the status, at growing intervals.
/// Source: updaterun/controller.go:Reconcile, initialization.go.
pub const RULE: Rule = Rule::error("FS121", "initialization-retried", One(check))
    .reads(&[
        Concept::Binding,
        Concept::PolicySnapshot,
        Concept::ResourceSnapshot,
    ])
    .caused_by(&["FS125"])
    .environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let age = initialization_overdue(cx).filter(|_| cx.run().is_some_and(UpdateRun::is_seen))?;
    let run = cx.run_object();
    let lead = format!(
        "{run} is still not initialized {} after its creation, although the controller has seen it",
        duration::describe(age)
    );
    let hidden = cx.inventory.unreadable_strategy();
    let problem = old_bindings(cx)
        .or_else(|| no_snapshot(cx).filter(|_| hidden.is_none()))
        .or_else(|| part_exists(cx));
    let why = match (&problem, hidden) {
        (Some(problem), _) => format!(": {}", problem.message),
        (None, Some(strategy)) => format!(": the hub agent cannot read {}.", strategy.object()),
        (None, None) => "; the reason is unknown.".to_owned(),
    };
    let mut finding = rule
        .finding(&run, lead + &why)
        .root()
        .evidence(&run, "metadata.finalizers", names::RUN_FINALIZER)
        .evidence(&run, "status.conditions[type=Initialized]", ABSENT);
    if let Some(problem) = problem {
        finding = problem.told_in(finding);
    }
    Some(
        finding
            .look_with(
                "Read the reason in the hub agent's log: errors that are retried do not appear in \
                 the run's status.",
                cx.agent_log(),
            )
            .look_with(
                "Wait: the run continues by itself once the cause is fixed. The controller retries \
                 at growing intervals of up to about 17 minutes.",
                cx.command("wait")
                    .arg(&run.name)
                    .switch("--for=initialized"),
            ),
    )
}

/// Bindings that the scheduler has not moved to the latest policy snapshot.
/// Source: updaterun/initialization.go:collectScheduledClusters.
fn old_bindings(cx: &DiagnosisContext<'_>) -> Option<Problem> {
    let policy = cx.inventory.latest_policy()?;
    let bindings = cx.inventory.bindings.iter();
    let old = bindings.filter(|binding| {
        !binding.is_unscheduled()
            && !binding.spec.policy_snapshot.is_empty()
            && binding.spec.policy_snapshot != policy.meta.name
    });
    let old: Vec<_> = old.collect();
    (!old.is_empty()).then(|| bindings_outdated(cx.run_object(), &old, policy))
}

/// No snapshot is the latest, where that is what the run waits for.
fn no_snapshot(cx: &DiagnosisContext<'_>) -> Option<Problem> {
    let inventory = cx.inventory;
    let is_awaited = cx.run()?.spec.snapshot_index.is_empty()
        && inventory.snapshots.is_complete()
        && inventory.latest_snapshot().is_none();
    is_awaited.then(|| snapshot_awaited(inventory, cx.run_object(), &cx.placement_object()))
}

/// Since KubeFleet 0.3 the controller creates the parts that the latest snapshot lacks, behind as many
/// as exist: where one of those exists as well, it never gets further.
/// Source: utils/controller/resource_snapshot_resolver.go:GetOrCreateResourceSnapshot.
fn part_exists(cx: &DiagnosisContext<'_>) -> Option<Problem> {
    let inventory = cx.inventory;
    let run = cx.run()?;
    if !run.spec.snapshot_index.is_empty() || !inventory.snapshots.is_complete() {
        return None;
    }
    let versions = versions(inventory);
    let latest = versions.iter().find(|it| it.is_latest())?;
    let (twice, flaw) = (created_twice(&latest.parts)?, latest.flaw()?);
    let mut problem = snapshot_incomplete(&cx.placement_object(), latest, &flaw);
    problem.message = format!(
        "of the latest resource snapshot only {flaw}, and the controller keeps trying to create {} \
         again, which is one of them.",
        twice.meta.name
    );
    let action = "Change the content on the hub, wait a minute, and start a new run in its place: it gets a new \
                  snapshot.";
    problem = problem.fix_with(action, cx.new_content_command());
    let whole = versions.iter().rev().find(|version| version.is_complete());
    Some(match whole {
        Some(whole) => problem.fix_with(
            format!(
                "Or start a new run with snapshot {}, if that is wanted.",
                whole.index
            ),
            cx.fresh_run_command(Some(&whole.index)),
        ),
        None => problem,
    })
}
