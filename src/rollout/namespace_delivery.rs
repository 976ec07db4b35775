//! How far cluster placements have brought a namespaced placement's namespace to member clusters.

use std::sync::Arc;

use jiff::Timestamp;

use super::overrides;
use crate::inventory::{Inventory, NamespaceCarriers};
use crate::kubefleet::binding::{Binding, FieldDifference};
use crate::kubefleet::override_names::NamespacedName;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::placement::Placement;
use crate::kubefleet::snapshot::ManifestIdentity;
use crate::kubefleet::{Condition, names, reasons};

/// What brings the namespace, where that was read.
#[derive(Clone, Copy)]
pub struct NamespaceDelivery<'i> {
    inventory: &'i Inventory,
    carriers: &'i NamespaceCarriers,
}

/// The placement that comes nearest to bringing the namespace to a cluster, and how far it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeliveryState<'i> {
    /// `None` where there are several, and none has picked the cluster.
    pub carrier: Option<&'i Placement>,
    pub progress: DeliveryProgress<'i>,
}

/// How far a placement of a namespace is on a cluster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DeliveryProgress<'i> {
    Applied,
    Failing,
    Deleted(&'i OverrideSnapshot),
    /// It is only compared with what is there, where it is missing.
    Compared,
    /// What was sent there is older than the selector of the namespace.
    Older,
    /// Its content is still to be rolled out there, or on its way.
    Picked,
    /// Its content is being removed from there.
    Leaving,
    /// The placement is being deleted, and picks nothing any more.
    Going,
    /// It has not picked the cluster.
    Elsewhere,
}

impl DeliveryProgress<'_> {
    /// The nearest comes first.
    const fn rank(self) -> u8 {
        match self {
            Self::Applied => 0,
            Self::Failing => 1,
            Self::Deleted(_) => 2,
            Self::Compared => 3,
            Self::Older => 4,
            Self::Picked => 5,
            Self::Leaving => 6,
            Self::Going => 7,
            Self::Elsewhere => 8,
        }
    }
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
        self.bound_by_any(cluster).any(|it| {
            let is_sent = !it.is_unsent() || it.condition(reasons::APPLIED).is_some();
            is_sent && !self.is_missing(it) && !self.lacks(it) && self.deleting(it).is_none()
        })
    }

    /// How far they are on a cluster: what is missing where it was applied was deleted there.
    pub fn state(self, cluster: &str) -> DeliveryState<'i> {
        let all = self.placements().iter();
        let all = all.map(|it| (it, self.progress(it, cluster)));
        let nearest = all.min_by_key(|(_, progress)| progress.rank());
        let (carrier, progress) = nearest
            .map_or((None, DeliveryProgress::Elsewhere), |(it, progress)| {
                (Some(it.as_ref()), progress)
            });
        let is_any = progress == DeliveryProgress::Elsewhere && self.placements().len() > 1;
        DeliveryState {
            carrier: carrier.filter(|_| !is_any),
            progress,
        }
    }

    pub fn applied_since(self, cluster: &str) -> Option<Timestamp> {
        let bound = self.bound_by_any(cluster);
        let applied = bound.filter_map(|it| it.current(reasons::APPLIED));
        let applied = applied.filter(|it| it.is_true());
        applied.filter_map(|it| it.since).min()
    }

    fn progress(self, carrier: &'i Placement, cluster: &str) -> DeliveryProgress<'i> {
        if carrier.meta.is_deleting() {
            return DeliveryProgress::Going;
        }
        let mut own = self.bindings(carrier, cluster);
        let is_false = |binding: &Binding, kind| {
            let condition = binding.current(kind);
            condition.is_some_and(|it| it.is_false() && it.reason != reasons::APPLY_IN_PROGRESS)
        };
        let mut progress: Vec<_> = self
            .bound(carrier, cluster)
            .map(|binding| {
                let is_applied = binding
                    .current(reasons::APPLIED)
                    .is_some_and(Condition::is_true);
                let failing = [
                    reasons::OVERRIDDEN,
                    reasons::WORK_SYNCHRONIZED,
                    reasons::APPLIED,
                ];
                if let Some(snapshot) = self.deleting(binding) {
                    DeliveryProgress::Deleted(snapshot)
                } else if self.is_missing(binding) {
                    DeliveryProgress::Compared
                } else if self.lacks(binding) {
                    DeliveryProgress::Older
                } else if is_applied {
                    DeliveryProgress::Applied
                } else if failing.iter().any(|kind| is_false(binding, kind)) {
                    DeliveryProgress::Failing
                } else {
                    DeliveryProgress::Picked
                }
            })
            .collect();
        progress.sort_by_key(|it| it.rank());
        if let Some(progress) = progress.first() {
            *progress
        } else if own.clone().any(|it| !it.is_leaving()) {
            DeliveryProgress::Picked
        } else if own.next().is_some() {
            DeliveryProgress::Leaving
        } else {
            DeliveryProgress::Elsewhere
        }
    }

    fn bindings(
        self,
        carrier: &'i Placement,
        cluster: &str,
    ) -> impl Iterator<Item = &'i Binding> + Clone {
        let all = self.carriers.bindings.iter().map(AsRef::as_ref);
        all.filter(move |it: &&Binding| {
            it.spec.cluster == cluster
                && it.meta.label(names::PARENT_PLACEMENT) == Some(carrier.meta.name.as_str())
        })
    }

    fn bound(self, carrier: &'i Placement, cluster: &str) -> impl Iterator<Item = &'i Binding> {
        self.bindings(carrier, cluster)
            .filter(|it| !it.is_leaving() && it.spec.state == "Bound")
    }

    fn bound_by_any(self, cluster: &str) -> impl Iterator<Item = &'i Binding> {
        let all = self.placements().iter();
        all.flat_map(move |it| self.bound(it, cluster))
    }

    /// Whether what a cluster was sent does not have it, as far as that still exists.
    fn lacks(self, binding: &Binding) -> bool {
        let Some(parts) = self.carriers.content.get(&binding.spec.snapshot) else {
            return false;
        };
        let mut objects = parts.iter().flat_map(|it| it.sent());
        !objects.any(|it| it.is_namespace(self.namespace()))
    }

    /// Whether a comparison found that it is not there.
    fn is_missing(self, binding: &Binding) -> bool {
        let mut differing = binding.status.diffed.iter();
        let is_it = |kind: &str, name: &str| kind == "Namespace" && name == self.namespace();
        binding.only_compares()
            && differing.any(|it| {
                let is_missing = it.diffs.iter().any(FieldDifference::is_missing_object);
                is_it(&it.kind, &it.name) && is_missing
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
