//! Labels, annotations, finalizers and the names that KubeFleet gives to objects.

macro_rules! fleet {
    ($($(#[$doc:meta])* $constant:ident = $name:literal;)*) => {
        $($(#[$doc])* pub(crate) const $constant: &str = concat!("kubernetes-fleet.io/", $name);)*
    };
}

fleet! {
    /// Label of whatever belongs to a placement, of either scope.
    PLACEMENT = "parent-CRP";
    IS_LATEST = "is-latest-snapshot";
    POLICY_INDEX = "policy-index";
    RESOURCE_INDEX = "resource-index";
    NUMBER_OF_CLUSTERS = "number-of-clusters";
    PLACEMENT_GENERATION = "CRP-generation";
    /// Only the first object of a resource snapshot carries it.
    RESOURCE_HASH = "resource-hash";
    NUMBER_OF_SNAPSHOTS = "number-of-resource-snapshots";
    NUMBER_OF_ENVELOPES = "number-of-enveloped-object";
    SUBINDEX = "subindex-of-resource-snapshot";
    /// When the content was first seen to differ from the latest snapshot.
    DETECTION_TIME = "next-resource-snapshot-candidate-detection-time";
    PREVIOUS_STATE = "previous-binding-state";
    TARGET_RUN = "targetUpdateRun";
    TARGET_STAGE = "targetUpdatingStage";
    TASK_TYPE = "taskType";
    LATEST_APPROVAL = "isLatestUpdateRunApproval";
    WORK_BINDING = "parent-resource-binding";
    WORK_NAMESPACE = "parent-placement-namespace";
    WORK_SNAPSHOT_INDEX = "parent-resource-snapshot-index";
    WORK_SNAPSHOT = "parent-resource-snapshot-name";
    WORK_CLUSTER_OVERRIDES = "parent-cluster-resource-override-snapshot-hash";
    WORK_OVERRIDES = "parent-resource-override-snapshot-hash";
    MEMBER_NAME = "member-name";
    RUN_FINALIZER = "stagedupdaterun-finalizer";
    PLACEMENT_FINALIZER = "crp-cleanup";
    PLACEMENT_SCHEDULER_FINALIZER = "scheduler-cleanup";
    BINDING_FINALIZER = "scheduler-crb-cleanup";
    WORK_FINALIZER = "work-cleanup";
    MEMBER_FINALIZER = "membercluster-finalizer";
    DELETE_STAGE = "deleteStage";
}

/// The hash that KubeFleet writes for an empty list of overrides.
pub(crate) const NO_OVERRIDES: &str =
    "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b";

/// The first object of a resource snapshot; the others end in a number.
pub(crate) fn resource_snapshot(placement: &str, index: i64) -> String {
    format!("{placement}-{index}-snapshot")
}

/// The namespace on the hub that holds the Works of a member cluster.
pub(crate) fn member_namespace(cluster: &str) -> String {
    format!("fleet-member-{cluster}")
}

/// The name of a binding: both names, cut so that the whole fits a label, and a suffix that makes
/// it unique.
pub(crate) fn binding(placement: &str, cluster: &str, suffix: &str) -> String {
    const SUFFIX: usize = 8;
    const SEGMENT: usize = (63 - 2 - SUFFIX) / 2;
    format!(
        "{}-{}-{}",
        cut(placement, SEGMENT),
        cut(cluster, SEGMENT + 1),
        cut(suffix, SUFFIX)
    )
}

fn cut(text: &str, length: usize) -> &str {
    text.get(..length).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binding_name_fits_a_label() {
        assert_eq!(
            binding("shop", "member-1", "c8dc048912"),
            "shop-member-1-c8dc0489"
        );
        let long = binding(&"p".repeat(63), &"c".repeat(63), "01234567");
        assert_eq!(long.len(), 63);
    }
}
