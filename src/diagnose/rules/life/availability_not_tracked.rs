//! Clusters count as done although it could not be told whether everything is available.

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::reasons;

/// Kinds whose availability KubeFleet cannot judge count as available once they are applied.
/// Source: workapplier/availability_tracker.go, workgenerator/controller.go.
pub const RULE: Rule =
    Rule::info("FS610", "availability-not-tracked", One(check)).reads(&[Concept::Binding]);

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let rollout = cx.rollout.as_ref()?;
    let untracked: Vec<_> = rollout
        .done_clusters()
        .filter_map(|cluster| {
            let binding = cluster.binding?;
            let available = binding.current(reasons::AVAILABLE)?;
            (available.is_true() && available.reason == reasons::NOT_TRACKABLE)
                .then_some((cluster, binding, available))
        })
        .collect();
    if untracked.is_empty() {
        return None;
    }
    let names = untracked.iter();
    let names: Vec<_> = names.map(|(cluster, _, _)| cluster.name).collect();
    let message = format!(
        "{} ({}) {} as done although KubeFleet cannot track the availability of some objects: it \
         takes them for available once they are applied.",
        count(names.len(), "cluster"),
        enumerate(&names),
        if names.len() == 1 { "counts" } else { "count" },
    );
    let mut finding = rule
        .finding(rollout.run.object(), message)
        .clusters(names.iter().copied());
    for (_, binding, available) in untracked.iter().take(3) {
        finding = finding.condition(&binding.object(), *available);
    }
    Some(finding.look(if rollout.is_live() {
        "Check on the members that the content works before you approve a later stage: the rollout \
         does not wait for it."
    } else {
        "Check on the members that the content works: the rollout did not wait for it."
    }))
}
