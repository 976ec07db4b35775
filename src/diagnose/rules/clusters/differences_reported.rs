//! A placement that only compares found differences.

use std::collections::BTreeSet;

use crate::diagnose::rules::prelude::*;
use crate::kubefleet::apply::ApplyStrategy;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::{Condition, describe_object, reasons};
use crate::report::HubAndMember;
use crate::rollout::Rollout;

/// With `type: ReportDiff` nothing is applied, and a cluster is done when its report is there,
/// whatever it says. Source: updaterun/execution.go:checkClusterUpdateResult.
pub const RULE: Rule =
    Rule::info("FS526", "differences-reported", One(check)).reads(&[Concept::Binding]);

/// Clusters of which differing fields are shown, and fields of each.
const SHOWN: usize = 3;

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let compared = cx.inventory.bindings.iter().filter(|binding| {
        let strategy = binding.spec.apply_strategy.as_deref();
        strategy.is_some_and(ApplyStrategy::is_report_diff)
            && !binding.meta.is_deleting()
            && binding
                .current(reasons::DIFF_REPORTED)
                .is_some_and(Condition::is_true)
    });
    let compared: Vec<&Binding> = compared.collect();
    let differing = || compared.iter().filter(|it| !it.status.diffed.is_empty());
    differing().next()?;
    let clusters: BTreeSet<&str> = differing().map(|it| it.spec.cluster.as_str()).collect();
    let objects: BTreeSet<String> = differing()
        .flat_map(|binding| &binding.status.diffed)
        .map(|diff| describe_object(&diff.kind, &diff.namespace, &diff.name))
        .collect();
    let verb = by_number(objects.len(), "differs", "differ");
    let placement = cx.placement_object();
    let present = cx.inventory.placement.present();
    let will_apply = present.is_some_and(|it| !it.apply_strategy().is_report_diff());
    let so_far = if will_apply {
        "has only compared so far, and applies with its next run"
    } else {
        "applies nothing"
    };
    let message = format!(
        "{placement} {so_far}: of {} compared, {} {verb} on {}.",
        count(compared.len(), "cluster"),
        enumerate(&objects),
        enumerate(&clusters)
    );
    let mut finding = rule
        .finding(&placement, message)
        .clusters(clusters.iter().copied());
    for binding in differing().take(SHOWN) {
        let object = binding.object();
        finding = finding.evidence(&object, "spec.applyStrategy.type", "ReportDiff");
        for (at, diff) in binding.status.diffed.iter().enumerate().take(SHOWN) {
            let base = format!("status.diffedPlacements[{at}]");
            finding = finding.evidence(&object, format!("{base}.name"), &diff.name);
            for (field, one) in diff.diffs.iter().enumerate().take(SHOWN) {
                finding = finding.evidence(
                    &object,
                    format!("{base}.observedDiffs[{field}]"),
                    HubAndMember {
                        kind: &diff.kind,
                        field: one,
                    },
                );
            }
        }
    }
    if will_apply {
        let start = "Decide for each object which side is right. To roll out the hub's version, start a new run.";
        return Some(finding.fix_with(start, cx.new_run_command()));
    }
    let fails = if cx.rollout.as_ref().is_some_and(Rollout::is_live) {
        ", which fails this run,"
    } else {
        ""
    };
    Some(finding.look(format!(
        "Decide for each object which side is right. To roll out the hub's version, set another \
         `spec.strategy.applyStrategy.type` in the placement{fails} and start a new run."
    )))
}
