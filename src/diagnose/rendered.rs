//! What clusters in trouble are to get, put together as their Works are.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::context::Context;
use super::failing_cluster::FailingCluster;
use crate::inventory::Inventory;
use crate::kubefleet::ObjectRef;
use crate::kubefleet::overrides::{OverrideSnapshot, named};
use crate::manifests::{Content, Generator, Override, PlacedOverrides, Rendering};
use crate::rollout::versions::{Version, versions};

/// The version that a cluster is to get, and its overrides.
pub(super) struct Bound<'v, 'i> {
    pub version: &'v Version<'i>,
    pub overrides: Vec<&'i Arc<OverrideSnapshot>>,
}

impl<'v, 'i> Bound<'v, 'i> {
    /// `None` where a part of them was not seen.
    pub(super) fn of(
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
    pub(super) fn texts(&self) -> impl Iterator<Item = ObjectRef> {
        let parts = self.version.parts.iter().map(|part| part.object());
        parts.chain(self.overrides.iter().map(|it| it.object()))
    }
}

/// Puts together what clusters are to get, those of one version at once, as far as the texts tell.
pub(super) fn rendered<'a, 'i: 'a>(
    cx: &'a Context<'i>,
    clusters: impl IntoIterator<Item = &'a FailingCluster<'i>>,
    generator: Generator,
    mut read: impl FnMut(&Rendering<'_>, &[&'a FailingCluster<'i>]),
) {
    let texts = &cx.inventory.texts;
    let all = versions(cx.inventory);
    let mut by_version: BTreeMap<&str, (&Version<'_>, Vec<_>, BTreeMap<ObjectRef, Override>)> =
        BTreeMap::new();
    for failing in clusters {
        let bound = Bound::of(cx.inventory, &all, failing);
        let Some((bound, member)) = bound.zip(failing.member) else {
            continue;
        };
        let overrides: Option<Vec<_>> = bound
            .overrides
            .into_iter()
            .map(|it| {
                Some((
                    it.object(),
                    Override::new(Arc::clone(it), texts.get(&it.object())?),
                ))
            })
            .collect();
        let Some(overrides) = overrides else { continue };
        let version = bound.version;
        let group = by_version
            .entry(&version.index)
            .or_insert_with(|| (version, Vec::new(), BTreeMap::new()));
        group.1.push((failing, member));
        group.2.extend(overrides);
    }
    for (version, clusters, overrides) in by_version.into_values() {
        let Some(content) = Content::of_version(version, texts, generator) else {
            continue;
        };
        let overrides: Vec<_> = overrides.into_values().collect();
        let placed: Vec<_> = clusters
            .iter()
            .map(|(failing, member)| PlacedOverrides::bound(member, failing.binding, &overrides))
            .collect();
        let clusters: Vec<_> = clusters.into_iter().map(|(failing, _)| failing).collect();
        read(&Rendering::new(&content, &overrides, &placed), &clusters);
    }
}
