//! How far cluster placements have brought a namespaced placement's namespace to member clusters.

use std::sync::Arc;

use super::overrides;
use crate::inventory::{Inventory, NamespaceCarriers};
use crate::kubefleet::binding::Binding;
use crate::kubefleet::override_names::NamespacedName;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::placement::Placement;
use crate::kubefleet::snapshot::ManifestIdentity;
use crate::kubefleet::{Condition, reasons};

/// What brings the namespace, where that was read.
#[derive(Clone, Copy)]
pub struct NamespaceDelivery<'i> {
    inventory: &'i Inventory,
    carriers: &'i NamespaceCarriers,
}

/// How far the placements of a namespace are on a cluster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DeliveryProgress<'i> {
    Applied,
    Failing,
    /// An override deletes it from what is sent there.
    Deleted(&'i OverrideSnapshot),
    /// It is only compared with what is there, where it is missing.
    Compared,
    /// Its content is still to be rolled out there, or on its way.
    Picked,
    /// Its content is being removed from there.
    Leaving,
    /// None of them has picked it.
    Elsewhere,
}

impl<'i> NamespaceDelivery<'i> {
    pub fn of(inventory: &'i Inventory) -> Option<Self> {
        let carriers = inventory.carriers.as_ref()?;
        Some(Self {
            inventory,
            carriers,
        })
    }

    /// The placements that may bring it.
    pub fn placements(self) -> &'i [Arc<Placement>] {
        &self.carriers.placements
    }

    /// Whether one of them has brought the namespace to a cluster: until its content was rolled out there,
    /// nothing has come.
    pub fn reaches(self, cluster: &str) -> bool {
        self.bound(cluster)
            .any(|it| !self.is_missing(it) && self.deleting(it).is_none())
    }

    /// How far they are on a cluster: what is missing where it was applied was deleted there.
    pub fn progress(self, cluster: &str) -> DeliveryProgress<'i> {
        let bound: Vec<_> = self.bound(cluster).collect();
        let bringing = bound.iter().filter(|it| self.deleting(it).is_none());
        let says = |is: fn(&Condition) -> bool| {
            let mut applied = bringing
                .clone()
                .filter_map(|it| it.current(reasons::APPLIED));
            applied.any(is)
        };
        if says(Condition::is_true) {
            return DeliveryProgress::Applied;
        }
        if says(|it| it.is_false() && it.reason != reasons::APPLY_IN_PROGRESS) {
            return DeliveryProgress::Failing;
        }
        if let Some(snapshot) = bound.iter().find_map(|it| self.deleting(it)) {
            return DeliveryProgress::Deleted(snapshot);
        }
        if bound.iter().any(|it| self.is_missing(it)) {
            return DeliveryProgress::Compared;
        }
        let own = self.carriers.bindings.iter();
        let mut own = own.filter(|it| it.spec.cluster == cluster);
        if own.clone().any(|it| !it.is_leaving()) {
            DeliveryProgress::Picked
        } else if own.any(|it| it.is_leaving()) {
            DeliveryProgress::Leaving
        } else {
            DeliveryProgress::Elsewhere
        }
    }

    fn bound(self, cluster: &str) -> impl Iterator<Item = &'i Binding> {
        let all = self.carriers.bindings.iter().map(AsRef::as_ref);
        all.filter(move |binding| {
            binding.spec.cluster == cluster
                && !binding.is_leaving()
                && binding.spec.state == "Bound"
        })
    }

    /// Whether a comparison found that it is not there.
    fn is_missing(self, binding: &Binding) -> bool {
        let mut differing = binding.status.diffed.iter();
        let is_it = |kind: &str, name: &str| kind == "Namespace" && name == self.namespace();
        binding.only_compares()
            && differing.any(|it| {
                let is_whole = it.diffs.iter().any(|diff| diff.path == "/");
                is_it(&it.kind, &it.name) && is_whole
            })
    }

    /// The override that deletes it from the binding's cluster. One for all placements also deletes what is in it: then
    /// nothing needs the namespace.
    fn deleting(self, binding: &Binding) -> Option<&'i OverrideSnapshot> {
        let namespace = ManifestIdentity {
            api_version: "v1".to_owned(),
            kind: "Namespace".to_owned(),
            meta: NamespacedName {
                name: self.namespace().to_owned(),
                ..NamespacedName::default()
            },
            ..ManifestIdentity::default()
        };
        let member = self.inventory.member(&binding.spec.cluster)?;
        let names = binding.spec.override_names();
        let mut deleting = overrides::deleting(self.inventory, names, member);
        deleting.find(|it| {
            it.spec.content.placement.is_some() && overrides::selector_of(it, &namespace).is_some()
        })
    }

    fn namespace(self) -> &'i str {
        self.inventory.scope.namespace()
    }
}
