//! Which version of the content a run would roll out.

use crate::report::Build;
use jiff::SignedDuration;

use super::draft::Draft;
use super::{PlannedSnapshot, Refusal, RefusalKind, Warning, WarningKind};
use crate::kubefleet::{Concept, ObjectRef, duration, names, reasons};
use crate::rollout::content::DELAY;
use crate::rollout::versions::{Version, versions};
use crate::words::{count, existing_indexes};

/// Chooses the version, and says what is wrong with it.
/// Source: updaterun/initialization.go:getResourceSnapshotObjs.
pub(super) fn choose(draft: &mut Draft<'_>, placement_exists: bool) -> PlannedSnapshot {
    let inventory = draft.inventory;
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
    let mut chosen = PlannedSnapshot {
        latest: latest.map(|version| version.index.clone()),
        asked: asked.clone(),
        ..PlannedSnapshot::default()
    };
    let version = match asked.as_deref() {
        None => {
            selectors(draft);
            if latest.is_none() && placement_exists && inventory.snapshots.is_known_empty() {
                // The run has the first one made.
                chosen.index = Some("0".to_owned());
            }
            latest
        }
        Some("latest") => {
            if latest.is_none() && placement_exists && inventory.snapshots.is_complete() {
                let refusal = missing(draft, "latest", &existing);
                draft.refusals.push(refusal);
            }
            latest
        }
        Some(index) => asked_for(draft, index, &existing, placement_exists),
    };
    let Some(version) = version else {
        if !inventory.snapshots.is_complete() && chosen.index.is_none() {
            // The gap itself is told already, unless some snapshots were seen.
            draft.undecided |= placement_exists;
        }
        return chosen;
    };
    chosen.index = Some(version.index.clone());
    chosen.certain = asked.is_some();
    chosen.created = version.created();
    chosen.survives = version.survives;
    chosen.change_detected = latest.and_then(Version::change_detected);
    incomplete(draft, version, asked.is_some());
    if asked.is_none() {
        delayed(draft, version);
    }
    pruned_next(draft, version);
    chosen
}

/// Without an index the controller selects the resources anew. The placement controller does so too,
/// and writes down what is wrong. Source:
/// utils/controller/resource_selector_resolver.go:SelectResourcesForPlacement.
fn selectors(draft: &mut Draft<'_>) {
    let Some(placement) = draft.inventory.placement.present() else {
        return;
    };
    let Some(condition) = placement.condition(reasons::SCHEDULED).filter(|condition| {
        condition.is_false()
            && condition.reason == "InvalidResourceSelectors"
            && condition.observes(placement.meta.generation)
    }) else {
        return;
    };
    let object = placement.object();
    let refusal = Refusal::new(
        RefusalKind::ResourceSelectorInvalid,
        &object,
        format!(
            "The resource selectors of {object} are invalid, so the controller cannot select its \
             content."
        ),
    )
    .condition(&object, condition)
    .fix_with(
        "Fix `spec.resourceSelectors`, or roll out an existing snapshot by its index.",
        object.kubectl("edit"),
    );
    draft.refusals.push(refusal);
}

/// The version of an index that was asked for.
fn asked_for<'v, 'i>(
    draft: &mut Draft<'_>,
    index: &str,
    existing: &[&'v Version<'i>],
    placement_exists: bool,
) -> Option<&'v Version<'i>> {
    // Go reads a sign and leading zeros too; the label is then compared letter by letter.
    if !index.parse::<i64>().is_ok_and(|number| number >= 0) {
        let refusal = Refusal::new(
            RefusalKind::SnapshotIndexInvalid,
            draft.placement(),
            format!("{index:?} is not a snapshot index: use a whole number, 0 or greater."),
        )
        .look_with(
            "List the existing snapshots.",
            draft.command("snapshots").arg(&draft.placement().name),
        );
        draft.refusals.push(refusal);
        return None;
    }
    let found = existing
        .iter()
        .find(|version| version.index == index)
        .copied();
    if found.is_none() && placement_exists && draft.inventory.snapshots.is_complete() {
        let refusal = missing(draft, index, existing);
        draft.refusals.push(refusal);
    }
    found
}

fn missing(draft: &Draft<'_>, asked: &str, existing: &[&Version<'_>]) -> Refusal {
    let object = draft.placement();
    let lowest: Option<u64> = existing
        .iter()
        .filter_map(|version| version.index.parse().ok())
        .min();
    let pruned =
        matches!((asked.parse::<u64>(), lowest), (Ok(asked), Some(lowest)) if asked < lowest);
    let tail = if existing.is_empty() {
        "it has no snapshots".to_owned()
    } else {
        existing_indexes(existing.iter().map(|version| version.index.clone()))
    };
    let (kind, message) = match asked {
        "latest" => (
            RefusalKind::SnapshotNotFound,
            format!("{object} has no resource snapshots."),
        ),
        _ if pruned => (
            RefusalKind::SnapshotPruned,
            format!("Resource snapshot {asked} of {object} has been deleted; {tail}."),
        ),
        _ => (
            RefusalKind::SnapshotNotFound,
            format!("{object} has no resource snapshot {asked}; {tail}."),
        ),
    };
    let mut refusal = Refusal::new(kind, object, message);
    for version in existing.iter().rev().take(5) {
        if let Some(part) = version.parts.first() {
            let path = format!("metadata.labels[{}]", names::RESOURCE_INDEX);
            refusal = refusal.evidence(part.object(), path, version.index.clone());
        }
    }
    if existing.is_empty() {
        return refusal.fix("Leave out the index: KubeFleet then creates a snapshot for the run.");
    }
    refusal.look_with(
        "List the existing snapshots.",
        draft.command("snapshots").arg(&object.name),
    )
}

/// A version of which parts are missing cannot be delivered. Without an index the controller makes
/// up for parts that are missing, but not for the first.
/// Source: utils/controller/resource_snapshot_resolver.go:GetOrCreateResourceSnapshot.
fn incomplete(draft: &mut Draft<'_>, version: &Version<'_>, asked: bool) {
    let Some(flaw) = version.flaw() else {
        return;
    };
    let mendable =
        version.expected.is_some() && version.parts.first().is_some_and(|it| it.is_master());
    if !asked && mendable {
        let Some(part) = version.parts.first() else {
            return;
        };
        let warning = Warning::new(
            WarningKind::SnapshotIncomplete,
            draft.placement(),
            format!(
                "Resource snapshot {} is incomplete ({flaw}): KubeFleet 0.3 completes it when the \
                 run is created, older versions do not.",
                version.index
            ),
        )
        .evidence(
            part.object(),
            format!("metadata.annotations[{}]", names::NUMBER_OF_SNAPSHOTS),
            part.meta
                .annotation(names::NUMBER_OF_SNAPSHOTS)
                .unwrap_or("absent"),
        );
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
    let object = draft.placement().clone();
    let index = &version.index;
    let mut refusal = Refusal::new(
        RefusalKind::SnapshotIncomplete,
        &object,
        format!("Resource snapshot {index} of {object} cannot be rolled out: {flaw}."),
    );
    for part in version.parts.iter().take(6) {
        let path = format!("metadata.annotations[{}]", names::NUMBER_OF_SNAPSHOTS);
        let value = part.meta.annotation(names::NUMBER_OF_SNAPSHOTS);
        refusal = refusal.evidence(part.object(), path, value.unwrap_or("absent"));
    }
    draft.refusals.push(refusal.look_with(
        "Choose a complete snapshot.",
        draft.command("snapshots").arg(&object.name),
    ));
}

/// A change was noticed a moment ago: until its own snapshot may be made, a run without an index
/// gets the one before it. Measured on a hub; see the decisions.
fn delayed(draft: &mut Draft<'_>, latest: &Version<'_>) {
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
    let warning = Warning::new(
        WarningKind::ChangeDelayed,
        draft.placement(),
        format!(
            "The content changed {ago} ago and its snapshot is delayed: a run that starts now may \
             roll out snapshot {}, which lacks the change.",
            latest.index
        ),
    )
    .evidence(
        object,
        format!("metadata.annotations[{}]", names::NEXT_DETECTION_TIME),
        detected.to_string(),
    )
    .look("Wait a minute, or check which snapshot the run got before you start it.");
    draft.warnings.push(warning);
}

/// The next new snapshot deletes the version. Runs do not hold what they roll out.
fn pruned_next(draft: &mut Draft<'_>, version: &Version<'_>) {
    if version.survives != Some(0) {
        return;
    }
    let (Some(placement), Some(part)) =
        (draft.inventory.placement.present(), version.parts.first())
    else {
        return;
    };
    let object: ObjectRef = part.object();
    let limit = usize::try_from(placement.history_limit()).unwrap_or_default();
    let warning = Warning::new(
        WarningKind::SnapshotAboutToBePruned,
        &object,
        format!(
            "Snapshot {} is the oldest of the {} that {} keeps: the next new snapshot deletes it, \
             and clusters not yet updated can then never get it.",
            version.index,
            count(limit, "snapshot"),
            placement.meta.name
        ),
    )
    .evidence(
        placement.object(),
        "spec.revisionHistoryLimit",
        limit.to_string(),
    )
    .fix("Raise `spec.revisionHistoryLimit` of the placement before its content changes.");
    draft.warnings.push(warning);
}
