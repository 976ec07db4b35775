//! Overrides of the content that the controller cannot use.

use std::collections::BTreeMap;

use super::draft::Draft;
use super::stages::Computed;
use super::{Refusal, RefusalKind};
use crate::diagnose::finding::enumerate;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::names;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::placement::ResourceSelector;
use crate::kubefleet::snapshot::ManifestIdentity;
use crate::rollout::versions::{Version, versions};

/// Says which overrides stop the run. Only those count that select an object of the snapshot
/// itself: what is wrapped in envelopes is not read.
/// Source: utils/overrider/overrider.go:FetchAllMatchingOverridesForResourceSnapshot.
pub(super) fn check(draft: &mut Draft<'_>, computed: &Computed, index: Option<&str>) {
    let inventory = draft.inventory;
    let all = versions(inventory);
    let Some(version) = all
        .iter()
        .find(|version| Some(version.index.as_str()) == index)
    else {
        return;
    };
    if !draft.placement().namespace.is_empty() && version.expected.is_some_and(|parts| parts > 1) {
        parts(draft, version);
    }
    let resources: Vec<&ManifestIdentity> = version
        .parts
        .iter()
        .flat_map(|part| &part.spec.resources)
        .collect();
    let clusters: Vec<_> = computed
        .stages
        .iter()
        .flat_map(|stage| &stage.clusters)
        .filter_map(|cluster| inventory.member(&cluster.name))
        .collect();
    for snapshot in inventory.overrides.iter() {
        if !snapshot.is_latest() || !applies(snapshot, &draft.placement().name, &resources) {
            continue;
        }
        let mut problems: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for member in &clusters {
            if let Err(problem) = matches(snapshot, member) {
                problems.entry(problem).or_default().push(&member.meta.name);
            }
        }
        let object = snapshot.object();
        for (problem, clusters) in problems {
            let refusal = Refusal::new(
                RefusalKind::OverrideInvalid,
                &object,
                format!(
                    "{object} applies to the content and {problem}, which stops the run ({}).",
                    enumerate(&clusters)
                ),
            )
            .clusters(clusters)
            .evidence(&object, "spec.overrideSpec.policy", problem.clone())
            .look(
                "See the override; mend the object from which the snapshot was made.",
                Some(object.kubectl("get").flag("-o", "yaml")),
            );
            draft.refusals.push(refusal);
        }
    }
}

/// Where there are overrides the controller looks for the further parts among the cluster-scoped
/// snapshots, also for a namespaced placement. Source:
/// updaterun/initialization.go:recordOverrideSnapshots (the placement's bare name),
/// utils/controller/resource_snapshot_resolver.go:FetchAllResourceSnapshotsAlongWithMaster.
fn parts(draft: &mut Draft<'_>, version: &Version<'_>) {
    let overrides = &draft.inventory.overrides;
    let Some(one) = overrides.iter().find(|it| it.is_latest()) else {
        return;
    };
    let object = draft.placement().clone();
    let expected = version.expected.unwrap_or_default();
    let mut refusal = Refusal::new(
        RefusalKind::SnapshotPartsNotFound,
        &object,
        format!(
            "Resource snapshot {} of {object} has {expected} parts, of which the controller finds \
             only the first while there is any override on the hub.",
            version.index
        ),
    )
    .evidence(one.object(), "metadata.name", one.meta.name.clone());
    if let Some(part) = version.parts.first() {
        let path = format!("metadata.annotations[{}]", names::NUMBER_OF_SNAPSHOTS);
        refusal = refusal.evidence(part.object(), path, expected.to_string());
    }
    draft.refusals.push(refusal.fix(
        "Split the placement, so that its content fits into one snapshot object (about 800 KB).",
        None,
    ));
}

/// Whether an override is for the placement and selects one of the objects.
fn applies(snapshot: &OverrideSnapshot, placement: &str, resources: &[&ManifestIdentity]) -> bool {
    let spec = &snapshot.spec.content;
    let namespace = snapshot.meta.namespace.as_str();
    if let Some(only) = &spec.placement
        && (only.name != placement || only.scope == "Namespaced")
    {
        return false;
    }
    let selected = |selector: &ResourceSelector, resource: &ManifestIdentity| {
        let itself = || {
            let (group, version) = resource
                .api_version
                .split_once('/')
                .unwrap_or(("", &resource.api_version));
            (
                group,
                version,
                resource.kind.as_str(),
                resource.meta.name.as_str(),
            )
        };
        let there = resource.meta.namespace.as_str();
        let candidate = match (namespace.is_empty(), there.is_empty()) {
            // A cluster override takes whole namespaces, and objects without one.
            (true, false) => ("", "v1", "Namespace", there),
            (true, true) => itself(),
            (false, _) if there == namespace => itself(),
            (false, _) => return false,
        };
        candidate
            == (
                selector.group.as_str(),
                selector.version.as_str(),
                selector.kind.as_str(),
                selector.name.as_str(),
            )
    };
    let selectors = if namespace.is_empty() {
        &spec.cluster_selectors
    } else {
        &spec.selectors
    };
    selectors.iter().any(|selector| {
        resources
            .iter()
            .any(|resource| selected(selector, resource))
    })
}

/// Whether a cluster is meant, or why the controller cannot tell.
/// Source: utils/overrider/overrider.go:isClusterMatched, IsClusterMatched.
fn matches(snapshot: &OverrideSnapshot, member: &MemberCluster) -> Result<bool, String> {
    let Some(policy) = &snapshot.spec.content.policy else {
        return Err("has no policy".to_owned());
    };
    for rule in &policy.rules {
        let Some(selector) = &rule.clusters else {
            continue;
        };
        if selector.terms.is_empty() {
            return Ok(true);
        }
        for term in &selector.terms {
            let Some(labels) = &term.labels else {
                continue;
            };
            if let Some(problem) = labels.problem() {
                return Err(format!(
                    "has a clusterSelector that is not valid: {problem}"
                ));
            }
            if labels.matches(&member.meta.labels) == Some(true) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
