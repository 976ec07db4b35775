//! Which content a run takes, and where it would replace a later one.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::life::{self, SnapshotMatch};
use super::overrides;
use super::sent::sent_index;
use super::versions::{Version, versions};
use super::{
    ClusterView, Phase, Rollout, STUCK_AFTER, before_next_gate, is_written, rollout_started,
};
use crate::contents::{ManifestKey, what_goes_with};
use crate::inventory::{Inventory, choose};
use crate::kubefleet::binding::Binding;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::messages::ManifestProblem;
use crate::kubefleet::overrides::OverrideSnapshot;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::snapshot::{ManifestIdentity, ResourceSnapshot};
use crate::kubefleet::{Concept, Conditions, ObjectRef, names, reasons};
use crate::words::enumerate;

/// How long a hub delays a snapshot at most: by default 15 s after the change and 30 s after the
/// last snapshot. The annotation stays when a change is taken back, and means nothing later on.
pub const DELAY: SignedDuration = SignedDuration::from_mins(5);

/// A run that asked for the current content and got the previous one.
#[derive(Debug, Clone, Copy)]
pub struct OldContent<'i> {
    /// The snapshot that the run got.
    pub snapshot: &'i ResourceSnapshot,
    pub initialized: Timestamp,
    /// When the change was noticed that the snapshot lacks.
    pub detected: Timestamp,
    pub next: Option<&'i ResourceSnapshot>,
}

/// When the content was taken of a run that waits to be started, where the hub may have changed since: that
/// of a snapshot that was named is as it was meant.
pub fn content_since(rollout: &Rollout<'_>) -> Option<Timestamp> {
    const JUST_NOW: SignedDuration = SignedDuration::from_secs(60);
    let run = rollout.run;
    let initialized = run.condition(reasons::INITIALIZED)?;
    let since = initialized.since.filter(|_| initialized.is_true())?;
    let waits = rollout.phase == Phase::Idle && run.pinned().is_none();
    (waits && rollout.now.duration_since(since) > JUST_NOW).then_some(since)
}

/// The index of the latest snapshot, where a run that has not begun took an older one that nobody named.
pub fn newer_snapshot<'i>(rollout: &Rollout<'i>) -> Option<&'i str> {
    let run = rollout.run;
    let latest = rollout.inventory.latest_snapshot()?.index()?;
    let own: u64 = run.status.snapshot_index.parse().ok()?;
    let is_older = own < latest.parse().ok()? && run.pinned().is_none();
    (is_older && rollout.phase == Phase::Idle && !rollout.has_begun()).then_some(latest)
}

/// Whether a run without an index got content that was out of date already: the snapshot used
/// carries a detection time at or before the run's initialization, and the next snapshot, if any,
/// is younger than it. Source:
/// utils/controller/resource_snapshot_resolver.go:shouldCreateNewResourceSnapshotNow.
pub fn old_content<'i>(inventory: &'i Inventory, run: &UpdateRun) -> Option<OldContent<'i>> {
    if run.pinned().is_some() {
        return None;
    }
    let used = &run.status.snapshot_index;
    let initialized = run
        .condition(reasons::INITIALIZED)
        .filter(|c| c.is_true())?
        .since?;
    let snapshot = inventory.snapshot(used)?;
    if life::used(inventory, run, snapshot) == SnapshotMatch::Another {
        return None;
    }
    let detected = snapshot.change_detected()?;
    // The look that initializes the run notices the change before, and both are cut to seconds.
    if detected > initialized || initialized.duration_since(detected) > DELAY {
        return None;
    }
    let number: Option<u64> = used.parse().ok();
    let next = inventory.snapshots.iter().filter(|other| other.is_master());
    let next = next
        .filter_map(|other| Some((other.index()?.parse::<u64>().ok()?, other)))
        .filter(|(index, _)| number.is_some_and(|number| *index > number))
        .min_by_key(|(index, _)| *index)
        .map(|(_, other)| other);
    if next.is_some_and(|next| {
        next.meta
            .created
            .is_some_and(|created| created < initialized)
    }) {
        // The run could have had the new snapshot and took another one: not this state.
        return None;
    }
    Some(OldContent {
        snapshot,
        initialized,
        detected,
        next,
    })
}

/// A cluster on which a run would replace a later version.
#[derive(Debug, Clone, Copy)]
pub struct GoesBack<'i> {
    pub cluster: &'i str,
    /// The version that it has.
    pub holds: u64,
    pub binding: &'i Binding,
}

/// The clusters that a live run has still to reach and that have a later version than its own.
/// A run that was given an older index goes back on purpose, unless a later version came after
/// it. Measured on a hub; see the decisions.
pub fn would_go_back<'i>(rollout: &Rollout<'i>) -> Vec<GoesBack<'i>> {
    let back = goes_back(rollout);
    let conditions = &rollout.run.status.conditions;
    let initialized = conditions.since(reasons::INITIALIZED);
    let came_after = |it: &GoesBack<'_>| {
        let conditions = &it.binding.status.conditions;
        let written = conditions.since(reasons::ROLLOUT_STARTED);
        initialized.is_some_and(|at| written > Some(at)) && !is_meant(rollout, it)
    };
    if rollout.run.pinned().is_none() || back.iter().any(came_after) {
        back
    } else {
        Vec::new()
    }
}

/// Whether a cluster has what the run is to take back, from a run that had been made before it and went on.
fn is_meant(rollout: &Rollout<'_>, back: &GoesBack<'_>) -> bool {
    let run = rollout.run;
    let taken = run.rolled_back().and_then(|index| index.parse().ok());
    let writer = rollout_started(back.binding).run;
    let writer = writer.and_then(|name| rollout.inventory.run_on(&name));
    let is_earlier = writer.is_some_and(|it| it.meta.created < run.meta.created);
    is_earlier && taken == Some(back.holds)
}

/// The same where somebody lets a run continue. Of one that has begun nothing, purpose does not count: who starts
/// it may not be who made it.
pub fn goes_back_from_here<'i>(rollout: &Rollout<'i>) -> Vec<GoesBack<'i>> {
    if rollout.has_begun() {
        would_go_back(rollout)
    } else {
        goes_back(rollout)
    }
}

/// The same, whether it is on purpose or not.
pub fn goes_back<'i>(rollout: &Rollout<'i>) -> Vec<GoesBack<'i>> {
    let Ok(own) = rollout.run.status.snapshot_index.parse::<u64>() else {
        return Vec::new();
    };
    if !rollout.is_live() || is_snapshot_gone(rollout.inventory, rollout.run) {
        return Vec::new();
    }
    rollout
        .still_to_reach()
        .filter_map(|cluster| {
            let binding = cluster.binding?;
            let holds: u64 = sent_index(rollout.inventory, binding)?.parse().ok()?;
            (holds > own).then_some(GoesBack {
                cluster: cluster.name,
                holds,
                binding,
            })
        })
        .collect()
}

/// What a live run recorded, where clusters that it has still to reach cannot get that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingContent<'i> {
    /// The snapshot of the content or of an override.
    pub object: ObjectRef,
    pub how: ContentLoss,
    pub clusters: Vec<&'i str>,
}

/// Why a snapshot cannot be brought any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentLoss {
    /// None has its name.
    Gone,
    /// A snapshot that was created later has its name.
    Another,
    /// Parts of it are missing; how many, as the end of a sentence.
    Incomplete(String),
}

impl MissingContent<'_> {
    /// What happens to the clusters, as a sentence.
    pub fn describe(&self) -> String {
        let (clusters, snapshot) = (enumerate(&self.clusters), &self.object.name);
        match &self.how {
            ContentLoss::Another => format!(
                "{clusters} would get another snapshot than the run recorded, under its name {snapshot}."
            ),
            ContentLoss::Gone => {
                format!("{clusters} cannot get its content: {snapshot} no longer exists.")
            }
            ContentLoss::Incomplete(flaw) => {
                format!("{clusters} cannot get its content: of {snapshot}, {flaw}.")
            }
        }
    }
}

fn are_snapshots_known(inventory: &Inventory) -> bool {
    inventory.has_asked_for(Concept::ResourceSnapshot) && inventory.snapshots.is_complete()
}

/// Whether the snapshot that a run recorded is known not to exist.
fn is_snapshot_gone(inventory: &Inventory, run: &UpdateRun) -> bool {
    let name = names::master_snapshot(&run.spec.placement, &run.status.snapshot_index);
    let mut snapshots = inventory.snapshots.iter();
    are_snapshots_known(inventory) && !snapshots.any(|it| it.meta.name == name)
}

/// Whether clusters that a live run has still to reach would get nothing, or content that the run did
/// not record: the controller names the snapshot by its index, and does not look whether it is the
/// same. A gate of such a run is not offered. Source: updaterun/execution.go:executeUpdatingStage.
pub fn missing_content<'i>(rollout: &Rollout<'i>) -> Option<MissingContent<'i>> {
    let (inventory, run) = (rollout.inventory, rollout.run);
    let index = run.status.snapshot_index.as_str();
    if !rollout.is_live() || index.is_empty() || inventory.is_placement_going() {
        return None;
    }
    let snapshot = names::master_snapshot(&run.spec.placement, index);
    let how = if is_snapshot_gone(inventory, run) {
        ContentLoss::Gone
    } else if life::is_foreign(inventory, run) {
        ContentLoss::Another
    } else {
        // Source: workgenerator/controller.go:fetchAllResourceSnapshots.
        let known = are_snapshots_known(inventory).then(|| Version::of_index(inventory, index));
        match known.and_then(|version| version.flaw()) {
            Some(flaw) => ContentLoss::Incomplete(flaw),
            None => return missing_override(rollout),
        }
    };
    let is_another = how == ContentLoss::Another;
    let clusters: Vec<_> = rollout
        .still_to_reach()
        .filter(|it| is_another || it.binding.is_some_and(|it| it.spec.snapshot != snapshot))
        .map(|it| it.name)
        .collect();
    (!clusters.is_empty()).then_some(MissingContent {
        object: inventory.scope.object(Concept::ResourceSnapshot, &snapshot),
        how,
        clusters,
    })
}

/// The same of an override that the run recorded for them.
/// Source: workgenerator/override.go:fetchResourceOverrideSnapshots.
fn missing_override<'i>(rollout: &Rollout<'i>) -> Option<MissingContent<'i>> {
    let (inventory, run) = (rollout.inventory, rollout.run);
    let gone = inventory.gone_overrides.iter().cloned();
    let gone = gone.map(|object| (object, ContentLoss::Gone));
    let created_again = inventory.overrides.iter();
    let created_again = created_again
        .filter(|it| life::came_after(inventory, run, it.meta.created))
        .map(|it| (it.object(), ContentLoss::Another));
    gone.chain(created_again).find_map(|(object, how)| {
        // A cluster whose binding has the name already is sent nothing.
        let gets = |it: &&ClusterView<'_>| {
            let has = it
                .binding
                .is_some_and(|own| is_written(own, run, it.recorded));
            let mut recorded = it.recorded.override_names();
            recorded.any(|it| it == object) && !(has && how == ContentLoss::Another)
        };
        let clusters = rollout.still_to_reach().filter(gets);
        let clusters: Vec<_> = clusters.map(|it| it.name).collect();
        (!clusters.is_empty()).then_some(MissingContent {
            object,
            how,
            clusters,
        })
    })
}

/// The clusters before the next gate which fail with what they have of the placement, as a clause: the run waits for
/// them as for others. `None` where none does, or not for long.
pub fn failing_before(rollout: &Rollout<'_>) -> Option<String> {
    let lasts = |since: Timestamp| rollout.now.duration_since(since) > STUCK_AFTER;
    let fails = |it: &&ClusterView<'_>| {
        let trouble = it.trouble().filter(|it| it.is_told());
        !it.is_written && trouble.is_some_and(|it| it.condition.since.is_some_and(lasts))
    };
    let mut ahead = rollout.still_to_reach().peekable();
    let stage = ahead.peek()?.stage;
    let next = before_next_gate(rollout);
    let is_next = |it: &&ClusterView<'_>| match &next {
        Some(next) => next.contains(it.name),
        None => it.stage == stage,
    };
    let failing: Vec<_> = ahead.filter(is_next).filter(fails).collect();
    let (fail, has) = match failing.len() {
        0 => return None,
        1 => ("fails", "it has"),
        _ => ("fail", "they have"),
    };
    let apply = rollout.run.status.apply_strategy.as_deref();
    let apply = apply.filter(|it| !it.is_report_diff());
    let kept = |is_kept: fn(&ManifestProblem) -> bool, is_new: bool| {
        let troubles = failing.iter().filter_map(|it| it.trouble());
        let mut objects = troubles.flat_map(|it| &it.manifests);
        objects.any(|it| {
            let stays = |apply| !it.problem.is_overcome_by(apply, is_new);
            is_kept(&it.problem) && apply.is_some_and(stays)
        })
    };
    // What others did to an object stays, unless a way to apply the content goes over it. What only differs may be as
    // the new content has it.
    let unless = if kept(ManifestProblem::is_owned_by_others, true) {
        "drops the object that others keep there"
    } else if kept(ManifestProblem::is_by_others, false) {
        "changes the object that others changed there"
    } else {
        "fixes that"
    };
    Some(format!(
        "{} already {fail} with the content that {has}: the run waits there unless the new content {unless}",
        enumerate(failing.iter().map(|it| it.name))
    ))
}

/// The clusters that a run is done with and that the placement has, whose bindings are newer and empty: the
/// content went with the bindings before.
pub fn lost_content<'r, 'i>(rollout: &'r Rollout<'i>) -> Vec<(&'r ClusterView<'i>, &'i Binding)> {
    rollout
        .done_clusters()
        .filter_map(|cluster| {
            let is_empty = |it: &&Binding| it.spec.snapshot.is_empty() && !it.is_unscheduled();
            let binding = cluster.binding.filter(is_empty)?;
            (binding.meta.created? >= cluster.ended?).then_some((cluster, binding))
        })
        .collect()
}

/// The same without those that another run under way has still to reach: it brings content again. Nothing once a
/// later run has succeeded: what is there since is its.
pub fn lost_for_now<'r, 'i>(rollout: &'r Rollout<'i>) -> Vec<(&'r ClusterView<'i>, &'i Binding)> {
    let (inventory, run) = (rollout.inventory, rollout.run);
    let is_later =
        |other: &UpdateRun| other.has_succeeded() && choose::age_key(other) > choose::age_key(run);
    if inventory.runs.iter().any(is_later) {
        return Vec::new();
    }
    let comes_again = |name: &str| {
        let others = inventory.runs_under_way();
        let mut others = others.filter(|other| other.meta.name != run.meta.name);
        others.any(|other| {
            let mut clusters = other.updated_clusters();
            clusters.any(|it| it.name == name && !it.is_done())
        })
    };
    let mut lost = lost_content(rollout);
    lost.retain(|(cluster, _)| !comes_again(cluster.name));
    lost
}

/// The clusters that a run has still to reach and from which it deletes everything: its snapshot has no
/// objects, and theirs is another one.
pub fn emptied<'i>(rollout: &Rollout<'i>) -> Vec<&'i str> {
    let index = rollout.run.status.snapshot_index.as_str();
    let snapshot = rollout.inventory.snapshot(index);
    if !snapshot.is_some_and(ResourceSnapshot::is_empty) {
        return Vec::new();
    }
    let still_to_reach = rollout.still_to_reach().filter(|cluster| {
        let has = cluster.binding;
        let has = has.and_then(|binding| sent_index(rollout.inventory, binding));
        has.is_some_and(|has| has != index)
    });
    still_to_reach.map(|cluster| cluster.name).collect()
}

/// An object that clusters lose with what is in it, while they keep the placement.
#[derive(Debug, Clone)]
pub struct CascadingLoss<'i> {
    pub object: ManifestKey,
    pub snapshot: &'i ResourceSnapshot,
    /// The override that deletes it; `None` where the run's snapshot lacks it.
    pub by: Option<&'i OverrideSnapshot>,
    pub clusters: Vec<&'i str>,
}

impl CascadingLoss<'_> {
    /// What is lost, as a clause.
    pub fn describe(&self) -> String {
        let with = what_goes_with((&self.object.kind, &self.object.namespace)).unwrap_or_default();
        let clusters = enumerate(&self.clusters);
        format!("deletes {} {with} from {clusters}", self.object.describe())
    }
}

/// What a live run deletes with what is in it from clusters that it has still to reach: its snapshot lacks such an
/// object that the cluster's snapshot has, or an override that it recorded deletes it. An empty snapshot is another
/// matter.
pub fn cascading_losses<'i>(rollout: &Rollout<'i>) -> Vec<CascadingLoss<'i>> {
    if !rollout.is_live() || rollout.only_compares() {
        return Vec::new();
    }
    let inventory = rollout.inventory;
    let index = rollout.run.status.snapshot_index.as_str();
    let held = |it: &ClusterView<'i>| {
        let binding = it
            .binding
            .filter(|it| it.is_sent() && !it.only_compares())?;
        let overrides = it.recorded.override_names().next();
        let held = sent_index(inventory, binding);
        let held = held.filter(|held| *held != index || overrides.is_some())?;
        Some((
            (binding, it.member),
            held,
            overrides.and(it.member).map(|member| (it.recorded, member)),
        ))
    };
    let ahead: Vec<_> = rollout.still_to_reach().filter_map(held).collect();
    if ahead.is_empty() {
        return Vec::new();
    }
    let all = versions(inventory);
    let complete = |index: &str| all.iter().find(|it| it.index == index && it.is_complete());
    let Some(own) = complete(index) else {
        return Vec::new();
    };
    let own: BTreeSet<_> = own.sent().map(ManifestKey::of_manifest).collect();
    let mut losses: BTreeMap<_, CascadingLoss<'i>> = BTreeMap::new();
    for ((binding, member), held, recorded) in ahead {
        let Some(held) = complete(held).filter(|_| !own.is_empty()) else {
            continue;
        };
        for part in &held.parts {
            let goes_with =
                |it: &&ManifestIdentity| what_goes_with((&it.kind, &it.meta.namespace)).is_some();
            for resource in part.sent().filter(goes_with) {
                if may_lack(inventory, binding, (resource, member)) {
                    continue;
                }
                let object = ManifestKey::of_manifest(resource);
                let by = recorded.filter(|_| own.contains(&object)).and_then(|it| {
                    let (status, member) = it;
                    let has = binding.spec.override_names().collect();
                    deleted_by(inventory, status.override_names(), &has, (resource, member))
                });
                if by.is_none() && own.contains(&object) || is_kept_out(binding, &object) {
                    continue;
                }
                let key = (object.clone(), by.map(|it| &it.meta.name));
                let loss = losses.entry(key).or_insert(CascadingLoss {
                    object,
                    snapshot: part,
                    by,
                    clusters: Vec::new(),
                });
                loss.clusters.push(&binding.spec.cluster);
            }
        }
    }
    losses.into_values().collect()
}

/// Whether an override that a cluster has deletes an object there, or one that is not known may.
fn may_lack(
    inventory: &Inventory,
    binding: &Binding,
    (resource, member): (&ManifestIdentity, Option<&MemberCluster>),
) -> bool {
    let is_known = |name: &ObjectRef| inventory.overrides.iter().any(|it| it.object() == *name);
    let mut names = binding.spec.override_names();
    if names.any(|name| !is_known(&name)) {
        return true;
    }
    let own = || binding.spec.override_names();
    let none = BTreeSet::new();
    member.is_some_and(|member| deleted_by(inventory, own(), &none, (resource, member)).is_some())
}

/// The override snapshot that deletes an object from a cluster and is none of those that it has; another
/// snapshot of the same override may delete it already.
fn deleted_by<'i>(
    inventory: &'i Inventory,
    recorded: impl Iterator<Item = ObjectRef>,
    has: &BTreeSet<ObjectRef>,
    (resource, member): (&ManifestIdentity, &MemberCluster),
) -> Option<&'i OverrideSnapshot> {
    let is_had = |name: &ObjectRef| {
        let of = |it: &ObjectRef| names::override_of(&it.name).to_owned();
        let mut has = has.iter();
        has.any(|it| it.namespace == name.namespace && of(it) == of(name))
    };
    let mut deleting = overrides::deleting(inventory, recorded.filter(|it| !is_had(it)), member);
    deleting.find(|it| overrides::selector_of(it, resource).is_some())
}

/// Whether a cluster did not take an object of the snapshot that its binding names: what is there stays as it
/// was, as where it belongs to somebody else.
pub fn is_kept_out(binding: &Binding, object: &ManifestKey) -> bool {
    let mut failed = binding.status.failed.iter();
    failed.any(|it| {
        let failed = (&it.group, &it.kind, &it.namespace, &it.name);
        it.condition.kind == reasons::APPLIED
            && failed == (&object.group, &object.kind, &object.namespace, &object.name)
    })
}

/// The bindings that are being deleted of clusters which a run has still to update: where it writes one
/// of them, it fails. Source: updaterun/execution.go:executeUpdatingStage.
pub fn leaving_ahead<'i>(rollout: &Rollout<'i>) -> Vec<(&'i str, &'i Binding)> {
    if !rollout.is_live() {
        return Vec::new();
    }
    let bindings = rollout.still_to_reach().flat_map(|it| {
        let bindings = rollout.inventory.bindings_of(it.name);
        bindings.map(move |binding| (it.name, binding))
    });
    bindings
        .filter(|(_, binding)| binding.meta.is_deleting())
        .collect()
}

/// A cluster with which a run is done, and that has another snapshot than the run's.
#[derive(Debug, Clone, Copy)]
pub struct OvertakenCluster<'i> {
    pub cluster: &'i str,
    /// The index of the snapshot that it has.
    pub index: &'i str,
    pub binding: &'i Binding,
}

/// The clusters that a live run counts as done while another run's snapshot is there.
pub fn overtaken<'i>(rollout: &Rollout<'i>) -> Vec<OvertakenCluster<'i>> {
    let live = rollout.is_live().then(|| replaced(rollout));
    live.unwrap_or_default()
}

/// The same of a run that may be over.
pub fn replaced<'i>(rollout: &Rollout<'i>) -> Vec<OvertakenCluster<'i>> {
    let own = rollout.run.status.snapshot_index.as_str();
    if own.is_empty() {
        return Vec::new();
    }
    rollout
        .done_clusters()
        .filter_map(|cluster| {
            let binding = cluster.binding.filter(|it| !it.meta.is_deleting())?;
            let index = sent_index(rollout.inventory, binding)?;
            (index != own).then_some(OvertakenCluster {
                cluster: cluster.name,
                index,
                binding,
            })
        })
        .collect()
}
