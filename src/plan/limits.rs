//! Objects that a run of this size makes too large.

use super::draft::PlanDraft;
use super::stages::ComputedStages;
use super::{Warning, WarningKind};
use crate::kubefleet::Concept;
use crate::report::ComposeText;
use crate::rollout::limits::{self, DECISIONS, ETCD_REQUEST};

/// Warns of objects that may outgrow what can be stored, and of lists that are cut.
pub(super) fn check(draft: &mut PlanDraft<'_>, computed: &ComputedStages) {
    let updated = computed.updated().map(|cluster| cluster.name.as_str());
    let updated: Vec<&str> = updated.collect();
    let removed = computed.removed.iter().map(|cluster| cluster.name.as_str());
    let all: Vec<&str> = updated.iter().copied().chain(removed).collect();
    let placement = draft.placement();
    let limit = limits::describe(ETCD_REQUEST);
    let name = draft.wish.run.as_ref().unwrap_or(&placement.name);
    let size = limits::run_size(all.iter().copied());
    if limits::is_near(size) {
        let run = draft.inventory.scope.object(Concept::UpdateRun, name);
        let message = format!(
            "The run would grow to about {} with {} clusters, but etcd accepts {limit} by default. \
             If the write is refused, KubeFleet cannot record progress and the run stalls.",
            limits::describe(size),
            all.len()
        );
        draft.warnings.push(
            Warning::new(WarningKind::RunTooLarge, &run, message)
                .computed(&run, &["status.stagesStatus"], limits::describe(size))
                .fix("Split the clusters across several placements."),
        );
    }
    let size = limits::placement_size(updated.iter().copied(), name);
    if limits::is_near(size) {
        let message = format!(
            "The status of {placement} would grow to about {} with {} clusters, but etcd accepts \
             {limit} by default. If the write is refused, its conditions stay outdated. Runs do not \
             read them.",
            limits::describe(size),
            updated.len()
        );
        draft.warnings.push(
            Warning::new(WarningKind::PlacementStatusTooLarge, placement, message)
                .computed(
                    placement,
                    &["status.placementStatuses"],
                    limits::describe(size),
                )
                .look_with(
                    "Follow the run instead of the placement's status.",
                    draft
                        .command("status")
                        .arg(draft.wish.run.as_deref().unwrap_or("RUN")),
                ),
        );
    }
    if updated.len() > DECISIONS {
        let message = format!(
            "The policy snapshot and the status of {placement} list only {DECISIONS} of the {} \
             clusters, the most that their schema allows. The run covers every cluster.",
            updated.len()
        );
        draft.warnings.push(
            Warning::new(WarningKind::DecisionsCut, placement, message).computed(
                placement,
                &["status.placementStatuses"],
                updated.len().to_string(),
            ),
        );
    }
}
