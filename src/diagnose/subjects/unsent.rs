//! What workloads need and their clusters are not sent, though another snapshot has it, or this one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::contents::ManifestKey;
use crate::diagnose::subjects::context::DiagnosisContext;
use crate::diagnose::subjects::failing_cluster::FailingCluster;
use crate::diagnose::subjects::member_findings::{self, MemberSighting};
use crate::diagnose::subjects::ownership;
use crate::diagnose::subjects::rendered::{BoundVersion, NamedContent, rendered};
use crate::inventory::Inventory;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::snapshot::{ManifestIdentity, ResourceSnapshot};
use crate::manifests::{NEEDED_KINDS, RenderedManifest, WorkGenerator, needs};
use crate::member::PodState;
use crate::rollout::ManifestTrouble;
use crate::rollout::overrides::{is_deletion, rules_for, rules_of, selector_of};
use crate::rollout::versions::{Version, versions};

/// Why a cluster is not sent an object.
#[derive(Debug, Clone, Copy)]
pub enum UnsentWhy<'i> {
    /// Its snapshot does not have the object, but this part of another one does.
    Dropped(&'i ResourceSnapshot),
    /// A rule of an override, from 0, deletes it there.
    Deleted(&'i OverrideSnapshot, usize),
}

/// A workload that does not become available in a cluster, and what of its needs is not sent there.
pub struct UnsentNeeds<'a, 'i> {
    pub failing: &'a FailingCluster<'i>,
    pub manifest: &'a ManifestTrouble<'i>,
    /// The parts of the snapshot that the cluster is to get.
    pub parts: Vec<&'i ResourceSnapshot>,
    pub objects: Vec<(ManifestKey, UnsentWhy<'i>)>,
    /// Whether the member cluster says that the pods wait for it.
    pub confirmed: bool,
}

/// What is lost on the way from some snapshot to a cluster.
pub struct LostObjects<'v, 'i> {
    all: &'v [Version<'i>],
    /// By index: what that version does not have and another one does.
    dropped: BTreeMap<&'v str, BTreeMap<ManifestKey, &'i ResourceSnapshot>>,
}

/// The workloads of a cluster that do not become available.
fn waiting<'a, 'i>(
    failing: &'a FailingCluster<'i>,
) -> impl Iterator<Item = &'a ManifestTrouble<'i>> {
    let manifests = failing.trouble.manifests.iter();
    manifests.filter(|manifest| ownership::of_manifest(manifest) == Some("FS501"))
}

impl<'v, 'i> LostObjects<'v, 'i> {
    pub const fn new(all: &'v [Version<'i>]) -> Self {
        Self {
            all,
            dropped: BTreeMap::new(),
        }
    }

    /// Whether a workload of the cluster may need what it is not sent: only its manifest can tell.
    pub fn may_need(&mut self, failing: &FailingCluster<'i>, bound: &BoundVersion<'v, 'i>) -> bool {
        let namespaces: BTreeSet<&str> = waiting(failing).map(|it| it.namespace).collect();
        if namespaces.is_empty() {
            return false;
        }
        let is_there = |namespace: &str| namespaces.contains(namespace);
        self.dropped(bound.version)
            .keys()
            .any(|it| is_there(&it.namespace))
            || needed(bound.version).any(|(_, it)| {
                is_there(&it.meta.namespace) && deletion(failing, bound, it).is_some()
            })
    }

    /// What a workload needs of what its cluster is not sent.
    fn needs(
        &mut self,
        failing: &FailingCluster<'i>,
        bound: &BoundVersion<'v, 'i>,
        workload: &ManifestTrouble<'i>,
        sent: &[RenderedManifest<'_>],
    ) -> Vec<(ManifestKey, UnsentWhy<'i>)> {
        let find = |wanted: &dyn Fn(&ManifestKey) -> bool| {
            let mut sent = sent.iter().map(|it| &it.manifest);
            sent.find(|it| wanted(&it.identity))
        };
        let workload = find(&|it| {
            (it.kind.as_str(), it.group.as_str()) == (workload.kind, workload.group)
                && (it.namespace.as_str(), it.name.as_str()) == (workload.namespace, workload.name)
        });
        let needs = workload.map(|it| needs(it)).unwrap_or_default();
        let unsent = needs
            .into_iter()
            .filter(|object| find(&|it| it == object).is_none());
        unsent
            .filter_map(|object| {
                let why = self.why(failing, bound, &object)?;
                Some((object, why))
            })
            .collect()
    }

    /// Why a cluster is not sent an object; `None` where no snapshot has it.
    fn why(
        &mut self,
        failing: &FailingCluster<'i>,
        bound: &BoundVersion<'v, 'i>,
        object: &ManifestKey,
    ) -> Option<UnsentWhy<'i>> {
        let mut own = needed(bound.version);
        if let Some((_, it)) = own.find(|(_, it)| ManifestKey::of_manifest(it) == *object) {
            let (over, rule) = deletion(failing, bound, it)?;
            return Some(UnsentWhy::Deleted(over, rule));
        }
        let part = self.dropped(bound.version).get(object)?;
        Some(UnsentWhy::Dropped(part))
    }

    fn dropped(
        &mut self,
        version: &'v Version<'i>,
    ) -> &BTreeMap<ManifestKey, &'i ResourceSnapshot> {
        let all = self.all;
        self.dropped.entry(&version.index).or_insert_with(|| {
            let own: BTreeSet<ManifestKey> = needed(version)
                .map(|(_, it)| ManifestKey::of_manifest(it))
                .collect();
            let at = all.iter().position(|it| it.index == version.index);
            let (older, newer) = all.split_at(at.unwrap_or(all.len()));
            // The newest of the older ones tells best; then the oldest of the newer ones.
            let others = newer.iter().rev().chain(older).flat_map(needed);
            others
                .map(|(part, it)| (ManifestKey::of_manifest(it), part))
                .filter(|(object, _)| !own.contains(object))
                .collect()
        })
    }
}

/// What a version has that pods may need, with the part that has it.
fn needed<'i>(
    version: &Version<'i>,
) -> impl Iterator<Item = (&'i ResourceSnapshot, &'i ManifestIdentity)> {
    let parts = version.parts.iter().copied();
    parts.flat_map(|part| needed_of(part).map(move |it| (part, it)))
}

/// Whether anything that pods may need is lost at all, without a look at clusters.
pub fn is_possible(inventory: &Inventory) -> bool {
    let mut overrides = inventory.overrides.iter();
    if overrides.any(|over| rules_of(over).iter().any(is_deletion)) {
        return true;
    }
    let mut by_version: BTreeMap<Option<&str>, BTreeSet<_>> = BTreeMap::new();
    for part in inventory.snapshots.iter() {
        let names = needed_of(part).map(|it| (&it.kind, &it.meta.namespace, &it.meta.name));
        by_version.entry(part.index()).or_default().extend(names);
    }
    let mut versions = by_version.values();
    let first = versions.next();
    versions.any(|names| Some(names) != first)
}

/// What a part of a version has that pods may need.
fn needed_of(part: &ResourceSnapshot) -> impl Iterator<Item = &ManifestIdentity> {
    part.sent()
        .filter(|it| it.api_version == "v1" && NEEDED_KINDS.contains(&it.kind.as_str()))
}

/// The override that deletes an object for a cluster, and its rule.
fn deletion<'i>(
    failing: &FailingCluster<'_>,
    bound: &BoundVersion<'_, 'i>,
    object: &ManifestIdentity,
) -> Option<(&'i OverrideSnapshot, usize)> {
    let member = failing.member?;
    let mut overrides = bound.overrides.iter().copied();
    overrides.find_map(|over: &'i Arc<OverrideSnapshot>| {
        selector_of(over, object)?;
        let last = rules_for(over, member).0.pop()?;
        is_deletion(rules_of(over).get(last)?).then_some((over.as_ref(), last))
    })
}

/// The workloads that do not become available, with what of their needs is not sent to their clusters.
/// Where a member cluster was looked into, only what its pods wait for.
pub fn needs_unsent<'a, 'i>(cx: &'a DiagnosisContext<'i>) -> Vec<UnsentNeeds<'a, 'i>> {
    let mut found = Vec::new();
    if cx.inventory.texts.is_empty() {
        return found;
    }
    let all = versions(cx.inventory);
    let mut lost = LostObjects::new(&all);
    let seen = member_findings::member_sightings(cx);
    let hub = WorkGenerator::of_hub(cx.inventory);
    let clusters = cx.troubles.iter().filter_map(|failing| {
        waiting(failing).next()?;
        let works = cx.inventory.works_of(failing.binding);
        let content = NamedContent::of(failing)?;
        Some((failing, content, WorkGenerator::of_works(works, hub)))
    });
    rendered(cx.inventory, &all, clusters, |rendering, clusters| {
        for (at, (failing, bound)) in clusters.iter().enumerate() {
            let sent = rendering.manifests(at);
            for manifest in waiting(failing) {
                let mut objects = lost.needs(failing, bound, manifest, &sent);
                let look = seen.iter().find(|it| std::ptr::eq(it.manifest, manifest));
                let said = look.and_then(|look| pod_messages(cx, look));
                if let Some(said) = &said {
                    objects.retain(|(object, _)| says_missing(said, object));
                }
                if !objects.is_empty() {
                    found.push(UnsentNeeds {
                        failing,
                        manifest,
                        parts: bound.version.parts.clone(),
                        objects,
                        confirmed: said.is_some(),
                    });
                }
            }
        }
    });
    found
}

/// What is said of the pods of a workload in its cluster; `None` where nothing is wrong with them, as
/// far as anybody has seen.
fn pod_messages<'i>(
    cx: &DiagnosisContext<'i>,
    seen: &MemberSighting<'_, 'i>,
) -> Option<Vec<&'i str>> {
    let view = seen.view(cx)?;
    let refusal = view.refusal();
    let troubles = view.troubles();
    if troubles.is_empty() && refusal.is_none() {
        return None;
    }
    let said = troubles.iter().filter_map(|trouble| match trouble.state {
        PodState::ConfigMissing { message, .. } => Some(message),
        PodState::Unschedulable(condition) | PodState::UnboundClaims(condition) => {
            Some(condition.message.as_str())
        }
        PodState::Setup(event) => Some(event.message.as_str()),
        _ => None,
    });
    Some(said.chain(refusal.map(|it| it.message)).collect())
}

/// Whether one of the messages says that an object does not exist.
fn says_missing(messages: &[&str], object: &ManifestKey) -> bool {
    let kind = object.kind.to_lowercase();
    let words = [
        format!("{kind} \"{}\" not found", object.name),
        format!("{kind}s \"{}\" not found", object.name),
    ];
    messages.iter().any(|message| {
        let message = message.to_lowercase();
        words.iter().any(|it| message.contains(it.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::says_missing;
    use crate::contents::ManifestKey;

    #[test]
    fn a_message_is_about_one_object() {
        let object = |kind: &str, name: &str| ManifestKey {
            kind: kind.to_owned(),
            name: name.to_owned(),
            ..ManifestKey::default()
        };
        let tls = "MountVolume.SetUp failed for volume \"tls\" : secret \"web-tls\" not found";
        let data = "0/3 nodes are available: persistentvolumeclaim \"data\" not found.";
        let robot =
            "error looking up service account shop/robot: serviceaccount \"robot\" not found";
        for (message, kind, name, says) in [
            ("secret \"db\" not found", "Secret", "db", true),
            ("secret \"db-2\" not found", "Secret", "db", false),
            ("secret \"db\" not found", "ConfigMap", "db", false),
            ("configmaps \"site\" not found", "ConfigMap", "site", true),
            (tls, "Secret", "web-tls", true),
            (data, "PersistentVolumeClaim", "data", true),
            (robot, "ServiceAccount", "robot", true),
            ("secret \"db\" is immutable", "Secret", "db", false),
        ] {
            let found = says_missing(&["another", message], &object(kind, name));
            assert_eq!(found, says, "{kind} {name}: {message}");
        }
    }
}
