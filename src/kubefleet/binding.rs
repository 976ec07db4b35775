//! ClusterResourceBinding and ResourceBinding.

use jiff::Timestamp;

use super::apply::ApplyStrategy;
use super::meta::{Condition, Conditions, ObjectMeta};
use super::names;
use super::override_names::{NamespacedName, override_names};
use super::reasons;
use super::scope::{ObjectRef, describe_object};
use super::tolerant::{MaskedSetting, model};

model! {
    /// The binding of a placement to one member cluster, in either scope.
    pub struct Binding {
        pub meta: ObjectMeta = "metadata",
        pub spec: BindingSpec = "spec",
        pub status: BindingStatus = "status",
    }

    pub struct BindingSpec {
        /// `Scheduled`, `Bound` or `Unscheduled`.
        pub state: String = "state",
        /// The master snapshot that the cluster should have; empty until a run reached it.
        pub snapshot: String = "resourceSnapshotName",
        /// The override snapshots that apply.
        pub overrides: Vec<NamespacedName> = "resourceOverrideSnapshots",
        /// The cluster override snapshots that apply.
        pub cluster_overrides: Vec<String> = "clusterResourceOverrideSnapshots",
        /// The policy snapshot that chose the cluster.
        pub policy_snapshot: String = "schedulingPolicySnapshotName",
        pub cluster: String = "targetCluster",
        /// How resources are applied.
        pub apply_strategy: Option<Box<ApplyStrategy>> = "applyStrategy",
    }

    pub struct BindingStatus {
        /// RolloutStarted, Overridden, WorkSynchronized, Applied, Available, DiffReported.
        pub conditions: Vec<Condition> = "conditions",
        /// Objects that could not be applied or are not available; at most 100.
        pub failed: Vec<FailedPlacement> = "failedPlacements",
        /// Objects that were changed on the member; at most 100.
        pub drifted: Vec<ComparedPlacement> = "driftedPlacements",
        /// Objects that differ from the hub's; at most 100.
        pub diffed: Vec<ComparedPlacement> = "diffedPlacements",
    }

    /// An object that could not be applied or is not available.
    pub struct FailedPlacement {
        pub group: String = "group",
        pub version: String = "version",
        pub kind: String = "kind",
        pub namespace: String = "namespace",
        pub name: String = "name",
        /// The envelope that wraps the object, when one does.
        pub envelope: Option<Box<Envelope>> = "envelope",
        /// Why.
        pub condition: Condition = "condition",
    }

    /// An object that differs between hub and member.
    pub struct ComparedPlacement {
        pub kind: String = "kind",
        pub namespace: String = "namespace",
        pub name: String = "name",
        /// When it was looked at last.
        pub observed: Option<Timestamp> = "observationTime",
        pub drifts: Vec<FieldDifference> = "observedDrifts",
        /// The differing fields.
        pub diffs: Vec<FieldDifference> = "observedDiffs",
    }

    /// The object that wraps others.
    pub struct Envelope {
        /// `ConfigMap`, `ClusterResourceEnvelope` or `ResourceEnvelope`.
        pub kind: String = "type",
        pub namespace: String = "namespace",
        pub name: String = "name",
    }

    /// A field whose value differs.
    pub struct FieldDifference {
        /// A JSON pointer.
        pub path: String = "path",
        /// The hub's value; absent when only the member has the field.
        pub hub: Option<String> = "valueInHub" as MaskedSetting,
        /// The member's value; absent when only the hub has the field.
        pub member: Option<String> = "valueInMember" as MaskedSetting,
    }
}

impl FieldDifference {
    /// Whether the whole object differs, because the member does not have it.
    /// Source: workapplier/process.go:reportDiffOnlyIfApplicable.
    pub fn is_missing_object(&self) -> bool {
        self.path == "/"
    }
}

impl Binding {
    /// When one of its conditions changed last.
    pub fn last_transition(&self) -> Option<Timestamp> {
        let conditions = self.status.conditions.iter();
        conditions.filter_map(|it| it.since).max()
    }

    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        self.status.conditions.condition(kind)
    }

    /// The same, when it speaks of the binding's current generation.
    pub fn current(&self, kind: &str) -> Option<&Condition> {
        self.condition(kind)
            .filter(|condition| condition.observes(self.meta.generation))
    }

    /// Whether the work generator may send what it asks for now.
    pub fn is_released(&self) -> bool {
        self.current(reasons::ROLLOUT_STARTED)
            .is_some_and(Condition::is_true)
    }

    /// Whether something was ever released to the cluster: before that, it has nothing of the placement.
    pub fn was_released(&self) -> bool {
        !self.status.conditions.is_empty()
    }

    /// The condition that says that the cluster is done with what it should have.
    /// Source: updaterun/execution.go:checkClusterUpdateResult.
    pub fn fulfilled(&self) -> Option<&Condition> {
        let mut kinds = [reasons::AVAILABLE, reasons::DIFF_REPORTED].into_iter();
        kinds.find_map(|kind| self.current(kind).filter(|it| it.is_true()))
    }

    /// The index of the snapshot that the cluster should have; `None` until a run reached it.
    pub fn snapshot_index(&self) -> Option<&str> {
        names::snapshot_index(&self.spec.snapshot)
    }

    /// Whether nothing of its snapshot is sent, because its overrides do not fit: the cluster keeps what
    /// it had. Source: workgenerator/controller.go:reconcile.
    pub fn is_unsent(&self) -> bool {
        self.current(reasons::OVERRIDDEN)
            .is_some_and(Condition::is_false)
    }

    /// Whether nothing of its snapshot is sent until a run writes it again: the scheduler has changed it
    /// since, as when it takes a cluster back. Source: workgenerator/controller.go:Reconcile.
    pub fn awaits_run(&self) -> bool {
        let written = self.status.conditions.condition(reasons::ROLLOUT_STARTED);
        let is_outdated = written.is_some_and(|it| !it.observes(self.meta.generation));
        is_outdated && !self.spec.snapshot.is_empty() && !self.is_unscheduled()
    }

    /// Whether the Works are written of what a run released last: not every change of a binding is one of
    /// its content.
    pub fn is_sent(&self) -> bool {
        let conditions = &self.status.conditions;
        let written = conditions.condition(reasons::ROLLOUT_STARTED);
        let written = written.and_then(|it| it.observed_generation);
        let sent = conditions.condition(reasons::WORK_SYNCHRONIZED);
        sent.is_some_and(|it| it.is_true() && it.observed_generation >= written)
    }

    /// Whether the cluster has not said yet what became of what it was sent.
    /// Source: workgenerator/controller.go:setAllWorkAppliedCondition.
    pub fn is_unreported(&self) -> bool {
        let sent = self.current(reasons::WORK_SYNCHRONIZED);
        let applied = self.current(reasons::APPLIED);
        sent.is_some_and(Condition::is_true)
            && applied.is_none_or(|it| it.reason == reasons::APPLY_IN_PROGRESS)
    }

    /// Whether its snapshot is only compared with what the cluster has.
    pub fn only_compares(&self) -> bool {
        let apply = self.spec.apply_strategy.as_ref();
        apply.is_some_and(|it| it.is_report_diff())
    }

    /// The same, and whether KubeFleet does not become an owner of what is there: what it owns is deleted when the
    /// placement leaves the cluster. Source: workapplier/process.go:takeOverInMemberClusterObjectIfApplicable.
    pub fn compares_without_owning(&self) -> bool {
        let apply = self.spec.apply_strategy.as_ref();
        apply.is_some_and(|it| it.is_report_diff() && !it.takes_over())
    }

    /// Whether the placement is to be removed from the cluster.
    pub fn is_unscheduled(&self) -> bool {
        self.spec.state == "Unscheduled"
    }

    /// Whether it goes from the cluster: it is to be removed, or its binding is being deleted.
    pub fn is_leaving(&self) -> bool {
        self.is_unscheduled() || self.meta.is_deleting()
    }
}

impl BindingSpec {
    /// The override snapshots that the cluster should have.
    pub fn override_names(&self) -> impl Iterator<Item = ObjectRef> {
        override_names(&self.cluster_overrides, &self.overrides)
    }
}

impl FailedPlacement {
    /// The object in the reader's short form.
    pub fn describe(&self) -> String {
        describe_object(&self.kind, &self.namespace, &self.name)
    }
}

impl ComparedPlacement {
    /// The object in the reader's short form.
    pub fn describe(&self) -> String {
        describe_object(&self.kind, &self.namespace, &self.name)
    }
}
