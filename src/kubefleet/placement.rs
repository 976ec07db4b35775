//! ClusterResourcePlacement and ResourcePlacement.

use serde::de::SeqAccess;

use super::apply::ApplyStrategy;
use super::binding::FailedPlacement;
use super::kind::api_version;
use super::meta::{Condition, ObjectMeta};
use super::scope::Scope;
use super::selector::{ClusterSelector, LabelSelector};
use super::tolerant::{LenientRead, LenientSeed, model};

model! {
    /// A placement, in either scope.
    pub struct Placement {
        pub meta: ObjectMeta = "metadata",
        pub spec: PlacementSpec = "spec",
        pub status: PlacementStatus = "status",
    }

    pub struct PlacementSpec {
        /// Which clusters; absent means all.
        pub policy: Option<Box<Policy>> = "policy",
        /// How the content is rolled out; absent means RollingUpdate.
        pub strategy: Option<Box<RolloutStrategy>> = "strategy",
        /// What is placed.
        pub selectors: Vec<ResourceSelector> = "resourceSelectors",
        /// How many snapshots are kept; 10 where it is absent.
        pub revision_history_limit: Option<i64> = "revisionHistoryLimit",
    }

    /// `spec.resourceSelectors[]`.
    pub struct ResourceSelector {
        pub group: String = "group",
        pub version: String = "version",
        pub kind: String = "kind",
        pub name: String = "name",
        /// Which objects where it names none; all where it is absent.
        pub labels: Option<Box<LabelSelector>> = "labelSelector",
        /// What of a namespace is placed: `NamespaceWithResources` (default), `NamespaceOnly` or
        /// `NamespaceWithResourceSelectors`.
        pub scope: String = "selectionScope",
    }

    pub struct Policy {
        /// `PickAll` (default), `PickN` or `PickFixed`.
        pub kind: String = "placementType",
        /// The clusters of PickFixed.
        pub clusters: Vec<String> = "clusterNames",
        /// The count of PickN.
        pub count: Option<i64> = "numberOfClusters",
        /// What clusters have to be like.
        pub affinity: Option<Box<Affinity>> = "affinity",
        /// The taints that do not keep it away.
        pub tolerations: Vec<Toleration> = "tolerations",
    }

    /// `tolerations[]` of a policy.
    pub struct Toleration {
        /// The taint's key; empty for every key.
        pub key: String = "key",
        /// `Equal` (default) or `Exists`.
        pub operator: String = "operator",
        pub value: String = "value",
        /// The taint's effect; empty for every effect.
        pub effect: String = "effect",
    }

    /// `affinity` of a policy.
    pub struct Affinity {
        /// What it says of clusters.
        pub cluster: Option<Box<ClusterAffinity>> = "clusterAffinity",
    }

    /// `clusterAffinity` of a policy.
    pub struct ClusterAffinity {
        pub required: Option<Box<ClusterSelector>> = "requiredDuringSchedulingIgnoredDuringExecution",
        pub preferred: Vec<WeightedPreference> = "preferredDuringSchedulingIgnoredDuringExecution",
    }

    /// A preference of a policy.
    pub struct WeightedPreference {
        pub preference: ClusterPreference = "preference",
    }

    /// What clusters a policy prefers.
    pub struct ClusterPreference {
        /// The clusters that it is about; all where it is absent.
        pub labels: Option<Box<LabelSelector>> = "labelSelector",
        /// How they are ranked.
        pub sorter: Option<Box<PropertySorter>> = "propertySorter",
    }

    /// `propertySorter` of a preference.
    pub struct PropertySorter {
        pub name: String = "name",
        /// `Ascending` or `Descending`.
        pub order: String = "sortOrder",
    }

    /// `spec.strategy`.
    pub struct RolloutStrategy {
        /// `RollingUpdate` (default) or `External`.
        pub kind: String = "type",
        /// How resources are applied on the members.
        pub apply: Option<Box<ApplyStrategy>> = "applyStrategy",
    }

    pub struct PlacementStatus {
        /// `ClusterResourcePlacementScheduled` and so on.
        pub conditions: Vec<Condition> = "conditions",
        /// The namespaces among what it selects.
        pub namespaces: SelectedNamespaces = "selectedResources",
        /// The snapshot index that all clusters are on, when there is one.
        pub observed_index: String = "observedResourceIndex",
        /// What the bindings say, cluster by cluster, as the placement's controller last copied it.
        /// For fleets whose status is too large for the API server the bindings alone say it.
        pub clusters: Vec<ClusterPlacement> = "placementStatuses",
    }

    /// `status.selectedResources[]`.
    pub struct SelectedObject {
        pub group: String = "group",
        pub kind: String = "kind",
        pub name: String = "name",
    }

    /// `status.placementStatuses[]`.
    pub struct ClusterPlacement {
        pub cluster: String = "clusterName",
        /// The index of the snapshot that it should have.
        pub observed_index: String = "observedResourceIndex",
        /// RolloutStarted, Overridden, WorkSynchronized, Applied, Available and so on.
        pub conditions: Vec<Condition> = "conditions",
        /// The objects that fail there.
        pub failed: Vec<FailedPlacement> = "failedPlacements",
    }
}

/// The namespaces that a placement selects; `None` where it does not tell what it selects. Of everything else in the
/// list, which may be long, nothing is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SelectedNamespaces(pub Option<Vec<String>>);

impl LenientRead for SelectedNamespaces {
    fn from_seq<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<Self, A::Error> {
        let mut found = None;
        while let Some(object) = seq.next_element_seed(LenientSeed::<SelectedObject>::default())? {
            let names = found.get_or_insert_with(Vec::new);
            if object.kind == "Namespace" && object.group.is_empty() {
                names.push(object.name);
            }
        }
        Ok(Self(found))
    }
}

impl ResourceSelector {
    /// What it selects, in words: `apps/v1 Deployment web`.
    pub fn describe(&self) -> String {
        let version = api_version(&self.group, &self.version);
        let which = match (self.name.as_str(), &self.labels) {
            ("", Some(labels)) if **labels != LabelSelector::default() => {
                format!(" with {}", labels.describe())
            }
            ("", _) => String::new(),
            (name, _) => format!(" {name}"),
        };
        format!("{version} {}{which}", self.kind)
    }
}

/// A policy's type; PickAll where there is none, or it does not say.
pub(super) fn policy_type(policy: Option<&Policy>) -> &str {
    let kind = policy.map(|policy| policy.kind.as_str());
    kind.filter(|kind| !kind.is_empty()).unwrap_or("PickAll")
}

impl Placement {
    pub fn scope(&self) -> Scope {
        Scope::of_namespace(&self.meta.namespace)
    }

    /// The rollout strategy's type; RollingUpdate where the spec leaves it out.
    pub fn rollout_type(&self) -> &str {
        match self.spec.strategy.as_deref() {
            Some(strategy) if !strategy.kind.is_empty() => &strategy.kind,
            _ => "RollingUpdate",
        }
    }

    /// Whether update runs roll it out.
    pub fn is_external(&self) -> bool {
        self.rollout_type() == "External"
    }

    /// Whether the scheduler has found all clusters for this generation.
    pub fn is_scheduled(&self) -> bool {
        let scheduled = self.condition(super::reasons::SCHEDULED);
        scheduled.is_some_and(|it| it.is_true() && it.observes(self.meta.generation))
    }

    /// The apply strategy, defaults filled in.
    pub fn apply_strategy(&self) -> ApplyStrategy {
        self.spec
            .strategy
            .as_deref()
            .and_then(|strategy| strategy.apply.as_deref())
            .cloned()
            .unwrap_or_default()
            .with_defaults()
    }

    /// The policy's type; PickAll where the spec leaves it out.
    pub fn policy_type(&self) -> &str {
        policy_type(self.spec.policy.as_deref())
    }

    /// How many snapshots are kept.
    pub fn history_limit(&self) -> i64 {
        self.spec.revision_history_limit.unwrap_or(10)
    }

    /// The condition `ClusterResourcePlacementTYPE` or `ResourcePlacementTYPE`.
    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        let prefix = self.object().kind.name();
        let mut conditions = self.status.conditions.iter();
        conditions.find(|condition| condition.kind.strip_prefix(prefix) == Some(kind))
    }
}
