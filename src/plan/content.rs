//! Which version of the content a run would roll out.

use std::collections::BTreeSet;

use jiff::SignedDuration;

use super::draft::PlanDraft;
use super::stages::ComputedStages;
use super::{ClusterChange, PlanContents, PlannedSnapshot, RefusalKind, Warning, WarningKind};
use crate::contents::ManifestKey;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::kind::group_of;
use crate::kubefleet::placement::ResourceSelector;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::snapshot::ManifestIdentity;
use crate::kubefleet::{Concept, Condition, describe_object, duration, names, reasons};
use crate::problems::{
    Problem, RefusalTense, name_reused, number_of_parts, pruned_below, selectors_refused_now,
    snapshot_empty, snapshot_incomplete, snapshot_missing, snapshot_pruned, snapshot_pruned_next,
};
use crate::report::{ComposeText, Subject};
use crate::rollout::content::DELAY;
use crate::rollout::rollback::TakenBack;
use crate::rollout::sent::sent_index;
use crate::rollout::versions::{Version, created_twice, versions};
use crate::rollout::{ClusterState, Rollout};
use crate::words::{by_number, capital, enumerate};

/// Chooses the version, and says what is wrong with it.
/// Source: updaterun/initialization.go:getResourceSnapshotObjs.
pub(super) fn choose(draft: &mut PlanDraft<'_>, contents: &PlanContents<'_>) -> PlannedSnapshot {
    let inventory = draft.inventory;
    let placement_exists = !inventory.placement.is_absent();
    let asked = draft.wish.snapshot.clone();
    let all = versions(inventory);
    let existing: Vec<_> = all.iter().filter(|version| version.exists()).collect();
    // Without a mark the controller takes the highest index.
    // Source: utils/controller/resource_snapshot_resolver.go:lookupLatestResourceSnapshot.
    let latest = existing
        .iter()
        .rev()
        .find(|version| version.is_latest())
        .or(existing.last())
        .copied();
    let made = match latest {
        Some(next) if !next.is_made() => existing.iter().rev().find(|it| it.is_made()).copied(),
        latest => latest,
    };
    let mut chosen = PlannedSnapshot {
        latest_snapshot: made.map(|version| version.index.clone()),
        requested_snapshot: asked.clone(),
        ..PlannedSnapshot::default()
    };
    let version = match asked.as_deref() {
        None => {
            selectors(draft);
            if latest.is_none() && placement_exists && inventory.snapshots.is_known_empty() {
                // The run has the first one made.
                chosen.snapshot = Some("0".to_owned());
            }
            // Without a mark a new one is made at once, unless the content is that of the last.
            latest.filter(|it| it.is_latest() || !inventory.snapshots.is_complete())
        }
        Some("latest") => {
            if latest.is_none() && placement_exists && inventory.snapshots.is_complete() {
                let (kind, problem) = missing(draft, "latest");
                draft.refuse(kind, problem);
            }
            latest
        }
        Some(index) => existing.iter().find(|it| it.index == index).copied(),
    };
    if asked.is_none() {
        needed_by_others(draft, &all);
        only_way_back(draft, &existing);
    }
    let Some(version) = version else {
        if !inventory.snapshots.is_complete() && chosen.snapshot.is_none() {
            // The gap itself is told already, unless some snapshots were seen.
            draft.undecided |= placement_exists;
        }
        return chosen;
    };
    chosen.snapshot = Some(version.index.clone());
    chosen.snapshot_certain = asked.is_some() || contents.is_current && version.is_made();
    chosen.snapshot_created = version.created();
    chosen.snapshot_survives = version.survives;
    chosen.change_detected = made.and_then(Version::change_detected);
    incomplete(draft, version, asked.is_some());
    if asked.is_none() {
        delayed(draft, made.unwrap_or(version));
        rolled_back(draft, version);
    }
    let is_oldest = existing.first().is_some_and(|it| it.index == version.index);
    pruned_next(draft, version, is_oldest);
    chosen
}

/// Without an index the controller selects the resources anew. The placement controller does so too,
/// and writes down what is wrong. Source:
/// utils/controller/resource_selector_resolver.go:SelectResourcesForPlacement.
fn selectors(draft: &mut PlanDraft<'_>) {
    if let Some(problem) = selectors_refused_now(draft.inventory) {
        draft.refuse(RefusalKind::ResourceSelectorInvalid, problem);
    }
}

/// That there is no snapshot of an index.
pub(super) fn missing(draft: &PlanDraft<'_>, asked: &str) -> (RefusalKind, Problem) {
    let object = draft.placement();
    let inventory = draft.inventory;
    if let Some(lowest) = pruned_below(inventory, asked) {
        let problem = snapshot_pruned(
            inventory,
            object,
            object,
            (asked, lowest),
            RefusalTense::Now,
        );
        return (RefusalKind::SnapshotPruned, problem);
    }
    let mut problem = snapshot_missing(inventory, object, object, asked, RefusalTense::Now);
    if inventory.snapshots.is_known_empty() {
        problem.message = format!("{object} has no resource snapshots.");
        problem.evidence.clear();
        problem.remedies.clear();
        problem =
            problem.fix("Leave out the index: KubeFleet then creates a snapshot for the run.");
    }
    (RefusalKind::SnapshotNotFound, problem)
}

/// A version of which parts are missing cannot be delivered. Without an index the controller makes
/// up for parts that are missing, but not for the first.
/// Source: utils/controller/resource_snapshot_resolver.go:GetOrCreateResourceSnapshot.
fn incomplete(draft: &mut PlanDraft<'_>, version: &Version<'_>, asked: bool) {
    let Some(flaw) = version.flaw() else {
        return;
    };
    let mendable =
        version.expected.is_some() && version.parts.first().is_some_and(|it| it.is_master());
    if !asked && mendable {
        let Some(part) = version.parts.first() else {
            return;
        };
        let what = format!("Resource snapshot {} is incomplete ({flaw})", version.index);
        let message = match created_twice(&version.parts) {
            None => format!(
                "{what}: KubeFleet 0.3 completes it when the run is created, older versions do not."
            ),
            Some(twice) => format!(
                "{what}, and KubeFleet cannot complete it, because {} exists. Unless the content \
                 has changed since, the run is never initialized.",
                twice.meta.name
            ),
        };
        let warning = Warning::new(WarningKind::SnapshotIncomplete, draft.placement(), message);
        let warning = number_of_parts(warning, part);
        draft.warnings.push(warning);
        return;
    }
    if !draft.inventory.snapshots.is_complete() {
        let kind = draft.inventory.scope.kind(Concept::ResourceSnapshot);
        draft.undecided(
            kind.name(),
            format!("of snapshot {}, {flaw}", version.index),
            Vec::new(),
        );
        return;
    }
    let problem = snapshot_incomplete(draft.placement(), version, &flaw);
    draft.refuse(RefusalKind::SnapshotIncomplete, problem);
}

/// The current content is what the last run took back, or was passed over by it.
fn rolled_back(draft: &mut PlanDraft<'_>, latest: &Version<'_>) {
    let Some(back) = TakenBack::of(draft.inventory, &latest.index) else {
        return;
    };
    let (run, index) = (back.by.object(), &back.by.status.snapshot_index);
    let warning = Warning::new(
        WarningKind::SnapshotRolledBack,
        &run,
        capital(&format!("{back}.")),
    );
    let warning = warning
        .evidence(&run, "status.resourceSnapshotIndexUsed", index)
        .look("Change the content first, if it was at fault.");
    draft.warnings.push(warning);
}

/// A change was noticed a moment ago: until its own snapshot may be made, a run without an index
/// gets the one before it. Measured on a hub; see the decisions.
fn delayed(draft: &mut PlanDraft<'_>, latest: &Version<'_>) {
    let Some(detected) = latest.change_detected() else {
        return;
    };
    let since = draft.inventory.now.duration_since(detected);
    if since > DELAY || since < -DELAY {
        // Its snapshot is due by now, or the change was taken back.
        return;
    }
    let Some(object) = latest.parts.first().map(|part| part.object()) else {
        return;
    };
    let ago = duration::describe(since.max(SignedDuration::ZERO));
    let message = format!(
        "The content changed {ago} ago and its snapshot is delayed: a run that starts now may \
         roll out snapshot {}, which lacks the change.",
        latest.index
    );
    let warning = Warning::new(WarningKind::ChangeDelayed, draft.placement(), message)
        .evidence(
            object,
            format!("metadata.annotations[{}]", names::NEXT_DETECTION_TIME),
            detected,
        )
        .look("Wait a minute, or check which snapshot the run got before you start it.");
    draft.warnings.push(warning);
}

/// Warns of a snapshot without objects, where clusters have others.
pub(super) fn empty(draft: &mut PlanDraft<'_>, computed: &ComputedStages, then: Option<&str>) {
    let (Some(placement), Some(snapshot)) = (
        draft.inventory.placement.present(),
        then.and_then(|index| draft.inventory.snapshot(index)),
    ) else {
        return;
    };
    let to_lose: Vec<_> = computed
        .updated()
        .filter(|it| it.snapshot.is_some() && it.snapshot.as_deref() != then)
        .map(|it| it.name.as_str())
        .collect();
    if !snapshot.is_empty() || to_lose.is_empty() {
        return;
    }
    let problem = snapshot_empty(placement, snapshot, &to_lose);
    draft.warn(WarningKind::SnapshotEmpty, problem);
}

/// Warns of snapshots whose names clusters have already from some that were deleted.
pub(super) fn reused(
    draft: &mut PlanDraft<'_>,
    computed: &ComputedStages,
    as_asked: &BTreeSet<String>,
) {
    let inventory = draft.inventory;
    let clusters = computed.updated();
    let kept = clusters.filter(|it| it.change == ClusterChange::Unchanged && !it.rewritten);
    let names = kept.map(|it| it.name.as_str());
    let names: Vec<_> = names.filter(|it| !as_asked.contains(*it)).collect();
    if let Some(problem) = name_reused(inventory, &names) {
        draft.warn(WarningKind::SnapshotNameReused, problem);
    }
}

/// Warns of KubeFleet's own objects in the content, unless clusters have taken such. Of some, it depends on the
/// version whether they are.
pub(super) fn of_hub(draft: &mut PlanDraft<'_>, then: Option<&str>, unclear: &[ManifestKey]) {
    let inventory = draft.inventory;
    let own = |index: &str| -> Vec<_> {
        let version = Version::of_index(inventory, index);
        let own = version.objects().filter(|it| it.is_of_hub());
        own.map(Subject::from).collect()
    };
    let mut objects = then.map(own).unwrap_or_default();
    let is_unclear = objects.is_empty() && !unclear.is_empty();
    objects.extend(unclear.iter().map(Subject::from));
    let takes = |binding: &Binding| {
        let index = sent_index(inventory, binding);
        let applied = binding.condition(reasons::APPLIED);
        applied.is_some_and(Condition::is_true) && index.is_some_and(|it| !own(it).is_empty())
    };
    let Some(first) = objects.first() else {
        return;
    };
    if inventory.bindings.iter().any(takes) {
        return;
    }
    let names = enumerate(objects.iter().map(Subject::to_string));
    let (are, them) = by_number(objects.len(), ("is", "its kind"), ("are", "their kinds"));
    let so = if is_unclear {
        " up to KubeFleet 0.3, and the"
    } else {
        ": the"
    };
    let message = format!(
        "{names} {are} part of the content{so} run is stuck at every cluster that does not serve {them}."
    );
    let warning = Warning::new(WarningKind::HubObjectPlaced, first.clone(), message);
    draft.warnings.push(warning.fix_with(
        "Select objects instead of the whole namespace, or keep KubeFleet's own objects in another \
         namespace.",
        draft.placement().kubectl("edit"),
    ));
}

/// Why the snapshot of a run without an index is surely another one than the latest, as far as the placement's
/// selectors tell: the latest one has what they do not select.
pub(super) fn reselected(draft: &PlanDraft<'_>, contents: &PlanContents<'_>) -> Option<String> {
    let placement = draft.inventory.placement.present()?;
    let is_known = contents.is_current || !draft.inventory.snapshots.is_complete();
    if draft.wish.snapshot.is_some() || is_known {
        return None;
    }
    let all = versions(draft.inventory);
    let latest = all.iter().find(|it| it.is_latest() && it.is_complete())?;
    let selectors = &placement.spec.selectors;
    let mut objects = latest.objects();
    let extra = objects.find(|object| !selectors.iter().any(|it| may_select(it, object)))?;
    let extra = describe_object(&extra.kind, &extra.meta.namespace, &extra.meta.name);
    Some(format!(
        "the next snapshot is another one than snapshot {}, because {} no longer selects {extra}",
        latest.index, placement.meta.name
    ))
}

/// Whether a selector selects an object of a snapshot, or may do so by a label.
fn may_select(selector: &ResourceSelector, object: &ManifestIdentity) -> bool {
    let is_named = |name: &str| selector.name.is_empty() || selector.name == name;
    let is_kind = object.kind == selector.kind && group_of(&object.api_version) == selector.group;
    let is_in_it = selector.kind == "Namespace"
        && selector.group.is_empty()
        && selector.scope != "NamespaceOnly"
        && !object.meta.namespace.is_empty();
    is_kind && is_named(&object.meta.name) || is_in_it && is_named(&object.meta.namespace)
}

/// Warns of selectors that match nothing on the hub: the run succeeds without what they are for.
/// Source: utils/controller/resource_selector_resolver.go:fetchResources.
pub(super) fn unmatched(draft: &mut PlanDraft<'_>, places: &[usize]) {
    let Some(placement) = draft.inventory.placement.present() else {
        return;
    };
    let selectors = places
        .iter()
        .filter_map(|at| Some((at, placement.spec.selectors.get(*at)?)));
    let selectors: Vec<_> = selectors.collect();
    if selectors.is_empty() {
        return;
    }
    let object = placement.object();
    let names = selectors.iter().map(|(_, selector)| selector.describe());
    let them = if selectors.len() == 1 { "it" } else { "them" };
    let message = format!(
        "{object} selects {}, which the hub does not have: the run succeeds without {them}.",
        enumerate(names)
    );
    let mut warning = Warning::new(WarningKind::SelectorMatchesNothing, &object, message);
    for (at, selector) in selectors.iter().take(6) {
        let path = format!("spec.resourceSelectors[{at}]");
        warning = warning.evidence(&object, path, *selector);
    }
    draft.warnings.push(warning.fix_with(
        "Correct the selector, or create the object on the hub, before you make the run.",
        object.kubectl("edit"),
    ));
}

/// Warns of other runs that need a version which is deleted if this run makes a new one.
fn needed_by_others(draft: &mut PlanDraft<'_>, all: &[Version<'_>]) {
    let inventory = draft.inventory;
    let Some(placement) = inventory.placement.present() else {
        return;
    };
    for version in all.iter().filter(|it| it.survives == Some(0)) {
        let Some(part) = version.parts.first() else {
            continue;
        };
        let needs_it = |run: &&UpdateRun| {
            let rollout = Rollout::of(inventory, run);
            let mut clusters = rollout.updated_clusters();
            rollout.is_live() && clusters.any(|it| it.state != ClusterState::Done)
        };
        for run in version.runs.iter().copied().filter(needs_it) {
            let problem = Problem {
                subject: run.object().into(),
                ..snapshot_pruned_next(placement, part, Some(run))
            };
            draft.warn(WarningKind::SnapshotAboutToBePruned, problem);
        }
    }
}

/// Warns of a new snapshot that deletes the only one there is, which clusters have.
fn only_way_back(draft: &mut PlanDraft<'_>, existing: &[&Version<'_>]) {
    let ([only, next], Some(placement)) = (existing, draft.inventory.placement.present()) else {
        return;
    };
    let Some(part) = only.parts.first().filter(|_| !next.is_made()) else {
        return;
    };
    if only.survives != Some(0) || only.bindings.is_empty() {
        return;
    }
    let clusters = enumerate(only.bindings.iter().map(|it| it.spec.cluster.as_str()));
    let message = format!(
        "{} keeps only 1 snapshot: the new one deletes snapshot {}, which {clusters} {}, so that no rollback \
         can bring it back.",
        placement.meta.name,
        only.index,
        by_number(only.bindings.len(), "has", "have")
    );
    let problem = Problem {
        message,
        ..snapshot_pruned_next(placement, part, None)
    };
    draft.warn(WarningKind::SnapshotAboutToBePruned, problem);
}

fn pruned_next(draft: &mut PlanDraft<'_>, version: &Version<'_>, is_oldest: bool) {
    if version.survives != Some(0) || !is_oldest {
        return;
    }
    let (Some(placement), Some(part)) =
        (draft.inventory.placement.present(), version.parts.first())
    else {
        return;
    };
    let problem = snapshot_pruned_next(placement, part, None);
    draft.warn(WarningKind::SnapshotAboutToBePruned, problem);
}
