//! One cluster of a run: what the run says of it, and what its binding says.

use jiff::{SignedDuration, Timestamp};

use super::STUCK_AFTER;
use super::progress::ClusterState;
use super::trouble::{Trouble, binding_trouble};
use crate::inventory::Inventory;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::messages::{RolloutStarted, parse_rollout_started};
use crate::kubefleet::run::{ClusterStatus, StageStatus, UpdateRun};
use crate::kubefleet::{Condition, Conditions, reasons};

/// One cluster of a stage.
#[derive(Debug)]
pub struct ClusterView<'i> {
    /// The member cluster's name.
    pub name: &'i str,
    /// The stage's name.
    pub stage: &'i str,
    /// What the run says of it.
    pub status: &'i ClusterStatus,
    /// Its state.
    pub state: ClusterState,
    /// When the run started it.
    pub started: Option<Timestamp>,
    /// When the run saw it done.
    pub ended: Option<Timestamp>,
    /// Its binding, when it was seen.
    pub binding: Option<&'i Binding>,
    /// Its MemberCluster, when it was seen.
    pub member: Option<&'i MemberCluster>,
    /// What its binding says.
    pub health: Health<'i>,
}

/// What a binding says of its cluster.
#[derive(Debug)]
pub enum Health<'i> {
    /// No binding was seen.
    Unseen,
    /// The content is available, or its differences are reported: the controller will be content.
    Fine(&'i Condition),
    /// Nothing failed so far, and nothing is available yet.
    Underway,
    /// A condition is `False`.
    Failing(Trouble<'i>),
}

impl<'i> ClusterView<'i> {
    /// Understands one cluster of a stage.
    pub(super) fn new(
        inventory: &'i Inventory,
        run: &UpdateRun,
        stage: &'i StageStatus,
        status: &'i ClusterStatus,
    ) -> Self {
        let binding = inventory.binding(&status.name);
        let started = status
            .conditions
            .condition(reasons::STARTED)
            .filter(|c| c.is_true());
        let succeeded = status.conditions.condition(reasons::SUCCEEDED);
        let over = run.status.conditions.is_true(reasons::SUCCEEDED)
            || run.status.conditions.is_false(reasons::SUCCEEDED);
        let since = started.and_then(|condition| condition.since);
        let state = match (succeeded, started) {
            (Some(succeeded), _) if succeeded.is_true() => ClusterState::Done,
            (Some(succeeded), _) if succeeded.is_false() => ClusterState::Failed,
            (_, Some(_)) if over => ClusterState::Left,
            (_, Some(_)) if is_overdue(since, inventory.now) || is_called_stuck(run, since) => {
                ClusterState::Stuck
            }
            (_, Some(_)) => ClusterState::Updating,
            (_, None) => ClusterState::Pending,
        };
        Self {
            name: &status.name,
            stage: &stage.name,
            status,
            state,
            started: since,
            ended: succeeded
                .filter(|condition| condition.is_true())
                .and_then(|c| c.since),
            binding,
            member: inventory.member(&status.name),
            health: binding.map_or(Health::Unseen, |binding| health(inventory, binding)),
        }
    }

    /// What the binding's RolloutStarted condition says: which run wrote it last.
    pub fn written_by(&self) -> Option<RolloutStarted> {
        self.binding.map(rollout_started)
    }

    /// What is wrong with the cluster, when its binding says so.
    pub const fn trouble(&self) -> Option<&Trouble<'i>> {
        match &self.health {
            Health::Failing(trouble) => Some(trouble),
            Health::Unseen | Health::Fine(_) | Health::Underway => None,
        }
    }

    /// How long the run has been working on it.
    pub fn in_flight_for(&self, now: Timestamp) -> Option<SignedDuration> {
        self.started.map(|started| now.duration_since(started))
    }
}

/// What a binding's RolloutStarted condition says.
pub fn rollout_started(binding: &Binding) -> RolloutStarted {
    binding
        .status
        .conditions
        .condition(reasons::ROLLOUT_STARTED)
        .map(|condition| parse_rollout_started(&condition.message))
        .unwrap_or_default()
}

/// What a binding says of its cluster: success first, as the controller looks.
/// Source: updaterun/execution.go:checkClusterUpdateResult.
fn health<'i>(inventory: &'i Inventory, binding: &'i Binding) -> Health<'i> {
    for kind in [reasons::AVAILABLE, reasons::DIFF_REPORTED] {
        if let Some(condition) = binding
            .current(kind)
            .filter(|condition| condition.is_true())
        {
            return Health::Fine(condition);
        }
    }
    binding_trouble(inventory, binding).map_or(Health::Underway, Health::Failing)
}

/// Whether the controller called the run stuck while it was updating the cluster. A condition that
/// is older than the cluster's start speaks of another one.
fn is_called_stuck(run: &UpdateRun, since: Option<Timestamp>) -> bool {
    run.status
        .conditions
        .condition(reasons::PROGRESSING)
        .filter(|progressing| progressing.reason == reasons::RUN_STUCK)
        .is_some_and(|progressing| since.is_some() && progressing.since > since)
}

fn is_overdue(since: Option<Timestamp>, now: Timestamp) -> bool {
    since.is_some_and(|since| now.duration_since(since) > STUCK_AFTER)
}
