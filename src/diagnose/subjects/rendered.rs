//! What clusters in trouble are to get, put together as their Works are.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::inventory::Inventory;
use crate::kubefleet::ObjectRef;
use crate::kubefleet::overrides::{OverrideSnapshot, named};
use crate::manifests::{
    Override, PlacedOverrides, RenderedClusters, SnapshotContent, WorkGenerator,
};
use crate::rollout::versions::Version;

/// The version that a cluster is to get, and its overrides.
pub(in crate::diagnose) struct BoundVersion<'v, 'i> {
    pub version: &'v Version<'i>,
    pub overrides: Vec<&'i Arc<OverrideSnapshot>>,
}

impl<'v, 'i> BoundVersion<'v, 'i> {
    /// `None` where a part of them was not seen.
    pub(in crate::diagnose) fn of(
        inventory: &'i Inventory,
        all: &'v [Version<'i>],
        failing: &FailingCluster<'_>,
    ) -> Option<Self> {
        let spec = &failing.binding.spec;
        let index = failing.binding.snapshot_index()?;
        let mut all = all.iter();
        let version = all.find(|version| version.index == index && version.is_complete())?;
        let overrides: Option<Vec<_>> = named(&spec.cluster_overrides, &spec.overrides)
            .map(|object| {
                let mut known = inventory.overrides.items.iter();
                known.find(|it| it.object() == object)
            })
            .collect();
        Some(Self {
            version,
            overrides: overrides?,
        })
    }

    /// Of which objects the texts are needed to put it together.
    pub(in crate::diagnose) fn texts(&self) -> impl Iterator<Item = ObjectRef> {
        let parts = self.version.parts.iter().map(|part| part.object());
        parts.chain(self.overrides.iter().map(|it| it.object()))
    }
}

/// Puts together what clusters are to get, those of one version at once, as far as the texts tell.
pub(in crate::diagnose) fn rendered<'a, 'v, 'i: 'a>(
    inventory: &'i Inventory,
    all: &'v [Version<'i>],
    clusters: impl Iterator<Item = (&'a FailingCluster<'i>, WorkGenerator)>,
    mut read: impl FnMut(&RenderedClusters<'_>, &[(&'a FailingCluster<'i>, BoundVersion<'v, 'i>)]),
) {
    let texts = &inventory.texts;
    let mut alike: BTreeMap<(&str, WorkGenerator), Vec<_>> = BTreeMap::new();
    for (failing, generator) in clusters {
        let bound = BoundVersion::of(inventory, all, failing);
        let bound = bound.filter(|it| it.texts().all(|object| texts.contains_key(&object)));
        if let Some(bound) = bound.filter(|_| failing.member.is_some()) {
            let key = (bound.version.index.as_str(), generator);
            alike.entry(key).or_default().push((failing, bound));
        }
    }
    for ((_, generator), clusters) in alike {
        let mut versions = clusters.iter().map(|(_, bound)| bound.version);
        let content = versions.find_map(|it| SnapshotContent::of_version(it, texts, generator));
        let Some(content) = content else { continue };
        let overrides = clusters.iter().flat_map(|(_, bound)| &bound.overrides);
        let overrides: BTreeMap<_, _> = overrides.map(|it| (it.object(), *it)).collect();
        let overrides = overrides.into_iter().filter_map(|(object, it)| {
            let text = texts.get(&object)?;
            Some(Override::new(Arc::clone(it), text))
        });
        let overrides: Vec<_> = overrides.collect();
        let placed = clusters.iter().filter_map(|(failing, _)| {
            let (member, binding) = (failing.member?, failing.binding);
            Some(PlacedOverrides::bound(member, binding, &overrides))
        });
        let placed: Vec<_> = placed.collect();
        read(
            &RenderedClusters::new(&content, &overrides, &placed),
            &clusters,
        );
    }
}
