//! Clusters that a run has still to reach would not take what it changes there.

use std::collections::BTreeSet;

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::changes_ahead::{
    READ, changes_ahead, look_at_changes, severity, stuck_ahead,
};
use crate::rollout::Rollout;

/// Both snapshots are put together as the hub agent does, and compared; the cluster itself is not asked.
/// Source: workapplier/apply.go, drift_detection_takeover.go:takeOverPreExistingObject,
/// availability_tracker.go.
pub const RULE: Rule = Rule::warning("FS712", "change-refused-ahead", Live(check))
    .reads(READ)
    .content();

fn check(cx: &DiagnosisContext<'_>, rule: &Rule, rollout: &Rollout<'_>) -> Vec<Finding> {
    let run = rollout.run;
    let ahead: BTreeSet<_> = rollout.still_to_reach().map(|it| it.name).collect();
    let refused = changes_ahead(cx).refused.iter().filter_map(|refused| {
        let clusters = refused.clusters.iter();
        let clusters: Vec<_> = clusters.filter(|it| ahead.contains(it.as_str())).collect();
        if clusters.is_empty() {
            return None;
        }
        let message = stuck_ahead(cx, &refused.describe(), clusters.iter().copied());
        let names = || clusters.iter().map(|it| it.as_str());
        let finding = rule
            .finding(refused.object(), message)
            .severity(severity(rollout, names()))
            .clusters(names())
            .snapshot_of(run);
        let finding = look_at_changes(cx, finding);
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
