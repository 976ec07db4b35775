//! The run removes the placement from a cluster, and the binding is not gone yet.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::leftover::{PlacementLeftover, ask_agent};
use crate::kubefleet::binding::Binding;
use crate::kubefleet::duration;
use crate::problems::steps;
use crate::rollout::{ClusterView, STUCK_AFTER};

/// In the deletion stage a cluster is done when its binding is gone. The controller never calls
/// that stuck. Source: updaterun/execution.go:executeDeleteStage.
pub const RULE: Rule = Rule::info("FS520", "cluster-deletion-pending", Whole(check))
    .reads(&[Concept::Binding, Concept::Work])
    .caused_by(&["FS516", "FS518"])
    .environment();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Vec<Finding> {
    let Some(rollout) = cx.rollout.as_ref().filter(|rollout| !rollout.is_finished()) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    // Where the binding is gone, the run is done with the cluster when it looks next.
    let is_gone =
        |it: &ClusterView<'_>| it.binding.is_none() && cx.inventory.bindings.is_complete();
    let pending = rollout.removals().filter(|it| it.state.is_in_flight());
    for cluster in pending.filter(|it| !is_gone(it)) {
        let name = cluster.name;
        let lasting = cluster.in_flight_for(cx.now());
        let late = lasting.is_some_and(|lasting| lasting > STUCK_AFTER);
        let since = duration::lasting(lasting);
        let foreign: Vec<&str> = cluster
            .binding
            .into_iter()
            .flat_map(|binding| binding.meta.foreign_finalizers())
            .collect();
        let held = rollout.held_removals().any(|held| held.name == name);
        let why = if held {
            format!(
                ": finalizer {} on its binding, which is not KubeFleet's, blocks it",
                enumerate(&foreign)
            )
        } else {
            String::new()
        };
        let subject = cluster
            .binding
            .map_or_else(|| cx.run_object(), Binding::object);
        let message =
            format!("The removal of the placement from {name} has not finished{since}{why}.");
        let mut finding = rule
            .finding(subject, message)
            .root_if(held)
            .severity(match (held, late) {
                (true, _) => Severity::Error,
                (false, true) => Severity::Warning,
                (false, false) => Severity::Info,
            })
            .stage(cluster.stage)
            .clusters([name]);
        let mut left = 0;
        if let Some(binding) = cluster.binding {
            let object = binding.object();
            finding = finding
                .evidence(&object, "metadata.deletionTimestamp", binding.meta.deleted)
                .evidence(&object, "metadata.finalizers", &binding.meta.finalizers);
            for work in cx.inventory.works_of(binding) {
                left += 1;
                if left <= 3 {
                    let finalizers = &work.meta.finalizers;
                    finding = finding.evidence(work.object(), "metadata.finalizers", finalizers);
                }
            }
        }
        if let Some(binding) = cluster.binding.filter(|_| left == 0) {
            let step = "Inspect the binding: its finalizers are all that is left.";
            finding = finding.look_with(step, binding.object().kubectl("get").flag("-o", "yaml"));
        } else {
            let action = format!("List the remaining Works for {name}.");
            finding = finding.look_with(action, steps::works_for(&cx.placement_object(), name));
        }
        if held {
            let remove = format!("Ask the owner of {} to remove it.", enumerate(&foreign));
            finding = finding.fix(remove).then_continues(cx);
        } else if late {
            finding = who_is_late(cx, name, cluster.binding, finding);
        }
        findings.push(finding);
    }
    findings
}

/// Asks who has to act next: the hub agent deletes the Works and lets go of the binding, the member
/// agent removes what is in the Works. The controller waits for both without a limit.
/// Source: workgenerator/controller.go:handleDelete, workapplier/controller.go:garbageCollectAppliedWork.
fn who_is_late<'i>(
    cx: &DiagnosisContext<'i>,
    name: &'i str,
    binding: Option<&Binding>,
    finding: Finding,
) -> Finding {
    let mut works = binding.into_iter().flat_map(|it| cx.inventory.works_of(it));
    let going = works
        .next()
        .map(|first| first.meta.is_deleting() && works.all(|it| it.meta.is_deleting()));
    match going {
        Some(true) if let Some(left) = PlacementLeftover::of(cx, name) => left.who_acts(finding),
        _ if !cx.inventory.works.is_complete() => ask_agent(finding, name),
        Some(_) => finding.look_with(
            "Check whether the hub agent runs: it must delete the Works.",
            steps::hub_agent(),
        ),
        None => finding.look_with(
            "Check whether the hub agent runs: it must remove its finalizer.",
            steps::hub_agent(),
        ),
    }
}
