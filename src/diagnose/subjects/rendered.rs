//! What clusters are to get, put together as their Works are.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::inventory::Inventory;
use crate::kubefleet::ObjectRef;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::override_names::{NamespacedName, override_names};
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::manifests::{
    Override, PlacedOverrides, RenderedClusters, SnapshotContent, WorkGenerator,
};
use crate::rollout::versions::Version;

/// What a cluster is to get, as its binding or a run names it.
#[derive(Clone, Copy)]
pub struct NamedContent<'i> {
    pub member: Option<&'i MemberCluster>,
    pub index: &'i str,
    pub cluster_overrides: &'i [String],
    pub overrides: &'i [NamespacedName],
}

impl<'i> NamedContent<'i> {
    /// `None` where the binding names no snapshot.
    pub fn of(failing: &FailingCluster<'i>) -> Option<Self> {
        let spec = &failing.binding.spec;
        Some(Self {
            member: failing.member,
            index: failing.binding.snapshot_index()?,
            cluster_overrides: &spec.cluster_overrides,
            overrides: &spec.overrides,
        })
    }

    fn override_names(&self) -> impl Iterator<Item = ObjectRef> + use<'i> {
        override_names(self.cluster_overrides, self.overrides)
    }
}

/// The version that a cluster is to get, and its overrides.
pub struct BoundVersion<'v, 'i> {
    pub content: NamedContent<'i>,
    pub version: &'v Version<'i>,
    pub overrides: Vec<&'i Arc<OverrideSnapshot>>,
}

impl<'v, 'i> BoundVersion<'v, 'i> {
    /// `None` where a part of them was not seen.
    pub fn of(
        inventory: &'i Inventory,
        all: &'v [Version<'i>],
        content: NamedContent<'i>,
    ) -> Option<Self> {
        let mut all = all.iter();
        let version =
            all.find(|version| version.index == content.index && version.is_complete())?;
        let overrides = content.override_names().map(|object| {
            let mut known = inventory.overrides.items.iter();
            known.find(|it| it.object() == object)
        });
        let overrides: Option<Vec<_>> = overrides.collect();
        Some(Self {
            content,
            version,
            overrides: overrides?,
        })
    }

    /// Of which objects the texts are needed to put it together.
    pub fn texts(&self) -> impl Iterator<Item = ObjectRef> {
        let parts = self.version.parts.iter().map(|part| part.object());
        parts.chain(self.overrides.iter().map(|it| it.object()))
    }
}

/// Puts together what clusters are to get, those of one version at once, as far as the texts tell.
pub fn rendered<'v, 'i, T>(
    inventory: &'i Inventory,
    all: &'v [Version<'i>],
    clusters: impl Iterator<Item = (T, NamedContent<'i>, WorkGenerator)>,
    mut read: impl FnMut(&RenderedClusters<'_>, &[(T, BoundVersion<'v, 'i>)]),
) {
    let texts = &inventory.texts;
    let mut alike: BTreeMap<(&str, WorkGenerator), Vec<_>> = BTreeMap::new();
    for (cluster, content, generator) in clusters {
        let bound = BoundVersion::of(inventory, all, content);
        let bound = bound.filter(|it| it.texts().all(|object| texts.contains_key(&object)));
        if let Some(bound) = bound.filter(|_| content.member.is_some()) {
            let key = (bound.version.index.as_str(), generator);
            alike.entry(key).or_default().push((cluster, bound));
        }
    }
    for ((_, generator), clusters) in alike {
        let mut versions = clusters.iter().map(|(_, bound)| bound.version);
        let content = versions.find_map(|it| SnapshotContent::of_version(it, texts, generator));
        let Some(content) = content else { continue };
        let overrides = clusters.iter().flat_map(|(_, bound)| &bound.overrides);
        let overrides: BTreeMap<_, _> = overrides.map(|it| (it.object(), *it)).collect();
        let overrides = overrides.into_values();
        let overrides: Vec<_> = overrides
            .filter_map(|it| Override::known(it, texts))
            .collect();
        let placed = clusters.iter().filter_map(|(_, bound)| {
            let names = bound.content.override_names();
            let member = bound.content.member?;
            Some(PlacedOverrides::recorded(member, names, &overrides))
        });
        let placed: Vec<_> = placed.collect();
        read(
            &RenderedClusters::new(&content, &overrides, &placed),
            &clusters,
        );
    }
}
