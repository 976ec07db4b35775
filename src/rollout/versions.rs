//! The versions of a placement's content: resource snapshots, of which several objects may make up
//! one, the runs that used each, the clusters that are on each, and how long each will be kept.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use jiff::Timestamp;

use super::life;
use super::sent::sent_index;
use crate::inventory::{Inventory, choose};
use crate::kubefleet::binding::Binding;
use crate::kubefleet::names;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::snapshot::{ManifestIdentity, ResourceSnapshot};

/// One version of a placement's content.
#[derive(Debug, Clone, Default)]
pub struct Version<'i> {
    /// Its index, as the label gives it.
    pub index: String,
    /// The objects that make it up: the first, then the others in their order. None for a version
    /// that runs or clusters still name and that is gone.
    pub parts: Vec<&'i ResourceSnapshot>,
    /// How many objects make it up, where the first is there and says so.
    pub expected: Option<usize>,
    /// The runs that rolled it out or will, oldest first; not those that rolled out another one
    /// that had its index before.
    pub runs: Vec<&'i UpdateRun>,
    /// The bindings that name it, by cluster.
    pub bindings: Vec<&'i Binding>,
    /// How many more new snapshots it surely survives: 0 when the next one may delete it. `None` where
    /// the placement's limit is not known, and for a version that is gone.
    pub survives: Option<u64>,
}

impl<'i> Version<'i> {
    fn new(index: &str) -> Self {
        Self {
            index: index.to_owned(),
            ..Self::default()
        }
    }

    /// The version of an index, without who uses it.
    pub fn of_index(inventory: &'i Inventory, index: &str) -> Self {
        let mut version = Self::new(index);
        let parts = inventory.snapshots.iter();
        version.parts = parts.filter(|it| it.index() == Some(index)).collect();
        version.order_parts();
        version
    }

    fn order_parts(&mut self) {
        self.parts
            .sort_by_key(|part| (Reverse(part.is_master()), subindex(part)));
        self.expected = self.parts.first().and_then(|first| first.parts());
    }

    /// Whether it exists, in whole or in part.
    pub const fn exists(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Whether all its objects exist.
    pub fn is_complete(&self) -> bool {
        self.expected == Some(self.parts.len())
            && self.parts.first().is_some_and(|first| first.is_master())
    }

    pub fn objects(&self) -> impl Iterator<Item = &ManifestIdentity> {
        self.parts.iter().flat_map(|part| &part.spec.resources)
    }

    /// The objects that clusters get of it.
    pub fn sent(&self) -> impl Iterator<Item = &ManifestIdentity> {
        self.parts.iter().flat_map(|part| part.sent())
    }

    /// Whether it is the one that a run without an index is given.
    pub fn is_latest(&self) -> bool {
        self.parts.iter().any(|part| part.is_latest())
    }

    /// Whether its objects exist, and are not still to be made.
    pub fn is_made(&self) -> bool {
        self.parts.iter().any(|part| part.is_made())
    }

    /// What KubeFleet calls its content: versions with the same have the same objects.
    pub fn hash(&self) -> Option<&str> {
        self.parts.first()?.hash()
    }

    pub fn created(&self) -> Option<Timestamp> {
        self.parts.iter().filter_map(|part| part.meta.created).min()
    }

    /// When a change was noticed that it lacks, and whose own snapshot had to wait.
    pub fn change_detected(&self) -> Option<Timestamp> {
        self.parts.first().and_then(|first| first.change_detected())
    }

    /// What is wrong with it, in the end of a sentence: `2 of 3 parts are there`.
    pub fn flaw(&self) -> Option<String> {
        if !self.exists() || self.is_complete() {
            return None;
        }
        Some(match (self.parts.len(), self.expected) {
            (there, Some(expected)) if there != expected => {
                format!("{there} of {expected} parts exist")
            }
            (_, Some(_)) => "none of its parts is marked as the first".to_owned(),
            (_, None) if self.parts.first().is_some_and(|first| first.is_master()) => {
                "its first part does not have the number of parts".to_owned()
            }
            (_, None) => "its first part is missing".to_owned(),
        })
    }
}

/// The part that the controller tries to create where others of the latest version are missing, and that
/// exists: it counts those that there are, and goes on behind them.
/// Source: utils/controller/resource_snapshot_resolver.go:GetOrCreateResourceSnapshot.
pub fn created_twice<'p>(parts: &[&'p ResourceSnapshot]) -> Option<&'p ResourceSnapshot> {
    let master = parts.iter().find(|it| it.is_master())?;
    let expected = u64::try_from(master.parts()?).ok()?;
    let first = u64::try_from(parts.len()).ok()?.checked_sub(1)?;
    let created = first..expected.checked_sub(1)?;
    let others = parts.iter().filter(|it| !it.is_master());
    others.copied().find(|it| created.contains(&subindex(it).0))
}

/// A number where it is one, so that 10 comes after 9; what is none comes last.
fn order(index: &str) -> (bool, u64, &str) {
    let number = index.parse().ok();
    (number.is_none(), number.unwrap_or_default(), index)
}

/// The versions of an inventory's placement, oldest first: those that exist, and those that runs or
/// clusters name.
pub fn versions(inventory: &Inventory) -> Vec<Version<'_>> {
    let mut versions: BTreeMap<&str, Version<'_>> = BTreeMap::new();
    for snapshot in inventory.snapshots.iter() {
        let Some(index) = snapshot.index() else {
            continue;
        };
        let version = versions.entry(index).or_insert_with(|| Version::new(index));
        version.parts.push(snapshot);
    }
    for run in inventory.runs.iter() {
        let index = run.status.snapshot_index.as_str();
        // What a run has still to do, it does with the snapshot that has the name then.
        let over = choose::is_finished(run) || run.meta.is_deleting();
        if !(index.is_empty() || over && life::is_foreign(inventory, run)) {
            let version = versions.entry(index).or_insert_with(|| Version::new(index));
            version.runs.push(run);
        }
    }
    for binding in inventory.bindings.iter() {
        if let Some(index) = sent_index(inventory, binding)
            && !binding.meta.is_deleting()
        {
            let version = versions.entry(index).or_insert_with(|| Version::new(index));
            version.bindings.push(binding);
        }
    }
    let mut versions: Vec<_> = versions.into_values().collect();
    versions.sort_by(|a, b| order(&a.index).cmp(&order(&b.index)));
    for version in &mut versions {
        version.order_parts();
        version
            .bindings
            .sort_by_key(|binding| binding.spec.cluster.as_str());
    }
    if let Some(placement) = inventory.placement.present() {
        keep(&mut versions, placement.history_limit());
    }
    versions
}

fn subindex(part: &ResourceSnapshot) -> (u64, &str) {
    let number = part.meta.annotation(names::SUBINDEX);
    let number = number.and_then(|number| number.parse().ok());
    (number.unwrap_or(u64::MAX), part.meta.name.as_str())
}

/// Once there are as many objects as versions are kept, each new version deletes what comes last in an
/// order that is arbitrary: KubeFleet sorts a copy of the list. Only the parts of one version that
/// stand together count once. Source:
/// `utils/controller/resource_snapshot_resolver.go:deleteRedundantResourceSnapshots` and
/// `listSortedResourceSnapshots`.
fn keep(versions: &mut [Version<'_>], limit: i64) {
    let limit = usize::try_from(limit).unwrap_or(0);
    let existing = versions.iter().filter(|version| version.is_made());
    let parts: Vec<_> = existing.map(|version| version.parts.len()).collect();
    let survives = spared(&parts, limit);
    for version in versions.iter_mut().filter(|version| version.is_made()) {
        version.survives = Some(survives);
    }
}

/// How many more versions as large as the latest can be made before one of these, of so many parts
/// each, may be deleted.
fn spared(parts: &[usize], limit: usize) -> u64 {
    let Some(latest) = parts.last() else {
        return 0;
    };
    let all: usize = parts.iter().sum();
    let largest = *parts.iter().max().unwrap_or(latest);
    // From so many parts on the list may seem to have `limit` versions: parts of the largest one count
    // alone only where another part stands between them.
    let apart = largest.saturating_add(limit.saturating_sub(1).div_ceil(2));
    let more = limit.max(apart).saturating_sub(all);
    u64::try_from(more.div_ceil((*latest).max(1))).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rollout::life::tests::{OWN, SINCE, inventory, placement, snapshot};

    #[test]
    fn a_version_is_safe_until_there_are_as_many_as_are_kept() {
        assert_eq!(spared(&[1], 1), 0);
        assert_eq!(spared(&[1], 2), 1);
        assert_eq!(spared(&[1, 1], 2), 0);
        assert_eq!(spared(&[1; 3], 10), 7);
        assert_eq!(spared(&[1; 12], 10), 0);
    }

    /// Parts of two versions may stand in turns, and then look like more versions.
    #[test]
    fn parts_that_stand_apart_count_as_versions() {
        assert_eq!(spared(&[5], 2), 1);
        assert_eq!(spared(&[2, 2], 4), 0);
        assert_eq!(spared(&[2, 2], 5), 1);
        assert_eq!(spared(&[4, 1], 4), 1);
        assert_eq!(spared(&[4, 1], 3), 0);
        assert_eq!(spared(&[1], usize::MAX), u64::MAX - 1);
    }

    #[test]
    fn missing_parts_are_created_behind_as_many_as_exist() {
        let twice = |expected: &str, others: &[u64]| {
            let mut first = snapshot("0", OWN, Some(SINCE));
            let number = "kubernetes-fleet.io/number-of-resource-snapshots";
            first["metadata"]["annotations"][number] = json!(expected);
            let other = |sub: &u64| {
                let mut part = snapshot("0", OWN, Some(SINCE));
                part["metadata"]["name"] = json!(format!("shop-0-{sub}"));
                let subindex = "kubernetes-fleet.io/subindex-of-resource-snapshot";
                part["metadata"]["annotations"] = json!({subindex: sub.to_string()});
                part
            };
            let parts = others.iter().map(other);
            let objects: Vec<_> = [placement(), first].into_iter().chain(parts).collect();
            let inventory = inventory(&objects);
            let all = versions(&inventory);
            created_twice(&all[0].parts).map(|it| it.meta.name.clone())
        };
        let name = |sub: u64| Some(format!("shop-0-{sub}"));
        assert_eq!(twice("3", &[1]), name(1));
        assert_eq!(twice("4", &[0, 2]), name(2));
        assert_eq!(twice("4", &[2]), name(2));
        assert_eq!(twice("3", &[0]), None);
        assert_eq!(twice("3", &[]), None);
        assert_eq!(twice("3", &[0, 1]), None);
        assert_eq!(twice("none", &[1]), None);
    }
}
