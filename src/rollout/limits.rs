//! How large objects may become, and how large those of a rollout do: KubeFleet keeps a record of
//! every cluster in one object, and an object that etcd refuses can no longer be written.

use crate::kubefleet::run::{ClusterStatus, UpdateRun};

/// What etcd takes in one request, 1.5 MiB where nobody has changed it.
/// Source: etcd server/embed/config.go:DefaultMaxRequestBytes.
pub const ETCD_REQUEST: usize = 1_572_864;

/// How many clusters a policy snapshot lists; the placement's status lists those.
/// Source: scheduler/framework/framework.go:clustersDecisionArrayLengthLimitInAPI.
pub const DECISIONS: usize = 1000;

/// A cluster that is done in a run's status, without its name and overrides. Measured.
const RUN_CLUSTER: usize = 394;
/// A cluster that was not reached, without its name; one condition of a cluster.
const RUN_PENDING: usize = 18;
const RUN_CONDITION: usize = (RUN_CLUSTER - RUN_PENDING) / 2;
/// A cluster that is available in a placement's status, without the names in it. Measured.
const PLACEMENT_CLUSTER: usize = 1374;
/// The rest of such an object: its metadata, its conditions, stages and the copy of the strategy.
const REST: usize = 4096;

/// How large a run becomes when the clusters of these names are done.
pub fn run_size<'c>(clusters: impl IntoIterator<Item = &'c str>) -> usize {
    let clusters = clusters.into_iter();
    clusters.fold(REST, |size, name| {
        size.saturating_add(RUN_CLUSTER).saturating_add(name.len())
    })
}

/// How large a run is now.
pub fn recorded_run_size(run: &UpdateRun) -> usize {
    let clusters = || run.all_stages().flat_map(|stage| &stage.clusters);
    let overrides = |cluster: &ClusterStatus| {
        // Quotes, commas and the keys of an entry stand around each name.
        let namespaced = cluster.overrides.iter();
        let namespaced = namespaced.map(|it| it.name.len().saturating_add(it.namespace.len()));
        let namespaced: usize = namespaced.map(|length| length.saturating_add(26)).sum();
        let own = cluster.cluster_overrides.iter();
        let own: usize = own.map(|name| name.len().saturating_add(3)).sum();
        namespaced.saturating_add(own)
    };
    let recorded: usize = clusters().map(overrides).sum();
    let own = |cluster: &ClusterStatus| {
        let conditions = cluster.conditions.len().saturating_mul(RUN_CONDITION);
        let entry = RUN_PENDING.saturating_add(cluster.name.len());
        entry.saturating_add(conditions)
    };
    let clusters: usize = clusters().map(own).sum();
    REST.saturating_add(clusters).saturating_add(recorded)
}

/// How large the status of a placement becomes when a run of that name has updated these clusters.
pub fn placement_size<'c>(clusters: impl IntoIterator<Item = &'c str>, run: &str) -> usize {
    let clusters = clusters.into_iter().take(DECISIONS);
    clusters.fold(REST, |size, name| {
        // The scheduler's reason has the cluster's name as well.
        let names = name.len().saturating_mul(2).saturating_add(run.len());
        size.saturating_add(PLACEMENT_CLUSTER).saturating_add(names)
    })
}

/// Whether an object of that size may not be stored: each object that fails takes some 350 bytes
/// more, and so does what other programs write beside.
pub const fn is_near(size: usize) -> bool {
    size >= ETCD_REQUEST / 20 * 17
}

/// `1.4 MiB`.
pub fn describe(size: usize) -> String {
    let tenths = size.saturating_mul(10) / (1024 * 1024);
    format!("{}.{} MiB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{
        PLACEMENT_CLUSTER, RUN_CLUSTER, RUN_PENDING, describe, is_near, placement_size,
        recorded_run_size, run_size,
    };
    use crate::kubefleet::object::Object;
    use crate::kubefleet::run::UpdateRun;

    fn condition(kind: &str, reason: &str, message: &str) -> Value {
        json!({"type": kind, "status": "True", "reason": reason, "message": message,
            "observedGeneration": 1, "lastTransitionTime": "2026-11-21T05:03:40Z"})
    }

    /// As KubeFleet writes them; a name counts as often as it stands there.
    fn run_cluster(name: &str) -> Value {
        json!({"clusterName": name, "conditions": [
            condition("Started", "ClusterUpdatingStarted", "Cluster update started"),
            condition("Succeeded", "ClusterUpdatingSucceeded", "Cluster update completed successfully"),
        ]})
    }

    fn placement_cluster(name: &str, run: &str) -> Value {
        let picked = format!(
            "Successfully scheduled resources for placement in \"{name}\" (affinity score: 0, topology \
             spread score: 0): picked by scheduling policy"
        );
        let started = format!(
            "Detected the new changes on the resources and started the rollout process, \
             resourceSnapshotIndex: , updateRun: {run}"
        );
        json!({"clusterName": name, "observedResourceIndex": "0", "conditions": [
            condition("Scheduled", "Scheduled", &picked),
            condition("RolloutStarted", "RolloutStarted", &started),
            condition("Overridden", "NoOverrideSpecified",
                "No override rules are configured for the selected resources"),
            condition("WorkSynchronized", "AllWorkSynced",
                "All of the works are synchronized to the latest"),
            condition("Applied", "AllWorkHaveBeenApplied",
                "All corresponding work objects are applied"),
            condition("Available", "AllWorkAreAvailable",
                "All corresponding work objects are available"),
        ]})
    }

    #[test]
    fn the_sizes_are_those_of_what_is_written() {
        assert_eq!(run_cluster("").to_string().len(), RUN_CLUSTER);
        assert_eq!(json!({"clusterName": ""}).to_string().len(), RUN_PENDING);
        assert_eq!(
            placement_cluster("", "").to_string().len(),
            PLACEMENT_CLUSTER
        );
    }

    #[test]
    fn a_whole_object_is_as_large_as_said() {
        let names: Vec<_> = (0..500).map(|at| format!("member-{at:04}")).collect();
        let off = |said: usize, is: usize| said.abs_diff(is) * 100 / is;
        let clusters: Vec<_> = names.iter().map(|name| run_cluster(name)).collect();
        let run = json!({"apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": "ClusterStagedUpdateRun", "metadata": {"name": "web-1"},
            "spec": {"placementName": "web", "stagedRolloutStrategyName": "rolling"},
            "status": {"stagesStatus": [{"stageName": "all", "clusters": clusters}]}});
        let said = run_size(names.iter().map(String::as_str));
        assert!(off(said, run.to_string().len()) <= 3, "{said}");
        let read = Object::of_type::<UpdateRun>(&run);
        assert!(off(recorded_run_size(&read), said) == 0);
        let clusters = names.iter();
        let clusters: Vec<_> = clusters.map(|it| placement_cluster(it, "web-1")).collect();
        let status = json!({"placementStatuses": clusters}).to_string().len();
        let said = placement_size(names.iter().map(String::as_str), "web-1");
        assert!(off(said, status) <= 3, "{said} {status}");
    }

    #[test]
    fn objects_are_near_the_limit_before_they_reach_it() {
        let of = |count: usize| run_size(std::iter::repeat_n("member-1234", count));
        assert!(!is_near(of(3280)));
        assert!(is_near(of(3300)));
        let of = |count: usize| placement_size(std::iter::repeat_n("member-1234", count), "web-1");
        assert!(!is_near(of(945)));
        assert!(is_near(of(955)));
        assert_eq!(of(1000), of(5000));
        assert_eq!(describe(1_572_864), "1.5 MiB");
    }
}
