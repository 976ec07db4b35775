//! What each cluster gets: the manifests of its Works, as KubeFleet's work generator writes them.
//!
//! The rules, with their sources below pkg/ of KubeFleet:
//!
//! - The parts of a snapshot come in the order of their subindex, and the objects in a part in its
//!   own; each part makes one Work, and each envelope in it another.
//!   controllers/workgenerator/controller.go:syncAllWork, processOneSelectedResource.
//! - An object is sent as the snapshot has it: what only the hub knows was removed when the snapshot
//!   was made. utils/controller/resource_selector_resolver.go:generateRawContent.
//! - First come the cluster overrides, by name, then those of namespaces, by namespace and name. In
//!   each, all rules for the cluster apply in order, up to one that deletes the object.
//!   controllers/workgenerator/override.go:applyOverrides, applyOverrideRules;
//!   utils/overrider/overrider.go:PickFromResourceMatchedOverridesForTargetCluster.
//! - A cluster override of a Namespace applies to each object in it as well, and an override selects
//!   by the version in which an object is written. override.go:applyOverrides.
//! - Variables: `variables.rs`; operations: `patch.rs`; envelopes: `envelope.rs`.
//! - One operation that cannot be applied stops all Works of its cluster. controller.go:syncAllWork.
//! - Overrides apply to what envelopes hold since the version after 0.3.1, and to the envelope itself
//!   before. envelope.go:applyOverridesToEnvelopeManifests; overrider.go:
//!   collectOverrideCandidatesFromSelectedResource. Only 0.0 knows ConfigMaps as envelopes.
//!
//! Nothing else is changed between a snapshot and a Work.

mod content;
mod defaults;
mod envelope;
mod existing;
mod held;
mod immutable;
pub mod live;
mod needs;
mod overrides;
mod patch;
mod rendering;
mod variables;

use crate::inventory::Inventory;
use crate::kubefleet::names;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::work::Work;
use crate::rollout::AgentVersion;

pub use content::{Item, SnapshotContent, texts_of};
pub use existing::{ChangeCounts, ObjectDifference, ObjectRefusal, WorkDelta, differences};
pub use needs::{NEEDED_KINDS, needs};
pub use overrides::{IneffectiveOverride, Override, PlacedOverrides};
pub use rendering::{
    ClusterGroup, FailingOperation, FaultCause, INSIDE_ENVELOPES, OverrideEffect, PatchOperation,
    RenderFault, RenderedClusters, RenderedManifest,
};

/// How Works are generated, where versions differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum WorkGenerator {
    /// KubeFleet 0.0: ConfigMaps with an annotation are envelopes, and overrides apply to them.
    ConfigMaps,
    /// KubeFleet 0.1 to 0.3.1: overrides apply to the envelope itself.
    Envelopes,
    /// Newer: overrides apply to what an envelope holds.
    #[default]
    Newest,
}

impl WorkGenerator {
    /// The generator of the hub agent that works on a run; `None` where nothing tells its version.
    pub fn of_agent(inventory: &Inventory, run: &UpdateRun) -> Option<Self> {
        let (version, is_guess) = AgentVersion::or_guess(inventory, run);
        Self::of_version(inventory, (!is_guess).then_some(version))
    }

    /// The same of the newest run, or of the hub where there is none.
    pub fn of_hub(inventory: &Inventory) -> Option<Self> {
        Self::of_version(inventory, AgentVersion::of_hub(inventory))
    }

    fn of_version(inventory: &Inventory, version: Option<AgentVersion>) -> Option<Self> {
        if inventory.works.iter().any(is_hashed) {
            return Some(Self::Newest);
        }
        version.map(|version| match version {
            AgentVersion::Next => Self::Newest,
            _ => Self::Envelopes,
        })
    }

    /// The generator that wrote these Works, as far as they and the hub tell. One agent writes all, and a Work keeps
    /// the name that an older one gave it.
    pub fn of_works<'w>(works: impl Iterator<Item = &'w Work> + Clone, hub: Option<Self>) -> Self {
        let mut envelopes = works.clone().filter_map(Work::envelope);
        let mut works = works;
        if works.any(is_hashed) {
            Self::Newest
        } else if envelopes.clone().any(|it| it.kind == "ConfigMap") {
            Self::ConfigMaps
        } else if let Some(generator) = hub {
            generator
        } else if envelopes.next().is_some() {
            Self::Envelopes
        } else {
            Self::Newest
        }
    }
}

/// Whether a Work is named after the hash of its envelope, as older generators never do.
/// Source: envelope.go:envelopeWorkNameSuffix.
fn is_hashed(work: &Work) -> bool {
    let named = names::envelope_of_work(&work.meta.name);
    let is_hash = |id: &str| id.len() == 16 && !id.contains('-');
    work.envelope().is_some() && named.is_some_and(|(_, id)| is_hash(id))
}

#[cfg(test)]
mod tests;
