//! An External placement that no update run has rolled out yet.

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::reasons;

/// Judged by the strategy's type and the bindings, never by the condition's text, which has
/// changed with every version.
pub const RULE: Rule = Rule::info("FS801", "placement-awaits-run", RuleSearch::One(check))
    .reads(&[Concept::Placement, Concept::Binding])
    .caused_by(&["FS105"])
    .person();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let inventory = cx.inventory;
    if cx.run().is_some() || cx.verdict != Verdict::NotStarted {
        return None;
    }
    let placement = inventory
        .placement
        .present()
        .filter(|placement| placement.is_external())?;
    let unseen = inventory.bindings.items.is_empty() && !inventory.bindings.is_complete();
    if unseen
        || inventory
            .bindings
            .iter()
            .any(|binding| !binding.spec.snapshot.is_empty())
    {
        return None;
    }
    let clusters: Vec<_> = inventory
        .bindings
        .iter()
        .filter(|binding| !binding.meta.is_deleting() && !binding.is_unscheduled())
        .map(|binding| binding.spec.cluster.as_str())
        .collect();
    let object = placement.object();
    let mut finding = rule
        .finding(
            &object,
            format!(
                "{} has strategy External and {}: {} received nothing yet.",
                object.name,
                if inventory.runs.is_complete() {
                    "waits for its first update run"
                } else {
                    "no update run has reached it"
                },
                match clusters.len() {
                    0 => "its clusters have".to_owned(),
                    1 => "its 1 cluster has".to_owned(),
                    n => format!("its {} have", count(n, "cluster")),
                }
            ),
        )
        .root()
        .clusters(clusters)
        .evidence(
            &object,
            "spec.strategy.type",
            placement.rollout_type().to_owned(),
        );
    finding = finding.condition(&object, placement.condition(reasons::ROLLOUT_STARTED));
    for binding in inventory.bindings.iter().take(3) {
        finding = finding.evidence(binding.object(), "spec.resourceSnapshotName", "");
    }
    Some(
        finding
            .look_with(
                "Check what a run would do.",
                cx.command("plan")
                    .flag("--placement", &object.name)
                    .flag("--strategy", "STRATEGY"),
            )
            .fix_with(
                "Start the first run.",
                cx.command("run")
                    .arg("RUN")
                    .flag("--placement", &object.name)
                    .flag("--strategy", "STRATEGY"),
            ),
    )
}
