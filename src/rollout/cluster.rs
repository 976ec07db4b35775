//! One cluster of a run: what the run says of it, and what its binding says.

use jiff::{SignedDuration, Timestamp};

use super::trouble::{BindingTrouble, binding_trouble};
use super::{ClusterState, stuck_after};
use crate::inventory::Inventory;
use crate::kubefleet::apply::ApplyStrategy;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::messages::{RolloutStarted, parse_rollout_started, parse_stuck};
use crate::kubefleet::run::{ClusterStatus, StageStatus, UpdateRun};
use crate::kubefleet::{Condition, Conditions, names, reasons};

#[derive(Debug)]
pub struct ClusterView<'i> {
    pub name: &'i str,
    /// What the run's status says of it.
    pub recorded: &'i ClusterStatus,
    pub stage: &'i str,
    pub state: ClusterState,
    /// When the run started it, as it noted.
    pub started: Option<Timestamp>,
    /// Since when the run waits for it: since its start, or since its turn came where no start is
    /// noted.
    pub since: Option<Timestamp>,
    /// Whether it is in flight without a start that the run noted: the controller notes none for
    /// a binding that asks for the run's content already and is failing.
    /// Source: updaterun/execution.go:executeUpdatingStage.
    pub unnoted: bool,
    /// Whether its binding asks for what the run writes already.
    pub is_written: bool,
    /// When the run recorded it as done.
    pub ended: Option<Timestamp>,
    /// Its binding, when it was seen.
    pub binding: Option<&'i Binding>,
    /// Its MemberCluster, when it was seen.
    pub member: Option<&'i MemberCluster>,
    /// What its binding says.
    pub health: Health<'i>,
    /// How long the run waits for it before it counts as stuck.
    limit: SignedDuration,
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
    Failing(BindingTrouble<'i>),
}

fn is_released_by(run: &UpdateRun) -> impl Fn(&Binding) -> bool {
    |binding| rollout_started(binding).run.as_deref() == Some(run.meta.name.as_str())
}

impl<'i> ClusterView<'i> {
    /// Understands one cluster of a stage; `turn` is there when a slot of the stage is its own.
    pub(super) fn new(
        inventory: &'i Inventory,
        run: &UpdateRun,
        stage: &'i StageStatus,
        status: &'i ClusterStatus,
        turn: Option<ClusterTurn>,
    ) -> Self {
        let binding = inventory.binding(&status.name);
        let started = status
            .conditions
            .condition(reasons::STARTED)
            .filter(|c| c.is_true());
        let succeeded = status.conditions.condition(reasons::SUCCEEDED);
        let over = run.status.conditions.is_true(reasons::SUCCEEDED)
            || run.status.conditions.is_false(reasons::SUCCEEDED);
        let noted = started.and_then(|condition| condition.since);
        let is_written = binding.is_some_and(|binding| is_written(binding, run, status));
        // Where the controller has written a binding and not released it, nothing is sent yet.
        let unnoted = started.is_none()
            && turn.is_some()
            && is_written
            && binding.is_some_and(Binding::is_released);
        let since = noted.or_else(|| turn.and_then(|turn| turn.since));
        let limit = stuck_after(run);
        let overdue = is_overdue(since, inventory.now, limit);
        let state = match (succeeded, started) {
            (Some(succeeded), _) if succeeded.is_true() => ClusterState::Done,
            (Some(succeeded), _) if succeeded.is_false() => ClusterState::Failed,
            (_, Some(_)) if over => ClusterState::Left,
            // A cluster that fails is not noted as started, also when the run ends.
            (_, None) if over && is_written && binding.is_some_and(is_released_by(run)) => {
                ClusterState::Left
            }
            (_, Some(_)) if overdue || is_called_stuck(run, &status.name, noted) => {
                ClusterState::Stuck
            }
            (_, Some(_)) => ClusterState::Updating,
            (_, None) if unnoted && overdue => ClusterState::Stuck,
            (_, None) if unnoted => ClusterState::Updating,
            (_, None) => ClusterState::NotReached,
        };
        Self {
            name: &status.name,
            recorded: status,
            stage: &stage.name,
            state,
            started: noted,
            since,
            unnoted,
            is_written,
            ended: succeeded
                .filter(|condition| condition.is_true())
                .and_then(|c| c.since),
            binding,
            member: inventory.member(&status.name),
            health: binding.map_or(Health::Unseen, |binding| {
                health(inventory, binding, over || is_released_by(run)(binding))
            }),
            limit,
        }
    }

    /// Where its run says when it was done.
    pub fn ended_path(&self) -> String {
        format!(
            "status.stagesStatus[stageName={}].clusters[clusterName={}].conditions[type=Succeeded].lastTransitionTime",
            self.stage, self.name
        )
    }

    /// What the binding's RolloutStarted condition says: which run wrote it last.
    pub fn written_by(&self) -> Option<RolloutStarted> {
        self.binding.map(rollout_started)
    }

    /// What is wrong with the cluster, when its binding says so.
    pub fn trouble(&self) -> Option<&BindingTrouble<'i>> {
        match &self.health {
            Health::Failing(trouble) => {
                Some(trouble).filter(|it| !it.is_applying || self.state.is_in_flight())
            }
            Health::Unseen | Health::Fine(_) | Health::Underway => None,
        }
    }

    /// Whether the run sends nothing there, because the cluster has all of it.
    pub const fn is_sent_nothing(&self) -> bool {
        self.is_written && matches!(self.health, Health::Fine(_))
    }

    /// Whether it does not finish by itself, as far as its binding tells.
    pub fn is_held(&self) -> bool {
        let trouble = self.trouble();
        self.state == ClusterState::Stuck || trouble.is_some_and(BindingTrouble::refuses)
    }

    /// How long the run has been working on it.
    pub fn in_flight_for(&self, now: Timestamp) -> Option<SignedDuration> {
        self.since.map(|since| now.duration_since(since))
    }

    /// Whether the run waits for it for longer than the controller allows.
    pub(super) fn is_overdue(&self, now: Timestamp) -> bool {
        is_overdue(self.since, now, self.limit)
    }
}

/// That it is a cluster's turn: the run has reached its stage, and a slot is free for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClusterTurn {
    /// Since when, as far as the run tells.
    pub since: Option<Timestamp>,
}

/// Whether a binding asks for what the run would write into it.
/// Source: updaterun/execution.go:isBindingSyncedWithClusterStatus.
pub fn is_written(binding: &Binding, run: &UpdateRun, status: &ClusterStatus) -> bool {
    let index = &run.status.snapshot_index;
    let wanted = names::master_snapshot(&run.spec.placement, index);
    let apply = (&binding.spec.apply_strategy, &run.status.apply_strategy);
    !index.is_empty()
        && binding.spec.state == "Bound"
        && binding.spec.snapshot == wanted
        && binding.spec.overrides == status.overrides
        && binding.spec.cluster_overrides == status.cluster_overrides
        && ApplyStrategy::are_alike(apply.0.as_deref(), apply.1.as_deref())
}

/// What a binding's RolloutStarted condition says.
pub fn rollout_started(binding: &Binding) -> RolloutStarted {
    binding
        .condition(reasons::ROLLOUT_STARTED)
        .map(|condition| parse_rollout_started(&condition.message))
        .unwrap_or_default()
}

/// What a binding says of its cluster: success first, as the controller looks. What is reported of an earlier
/// generation counts where the run is over, or released that generation.
/// Source: updaterun/execution.go:checkClusterUpdateResult.
fn health<'i>(inventory: &'i Inventory, binding: &'i Binding, earlier_counts: bool) -> Health<'i> {
    if let Some(condition) = binding.fulfilled() {
        return Health::Fine(condition);
    }
    let trouble = binding_trouble(inventory, binding);
    let trouble = trouble.filter(|_| earlier_counts || !binding.awaits_run());
    trouble.map_or(Health::Underway, Health::Failing)
}

/// Whether the controller called the run stuck on the cluster. A condition that is older than the cluster's start, or
/// that names others, speaks of others.
fn is_called_stuck(run: &UpdateRun, name: &str, since: Option<Timestamp>) -> bool {
    run.condition(reasons::PROGRESSING)
        .filter(|progressing| progressing.reason == reasons::RUN_STUCK)
        .filter(|progressing| since.is_some() && progressing.since > since)
        .is_some_and(|progressing| {
            parse_stuck(&progressing.message)
                .is_none_or(|stuck| stuck.clusters.iter().any(|it| it == name))
        })
}

fn is_overdue(since: Option<Timestamp>, now: Timestamp, limit: SignedDuration) -> bool {
    since.is_some_and(|since| now.duration_since(since) > limit)
}
