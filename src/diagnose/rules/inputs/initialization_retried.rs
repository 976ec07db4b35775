//! The controller has seen the run and does not get through its initialization.

use crate::diagnose::rules::prelude::*;
use jiff::SignedDuration;

use crate::kubefleet::{duration, names};
use crate::rollout::Phase;
use crate::words::CommandLine;

/// Errors that pass are tried again without a word in the status, at growing intervals.
/// Source: updaterun/controller.go:Reconcile, initialization.go.
pub const RULE: Rule = Rule::error("FS121", "initialization-retried", Search::One(check)).reads(&[
    Concept::Binding,
    Concept::PolicySnapshot,
    Concept::ResourceSnapshot,
]);

/// An initialization takes seconds.
const PATIENCE: SignedDuration = SignedDuration::from_secs(60);

/// How long a run has been waiting for its initialization, when that is too long.
pub fn overdue(cx: &Context<'_>) -> Option<SignedDuration> {
    let rollout = cx.rollout.as_ref()?;
    if rollout.phase != Phase::Initializing {
        return None;
    }
    let age = cx.now().duration_since(rollout.run.meta.created?);
    (age > PATIENCE).then_some(age)
}

/// Whether the controller has ever touched the run.
pub fn is_seen(cx: &Context<'_>) -> bool {
    cx.run().is_some_and(|run| {
        run.meta
            .finalizers
            .iter()
            .any(|finalizer| finalizer == names::RUN_FINALIZER)
            || !run.status.conditions.is_empty()
            || !run.status.policy_index.is_empty()
            || !run.status.stages.is_empty()
    })
}

fn check(cx: &Context<'_>, rule: &Rule) -> Option<Finding> {
    let age = overdue(cx).filter(|_| is_seen(cx))?;
    let run = cx.run_object();
    let lead = format!(
        "{run} is still not initialized {} after its creation, although the controller has seen it",
        duration::describe(age)
    );
    let finding = |message: String| {
        rule.finding(&run, message)
            .root()
            .evidence(&run, "metadata.finalizers", names::RUN_FINALIZER)
            .evidence(&run, "status.conditions[type=Initialized]", ABSENT)
    };
    let finding = old_bindings(cx, &lead, &finding)
        .or_else(|| no_snapshot(cx, &lead, &finding))
        .unwrap_or_else(|| finding(format!("{lead}; the reason is unknown.")));
    Some(
        finding
            .look_with(
                "Read the reason in the hub agent's log: errors that are retried do not appear in \
                 the run's status.",
                CommandLine::fleet("doctor"),
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
fn old_bindings(
    cx: &Context<'_>,
    lead: &str,
    start: &dyn Fn(String) -> Finding,
) -> Option<Finding> {
    let mut latest = cx.inventory.latest_policies();
    let (Some(policy), None) = (latest.next(), latest.next()) else {
        return None;
    };
    let old: Vec<_> = cx
        .inventory
        .bindings
        .iter()
        .filter(|binding| {
            !binding.is_unscheduled()
                && !binding.spec.policy_snapshot.is_empty()
                && binding.spec.policy_snapshot != policy.meta.name
        })
        .collect();
    if old.is_empty() {
        return None;
    }
    let clusters: Vec<&str> = old.iter().map(|it| it.spec.cluster.as_str()).collect();
    let mut finding = start(format!(
        "{lead}: {} ({}) belong to an older scheduling policy snapshot than {}. The controller \
         waits for the scheduler to update them.",
        count(old.len(), "binding"),
        enumerate(&clusters),
        policy.meta.name
    ))
    .clusters(clusters);
    for binding in old.iter().take(5) {
        finding = finding.evidence(
            binding.object(),
            "spec.schedulingPolicySnapshotName",
            &binding.spec.policy_snapshot,
        );
    }
    Some(finding.look_with(
        "Check whether the scheduler makes progress: see the Scheduled condition.",
        policy.object().kubectl("get").flag("-o", "yaml"),
    ))
}

/// Up to KubeFleet 0.2.2 the placement controller makes the snapshots, and a run without an index
/// waits for the first. Source: v0.2.2 updaterun/initialization.go:getResourceSnapshotObjs.
fn no_snapshot(cx: &Context<'_>, lead: &str, start: &dyn Fn(String) -> Finding) -> Option<Finding> {
    let inventory = cx.inventory;
    let run = cx.run()?;
    if !run.spec.snapshot_index.is_empty()
        || !inventory.snapshots.is_complete()
        || inventory.latest_snapshot().is_some()
    {
        return None;
    }
    let object = cx.placement_object();
    let finding = start(format!(
        "{lead}: {object} has no resource snapshot yet. Up to KubeFleet 0.2.2, a run without an \
         index waits for one."
    ))
    .computed(
        run.object(),
        &["spec.placementName"],
        format!("no resource snapshot of {object} is marked as the latest"),
    );
    Some(finding.look_with(
        "Check whether the placement selects anything, and its conditions.",
        cx.command("diagnose").arg(object.word()),
    ))
}
