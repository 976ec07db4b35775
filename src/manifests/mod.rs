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
mod envelope;
mod existing;
mod immutable;
pub mod live;
mod needs;
mod overrides;
mod patch;
mod rendering;
mod variables;

use crate::inventory::Inventory;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::work::Work;
use crate::rollout::AgentVersion;

pub use content::{Item, SnapshotContent, texts_of};
pub use existing::{
    ChangeCounts, ObjectDifference, ObjectRefusal, WorkDelta, WorkManifests, differences,
};
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
        (!is_guess).then_some(if version < AgentVersion::Next {
            Self::Envelopes
        } else {
            Self::Newest
        })
    }

    /// The generator that wrote these Works, as far as they tell: newer ones name the Work of an
    /// envelope after its hash, older ones at random. Source: envelope.go:envelopeWorkNameSuffix.
    pub fn of_works<'w>(works: impl IntoIterator<Item = &'w Work>) -> Self {
        let mut generator = Self::Newest;
        for work in works {
            let Some(envelope) = work.envelope() else {
                continue;
            };
            if envelope.kind == "ConfigMap" {
                return Self::ConfigMaps;
            }
            let suffix = work.meta.name.rsplit_once("-envelope-");
            let hashed = suffix.is_some_and(|(_, hash)| {
                hash.len() == 16 && hash.chars().all(|c| c.is_ascii_hexdigit())
            });
            if !hashed && generator == Self::Newest {
                generator = Self::Envelopes;
            }
        }
        generator
    }
}

#[cfg(test)]
mod tests;
