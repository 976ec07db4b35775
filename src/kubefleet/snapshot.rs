//! Resource snapshots and scheduling policy snapshots, in either scope.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use jiff::Timestamp;
use serde::de::{MapAccess, SeqAccess};

use super::kind::{PLACEMENT_GROUP, group_of};
use super::member::{MemberCluster, Taint};
use super::meta::{Condition, Conditions, ObjectMeta};
use super::names;
use super::override_names::NamespacedName;
use super::placement::{ClusterAffinity, Policy, PropertySorter, policy_type};
use super::reasons::SCHEDULED;
use super::selector::{ClusterSelectorTerm, LabelSelector};
use super::tolerant::{Key, LenientRead, LenientSeed, MaskedProse, Scalar, model};

model! {
    /// A resource snapshot object: the whole content of a placement, or one part of it.
    pub struct ResourceSnapshot {
        pub meta: ObjectMeta = "metadata",
        pub spec: ResourceSnapshotSpec = "spec",
    }

    /// `spec` of a resource snapshot. Only the identities are kept: contents are large, and may
    /// be secret.
    pub struct ResourceSnapshotSpec {
        /// The objects in it.
        pub resources: Vec<ManifestIdentity> = "selectedResources",
    }

    /// Which object a manifest describes.
    pub struct ManifestIdentity {
        pub api_version: String = "apiVersion",
        pub kind: String = "kind",
        pub meta: NamespacedName = "metadata",
        pub settings: SpecSettings = "spec",
        /// `data`: of an envelope.
        pub wrapped: WrappedObjects = "data",
    }

    /// What of a manifest's `spec` tells for what it waits, and what else it changes.
    pub struct ManifestSettings {
        /// `paused`: of a Deployment.
        pub paused: bool = "paused",
        /// `minReadySeconds`: for how long a pod must be ready to be available.
        pub min_ready: Option<i64> = "minReadySeconds",
        /// `progressDeadlineSeconds`: of a Deployment.
        pub deadline: Option<i64> = "progressDeadlineSeconds",
        /// `updateStrategy`: of a StatefulSet or DaemonSet.
        pub update: UpdateStrategy = "updateStrategy",
        /// `scaleTargetRef`: of an autoscaler.
        pub scales: ScaleTarget = "scaleTargetRef",
        /// `template`: of a workload.
        pub template: PodTemplate = "template",
    }

    /// How pods are replaced.
    pub struct UpdateStrategy {
        /// `RollingUpdate`, `Recreate`, or `OnDelete`.
        pub kind: String = "type",
        pub rolling: RollingUpdate = "rollingUpdate",
    }

    pub struct RollingUpdate {
        /// `partition`: pods below it keep their revision.
        pub partition: Option<i64> = "partition",
        /// `maxUnavailable`: a number, or a share.
        pub max_unavailable: String = "maxUnavailable",
    }

    pub struct ScaleTarget {
        /// Its kind; absent for a Deployment, where the autoscaler is KEDA's.
        pub kind: String = "kind",
        pub name: String = "name",
    }

    pub struct PolicySnapshot {
        pub meta: ObjectMeta = "metadata",
        pub spec: PolicySnapshotSpec = "spec",
        pub status: PolicySnapshotStatus = "status",
    }

    pub struct PolicySnapshotSpec {
        /// The policy; absent means PickAll.
        pub policy: Option<Box<Policy>> = "policy",
    }

    pub struct PolicySnapshotStatus {
        /// Scheduled.
        pub conditions: Vec<Condition> = "conditions",
        /// What the scheduler decided about each cluster.
        pub decisions: Vec<Decision> = "targetClusters",
    }

    /// What the scheduler decided about one cluster.
    pub struct Decision {
        pub cluster: String = "clusterName",
        /// Whether it was picked.
        pub selected: bool = "selected",
        /// Why, or why not.
        pub reason: String = "reason" as MaskedProse,
    }
}

/// The settings of a manifest; `None` where it has none of them, as most have not.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpecSettings(pub Option<Box<ManifestSettings>>);

impl LenientRead for SpecSettings {
    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        let settings = ManifestSettings::from_map(map)?;
        let is_any = settings != ManifestSettings::default();
        Ok(Self(is_any.then(|| Box::new(settings))))
    }
}

/// The objects in an envelope.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WrappedObjects(pub Vec<ManifestIdentity>);

impl LenientRead for WrappedObjects {
    fn from_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut objects = Vec::new();
        while map.next_key_seed(Key)?.is_some() {
            let object = map.next_value_seed(LenientSeed::<ManifestIdentity>::default())?;
            // Other kinds have `data`, too, and values in it that are no objects.
            objects.extend(Some(object).filter(|it| !it.kind.is_empty()));
        }
        Ok(Self(objects))
    }
}

/// What tells the template of a workload's pods from others, whatever it contains; `None` without one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PodTemplate(Option<u64>);

impl PodTemplate {
    fn of(part: impl Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        part.hash(&mut hasher);
        Self(Some(hasher.finish()))
    }
}

impl LenientRead for PodTemplate {
    fn from_scalar(scalar: Scalar<'_>) -> Self {
        match scalar {
            Scalar::Null => Self::of(()),
            Scalar::Bool(value) => Self::of(("bool", value)),
            Scalar::Int(value) => Self::of(("int", value)),
            Scalar::Float(value) => Self::of(("float", value.to_bits())),
            Scalar::Str(value) => Self::of(("str", value)),
        }
    }

    fn from_seq<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<Self, A::Error> {
        let mut all = Self::of("list");
        while let Some(part) = seq.next_element_seed(LenientSeed::<Self>::default())? {
            all = Self::of((all.0, part.0));
        }
        Ok(all)
    }

    fn from_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        // A sum, because the order of the fields tells nothing.
        let mut sum = 0_u64;
        while let Some(key) = map.next_key_seed(Key)? {
            let part = map.next_value_seed(LenientSeed::<Self>::default())?;
            sum = sum.wrapping_add(Self::of((&*key, part.0)).0.unwrap_or_default());
        }
        Ok(Self::of(("map", sum)))
    }
}

/// The kinds that wrap other objects.
pub const ENVELOPES: [&str; 2] = ["ClusterResourceEnvelope", "ResourceEnvelope"];

/// Whether objects of a kind are KubeFleet's own. Up to 0.3, a namespace brings some of them to clusters.
/// Source: utils/apiresources.go:NewResourceConfig.
pub fn is_of_hub(group: &str, kind: &str) -> bool {
    group == PLACEMENT_GROUP && !ENVELOPES.contains(&kind)
}

/// The objects of some parts that others lack, in envelopes or not. An object in another version is the same one.
pub fn objects_added<'s>(
    parts: impl Iterator<Item = &'s ResourceSnapshot>,
    held: impl Iterator<Item = &'s ResourceSnapshot>,
) -> Vec<&'s ManifestIdentity> {
    let held: BTreeSet<_> = held
        .flat_map(ResourceSnapshot::sent)
        .map(ManifestIdentity::key)
        .collect();
    let own = parts.flat_map(ResourceSnapshot::sent);
    own.filter(|it| !held.contains(&it.key())).collect()
}

impl ManifestIdentity {
    /// What tells it from others: its group, kind, namespace and name.
    pub fn key(&self) -> (&str, &str, &str, &str) {
        let NamespacedName { namespace, name } = &self.meta;
        (group_of(&self.api_version), &self.kind, namespace, name)
    }

    /// Whether it is a namespace of that name: other groups have kinds of that name too.
    pub fn is_namespace(&self, name: &str) -> bool {
        self.key() == ("", "Namespace", "", name)
    }

    /// Whether it wraps other objects.
    pub fn is_envelope(&self) -> bool {
        group_of(&self.api_version) == PLACEMENT_GROUP && ENVELOPES.contains(&self.kind.as_str())
    }

    /// Whether it is one of KubeFleet's own, which clusters do not serve.
    pub fn is_of_hub(&self) -> bool {
        is_of_hub(group_of(&self.api_version), &self.kind)
    }
}

impl ResourceSnapshot {
    /// The objects that clusters get: those in envelopes, and not the envelopes.
    pub fn sent(&self) -> impl Iterator<Item = &ManifestIdentity> {
        let all = self.spec.resources.iter();
        all.flat_map(|it| {
            if it.is_envelope() {
                it.wrapped.0.as_slice()
            } else {
                std::slice::from_ref(it)
            }
        })
    }

    /// The index of the version that it belongs to.
    pub fn index(&self) -> Option<&str> {
        self.meta.label(names::RESOURCE_INDEX)
    }

    /// Whether it is the first object of its version, which carries the version's annotations.
    pub fn is_master(&self) -> bool {
        self.meta.annotations.contains_key(names::RESOURCE_HASH)
    }

    /// Whether it exists, and is not one that is still to be made.
    pub const fn is_made(&self) -> bool {
        self.meta.created.is_some() || !self.meta.uid.is_empty()
    }

    /// What KubeFleet calls the content of its version, which stands at the first part.
    pub fn hash(&self) -> Option<&str> {
        let hash = self.meta.annotation(names::RESOURCE_HASH)?;
        (!hash.is_empty()).then_some(hash)
    }

    /// Whether its version is the latest.
    pub fn is_latest(&self) -> bool {
        self.meta.label(names::IS_LATEST) == Some("true")
    }

    /// How many objects make up the version; known on the master only.
    pub fn parts(&self) -> Option<usize> {
        self.meta
            .annotation(names::NUMBER_OF_SNAPSHOTS)?
            .parse()
            .ok()
    }

    /// Whether it is all of a version that has no objects.
    pub fn is_empty(&self) -> bool {
        self.is_master() && self.parts() == Some(1) && self.spec.resources.is_empty()
    }

    /// When a change of the content was noticed whose snapshot had to wait.
    pub fn change_detected(&self) -> Option<Timestamp> {
        self.meta
            .annotation(names::NEXT_DETECTION_TIME)?
            .parse()
            .ok()
    }
}

impl PolicySnapshot {
    pub fn index(&self) -> Option<&str> {
        self.meta.label(names::POLICY_INDEX)
    }

    pub fn is_latest(&self) -> bool {
        self.meta.label(names::IS_LATEST) == Some("true")
    }

    /// Whether the scheduler has finished with this generation and found all clusters.
    /// Source: updaterun/initialization.go:determinePolicySnapshot.
    pub fn is_scheduled(&self) -> bool {
        self.status
            .conditions
            .condition(SCHEDULED)
            .is_some_and(|scheduled| {
                scheduled.is_true() && scheduled.observes(self.meta.generation)
            })
    }

    pub fn policy_type(&self) -> &str {
        policy_type(self.spec.policy.as_deref())
    }

    /// The clusters that PickFixed names.
    pub fn named_clusters(&self) -> &[String] {
        let policy = self.spec.policy.as_deref();
        policy.map_or(&[], |policy| &policy.clusters)
    }

    /// The labels that its required affinity terms ask for; a cluster needs one of them.
    pub fn required_labels(&self) -> impl Iterator<Item = &LabelSelector> {
        self.required_terms()
            .filter_map(|term| term.labels.as_deref())
    }

    /// Its required affinity terms; a cluster needs one of them.
    pub fn required_terms(&self) -> impl Iterator<Item = &ClusterSelectorTerm> {
        let required = self.affinity().and_then(|it| it.required.as_deref());
        required.into_iter().flat_map(|required| &required.terms)
    }

    /// Its preferences that rank a cluster by a property.
    pub fn sorters<'s>(
        &'s self,
        member: &'s MemberCluster,
    ) -> impl Iterator<Item = &'s PropertySorter> {
        let preferred = self.affinity().into_iter().flat_map(|it| &it.preferred);
        preferred
            .map(|it| &it.preference)
            .filter(|it| {
                let labels = it.labels.as_deref();
                labels.is_none_or(|labels| labels.matches(&member.meta.labels) == Some(true))
            })
            .filter_map(|it| it.sorter.as_deref())
    }

    fn affinity(&self) -> Option<&ClusterAffinity> {
        let policy = self.spec.policy.as_deref()?;
        policy.affinity.as_deref()?.cluster.as_deref()
    }

    /// Whether a taint does not keep a cluster out.
    /// Source: scheduler/framework/plugins/tainttoleration.
    pub fn tolerates(&self, taint: &Taint) -> bool {
        let tolerations = self.spec.policy.iter().flat_map(|it| &it.tolerations);
        let mut tolerations = tolerations.filter(|it| {
            (it.effect.is_empty() || it.effect == taint.effect)
                && (it.key.is_empty() || it.key == taint.key)
        });
        tolerations.any(|it| it.operator == "Exists" || it.value == taint.value)
    }

    /// How many clusters the policy asks for; `None` with PickAll, or when it cannot be known.
    /// With PickN the annotation is the truth: after scaling the spec stays as it was.
    pub fn wanted_clusters(&self) -> Option<i64> {
        match self.policy_type() {
            "PickN" => self
                .meta
                .annotation(names::NUMBER_OF_CLUSTERS)?
                .parse()
                .ok(),
            "PickFixed" => self
                .spec
                .policy
                .as_deref()
                .and_then(|policy| i64::try_from(policy.clusters.len()).ok()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeSeed as _;

    use super::*;

    #[test]
    fn only_the_order_of_its_fields_does_not_tell_a_template_from_others() {
        let read = |text: &str| {
            let text = text.replace('\'', "\"");
            let mut reader = serde_json::Deserializer::from_str(&text);
            let seed = LenientSeed::<PodTemplate>::default();
            seed.deserialize(&mut reader).unwrap()
        };
        let one = read("{'spec': {'containers': [{'name': 'a', 'image': 'b'}, {}], 'x': 1}}");
        let same = read("{'spec': {'x': 1, 'containers': [{'image': 'b', 'name': 'a'}, {}]}}");
        assert_eq!(one, same);
        for other in [
            "{'spec': {'containers': [{'name': 'a', 'image': 'c'}, {}], 'x': 1}}",
            "{'spec': {'containers': [{}, {'name': 'a', 'image': 'b'}], 'x': 1}}",
            "{'spec': {'containers': [{'name': 'a', 'image': 'b'}, {}], 'x': '1'}}",
            "{'spec': {'containers': [{'name': 'a', 'image': 'b'}, {}]}}",
            "null",
        ] {
            assert_ne!(one, read(other), "{other}");
        }
    }
}
