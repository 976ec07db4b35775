//! What a rendering changes against what clusters have now.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use crate::contents::{Manifest, SecretDisplay};
use crate::manifests::{ChangeCounts, ObjectDifference, RenderedClusters, WorkDelta, differences};

pub struct GroupChanges {
    pub group: usize,
    /// The clusters, by their place.
    pub clusters: Vec<usize>,
    /// How many objects change in each of them; absent where what they have is not known.
    pub counts: Option<ChangeCounts>,
    /// What changes in the first of them; in the others it is the same, apart from variables.
    pub differences: Vec<ObjectDifference>,
}

pub fn manifests(rendering: &RenderedClusters<'_>, cluster: usize) -> Vec<Manifest> {
    let rendered = rendering.manifests(cluster).into_iter();
    rendered.map(|it| Cow::into_owned(it.manifest)).collect()
}

/// What changes, by group and by what the clusters have now.
pub fn of(
    rendering: &RenderedClusters<'_>,
    now: &dyn Fn(&str) -> Option<Vec<Manifest>>,
    secrets: SecretDisplay,
) -> Vec<GroupChanges> {
    let clusters = rendering.clusters();
    let now = |at: usize| now(&clusters[at].member.meta.name);
    let mut all = Vec::new();
    for (at, group) in rendering.groups.iter().enumerate() {
        // The clusters where the same changes, and what the first of them has now.
        let mut alike: BTreeMap<Option<(ChangeCounts, u64)>, (Vec<usize>, _)> = BTreeMap::new();
        // A cluster that an error keeps from getting anything new keeps what it has.
        let keeps = |cluster: &&usize| {
            let name = &clusters[**cluster].member.meta.name;
            rendering.faults.iter().any(|it| it.clusters.contains(name))
        };
        for cluster in group.clusters.iter().filter(|it| !keeps(it)) {
            let existing = now(*cluster);
            let changes = existing.as_ref().map(|now| {
                let counts = WorkDelta::of(now, &rendering.manifests(*cluster)).counts;
                let print = if group.varies { 0 } else { fingerprint(now) };
                (counts, print)
            });
            let same = alike.entry(changes);
            let (same, _) = same.or_insert_with(|| (Vec::new(), existing));
            same.push(*cluster);
        }
        for (changes, (clusters, existing)) in alike {
            let first = clusters.first().copied().unwrap_or_default();
            let then = || manifests(rendering, first);
            let differences = existing.map(|now| differences(now, then(), secrets));
            all.push(GroupChanges {
                group: at,
                counts: changes.map(|(counts, _)| counts),
                differences: differences.unwrap_or_default(),
                clusters,
            });
        }
    }
    all
}

/// How the manifests of the first two clusters differ.
pub(super) fn compare_clusters(
    rendering: &RenderedClusters<'_>,
    secrets: SecretDisplay,
) -> GroupChanges {
    let before = manifests(rendering, 0);
    let counts = WorkDelta::of(&before, &rendering.manifests(1)).counts;
    GroupChanges {
        group: 0,
        clusters: vec![0, 1],
        counts: Some(counts),
        differences: differences(before, manifests(rendering, 1), secrets),
    }
}

fn fingerprint(existing: &[Manifest]) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut manifests: Vec<_> = existing.iter().collect();
    manifests.sort_by(|a, b| a.identity.cmp(&b.identity));
    for manifest in manifests {
        manifest.value.hash(&mut hasher);
    }
    hasher.finish()
}
