//! What a rendering changes against what clusters have now.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use super::Rendered;
use crate::contents::Secrets;
use crate::manifests::{Counts, Difference, Existing, differences};

/// What changes in clusters where the same changes.
pub(super) struct GroupChanges {
    /// The group of the rendering, by its place.
    pub group: usize,
    /// The clusters, by their place.
    pub clusters: Vec<usize>,
    /// How many objects change in each of them.
    pub counts: Counts,
    /// What changes in the first of them; in the others it is the same, apart from variables.
    pub differences: Vec<Difference>,
}

/// What changes, by group and by what the clusters have now.
pub(super) fn of(rendered: &Rendered<'_>, secrets: Secrets) -> Vec<GroupChanges> {
    let mut all = Vec::new();
    for (at, group) in rendered.rendering.groups.iter().enumerate() {
        let mut alike: BTreeMap<(Counts, u64), Vec<usize>> = BTreeMap::new();
        for cluster in &group.clusters {
            let now = rendered.material.existing(rendered.name(*cluster));
            let then = rendered.rendering.manifests(*cluster);
            let counts = Counts::new(&now, &then);
            let print = if group.varies { 0 } else { fingerprint(&now) };
            alike.entry((counts, print)).or_default().push(*cluster);
        }
        for ((counts, _), clusters) in alike {
            let first = clusters.first().copied().unwrap_or_default();
            let now = rendered.material.existing(rendered.name(first));
            all.push(GroupChanges {
                group: at,
                counts,
                differences: differences(now.manifests, rendered.manifests(first), secrets),
                clusters,
            });
        }
    }
    all
}

/// How the manifests of the first two clusters differ.
pub(super) fn between(rendered: &Rendered<'_>, secrets: Secrets) -> GroupChanges {
    let before = Existing {
        manifests: rendered.manifests(0),
    };
    let counts = Counts::new(&before, &rendered.rendering.manifests(1));
    GroupChanges {
        group: 0,
        clusters: vec![0, 1],
        counts,
        differences: differences(before.manifests, rendered.manifests(1), secrets),
    }
}

fn fingerprint(existing: &Existing) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut manifests: Vec<_> = existing.manifests.iter().collect();
    manifests.sort_by(|a, b| a.identity.cmp(&b.identity));
    for manifest in manifests {
        manifest.value.hash(&mut hasher);
    }
    hasher.finish()
}
