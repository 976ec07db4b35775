//! An External placement that no update run has rolled out yet.

use crate::diagnose::case::Case;
use crate::diagnose::finding::count;
use crate::diagnose::report::{Finding, Severity, Verdict};
use crate::diagnose::rules::Rule;
use crate::kubefleet::{Concept, reasons};

/// Judged by the strategy's type and the bindings, never by the condition's text, which has
/// changed with every version.
pub(in crate::diagnose::rules) const RULE: Rule = Rule {
    code: "FS801",
    name: "placement-awaits-run",
    severity: Severity::Info,
    reads: &[Concept::Placement, Concept::Binding],
    caused_by: &[],
    check,
};

fn check(case: &Case<'_>, rule: &Rule) -> Vec<Finding> {
    let inventory = case.inventory;
    if case.run().is_some() || case.verdict != Verdict::NotStarted {
        return Vec::new();
    }
    let Some(placement) = inventory
        .placement
        .present()
        .filter(|placement| placement.is_external())
    else {
        return Vec::new();
    };
    let unseen = inventory.bindings.items.is_empty() && !inventory.bindings.is_complete();
    if unseen
        || inventory
            .bindings
            .iter()
            .any(|binding| !binding.spec.snapshot.is_empty())
    {
        return Vec::new();
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
    if let Some(started) = placement.condition(reasons::ROLLOUT_STARTED) {
        finding = finding.condition(&object, "status", started);
    }
    for binding in inventory.bindings.iter().take(3) {
        finding = finding.evidence(binding.object(), "spec.resourceSnapshotName", "");
    }
    vec![
        finding
            .look(
                "Check what a run would do.",
                Some(
                    case.command("plan")
                        .flag("--placement", &object.name)
                        .flag("--strategy", "STRATEGY"),
                ),
            )
            .fix(
                "Start the first run.",
                Some(
                    case.command("run")
                        .arg("RUN")
                        .flag("--placement", &object.name)
                        .flag("--strategy", "STRATEGY"),
                ),
            ),
    ]
}
