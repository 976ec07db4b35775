//! A cluster with which a run is done has another run's snapshot.

use crate::diagnose::rules::prelude::*;
use crate::diagnose::subjects::back::replaced_or_deleted;
use crate::inventory::choose;
use crate::problems::put_there;
use crate::rollout::content::{overtaken, would_go_back};
use crate::rollout::{ClusterView, Rollout, rollout_started};

/// A run never checks a done cluster again. One that waits or is stopped counts it, also
/// when another run has replaced its snapshot there.
/// Source: updaterun/execution.go:executeUpdatingStage.
pub const RULE: Rule =
    Rule::warning("FS706", "done-cluster-overtaken", One(check)).reads(&[Concept::Binding]);

/// Whether all clusters of the run have the same version: then nothing is left to bring to one.
pub(super) fn all_on_one(rollout: &Rollout<'_>) -> bool {
    let snapshot = |cluster: &ClusterView<'_>| Some(cluster.binding?.spec.snapshot.clone());
    let held: Option<Vec<_>> = rollout.updated_clusters().map(snapshot).collect();
    held.is_some_and(|held| held.windows(2).all(|two| two[0] == two[1]))
}

fn check(cx: &DiagnosisContext<'_>, rule: &Rule) -> Option<Finding> {
    let rollout = cx.rollout.as_ref()?;
    let lost = overtaken(rollout);
    if lost.is_empty() {
        return None;
    }
    let run = rollout.run.object();
    let writers = lost
        .iter()
        .filter_map(|lost| rollout_started(lost.binding).run)
        .filter(|writer| *writer != run.name);
    let held = put_there(lost.iter().map(|lost| lost.index), writers);
    let several = ("count", "have", "them");
    let (verb, has, them) = by_number(lost.len(), ("counts", "has", "it"), several);
    let names = enumerate(lost.iter().map(|lost| lost.cluster));
    // The same later run is then decided about there.
    let goes_back = !would_go_back(rollout).is_empty();
    let own = &rollout.run.status.snapshot_index;
    let message = format!(
        "{names} {verb} as done in {}, but {has} {held}, not snapshot {own}; the run does \
         not update {them} again.",
        run.name
    );
    let mut finding = rule
        .finding(&run, message)
        .root_if(cx.is_resting() && !goes_back)
        .clusters(lost.iter().map(|lost| lost.cluster))
        .evidence(&run, rollout.run.snapshot_path(), own);
    for lost in lost.iter().take(3) {
        finding = finding.written(lost.binding);
    }
    if goes_back {
        return Some(finding.look("Resolve FS703 first."));
    }
    let finding = cx.look_at_history(finding);
    // A later run that is under way decides, and one more would take clusters from it.
    let own = choose::age_key(rollout.run);
    let mut others = cx.inventory.runs_under_way();
    let is_led = others.any(|other| choose::age_key(other) > own);
    let brings_together = !is_led && !all_on_one(rollout);
    Some(replaced_or_deleted(cx, finding, brings_together))
}
