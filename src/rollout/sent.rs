//! What a cluster was sent, where its binding names something else.

use std::fmt;

use jiff::{SignedDuration, Timestamp};

use super::{ClusterView, LONGEST, Rollout, life, rollout_started};
use crate::inventory::Inventory;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::meta::ObjectMeta;
use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Condition, Conditions, ObjectRef, reasons};
use crate::words::enumerate;

/// The run that was done with the cluster of a binding before it was given another snapshot's name, which
/// is not sent before a run says so: the cluster keeps that run's.
/// Source: workgenerator/controller.go:Reconcile.
pub fn sent_before_change<'i>(
    inventory: &'i Inventory,
    binding: &Binding,
) -> Option<&'i UpdateRun> {
    let has = binding.snapshot_index().filter(|_| binding.awaits_run())?;
    let run = inventory.run_on(&rollout_started(binding).run?)?;
    let own = run.status.snapshot_index.as_str();
    let mut clusters = run.updated_clusters();
    let record = clusters.find(|it| it.name == binding.spec.cluster)?;
    let done = record.conditions.condition(reasons::SUCCEEDED)?;
    let is_its = own.is_empty() || own == has || life::is_foreign(inventory, run);
    let is_lost = joined_again(inventory, binding).is_some();
    (done.is_true() && !is_its && !is_lost).then_some(run)
}

/// What a cluster was sent under names that other snapshots have now.
pub struct SentNamesakes<'i> {
    /// The run that sent it, if it still exists.
    pub by: Option<&'i UpdateRun>,
    /// The snapshots that have the names now, of the content and of overrides.
    pub now: Vec<(ObjectRef, &'i ObjectMeta)>,
}

/// Whether a binding names snapshots that were created only after it was written: those that it was written with were
/// deleted, and the next ones got their indexes. A run with the new ones finds their names in the binding, and sends
/// nothing. Source: updaterun/execution.go:isBindingSyncedWithClusterStatus.
pub fn sent_namesakes<'i>(
    inventory: &'i Inventory,
    binding: &Binding,
) -> Option<SentNamesakes<'i>> {
    // To a cluster that joined again, everything is sent.
    if joined_again(inventory, binding).is_some() {
        return None;
    }
    let by = inventory.run_on(&rollout_started(binding).run?);
    let is_later = |created| {
        let Some(run) = by else {
            let sent = binding.last_transition();
            return binding.is_released() && life::is_clearly_after(created, sent);
        };
        let mut clusters = run.updated_clusters();
        let own = clusters.find(|it| it.name == binding.spec.cluster);
        let begun = own.and_then(|it| it.conditions.since(reasons::STARTED));
        life::came_after(inventory, run, created)
            && begun.is_none_or(|_| life::is_clearly_after(created, begun))
    };
    let snapshot = inventory.snapshot(binding.snapshot_index()?);
    // An earlier run may have had another index.
    let index = by.map(|run| run.status.snapshot_index.as_str());
    let snapshot = snapshot.filter(|it| index.is_none_or(|index| it.index() == Some(index)));
    let names: Vec<_> = binding.spec.override_names().collect();
    let overrides = inventory.overrides.iter();
    let overrides = overrides.filter(|it| names.contains(&it.object()));
    let all = snapshot.map(|it| (it.object(), &it.meta)).into_iter();
    let all = all.chain(overrides.map(|it| (it.object(), &it.meta)));
    let now: Vec<_> = all.filter(|(_, meta)| is_later(meta.created)).collect();
    (!now.is_empty()).then_some(SentNamesakes { by, now })
}

/// Clusters that a run has still to reach and that have its snapshot from KubeFleet itself.
pub struct SentWithoutRun<'r, 'i> {
    pub index: &'i str,
    pub clusters: Vec<&'r ClusterView<'i>>,
}

impl SentWithoutRun<'_, '_> {
    /// What happened, as a clause.
    pub fn describe(&self) -> String {
        let clusters = enumerate(self.clusters.iter().map(|it| it.name));
        let index = self.index;
        format!("KubeFleet itself sent snapshot {index} to {clusters} without the run")
    }
}

/// The clusters that a live run has still to reach and to which KubeFleet sent its snapshot by itself since the run
/// began: the placement was not External at some time.
pub fn sent_without_run<'r, 'i>(rollout: &'r Rollout<'i>) -> Option<SentWithoutRun<'r, 'i>> {
    let run = rollout.run;
    let index = run.status.snapshot_index.as_str();
    let begun = run.status.conditions.since(reasons::INITIALIZED)?;
    let synchronized = |it: &Binding| it.status.conditions.since(reasons::WORK_SYNCHRONIZED);
    // When the hub agent starts, it writes WorkSynchronized of all bindings again, with a new time.
    // Without a cluster that is done, nothing tells that from what was sent.
    let mut done = rollout.done_clusters().peekable();
    let restarted = done.peek().is_none()
        || done.any(|it| it.binding.and_then(synchronized) > it.ended.or(Some(rollout.now)));
    let ahead = rollout.still_to_reach().filter(|cluster| {
        cluster.binding.is_some_and(|binding| {
            let released = binding.status.conditions.since(reasons::ROLLOUT_STARTED);
            let sent = if restarted {
                released
            } else {
                synchronized(binding)
            };
            sent_index(rollout.inventory, binding) == Some(index)
                && rollout_started(binding).run.is_none()
                && sent.is_some_and(|sent| sent > begun)
        })
    });
    let clusters: Vec<_> = ahead.collect();
    (!clusters.is_empty()).then_some(SentWithoutRun { index, clusters })
}

/// The condition of that type about what a cluster was sent last.
pub fn reported<'i>(
    inventory: &Inventory,
    binding: &'i Binding,
    kind: &str,
) -> Option<&'i Condition> {
    binding.current(kind).or_else(|| {
        let is_kept =
            sent_before_change(inventory, binding).is_some() || is_kept(inventory, binding);
        is_kept.then_some(())?;
        let conditions = &binding.status.conditions;
        let sent = conditions.condition(reasons::ROLLOUT_STARTED)?;
        let of_it = |it: &&Condition| it.observed_generation == sent.observed_generation;
        conditions.condition(kind).filter(of_it)
    })
}

/// Whether a cluster has what a run sent it, although the scheduler has changed the binding since: its
/// conditions stay as they were until a run writes it. Source: workgenerator/controller.go:Reconcile.
pub fn is_kept(inventory: &Inventory, binding: &Binding) -> bool {
    let is_member = inventory.member(&binding.spec.cluster).is_some();
    is_member && binding.awaits_run() && joined_again(inventory, binding).is_none()
}

/// The index of the snapshot that a cluster was sent last.
pub fn sent_index<'i>(inventory: &'i Inventory, binding: &'i Binding) -> Option<&'i str> {
    let sent = sent_before_change(inventory, binding);
    let sent = sent.map(|run| run.status.snapshot_index.as_str());
    sent.or_else(|| binding.snapshot_index())
}

/// The MemberCluster that joined again after a run had written a binding: the Works went with the old one,
/// and the scheduler took the binding back. Nothing is sent until a run writes it.
/// Source: workgenerator/controller.go:Reconcile; scheduler/framework/framework.go.
pub fn joined_again<'i>(inventory: &'i Inventory, binding: &Binding) -> Option<&'i MemberCluster> {
    let written = binding.condition(reasons::ROLLOUT_STARTED)?;
    joined_since(inventory, &binding.spec.cluster, written.since?).filter(|_| binding.awaits_run())
}

/// The MemberCluster of a cluster that left the fleet and joined it again after a time.
pub fn joined_since<'i>(
    inventory: &'i Inventory,
    cluster: &str,
    since: Timestamp,
) -> Option<&'i MemberCluster> {
    let member = inventory.member(cluster);
    member.filter(|it| it.meta.created.is_some_and(|created| created > since))
}

/// By how much a try may come late.
const GRACE: SignedDuration = SignedDuration::from_secs(60);

/// A change that made the work generator wait for a run, and that no run's write ends at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunAwaited {
    /// When it tried for the first time.
    pub since: Timestamp,
    /// Whether the cluster left the fleet and came back; else the scheduler decided anew.
    pub came_back: bool,
    /// By when it tries again, where a run has released the binding.
    pub by: Option<Timestamp>,
}

impl RunAwaited {
    fn new(since: Timestamp, came_back: bool, released: Option<Timestamp>) -> Self {
        let by = released.and_then(|at| at.checked_add(pause(since, at)).ok());
        Self {
            since,
            came_back,
            by,
        }
    }

    /// How long it may be until the work generator tries again; if no run has released the binding yet, after
    /// one does so now.
    pub fn pause(&self, now: Timestamp) -> SignedDuration {
        let left = self.by.map(|by| by.duration_since(now));
        left.map_or_else(
            || pause(self.since, now),
            |left| left.max(SignedDuration::ZERO),
        )
    }
}

/// The longest time until the next try after a moment: the pauses double, so each is as long as all before.
fn pause(since: Timestamp, at: Timestamp) -> SignedDuration {
    at.duration_since(since)
        .clamp(SignedDuration::ZERO, LONGEST)
}

/// As a clause: `the hub agent …`.
impl fmt::Display for RunAwaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let when = if self.came_back {
            "the cluster was gone"
        } else {
            "the scheduler changed the binding"
        };
        write!(
            f,
            "the hub agent has tried at growing intervals since {}, when {when}, and a run does not \
             wake it",
            self.since
        )
    }
}

/// Since when the work generator waits for a run to release a cluster's binding, and tries at growing intervals; `None`
/// also where what a run released is sent. The release is written to the status, which wakes nobody.
/// Source: workgenerator/controller.go:Reconcile, SetupWithManagerForClusterResourceBinding.
pub fn awaited_since(inventory: &Inventory, cluster: &str) -> Option<RunAwaited> {
    let binding = inventory.binding(cluster)?;
    if binding.is_leaving() {
        return None;
    }
    let conditions = &binding.status.conditions;
    let released = conditions.condition(reasons::ROLLOUT_STARTED)?;
    let sent = conditions.condition(reasons::WORK_SYNCHRONIZED)?;
    let is_released = released.observes(binding.meta.generation);
    let released_at = released.since.filter(|_| is_released);
    let awaited = |since, came_back| {
        let awaited = RunAwaited::new(since, came_back, released_at);
        let late = awaited.by.map(|by| inventory.now.duration_since(by));
        late.is_none_or(|late| late < GRACE).then_some(awaited)
    };
    if inventory.back_without_works(cluster).is_some() {
        return awaited(sent.since?, true);
    }
    if !binding.awaits_run() && sent.observed_generation? >= released.observed_generation? {
        return None;
    }
    let mut policies = inventory.policies.iter();
    let policy = policies.find(|it| it.meta.name == binding.spec.policy_snapshot)?;
    // Whatever it sends, it writes all conditions anew.
    let is_new = |it: &Timestamp| Some(*it) > sent.since && released_at.is_none_or(|at| *it < at);
    awaited(policy.meta.created.filter(is_new)?, false)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::rollout::life::tests::{
        OWN, SINCE, at, inventory, member, placement, run, snapshot,
    };

    /// A binding at a generation, which a run released at another, and whose content was available then.
    fn binding(index: &str, generation: i64, released: i64) -> Value {
        let condition = |kind: &str, message: &str| {
            json!({
                "type": kind, "status": "True", "reason": kind, "message": message,
                "observedGeneration": released, "lastTransitionTime": at(SINCE + 20).to_string(),
            })
        };
        let released = "Detected the new changes on the resources and started the rollout process, \
                        resourceSnapshotIndex: , updateRun: web";
        json!({
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": "ClusterResourceBinding",
            "metadata": {
                "name": "shop-1", "generation": generation,
                "labels": {"kubernetes-fleet.io/parent-CRP": "shop"},
            },
            "spec": {
                "state": "Bound", "targetCluster": "member-1",
                "resourceSnapshotName": format!("shop-{index}-snapshot"),
            },
            "status": {"conditions": [
                condition(reasons::ROLLOUT_STARTED, released), condition(reasons::AVAILABLE, ""),
            ]},
        })
    }

    /// The snapshot that the cluster has, and whether it is known to be available.
    fn seen(binding: Value, ended: Option<i64>, more: &[Value]) -> (Option<String>, bool) {
        let times = [Some(SINCE + 5), Some(SINCE + 6), Some(SINCE + 10), ended];
        let mut objects = vec![
            placement(),
            snapshot("0", OWN, Some(SINCE + 1)),
            snapshot("1", OWN, Some(SINCE + 2)),
            run("web", "1", times),
            binding,
        ];
        objects.extend(more.iter().cloned());
        let inventory = inventory(&objects);
        let binding = inventory.bindings.iter().next().unwrap();
        let sent = sent_index(&inventory, binding).map(str::to_owned);
        let available = reported(&inventory, binding, reasons::AVAILABLE).is_some();
        (sent, available)
    }

    #[test]
    fn a_cluster_keeps_what_the_run_sent_until_a_run_writes_its_binding_again() {
        let done = Some(SINCE + 30);
        let has = |index: &str, available| (Some(index.to_owned()), available);
        assert_eq!(seen(binding("1", 2, 2), done, &[]), has("1", true));
        assert_eq!(seen(binding("0", 3, 2), done, &[]), has("1", true));
        // The run had not finished with it: who wrote the binding since is not known.
        assert_eq!(seen(binding("0", 3, 2), None, &[]), has("0", false));
        // A run has released it.
        assert_eq!(seen(binding("0", 3, 3), done, &[]), has("0", true));
    }

    #[test]
    fn a_snapshot_that_was_created_after_the_run_is_a_namesake() {
        let writer = |index: &str, since: i64, created: i64| {
            let times = [0, 1, 10, 30].map(|more| Some(since + more));
            let inventory = inventory(&[
                placement(),
                snapshot("1", OWN, Some(created)),
                run("web", index, times),
                binding("1", 2, 2),
            ]);
            let binding = inventory.bindings.iter().next().unwrap();
            sent_namesakes(&inventory, binding)?
                .by
                .map(|run| run.meta.name.clone())
        };
        let named = Some("web".to_owned());
        assert_eq!(writer("1", SINCE + 5, SINCE + 60), named);
        assert_eq!(writer("1", SINCE + 5, SINCE + 2), None);
        // The seconds do not decide.
        assert_eq!(writer("1", SINCE + 5, SINCE + 9), None);
        // What the run brought had another name, or it was a run of an earlier placement.
        assert_eq!(writer("0", SINCE + 5, SINCE + 60), None);
        assert_eq!(writer("1", SINCE - 90, SINCE + 60), None);
    }

    #[test]
    fn a_change_of_the_scheduler_leaves_what_is_there_unless_the_cluster_joined_again() {
        let done = Some(SINCE + 30);
        let has = |index: &str, available| (Some(index.to_owned()), available);
        let joined = |second: i64| {
            let mut member = member("member-1", second);
            member["metadata"]["creationTimestamp"] = at(second).to_string().into();
            [member]
        };
        assert_eq!(seen(binding("1", 3, 2), done, &[]), has("1", false));
        let (before, after) = (joined(SINCE), joined(SINCE + 60));
        assert_eq!(seen(binding("1", 3, 2), done, &before), has("1", true));
        assert_eq!(seen(binding("1", 3, 2), done, &after), has("1", false));
        assert_eq!(seen(binding("0", 3, 2), done, &after), has("0", false));
    }
}
