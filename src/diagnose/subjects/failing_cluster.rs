//! Clusters whose binding has a failing condition, and whether the rollout waits for them.

use jiff::{SignedDuration, Timestamp};

use crate::inventory::Inventory;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::{Concept, Conditions, reasons};
use crate::report::{Severity, Verdict};
use crate::rollout::{
    BindingTrouble, ClusterState, ClusterView, Rollout, STUCK_AFTER, binding_trouble,
};

/// A cluster whose binding has a failing condition.
#[derive(Debug)]
pub struct FailingCluster<'i> {
    pub cluster: &'i str,
    /// The stage in which the run updates it; `None` without a run.
    pub stage: Option<&'i str>,
    pub binding: &'i Binding,
    /// Its MemberCluster, when it was seen.
    pub member: Option<&'i MemberCluster>,
    pub trouble: BindingTrouble<'i>,
    /// Whether the rollout waits for it.
    pub blocking: bool,
    /// Whether the run is stuck on it: for too long, or the controller says so.
    pub stuck: bool,
    /// Whether the run was done with it: it has worked before.
    pub was_done: bool,
    /// Whether its binding has what the run brings.
    pub is_written: bool,
    /// Since when: when the run started it, or when the condition became false.
    pub since: Option<Timestamp>,
    pub lasting: Option<SignedDuration>,
    pub started: Option<Timestamp>,
}

impl FailingCluster<'_> {
    /// Whether it explains the verdict: the rollout waits for the cluster, and has waited for
    /// longer than the controller allows.
    pub fn explains(&self, verdict: Verdict) -> bool {
        verdict == Verdict::Stuck && self.blocking && self.is_overdue()
    }

    /// Whether it has lasted longer than the controller allows. Without a time, it has.
    pub fn is_overdue(&self) -> bool {
        self.stuck || self.lasting.is_none_or(|lasting| lasting > STUCK_AFTER)
    }

    /// `error` when it explains the verdict, else `warning`.
    pub fn severity(&self, verdict: Verdict) -> Severity {
        Severity::error_if(self.explains(verdict))
    }
}

/// The clusters whose binding has a failing condition.
pub(in crate::diagnose) fn failing_clusters<'i>(
    inventory: &'i Inventory,
    rollout: Option<&Rollout<'i>>,
) -> Vec<FailingCluster<'i>> {
    let Some(rollout) = rollout else {
        return inventory
            .staying()
            .filter_map(|binding| {
                let trouble = binding_trouble(inventory, binding)?;
                Some(FailingCluster::new(inventory, binding, None, trouble, true))
            })
            .collect();
    };
    let finished = rollout.is_finished();
    let is_of_placement =
        inventory.target.kind.concept() == Concept::Placement && inventory.runs.is_complete();
    let waits = rollout.is_live();
    let rests = !finished && rollout.in_flight().next().is_none();
    rollout
        .updated_clusters()
        .filter_map(|cluster| {
            let binding = cluster.binding.filter(|it| !it.meta.is_deleting())?;
            let since = cluster.trouble()?.condition.since;
            let wrote = cluster.written_by().and_then(|written| written.run);
            let ours = wrote.as_deref() == Some(rollout.run.meta.name.as_str());
            let in_flight = cluster.state.is_in_flight();
            // What another run wrote since is that run's trouble, and the placement's once that run is
            // gone.
            let is_left = |wrote: &String| is_of_placement && inventory.run_on(wrote).is_none();
            // What an earlier run had written, with the same content, this run found done.
            let written = binding.status.conditions.since(reasons::ROLLOUT_STARTED);
            let is_found =
                cluster.is_written && cluster.ended.is_some() && written <= cluster.ended;
            let ours = ours || is_found || wrote.as_ref().is_some_and(is_left);
            let holds = in_flight && rollout.holds(cluster);
            let is_ahead = cluster.state == ClusterState::NotReached;
            // What a run that rests is to write is there already, and fails.
            let lasts = since.is_some_and(|it| inventory.now.duration_since(it) > STUCK_AFTER);
            let fails = cluster.is_held() || lasts;
            let fails_ahead = is_ahead && rests && cluster.is_written && fails;
            if !fails_ahead && !ours && (!holds && wrote.is_some() || is_ahead || finished) {
                return None;
            }
            let trouble = binding_trouble(inventory, binding)?;
            let blocking = waits && in_flight;
            let on = Some(cluster);
            Some(FailingCluster::new(
                inventory, binding, on, trouble, blocking,
            ))
        })
        .collect()
}

impl<'i> FailingCluster<'i> {
    fn new(
        inventory: &'i Inventory,
        binding: &'i Binding,
        on: Option<&ClusterView<'i>>,
        trouble: BindingTrouble<'i>,
        blocking: bool,
    ) -> Self {
        let is_stuck = |cluster: &ClusterView<'_>| cluster.state == ClusterState::Stuck;
        let in_flight = on.filter(|cluster| cluster.state.is_in_flight());
        let was_done = on.is_some_and(|cluster| cluster.state == ClusterState::Done);
        let started = on.and_then(|cluster| cluster.started);
        let since = in_flight
            .and_then(|cluster| cluster.since)
            .or_else(|| started.filter(|_| !was_done))
            .or(trouble.condition.since);
        Self {
            cluster: &binding.spec.cluster,
            stage: on.map(|cluster| cluster.stage),
            stuck: on.is_some_and(is_stuck),
            was_done,
            is_written: on.is_some_and(|cluster| cluster.is_written),
            binding,
            member: inventory.member(&binding.spec.cluster),
            trouble,
            blocking,
            since,
            lasting: since.map(|since| inventory.now.duration_since(since)),
            started,
        }
    }
}
