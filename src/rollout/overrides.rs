//! Which overrides a run takes for which clusters, as its controller chooses them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::AgentVersion;
use super::versions::versions;
use crate::inventory::Inventory;
use crate::kubefleet::ObjectRef;
use crate::kubefleet::describe_object;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::names;
use crate::kubefleet::overrides::{OverrideRule, OverrideSnapshot};
use crate::kubefleet::placement::ResourceSelector;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::snapshot::{ENVELOPES, ManifestIdentity};

/// The scope in an override that means a ResourcePlacement.
const NAMESPACED: &str = "Namespaced";

/// Whether an override names this placement, and no run of the placement takes it: a run looks for
/// overrides by the placement's bare name, and this reference reads as NAMESPACE/NAME. What a
/// placement rolls out itself takes it.
/// Source: updaterun/initialization.go:recordOverrideSnapshots (`updateRunSpec.PlacementName`),
/// utils/overrider/overrider.go:FetchAllMatchingOverridesForResourceSnapshot.
pub fn is_lost(snapshot: &OverrideSnapshot, placement: &ObjectRef) -> bool {
    let only = snapshot.spec.content.placement.as_deref();
    !placement.namespace.is_empty()
        && snapshot.meta.namespace == placement.namespace
        && only.is_some_and(|it| it.scope == NAMESPACED && it.name == placement.name)
}

/// Whether an override was written for this placement and no other.
pub fn is_meant_for(snapshot: &OverrideSnapshot, placement: &ObjectRef) -> bool {
    let only = snapshot.spec.content.placement.as_deref();
    only.is_some_and(|it| it.scope != NAMESPACED && it.name == placement.name)
        && (placement.namespace.is_empty()
            || snapshot.meta.namespace.is_empty()
            || snapshot.meta.namespace == placement.namespace)
}

/// Whether a run of the placement takes an override, where it selects one of the objects.
pub fn applies(
    snapshot: &OverrideSnapshot,
    placement: &str,
    resources: &[&ManifestIdentity],
) -> bool {
    let only = snapshot.spec.content.placement.as_deref();
    only.is_none_or(|it| it.name == placement && it.scope != NAMESPACED)
        && selects(snapshot, resources)
}

pub fn selectors(snapshot: &OverrideSnapshot) -> &[ResourceSelector] {
    if snapshot.meta.namespace.is_empty() {
        &snapshot.spec.content.cluster_selectors
    } else {
        &snapshot.spec.content.selectors
    }
}

/// Where that stands.
pub fn selectors_path(snapshot: &OverrideSnapshot) -> &'static str {
    if snapshot.meta.namespace.is_empty() {
        "spec.overrideSpec.clusterResourceSelectors"
    } else {
        "spec.overrideSpec.resourceSelectors"
    }
}

/// Whether an override selects one of the objects itself; what is wrapped in envelopes is not seen.
pub fn selects(snapshot: &OverrideSnapshot, resources: &[&ManifestIdentity]) -> bool {
    resources
        .iter()
        .any(|resource| selector_of(snapshot, resource).is_some())
}

/// The selector by which an override selects an object: its place in the list.
pub fn selector_of(snapshot: &OverrideSnapshot, resource: &ManifestIdentity) -> Option<usize> {
    let (group, version, kind, name) = candidate(snapshot, resource)?;
    selectors(snapshot).iter().position(|selector| {
        group == selector.group
            && version == selector.version
            && kind == selector.kind
            && name == selector.name
    })
}

/// Group, version, kind and name by which an override can select an object; `None` where it cannot.
pub fn candidate<'r>(
    snapshot: &OverrideSnapshot,
    resource: &'r ManifestIdentity,
) -> Option<(&'r str, &'r str, &'r str, &'r str)> {
    let namespace = snapshot.meta.namespace.as_str();
    let there = resource.meta.namespace.as_str();
    let version = resource.api_version.as_str();
    let (group, version) = version.split_once('/').unwrap_or(("", version));
    let itself = (
        group,
        version,
        resource.kind.as_str(),
        resource.meta.name.as_str(),
    );
    match (namespace.is_empty(), there.is_empty()) {
        // A cluster override takes whole namespaces, and objects without one.
        (true, false) => Some(("", "v1", "Namespace", there)),
        (true, true) => Some(itself),
        (false, _) => (there == namespace).then_some(itself),
    }
}

/// Whether an override is for a cluster, or why the controller cannot say.
/// Source: utils/overrider/overrider.go:isClusterMatched.
pub fn matches(snapshot: &OverrideSnapshot, member: &MemberCluster) -> Result<bool, String> {
    let Some(policy) = &snapshot.spec.content.policy else {
        return Err("has no policy".to_owned());
    };
    for rule in &policy.rules {
        if rule_matches(rule, member)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether one rule is for a cluster, or why the controller cannot say. Properties of clusters are
/// not looked at. Source: utils/overrider/overrider.go:IsClusterMatched.
pub fn rule_matches(rule: &OverrideRule, member: &MemberCluster) -> Result<bool, String> {
    let Some(selector) = &rule.clusters else {
        return Ok(false);
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
    Ok(false)
}

/// The rules of an override, in order.
pub fn rules_of(snapshot: &OverrideSnapshot) -> &[OverrideRule] {
    let policy = snapshot.spec.content.policy.as_deref();
    policy.map_or(&[], |policy| &policy.rules)
}

/// Whether a rule deletes the object.
pub fn is_deletion(rule: &OverrideRule) -> bool {
    rule.kind == "Delete"
}

/// The rules for a cluster, from 0, up to one that deletes the object; and the problem of one that
/// stopped the search.
pub fn rules_for(
    snapshot: &OverrideSnapshot,
    member: &MemberCluster,
) -> (Vec<usize>, Option<(usize, String)>) {
    let mut found = Vec::new();
    for (at, rule) in rules_of(snapshot).iter().enumerate() {
        match rule_matches(rule, member) {
            Err(problem) => return (found, Some((at, problem))),
            Ok(false) => {}
            Ok(true) => {
                found.push(at);
                if is_deletion(rule) {
                    break;
                }
            }
        }
    }
    (found, None)
}

/// Those of some override snapshots that delete what they select from a cluster, as far as they were read.
pub fn deleting<'i>(
    inventory: &'i Inventory,
    names: impl Iterator<Item = ObjectRef>,
    member: &MemberCluster,
) -> impl Iterator<Item = &'i OverrideSnapshot> {
    let names: Vec<_> = names.collect();
    let read = inventory.overrides.iter();
    read.filter(move |it| names.contains(&it.object()) && deletes(it, member))
}

fn deletes(snapshot: &OverrideSnapshot, member: &MemberCluster) -> bool {
    let (rules, _) = rules_for(snapshot, member);
    let last = rules.last().and_then(|at| rules_of(snapshot).get(*at));
    last.is_some_and(is_deletion)
}

/// The name of the override from which a snapshot was made.
pub fn origin(snapshot: &OverrideSnapshot) -> &str {
    let label = snapshot.meta.label(names::OVERRIDE);
    label.unwrap_or_else(|| names::override_of(&snapshot.meta.name))
}

/// The snapshot of the override as it is now, where a run kept another one: the override was
/// changed since.
pub fn successor<'i>(
    latest: &'i [Arc<OverrideSnapshot>],
    namespace: &str,
    kept: &str,
) -> Option<&'i OverrideSnapshot> {
    latest.iter().map(AsRef::as_ref).find(|snapshot| {
        snapshot.is_latest()
            && snapshot.meta.namespace == namespace
            && snapshot.meta.name != kept
            && origin(snapshot) == names::override_of(kept)
    })
}

/// The overrides that a new run of the same snapshot takes for clusters of a run, and of which the run
/// recorded no version for them, with those clusters. What envelopes wrap is not seen.
pub fn unrecorded<'i>(
    inventory: &'i Inventory,
    run: &'i UpdateRun,
) -> Vec<(&'i OverrideSnapshot, Vec<&'i str>)> {
    // Most fleets have none, and the versions are not worked out for nothing.
    if !inventory.overrides.iter().any(OverrideSnapshot::is_latest) {
        return Vec::new();
    }
    let all = versions(inventory);
    let mut all = all.iter().filter(|version| version.is_complete());
    let Some(version) = all.find(|it| it.index == run.status.snapshot_index) else {
        return Vec::new();
    };
    let resources: Vec<_> = version.objects().collect();
    let latest = inventory.overrides.iter();
    let latest = latest.filter(|it| it.is_latest() && applies(it, &run.spec.placement, &resources));
    let lacking = |now: &'i OverrideSnapshot| {
        let is_it = |kept: ObjectRef| {
            kept.namespace == now.meta.namespace && names::override_of(&kept.name) == origin(now)
        };
        let clusters = run.updated_clusters();
        let clusters: Vec<_> = clusters
            .filter(|it| !it.override_names().any(is_it))
            .map(|it| it.name.as_str())
            .filter(|name| {
                inventory
                    .member(name)
                    .is_some_and(|it| matches(now, it) == Ok(true))
            })
            .collect();
        (!clusters.is_empty()).then_some((now, clusters))
    };
    latest.filter_map(lacking).collect()
}

/// Why an override that was written for one placement changes nothing there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdleOverride {
    /// It selects none of the objects; the object that may be meant, `Deployment shop/web`.
    NoObject(Option<String>),
    /// It selects envelopes alone, of which newer agents override what they hold.
    Envelopes,
    /// Its rules are for none of the clusters.
    NoCluster,
}

/// Why an override that was written for the placement changes nothing. Objects or clusters that are
/// not known in full are `None`.
pub fn idle(
    snapshot: &OverrideSnapshot,
    placement: &ObjectRef,
    (resources, version): (Option<&[&ManifestIdentity]>, Option<AgentVersion>),
    clusters: Option<&[&MemberCluster]>,
) -> Option<IdleOverride> {
    if !snapshot.is_latest() || !is_meant_for(snapshot, placement) {
        return None;
    }
    let opens = version == Some(AgentVersion::Next);
    if opens && resources.is_some_and(|resources| selects_envelopes(snapshot, resources)) {
        return Some(IdleOverride::Envelopes);
    }
    // What envelopes wrap is selected as well, at newer versions, and not read here.
    if let Some(resources) = resources
        && !resources.iter().any(|it| it.is_envelope())
        && !selects(snapshot, resources)
    {
        return Some(IdleOverride::NoObject(meant(snapshot, resources)));
    }
    let clusters = clusters.filter(|clusters| !clusters.is_empty())?;
    clusters
        .iter()
        .all(|member| matches(snapshot, member) == Ok(false))
        .then_some(IdleOverride::NoCluster)
}

/// Whether an override selects envelopes of these objects, and nothing else.
/// Source: utils/overrider/overrider.go:collectOverrideCandidatesFromSelectedResource.
fn selects_envelopes(snapshot: &OverrideSnapshot, resources: &[&ManifestIdentity]) -> bool {
    let envelopes = resources.iter().filter(|it| it.is_envelope());
    let selected = envelopes.filter_map(|it| selector_of(snapshot, it));
    let selected: BTreeSet<_> = selected.collect();
    let mut all = selectors(snapshot).iter().enumerate();
    // An object in a namespace is also selected by its Namespace.
    !selected.is_empty()
        && all.all(|(at, it)| ENVELOPES.contains(&it.kind.as_str()) && selected.contains(&at))
}

/// The object that an override may mean: of the kind and with the name that it selects, in another
/// version or group, or of the kind with nearly that name.
fn meant(snapshot: &OverrideSnapshot, resources: &[&ManifestIdentity]) -> Option<String> {
    const CLOSE: f64 = 0.75;
    let near =
        |wanted: &str, name: &str| strsim::normalized_damerau_levenshtein(wanted, name) >= CLOSE;
    let namespace = &snapshot.meta.namespace;
    let found = resources.iter().find(|resource| {
        (namespace.is_empty() || resource.meta.namespace == *namespace)
            && selectors(snapshot).iter().any(|selector| {
                selector.kind == resource.kind && near(&selector.name, &resource.meta.name)
            })
    })?;
    let name = describe_object(&found.kind, &found.meta.namespace, &found.meta.name);
    Some(format!("{name} ({})", found.api_version))
}
