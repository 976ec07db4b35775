//! Labels, annotations, finalizers and the formats of generated names.
//!
//! Source of all of them: apis/placement/v1beta1/commons.go and the controllers named beside.

/// What every label, annotation and finalizer of KubeFleet begins with.
pub const PREFIX: &str = "kubernetes-fleet.io/";
/// Label of Works: the namespace of a namespaced placement.
pub const PARENT_NAMESPACE: &str = "kubernetes-fleet.io/parent-placement-namespace";
/// Label of snapshots, bindings and Works: the placement, in both scopes.
pub const PARENT_PLACEMENT: &str = "kubernetes-fleet.io/parent-CRP";
/// Where KubeFleet's agents run, on the hub and in member clusters.
pub const AGENT_NAMESPACE: &str = "fleet-system";
/// Label of snapshots: `"true"` on the newest.
pub const IS_LATEST: &str = "kubernetes-fleet.io/is-latest-snapshot";
/// Label of resource snapshots: the version's index.
pub const RESOURCE_INDEX: &str = "kubernetes-fleet.io/resource-index";
/// Label of policy snapshots: the index.
pub const POLICY_INDEX: &str = "kubernetes-fleet.io/policy-index";
/// Label of override snapshots: the override.
pub const OVERRIDE: &str = "kubernetes-fleet.io/parent-resource-override";
/// Label of approval requests: the run.
pub const TARGET_RUN: &str = "kubernetes-fleet.io/targetUpdateRun";
/// Label of approval requests: `beforeStage` or `afterStage`.
pub const TASK_TYPE: &str = "kubernetes-fleet.io/taskType";
/// Label of Works: the binding.
pub const PARENT_BINDING: &str = "kubernetes-fleet.io/parent-resource-binding";
/// Label of Works: the index of the snapshot that they were written from.
pub const PARENT_SNAPSHOT_INDEX: &str = "kubernetes-fleet.io/parent-resource-snapshot-index";
/// Label of Works that carry an envelope's content: the envelope's type.
pub const ENVELOPE_TYPE: &str = "kubernetes-fleet.io/envelope-work";
/// Label of Works that carry an envelope's content: its name.
pub const ENVELOPE_NAME: &str = "kubernetes-fleet.io/envelope-name";
/// Label of Works that carry an envelope's content: its namespace.
pub const ENVELOPE_NAMESPACE: &str = "kubernetes-fleet.io/envelope-namespace";

/// Annotation of the first object of a resource snapshot: the hash of the whole version.
pub const RESOURCE_HASH: &str = "kubernetes-fleet.io/resource-hash";
/// Annotation of the first object of a resource snapshot: how many objects make up the version.
pub const NUMBER_OF_SNAPSHOTS: &str = "kubernetes-fleet.io/number-of-resource-snapshots";
/// Annotation of the further objects of a resource snapshot: their place, from 0.
pub const SUBINDEX: &str = "kubernetes-fleet.io/subindex-of-resource-snapshot";
/// Annotation of the latest resource snapshot: when a change was noticed whose snapshot waits.
/// Source: utils/controller/resource_snapshot_resolver.go:shouldCreateNewResourceSnapshotNow.
pub const NEXT_DETECTION_TIME: &str =
    "kubernetes-fleet.io/next-resource-snapshot-candidate-detection-time";
/// Annotation of PickN policy snapshots: how many clusters are wanted.
pub const NUMBER_OF_CLUSTERS: &str = "kubernetes-fleet.io/number-of-clusters";

/// Finalizer of an update run that the controller has seen. Source: updaterun/controller.go.
pub const RUN_FINALIZER: &str = "kubernetes-fleet.io/stagedupdaterun-finalizer";
/// Finalizer of a binding that the work generator has seen. Source: workgenerator/controller.go.
pub const WORK_FINALIZER: &str = "kubernetes-fleet.io/work-cleanup";
/// Name of the deletion stage.
pub const DELETE_STAGE: &str = "kubernetes-fleet.io/deleteStage";
/// What the properties of a member cluster that are capacities begin with.
pub const RESOURCE_PROPERTY: &str = "resources.kubernetes-fleet.io/";
/// Property of a member cluster: how many nodes it has.
pub const NODE_COUNT: &str = "kubernetes-fleet.io/node-count";
/// Label of member clusters, since KubeFleet 0.3: the cluster's own name.
pub const MEMBER_NAME: &str = "kubernetes-fleet.io/member-name";
/// The names under which KubeFleet's hub agent writes, after its program.
pub const HUB_AGENTS: [&str; 2] = ["hubagent", "hub-agent"];
/// The namespace of a member cluster on the hub is this and the cluster's name.
pub const MEMBER_NAMESPACE_PREFIX: &str = "fleet-member-";

/// The namespace of a member cluster on the hub.
pub fn member_namespace(cluster: &str) -> String {
    format!("{MEMBER_NAMESPACE_PREFIX}{cluster}")
}

/// The name of a placement's first Work: `PLACEMENT-work`, `NAMESPACE.PLACEMENT-work`.
/// Source: workgenerator/controller.go, apis/placement/v1beta1/work_types.go.
pub fn work(namespace: &str, placement: &str) -> String {
    if namespace.is_empty() {
        format!("{placement}-work")
    } else {
        format!("{namespace}.{placement}-work")
    }
}

/// The namespace and the name of the placement whose first Work has a name.
pub fn placement_of_work(work: &str) -> Option<(&str, &str)> {
    let base = work.strip_suffix("-work").filter(|base| !base.is_empty())?;
    Some(base.split_once('.').unwrap_or(("", base)))
}

/// The Work of a part of the content beside which a Work for an envelope is, and what tells that from others: up to
/// 0.3 a random id, then the hash of the envelope; `None` for a Work that is for none.
/// Source: workgenerator/envelope.go:buildNewWorkForEnvelopeCR.
pub fn envelope_of_work(work: &str) -> Option<(&str, &str)> {
    let (beside, id) = work.rsplit_once("-envelope-")?;
    let is_id = id.chars().all(|c| c == '-' || c.is_ascii_hexdigit());
    is_id.then_some((beside, id))
}

/// The name of an approval request: `RUN-before-STAGE`, `RUN-after-STAGE`.
pub fn approval_request(run: &str, when: &str, stage: &str) -> String {
    format!("{run}-{when}-{stage}")
}

/// The name of a version's master snapshot: `PLACEMENT-INDEX-snapshot`.
pub fn master_snapshot(placement: &str, index: &str) -> String {
    format!("{placement}-{index}-snapshot")
}

pub fn snapshot_index(master: &str) -> Option<&str> {
    let (_, index) = master.strip_suffix("-snapshot")?.rsplit_once('-')?;
    (!index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit())).then_some(index)
}

/// The override in the name of its snapshot, `OVERRIDE-INDEX`.
pub fn override_of(snapshot: &str) -> &str {
    match snapshot.rsplit_once('-') {
        Some((name, index)) if index.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => snapshot,
    }
}

/// How many snapshots of one override KubeFleet keeps.
/// Source: controllers/overrider/common.go:removeExtraSnapshot.
const OVERRIDE_SNAPSHOTS: u64 = 10;

/// Whether KubeFleet still keeps one snapshot of an override while another is the latest.
pub fn keeps_override(snapshot: &str, latest: &str) -> bool {
    let index = |name: &str| name.rsplit_once('-')?.1.parse::<u64>().ok();
    override_of(snapshot) == override_of(latest)
        && matches!(
            (index(snapshot), index(latest)),
            (Some(one), Some(last)) if (one..one.saturating_add(OVERRIDE_SNAPSHOTS)).contains(&last)
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ten_snapshots_of_an_override_are_kept() {
        assert!(keeps_override("replicas-3", "replicas-3"));
        assert!(keeps_override("replicas-3", "replicas-12"));
        assert!(!keeps_override("replicas-3", "replicas-13"));
        // Made again after its deletion, it counts from zero.
        assert!(!keeps_override("replicas-3", "replicas-0"));
        assert!(!keeps_override("replicas-3", "other-4"));
        assert!(!keeps_override("replicas", "replicas"));
    }
}
