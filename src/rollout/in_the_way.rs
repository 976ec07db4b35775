//! What is in the way of the objects that a run would bring: other placements have put them there, or an
//! earlier Work is still being deleted.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::sent::sent_index;
use super::versions::Version;
use super::{Rollout, overrides};
use crate::contents::ManifestKey;
use crate::inventory::CLUSTERS_AHEAD;
use crate::kubefleet::apply::ApplyStrategy;
use crate::kubefleet::binding::FieldDifference;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::snapshot::{ManifestIdentity, objects_added};
use crate::kubefleet::work::{ManifestStatus, Work};
use crate::kubefleet::{Concept, Conditions as _, ObjectRef, reasons};
use crate::words::by_key;

/// The objects that a placement would bring to clusters which do not have them.
pub struct NewObjects<'c> {
    placement: ObjectRef,
    groups: Vec<(Vec<&'c str>, BTreeSet<ManifestKey>)>,
}

impl<'c> NewObjects<'c> {
    pub fn new(placement: ObjectRef) -> Self {
        Self {
            placement,
            groups: Vec::new(),
        }
    }

    /// Adds clusters that get the same.
    pub fn add(&mut self, clusters: Vec<&'c str>, objects: impl Iterator<Item = ManifestKey>) {
        self.groups.push((clusters, objects.collect()));
    }

    /// The first of some clusters that get objects which they do not have, and the others.
    pub fn first_clusters<'n>(
        &self,
        names: impl Iterator<Item = &'n str>,
    ) -> (Vec<&'n str>, Vec<&'n str>) {
        let new = names.filter(|name| self.on(name).next().is_some());
        let mut first: Vec<_> = new.collect();
        let others = first.split_off(first.len().min(CLUSTERS_AHEAD));
        (first, others)
    }

    /// What a cluster has not got of the placement yet.
    fn on(&self, cluster: &str) -> impl Iterator<Item = &ManifestKey> {
        let mut groups = self.groups.iter();
        let group = groups.find(|(clusters, _)| clusters.contains(&cluster));
        group.into_iter().flat_map(|(_, objects)| objects)
    }
}

/// Something in the way on one cluster.
#[derive(Debug, Clone)]
pub struct InTheWay {
    pub cluster: String,
    pub work: ObjectRef,
    pub what: FoundThere,
}

/// What that is.
#[derive(Debug, Clone)]
pub enum FoundThere {
    /// An object of another placement.
    Placed {
        owner: ObjectRef,
        object: ManifestKey,
        /// Its place in the status of the Work, and the type of the condition that says so.
        at: (usize, &'static str),
    },
    /// An earlier Work of this placement, whose name the next one needs.
    EarlierWork { deleted: Timestamp },
}

impl InTheWay {
    /// What a Work has put into its cluster of the objects that are new there, or that it keeps its name.
    /// Source: workapplier/drift_detection_takeover.go:takeOverPreExistingObject;
    /// workgenerator/controller.go:upsertWork.
    pub fn of(work: &Work, new: &NewObjects<'_>) -> Vec<Self> {
        let (Some(owner), Some(cluster)) = (work.placement(), work.cluster()) else {
            return Vec::new();
        };
        let objects: Vec<_> = new.on(cluster).collect();
        let on = |what| Self {
            cluster: cluster.to_owned(),
            work: work.object(),
            what,
        };
        if owner == new.placement {
            // The name of a Work for an envelope is never needed again.
            let is_needed = !objects.is_empty() && work.envelope().is_none();
            let deleted = work.meta.deleted.filter(|_| is_needed);
            let earlier = deleted.map(|deleted| on(FoundThere::EarlierWork { deleted }));
            return earlier.into_iter().collect();
        }
        // The other placement lets go of it.
        if work.meta.is_deleting() {
            return Vec::new();
        }
        let kept = work.spec.workload.manifests.iter();
        let kept: BTreeSet<_> = kept.map(ManifestKey::of_manifest).collect();
        let placed = work.status.manifests.iter();
        let placed = placed.enumerate().filter_map(|(at, manifest)| {
            let kind = owning_condition(work, manifest)?;
            let id = &manifest.id;
            let is_it = |it: &&&ManifestKey| {
                let named = (&it.group, &it.kind, &it.namespace, &it.name);
                named == (&id.group, &id.kind, &id.namespace, &id.name)
            };
            let found = objects.iter().find(is_it);
            let found = found.filter(|it| kept.contains(it))?;
            let (owner, object, at) = (owner.clone(), (*found).clone(), (at, kind));
            Some(on(FoundThere::Placed { owner, object, at }))
        });
        placed.collect()
    }
}

/// The type of the condition that tells that the placement of a Work owns an object: it has applied it, or it only
/// compares, and has taken over what it found. Source: workapplier/process.go:processOneManifest.
fn owning_condition(work: &Work, manifest: &ManifestStatus) -> Option<&'static str> {
    if manifest.conditions.is_true(reasons::APPLIED) {
        return Some(reasons::APPLIED);
    }
    let apply = work.spec.apply_strategy.as_deref();
    let apply = apply.filter(|it| it.is_report_diff() && it.takes_over())?;
    let takes_over = apply.with_defaults().when_to_take_over == "Always";
    // Where something differs, only `Always` takes it over, and nothing does that the cluster does not have.
    let owns = manifest.diff.as_ref().is_none_or(|diff| {
        let is_there = !diff.diffs.iter().any(FieldDifference::is_missing_object);
        is_there && takes_over
    });
    let reported = manifest.conditions.is_true(reasons::DIFF_REPORTED);
    (reported && owns).then_some(reasons::DIFF_REPORTED)
}

/// What is in the way on the clusters that a live run has still to reach, as far as Works were read.
pub fn in_the_way_ahead(rollout: &Rollout<'_>) -> Vec<InTheWay> {
    let inventory = rollout.inventory;
    let run = rollout.run;
    let own = Version::of_index(inventory, &run.status.snapshot_index);
    if !rollout.is_live() || !own.is_complete() || inventory.works.items.is_empty() {
        return Vec::new();
    }
    let apply = run.status.apply_strategy.as_deref();
    if apply.is_some_and(ApplyStrategy::owns_nothing) {
        return Vec::new();
    }
    let placement = inventory
        .scope
        .object(Concept::Placement, &inventory.placement_name);
    // Those with the same content and the same overrides get the same.
    let groups = by_key(rollout.still_to_reach().map(|cluster| {
        let held = cluster.binding.and_then(|it| sent_index(inventory, it));
        let recorded = || cluster.recorded.override_names();
        let deleting = cluster.member.into_iter();
        let deleting = deleting.flat_map(|it| overrides::deleting(inventory, recorded(), it));
        let deleting: Vec<_> = deleting.map(OverrideSnapshot::object).collect();
        ((held, deleting), cluster.name)
    }));
    let mut new = NewObjects::new(placement);
    for ((held, deleting), clusters) in groups {
        let held = held.map(|index| Version::of_index(inventory, index));
        if held.as_ref().is_some_and(|it| !it.is_complete()) {
            continue;
        }
        let held = held.iter().flat_map(|it| it.parts.iter().copied());
        let added = objects_added(own.parts.iter().copied(), held).into_iter();
        let overrides = inventory.overrides.iter();
        let deleting: Vec<_> = overrides
            .filter(|it| deleting.contains(&it.object()))
            .collect();
        let is_deleted = |it: &ManifestIdentity| {
            let mut all = deleting.iter();
            all.any(|by| overrides::selector_of(by, it).is_some())
        };
        let added = added.filter(|it| !is_deleted(it));
        new.add(clusters, added.map(ManifestKey::of_manifest));
    }
    let works = inventory.works.iter();
    works.flat_map(|work| InTheWay::of(work, &new)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kubefleet::Scope;

    #[test]
    fn the_first_ten_clusters_that_get_something_new_are_read() {
        let placement = Scope::Cluster.object(Concept::Placement, "web");
        let names: Vec<_> = (0..13).map(|at| format!("member-{at}")).collect();
        let all: Vec<_> = names.iter().map(String::as_str).collect();
        let object = ManifestIdentity {
            kind: "Namespace".to_owned(),
            ..ManifestIdentity::default()
        };
        let mut new = NewObjects::new(placement);
        let (same, more) = all.split_at(1);
        new.add(same.to_vec(), std::iter::empty());
        new.add(
            more.to_vec(),
            std::iter::once(ManifestKey::of_manifest(&object)),
        );
        let (first, others) = new.first_clusters(all.iter().copied());
        assert_eq!(first, all[1..11]);
        assert_eq!(others, all[11..]);
    }
}
