//! What a run that rests changes on the clusters that it has still to reach, as the texts of the snapshots tell.

use std::collections::BTreeSet;

use crate::diagnose::subjects::context::DiagnosisContext;
use crate::kubefleet::snapshot::ResourceSnapshot;
use crate::kubefleet::{Concept, ObjectRef};
use crate::plan::{CascadingDeletion, RunChanges};
use crate::report::{ComposeText, Finding, Severity};
use crate::rollout::sent::sent_index;
use crate::rollout::versions::Version;
use crate::rollout::{Rollout, before_next_gate, comes_next};
use crate::words::{by_number, enumerate};

/// What is read for it.
pub const READ: &[Concept] = &[
    Concept::ResourceSnapshot,
    Concept::Binding,
    Concept::ClusterOverrideSnapshot,
    Concept::OverrideSnapshot,
];

/// Of which objects the texts are needed: the snapshots that the run brings and that these clusters have, and the
/// overrides of both.
pub fn texts(cx: &DiagnosisContext<'_>) -> BTreeSet<ObjectRef> {
    let Some(rollout) = cx
        .rollout
        .as_ref()
        .filter(|it| it.is_live() && cx.inventory.waits())
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

/// What the run changes; nothing where the texts do not tell.
pub fn changes_ahead<'c>(cx: &'c DiagnosisContext<'_>) -> &'c RunChanges {
    cx.changes_ahead.get_or_init(|| {
        let run = cx.run().filter(|_| cx.inventory.waits());
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

/// A note where none of these clusters comes before the next gate: behind that, somebody is asked again.
pub fn severity<'n>(
    rollout: &Rollout<'_>,
    mut clusters: impl Iterator<Item = &'n str>,
) -> Severity {
    let is_next = comes_next(rollout);
    if clusters.any(is_next) {
        Severity::Warning
    } else {
        Severity::Info
    }
}

/// Adds a look at what the run changes on the first of some clusters.
pub fn look_at_changes(cx: &DiagnosisContext<'_>, finding: Finding) -> Finding {
    let first = finding.clusters.first().map(|cluster| {
        let render = cx.command("render").arg(&cx.run_object().name);
        render.flag("--member", cluster).switch("--diff")
    });
    let action = "Check what the run changes on a cluster that it has still to reach.";
    finding.look_with(action, first)
}

/// That clusters before the next gate fail for what the run does not change there, as a clause; `surely` where that is
/// certain.
pub fn fails_again(cx: &DiagnosisContext<'_>, surely: bool) -> Option<String> {
    let next = before_next_gate(cx.rollout.as_ref()?)?;
    let is_meant =
        |name: &String, is_certain| next.contains(name.as_str()) && (is_certain || !surely);
    let again = changes_ahead(cx).fails_again(is_meant);
    (!again.is_empty()).then(|| again.join("; "))
}

/// The objects that the run deletes with others on clusters, and creates again; of one that only compares, all.
pub fn created_again(cx: &DiagnosisContext<'_>) -> impl Iterator<Item = CascadingDeletion> {
    let compares = cx.rollout.as_ref().is_some_and(Rollout::only_compares);
    let lost = CascadingDeletion::of(&changes_ahead(cx).changes, compares).into_iter();
    lost.filter(move |it| compares || it.comes_back())
}
