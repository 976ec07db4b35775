//! What is said of a run that does nothing until a person lets it: in reports and in `status`.

use crate::diagnose::subjects::gate::stopped_waits;
use crate::rollout::Rollout;
use crate::words::{count, enumerate};

/// How far a stopped run is, and what still counts meanwhile.
pub fn stopped(rollout: &Rollout<'_>) -> String {
    let run = rollout.run.object();
    let (done, total) = rollout.done_of();
    let clusters = count(total, "cluster");
    if !rollout.has_reached_any() {
        return format!("{run} is stopped: none of its {clusters} was updated.");
    }
    let verb = if done == 1 { "is" } else { "are" };
    let waits = stopped_waits(rollout);
    let also = waits
        .first()
        .map_or_else(String::new, |wait| format!("; {wait}"));
    format!("{run} is stopped: {done} of {clusters} {verb} done{also}.")
}

/// A step that lets a run remove its placement from clusters, as `Resume it` does.
pub fn removes(step: &str, clusters: &[&str]) -> String {
    format!(
        "{step} only if the workloads on {} may be deleted: it removes the placement there.",
        enumerate(clusters)
    )
}

/// For what a run is initialized that was not started, after its name.
pub fn not_started(rollout: &Rollout<'_>) -> String {
    if rollout.done_of().0 > 0 {
        return "waits to be started again.".to_owned();
    }
    let stages = rollout.stages.iter().filter(|stage| !stage.deletes).count();
    format!(
        "is initialized for {} in {} and waits to be started.",
        count(rollout.updated_clusters().count(), "cluster"),
        count(stages, "stage")
    )
}
