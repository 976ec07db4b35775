//! Clusters that a run has still to reach would not take what it changes there.

use std::collections::BTreeSet;

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::changes_ahead::{changes_ahead, stuck_ahead};
use crate::rollout::{Rollout, before_next_gate};

/// Both snapshots are put together as the hub agent does, and compared; the cluster itself is not asked.
/// Source: workapplier/apply.go, drift_detection_takeover.go:takeOverPreExistingObject,
/// availability_tracker.go.
pub const RULE: Rule = Rule::warning("FS712", "change-refused-ahead", Live(check))
    .reads(&[
        Concept::ResourceSnapshot,
        Concept::Binding,
        Concept::ClusterOverrideSnapshot,
        Concept::OverrideSnapshot,
    ])
    .content();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, rollout: &Rollout<'_>) -> Vec<Finding> {
    let next = before_next_gate(rollout);
    let is_next = |name: &String| next.as_ref().is_none_or(|it| it.contains(name.as_str()));
    let run = rollout.run;
    let ahead: BTreeSet<_> = rollout.still_to_reach().map(|it| it.name).collect();
    let refused = changes_ahead(cx).refused.iter().filter_map(|refused| {
        let clusters = refused.clusters.iter();
        let clusters: Vec<_> = clusters.filter(|it| ahead.contains(it.as_str())).collect();
        if clusters.is_empty() {
            return None;
        }
        let message = stuck_ahead(cx, &refused.describe(), clusters.iter().copied());
        let finding = rule
            .finding(refused.object(), message)
            .clusters(clusters.iter().map(|it| it.as_str()))
            .snapshot_of(run);
        let finding = if clusters.iter().any(|it| is_next(it)) {
            finding
        } else {
            finding.severity(Severity::Info)
        };
        let finding = finding.look_with(
            "Check what the run changes on a cluster that it has still to reach.",
            clusters.first().map(|cluster| {
                let render = cx.command("render").arg(&run.meta.name);
                render.flag("--member", *cluster).switch("--diff")
            }),
        );
        let fix = match run.pinned() {
            Some(index) => format!("Choose another snapshot than {index}, which has this change."),
            None => refused.fix().to_owned(),
        };
        Some(
            finding
                .fix(fix)
                .new_run(cx, "Start a new run in this one's place after that."),
        )
    });
    refused.collect()
}
