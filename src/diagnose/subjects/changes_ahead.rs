//! What a run that rests changes on the clusters that it has still to reach, as the texts of the snapshots tell.

use std::collections::BTreeSet;

use crate::diagnose::subjects::context::DiagnosisContext;
use crate::inventory::Inventory;
use crate::kubefleet::snapshot::ResourceSnapshot;
use crate::kubefleet::{ObjectRef, reasons};
use crate::plan::{CascadingDeletion, RunChanges};
use crate::rollout::sent::sent_index;
use crate::rollout::versions::Version;
use crate::rollout::{Rollout, before_next_gate};
use crate::words::{by_number, enumerate};

/// Of which objects the texts are needed: the snapshots that the run brings and that these clusters have, and the
/// overrides of both.
pub fn texts(cx: &DiagnosisContext<'_>) -> BTreeSet<ObjectRef> {
    let Some(rollout) = cx
        .rollout
        .as_ref()
        .filter(|it| it.is_live() && waits(cx.inventory))
    else {
        return BTreeSet::new();
    };
    let index = rollout.run.status.snapshot_index.as_str();
    let (mut indexes, mut texts) = (BTreeSet::new(), BTreeSet::new());
    for cluster in rollout.still_to_reach() {
        let Some(binding) = cluster.binding else {
            continue;
        };
        let has = sent_index(cx.inventory, binding).filter(|has| *has != index);
        if let Some(has) = has {
            indexes.extend([has, index]);
            texts.extend(cluster.recorded.override_names());
            texts.extend(binding.spec.override_names());
        }
    }
    for index in indexes {
        let version = Version::of_index(cx.inventory, index);
        texts.extend(version.parts.iter().copied().map(ResourceSnapshot::object));
    }
    texts
}

/// Whether a run waits, for a person or for a time.
pub fn waits(inventory: &Inventory) -> bool {
    let run = inventory.run.present();
    let progressing = run.and_then(|run| run.condition(reasons::PROGRESSING));
    let waits = progressing.is_some_and(|it| it.reason == reasons::RUN_WAITING);
    inventory.waits_for_person() || waits
}

/// What the run changes; nothing where the texts do not tell.
pub fn changes_ahead<'c>(cx: &'c DiagnosisContext<'_>) -> &'c RunChanges {
    cx.changes_ahead.get_or_init(|| {
        let run = cx.run().filter(|_| waits(cx.inventory));
        let run = run.filter(|_| !cx.inventory.texts.is_empty());
        run.map_or_else(RunChanges::default, |run| {
            RunChanges::ahead(cx.inventory, run)
        })
    })
}

/// For what clusters get stuck that the run has still to reach.
pub fn stuck_ahead<'n>(
    cx: &DiagnosisContext<'_>,
    why: &str,
    clusters: impl IntoIterator<Item = &'n String>,
) -> String {
    let clusters: Vec<_> = clusters.into_iter().collect();
    let them = by_number(clusters.len(), "it", "them");
    let (clusters, run) = (enumerate(clusters), cx.run_object().name);
    format!("{why}. {clusters} will be stuck when {run} reaches {them}.")
}

/// That clusters before the next gate fail for what the run does not change there, as a clause.
pub fn fails_again(cx: &DiagnosisContext<'_>, rollout: &Rollout<'_>) -> Option<String> {
    let next = before_next_gate(rollout)?;
    let again = changes_ahead(cx).fails_again(|name| next.contains(name.as_str()));
    (!again.is_empty()).then(|| again.join("; "))
}

/// The same of those that fail for certain.
pub fn surely_fails_again(cx: &DiagnosisContext<'_>, rollout: &Rollout<'_>) -> Option<String> {
    let next = before_next_gate(rollout)?;
    let again = changes_ahead(cx).surely_fails_again(|name| next.contains(name.as_str()));
    (!again.is_empty()).then(|| again.join("; "))
}

/// The objects that the run deletes with others on clusters, and creates again; of one that only compares, all.
pub fn created_again(cx: &DiagnosisContext<'_>) -> impl Iterator<Item = CascadingDeletion> {
    let compares = cx.rollout.as_ref().is_some_and(Rollout::only_compares);
    let lost = CascadingDeletion::of(&changes_ahead(cx).changes, compares).into_iter();
    lost.filter(move |it| compares || it.comes_back())
}
