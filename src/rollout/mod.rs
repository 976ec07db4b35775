//! What a run's status means: phase, gates, timers, slots, and the snapshot of each cluster.
//!
//! Every command that speaks of a run reads it here, so that all say the same.

mod agent_version;
pub mod approvals;
mod build;
mod cluster;
pub mod content;
pub mod dropped_gates;
mod facts;
pub mod history;
pub mod in_the_way;
pub mod life;
pub mod limits;
mod namespace_delivery;
pub mod near;
mod opening;
pub mod overrides;
pub mod placing;
pub mod rollback;
pub mod sent;
mod stage_end;
pub mod timeline;
mod trouble;
pub mod versions;

use jiff::{SignedDuration, Timestamp};

use crate::inventory::{Inventory, Sight};
use crate::kubefleet::approval::ApprovalRequest;
use crate::kubefleet::run::{ClusterStatus, RunState, StageStatus, TaskStatus, UpdateRun};
use crate::kubefleet::strategy::Stage;
use crate::kubefleet::{Condition, ConditionStatus, Conditions, duration, reasons};

pub use agent_version::AgentVersion;
pub use cluster::{ClusterView, Health, is_written, rollout_started};
pub use facts::{
    ClusterProgress, ClusterState, GateFacts, GateState, PersonAnswer, StageDefinition,
    StageProgress, StageState, TaskState, TaskTime, Undelivered,
};
pub use namespace_delivery::{DeliveryProgress, DeliveryState, NamespaceDelivery};
pub use opening::{GateOpening, before_next_gate, comes_next, opening};
pub use stage_end::StageEnd;
pub use trouble::{BindingTrouble, ManifestTrouble, binding_trouble};

/// How long a cluster may take before the controller calls the run stuck.
/// Source: updaterun/execution.go:updateRunStuckThreshold.
pub const STUCK_AFTER: SignedDuration = SignedDuration::from_secs(300);

/// How long a finalizer that is not KubeFleet's may hold a binding of which KubeFleet has let go.
const FOREIGN_FINALIZER: SignedDuration = SignedDuration::from_secs(60);

/// The same for one run, which may have a limit of its own.
pub fn stuck_after(run: &UpdateRun) -> SignedDuration {
    run.spec.stuck_threshold().unwrap_or(STUCK_AFTER)
}

/// How often the controller checks clusters in flight.
/// Source: updaterun/execution.go:clusterUpdatingWaitTime.
pub const LOOK_EVERY: SignedDuration = SignedDuration::from_secs(15);

/// After errors the hub agent's controllers look ever more rarely, up to this.
/// Source: k8s.io/client-go/util/workqueue/default_rate_limiters.go.
pub const LONGEST: SignedDuration = SignedDuration::from_secs(1000);

/// Where a run is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// `deletionTimestamp` is set.
    Deleting,
    /// Over: it succeeded.
    Succeeded,
    /// Over: it failed while it was under way.
    Failed,
    /// Over: it could not be initialized.
    InitializationFailed,
    /// Not initialized yet.
    Initializing,
    /// Initialized; nothing happens until someone asks it to run.
    Idle,
    /// Asked to run.
    Executing,
    /// Asked to stop, clusters are in flight.
    Stopping,
    Stopped,
}

impl Phase {
    /// Whether somebody asked to stop the run, stopped or not.
    pub const fn is_halted(self) -> bool {
        matches!(self, Self::Stopping | Self::Stopped)
    }
}

/// A run, understood.
#[derive(Debug)]
pub struct Rollout<'i> {
    /// What is known around it.
    pub inventory: &'i Inventory,
    /// Where it is in its life.
    pub phase: Phase,
    pub run: &'i UpdateRun,
    /// Its stages in order; the deletion stage last.
    pub stages: Vec<StageView<'i>>,
    /// The moment for which it is judged.
    pub now: Timestamp,
    /// Whether the hub is known to ignore `spec.state`, or the run shows that it does.
    pub state_ignored: bool,
    /// Whether all bindings were read: else a cluster without one may have one.
    pub sees_bindings: bool,
}

#[derive(Debug)]
pub struct StageView<'i> {
    pub status: &'i StageStatus,
    /// What the run recorded of the strategy.
    pub spec: Option<&'i Stage>,
    /// Whether the placement is removed from these clusters.
    pub deletes: bool,
    pub state: StageState,
    /// How many clusters may be updated at once.
    pub concurrency: usize,
    /// Its tasks, those before the clusters first.
    pub gates: Vec<Gate<'i>>,
    pub clusters: Vec<ClusterView<'i>>,
}

/// One stage task.
#[derive(Debug)]
pub struct Gate<'i> {
    pub stage: &'i str,
    /// Before or after the clusters.
    pub time: TaskTime,
    pub task: &'i TaskStatus,
    pub state: TaskState,
    pub request: Option<Sight<ApprovalRequest>>,
    /// Whether the request of that name belongs to another run or stage.
    pub foreign: bool,
    /// How long a TimedWait takes, as the run recorded it.
    pub wait_text: Option<&'i str>,
    /// Since when a TimedWait runs.
    pub waiting_since: Option<Timestamp>,
    /// Since when a TimedWait counts that a stop interrupted: the stage's last transition, which a
    /// resume keeps. It counts on while the run is stopped.
    pub stopped_since: Option<Timestamp>,
    /// Whether it is a task of the deletion stage.
    pub of_removal: bool,
}

impl Gate<'_> {
    /// Where it stands in the run.
    pub fn path(&self) -> String {
        // The tasks of the deletion stage are noted as those after it.
        let (stage, kind) = (self.stage_path(), &self.task.kind);
        let is_before = self.time == TaskTime::Before && !self.of_removal;
        let time = if is_before { "before" } else { "after" };
        format!("{stage}.{time}StageTaskStatus[type={kind}]")
    }

    /// Where it stands since when a TimedWait counts.
    pub fn since_path(&self) -> String {
        let stage = self.stage_path();
        format!("{stage}.conditions[type=Progressing].lastTransitionTime")
    }

    fn stage_path(&self) -> String {
        if self.of_removal {
            return "status.deletionStageStatus".to_owned();
        }
        format!("status.stagesStatus[stageName={}]", self.stage)
    }

    /// Where it stands how long a TimedWait takes.
    pub fn wait_path(&self) -> String {
        let tasks = if self.of_removal {
            "deleteStageTasks".to_owned()
        } else {
            format!("stages[name={}].afterStageTasks", self.stage)
        };
        format!("status.stagedUpdateStrategySnapshot.{tasks}[type=TimedWait].waitTime")
    }

    /// How long a TimedWait takes.
    pub fn wait(&self) -> Option<SignedDuration> {
        duration::parse(self.wait_text?)
    }

    /// The approval request that was seen and is this gate's own.
    pub fn own_request(&self) -> Option<&ApprovalRequest> {
        let request = self.request.as_ref()?;
        request.present().filter(|_| !self.foreign)
    }

    /// Whether its request is approved although the run has not come to it: it will not wait there.
    /// Source: updaterun/execution.go:handleStageApprovalTask.
    pub fn is_approved_ahead(&self) -> bool {
        let counts = self.own_request().is_some_and(ApprovalRequest::counts);
        self.state == TaskState::NotReached && counts
    }

    /// That the run will not wait at it, as a sentence; `None` unless its request is approved ahead.
    pub fn approved_ahead_words(&self, run: &UpdateRun) -> Option<String> {
        let request = self.own_request().filter(|_| self.is_approved_ahead())?;
        Some(format!(
            "{} is approved already, so {} will not wait {} stage {}.",
            request.meta.name,
            run.meta.name,
            self.time.as_str(),
            self.stage
        ))
    }

    /// Since when the approval is asked for, or the wait runs.
    pub fn since(&self) -> Option<Timestamp> {
        if !self.task.is_approval() {
            return self.waiting_since;
        }
        let noted = self.noted(reasons::APPROVAL_REQUEST_CREATED);
        // A request that was deleted is made again, and asks again. Of a gate that is open no more
        // the run says enough.
        if self.ended().is_some() && noted.is_some() {
            return noted;
        }
        let created = self.own_request().and_then(|request| request.meta.created);
        created.or(noted)
    }

    /// When the controller accepted the approval, or noticed that the wait was over.
    pub fn ended(&self) -> Option<Timestamp> {
        if self.task.is_approval() {
            return self.noted(reasons::APPROVAL_REQUEST_APPROVED);
        }
        let elapsed = self.noted(reasons::WAIT_TIME_ELAPSED);
        elapsed.filter(|_| self.state == TaskState::Done)
    }

    /// When the run noted a step of the task.
    fn noted(&self, step: &str) -> Option<Timestamp> {
        let condition = self.task.conditions.condition(step)?;
        condition.since.filter(|_| condition.is_true())
    }

    /// When a running TimedWait ends.
    pub fn until(&self) -> Option<Timestamp> {
        self.waiting_since?.checked_add(self.wait()?).ok()
    }

    /// Until when a TimedWait holds a run that is stopped, once it is resumed.
    pub fn holds_until(&self) -> Option<Timestamp> {
        self.stopped_since?.checked_add(self.wait()?).ok()
    }

    /// When a TimedWait ends that has begun, whether the run is stopped or not.
    pub fn ends_at(&self) -> Option<Timestamp> {
        self.until().or_else(|| self.holds_until())
    }
}

impl<'i> Rollout<'i> {
    /// The run's `Progressing` condition.
    pub fn progressing(&self) -> Option<&'i Condition> {
        self.run.condition(reasons::PROGRESSING)
    }

    /// The reason of the run's `Progressing` condition; empty without one.
    pub fn reason(&self) -> &'i str {
        self.progressing()
            .map_or("", |condition| condition.reason.as_str())
    }

    /// Whether the conditions speak of the run's current spec.
    pub fn is_current(&self) -> bool {
        self.progressing()
            .or_else(|| self.run.condition(reasons::INITIALIZED))
            .is_none_or(|condition| condition.observes(self.run.meta.generation))
    }

    pub fn clusters(&self) -> impl Iterator<Item = &ClusterView<'i>> {
        self.stages.iter().flat_map(|stage| &stage.clusters)
    }

    /// How many clusters are done, of how many.
    pub fn done_of(&self) -> (usize, usize) {
        let done = self.stages.iter().map(StageView::done).sum();
        (done, self.clusters().count())
    }

    /// Clusters that are to be updated: all but those of the deletion stage.
    pub fn updated_clusters(&self) -> impl Iterator<Item = &ClusterView<'i>> {
        self.stages
            .iter()
            .filter(|stage| !stage.deletes)
            .flat_map(|stage| &stage.clusters)
    }

    /// The clusters that the run has updated, and is done with.
    pub fn done_clusters(&self) -> impl Iterator<Item = &ClusterView<'i>> {
        self.updated_clusters()
            .filter(|cluster| cluster.state == ClusterState::Done)
    }

    /// The clusters that the run is to update and has not started.
    pub fn still_to_reach(&self) -> impl Iterator<Item = &ClusterView<'i>> {
        self.updated_clusters()
            .filter(|cluster| cluster.state == ClusterState::NotReached)
    }

    /// Clusters that were started and are not done.
    pub fn in_flight(&self) -> impl Iterator<Item = &ClusterView<'i>> {
        self.updated_clusters()
            .filter(|cluster| cluster.state.is_in_flight())
    }

    pub fn gates(&self) -> impl Iterator<Item = &Gate<'i>> {
        self.stages.iter().flat_map(|stage| &stage.gates)
    }

    /// Gates that are open: asked for and not passed.
    pub fn open_gates(&self) -> impl Iterator<Item = &Gate<'i>> {
        self.gates().filter(|gate| gate.state == TaskState::Open)
    }

    /// Whether it executes, with no cluster in flight and at no gate: as a rule for a moment.
    pub fn is_between(&self) -> bool {
        self.phase == Phase::Executing
            && self.in_flight().next().is_none()
            && self.open_gates().next().is_none()
    }

    pub fn open_approvals(&self) -> impl Iterator<Item = &Gate<'i>> {
        self.open_gates().filter(|gate| gate.task.is_approval())
    }

    /// Approvals that it waits for, and has not managed to ask for yet.
    /// Source: updaterun/execution.go:handleStageApprovalTask.
    pub fn unrequested_approvals(&self) -> impl Iterator<Item = &Gate<'i>> {
        let stage = self
            .current_stage()
            .filter(|_| self.phase == Phase::Executing);
        let gates = stage.into_iter().flat_map(|stage| {
            let time = match stage.state {
                StageState::WaitingBefore => Some(TaskTime::Before),
                StageState::WaitingAfter => Some(TaskTime::After),
                _ => None,
            };
            stage
                .gates
                .iter()
                .filter(move |gate| Some(gate.time) == time)
        });
        gates.filter(|gate| {
            let is_named = !gate.task.approval_request.is_empty();
            gate.task.is_approval() && is_named && gate.task.conditions.is_empty()
        })
    }

    /// Since when it has to ask for an approval. Its own condition begins anew with each attempt.
    pub fn asks_since(&self, gate: &Gate<'_>) -> Option<Timestamp> {
        let mut stages = self.stages.iter();
        let stage = stages.find(|it| it.name() == gate.stage);
        let stage = stage.filter(|_| gate.time == TaskTime::After);
        let ended = stage.and_then(|it| it.clusters.iter().filter_map(|it| it.ended).max());
        ended.or_else(|| self.progressing()?.since)
    }

    /// The clusters that it still has to reach before somebody has to approve.
    pub fn reached_next(&self) -> Vec<&'i str> {
        let mut names = Vec::new();
        for stage in &self.stages {
            let waits = |time: TaskTime| {
                let mut gates = stage.gates.iter();
                gates.any(|it| {
                    it.time == time && it.task.is_approval() && it.state != TaskState::Done
                })
            };
            if waits(TaskTime::Before) {
                break;
            }
            let left = stage.clusters.iter();
            let left = left.filter(|it| it.state == ClusterState::NotReached);
            names.extend(left.map(|it| it.name));
            if waits(TaskTime::After) {
                break;
            }
        }
        names
    }

    /// The clusters from which it removes its placement before somebody has to approve: what they have of it is
    /// deleted there.
    pub fn removed_next(&self) -> Vec<&'i str> {
        let next = self.reached_next();
        let removed = self.removals().filter(|it| {
            let sent = it
                .binding
                .and_then(|it| sent::sent_index(self.inventory, it));
            next.contains(&it.name) && sent.is_some() && !self.inventory.keeps_content(it.name)
        });
        removed.map(|it| it.name).collect()
    }

    /// Timed waits that are running.
    pub fn open_timers(&self) -> impl Iterator<Item = &Gate<'i>> {
        self.open_gates().filter(|gate| gate.task.is_timed_wait())
    }

    /// The stage that is neither done nor untouched.
    pub fn current_stage(&self) -> Option<&StageView<'i>> {
        self.stages.iter().find(|stage| stage.state.is_current())
    }

    /// Whether a cluster's binding still is what this run wrote, or would write: its snapshot, and no
    /// other run's.
    pub fn holds(&self, cluster: &ClusterView<'_>) -> bool {
        let Some(binding) = cluster.binding else {
            return false;
        };
        let index = &self.run.status.snapshot_index;
        let ours = cluster
            .written_by()
            .and_then(|written| written.run)
            .is_none_or(|run| run == self.run.meta.name);
        (ours || cluster.unnoted)
            && (index.is_empty() || binding.snapshot_index() == Some(index.as_str()))
    }

    /// Whether the binding of a cluster in flight says that it is done: the controller will see it
    /// at its next look. A stop does not look whose content that is.
    /// Source: updaterun/stop.go:stopUpdatingStage.
    pub fn has_recovered(&self, cluster: &ClusterView<'_>) -> bool {
        let counts = self.phase == Phase::Stopping || self.holds(cluster);
        counts && matches!(cluster.health, Health::Fine(_))
    }

    /// Whether a stop would not end by itself: it waits without a limit for the clusters whose start the
    /// run noted, and only for those.
    /// Source: updaterun/stop.go:stopUpdatingStage.
    pub fn blocks_stop(&self) -> bool {
        let is_stuck = |it: &&ClusterView<'_>| it.state == ClusterState::Stuck;
        let mut held = self.clusters().filter(is_stuck);
        let mut failing = self.in_flight().filter(|it| it.is_held());
        held.any(|it| !it.unnoted) || failing.any(|it| !it.unnoted)
    }

    /// The clusters of the deletion stage.
    pub fn removals(&self) -> impl Iterator<Item = &ClusterView<'i>> {
        let removals = self.stages.iter().filter(|stage| stage.deletes);
        removals.flat_map(|stage| &stage.clusters)
    }

    /// The clusters whose removal has begun, and ends whatever becomes of the run.
    pub fn removals_begun(&self) -> impl Iterator<Item = &ClusterView<'i>> {
        let removals = self.removals();
        removals.filter(|it| it.binding.is_some_and(|it| it.meta.is_deleting()))
    }

    /// The removals that nothing of KubeFleet can finish: the binding has been going for too long, and
    /// a finalizer that is not KubeFleet's is on it.
    pub fn held_removals(&self) -> impl Iterator<Item = &ClusterView<'i>> {
        self.removals().filter(|cluster| {
            let Some(meta) = cluster.binding.map(|binding| &binding.meta) else {
                return false;
            };
            let foreign = meta.foreign_finalizers().count();
            let deleted = meta.deleted.filter(|_| foreign > 0);
            deleted.is_some_and(|deleted| {
                // Where KubeFleet has let go of it, nothing else can be waited for.
                let is_last = foreign == meta.finalizers.len()
                    && self.now.duration_since(deleted) > FOREIGN_FINALIZER;
                cluster.state == ClusterState::Stuck
                    || is_last && cluster.state != ClusterState::Done
            })
        })
    }

    /// Whether the run may be stuck as far as its own status tells: it says so, or waits for a
    /// cluster for too long. The bindings tell whether it is.
    pub fn may_be_stuck(&self) -> bool {
        self.reason() == reasons::RUN_STUCK
            || self.stages.iter().any(|stage| {
                stage.clusters.iter().any(|cluster| match cluster.state {
                    ClusterState::Stuck => true,
                    ClusterState::NotReached => cluster.is_overdue(self.now),
                    ClusterState::Updating => {
                        stage.deletes && cluster.in_flight_for(self.now) > Some(FOREIGN_FINALIZER)
                    }
                    _ => false,
                })
            })
    }

    /// The clusters of which the bindings may change what the run's status tells: those that are not
    /// done, in stages that are not.
    pub fn unsettled(&self) -> impl Iterator<Item = &ClusterView<'i>> {
        let stages = self.stages.iter().filter(|stage| !stage.status.is_done());
        stages
            .flat_map(|stage| &stage.clusters)
            .filter(|cluster| cluster.state != ClusterState::Done)
    }

    /// The clusters from which the run has still to remove the placement, once all its other stages
    /// are done. A stop neither begins with them nor ends before they are gone.
    /// Source: updaterun/stop.go:stopDeleteStage.
    pub fn removals_to_come(&self) -> Vec<&ClusterView<'i>> {
        let (removal, updates): (Vec<_>, Vec<_>) =
            self.stages.iter().partition(|stage| stage.deletes);
        let over = |stage: &&StageView<'_>| stage.state.is_completed();
        let is_closed = removal
            .iter()
            .flat_map(|stage| &stage.gates)
            .any(|gate| gate.state != TaskState::Done);
        if !self.is_live() || is_closed || !updates.iter().all(over) {
            return Vec::new();
        }
        removal
            .into_iter()
            .flat_map(|stage| &stage.clusters)
            .filter(|cluster| cluster.state == ClusterState::NotReached)
            // One that somebody else deletes goes without the run.
            .filter(|it| it.binding.is_none_or(|it| !it.meta.is_deleting()))
            .collect()
    }

    /// The clusters for whose removal a stop waits that never begins.
    pub fn removals_under_stop(&self) -> Vec<&ClusterView<'i>> {
        let stops = self.phase == Phase::Stopping
            && self.reason() == reasons::RUN_STOPPING
            && self.is_current();
        if stops {
            self.removals_to_come()
        } else {
            Vec::new()
        }
    }

    /// Whether the run only compares, and applies nothing.
    pub fn only_compares(&self) -> bool {
        self.run.only_compares()
    }

    /// Whether the run has begun with its first stage, and be it that it waits there for an
    /// approval. A run that was created to be stopped has conditions, as its first stage has, and has begun
    /// nothing. Source: updaterun/stop.go:stop.
    pub fn has_begun(&self) -> bool {
        let conditions = &self.run.status.conditions;
        let is_begun = |stage: &StageView<'_>| {
            let mut conditions = stage.status.conditions.iter();
            let mut tasks = stage.status.tasks();
            stage.status.started.is_some()
                || tasks.any(|it| !it.conditions.is_empty())
                || conditions.any(|it| it.reason != reasons::STAGE_STOPPED)
        };
        conditions.is_true(reasons::PROGRESSING)
            || conditions.is_true(reasons::SUCCEEDED)
            || self.stages.iter().any(is_begun)
            || self.has_reached_any()
    }

    /// Whether the run has reached a cluster.
    pub fn has_reached_any(&self) -> bool {
        self.clusters()
            .any(|cluster| cluster.state != ClusterState::NotReached)
    }

    /// When the run began with each of its clusters. The controller does not note that of one that had the content
    /// already and fails with it. Source: updaterun/execution.go:executeUpdatingStage.
    pub fn updates(&self) -> impl Iterator<Item = Timestamp> {
        let initialized = self.run.status.conditions.since(reasons::INITIALIZED);
        let reached = self
            .clusters()
            .filter(|it| it.state != ClusterState::NotReached);
        reached.filter_map(move |it| it.since.or(initialized))
    }

    /// When the run began with its first cluster.
    pub fn started(&self) -> Option<Timestamp> {
        let stages = self.stages.iter().filter_map(|stage| stage.status.started);
        stages.chain(self.updates()).min()
    }

    pub fn ended(&self) -> Option<Timestamp> {
        let conditions = &self.run.status.conditions;
        let end = match self.phase {
            Phase::InitializationFailed => reasons::INITIALIZED,
            _ => reasons::SUCCEEDED,
        };
        conditions
            .condition(end)
            .filter(|condition| condition.status != ConditionStatus::Unknown)
            .filter(|_| self.is_finished())?
            .since
    }

    /// Whether the run is over.
    pub const fn is_finished(&self) -> bool {
        matches!(
            self.phase,
            Phase::Succeeded | Phase::Failed | Phase::InitializationFailed
        )
    }

    /// Whether the run may still do something: it is neither over nor being deleted.
    pub const fn is_live(&self) -> bool {
        !self.is_finished() && !matches!(self.phase, Phase::Deleting)
    }
}

/// Where a run is in its life. Terminal conditions keep the generation at which they were written,
/// so they are believed whatever they observed.
fn phase(run: &UpdateRun, state_ignored: bool) -> Phase {
    let conditions = &run.status.conditions;
    if run.meta.is_deleting() {
        return Phase::Deleting;
    }
    let status = |kind| conditions.condition(kind).map(|it| it.status);
    match status(reasons::SUCCEEDED) {
        Some(ConditionStatus::True) => return Phase::Succeeded,
        Some(ConditionStatus::False) => return Phase::Failed,
        _ => {}
    }
    match status(reasons::INITIALIZED) {
        Some(ConditionStatus::True) => {}
        Some(ConditionStatus::False) => return Phase::InitializationFailed,
        _ => return Phase::Initializing,
    }
    if state_ignored {
        return Phase::Executing;
    }
    match run.spec.wants() {
        RunState::Initialize => Phase::Idle,
        RunState::Run | RunState::Other => Phase::Executing,
        RunState::Stop if run.is_stopped() => Phase::Stopped,
        RunState::Stop => Phase::Stopping,
    }
}

/// Whether what a run's conditions mean depends on what the hub's schema says of `spec.state`: the
/// run moves, or moved, without having been asked to, or an old controller initialized it.
pub fn depends_on_schema(run: &UpdateRun) -> bool {
    let begun = || {
        run.all_stages()
            .flat_map(|stage| &stage.clusters)
            .any(|cluster| !cluster.conditions.is_empty())
    };
    run.spec.wants() != RunState::Run
        && (old_controller(run)
            || is_resumed(run)
            || (run.spec.wants() != RunState::Stop && begun()))
}

/// The reasons that only a controller gives that honours `spec.state`.
const STOPS: [&str; 2] = [reasons::RUN_STOPPING, reasons::RUN_STOPPED];

/// Whether the controller has noted since the last stop that a run continues.
fn is_resumed(run: &UpdateRun) -> bool {
    let progressing = run.condition(reasons::PROGRESSING);
    progressing.is_some_and(|it| !STOPS.contains(&it.reason.as_str()))
}

/// Whether KubeFleet 0.1 initialized the run.
pub fn old_controller(run: &UpdateRun) -> bool {
    run.condition(reasons::INITIALIZED)
        .is_some_and(|initialized| {
            initialized.is_true() && initialized.message.contains("StagedUpdateRun initialized")
        })
}

/// For how long after its last write it counts as seen that the agent which began a run still works on it.
const STILL_MOVES: SignedDuration = SignedDuration::from_mins(2);

/// Whether clusters were started well after a run was asked to stop, where it tells when: by an agent older than
/// the one that began it.
pub fn goes_on_stopped(run: &UpdateRun) -> bool {
    const UNDER_WAY: SignedDuration = SignedDuration::from_mins(1);
    let asked = run.meta.spec_edited();
    let asked = asked.filter(|_| run.spec.wants() == RunState::Stop);
    let is_after = |cluster: &ClusterStatus| {
        let started = cluster.conditions.since(reasons::STARTED).zip(asked);
        started.is_some_and(|(started, asked)| started.duration_since(asked) > UNDER_WAY)
    };
    run.updated_clusters().any(is_after)
}

/// Whether the hub ignores `spec.state`: its schema says so, or what the run did, or the run's state is a word that
/// only KubeFleet 0.1 knew while its controller, not a later one, initialized the run, or the run
/// has no state at all and moves. The schema is asked where it matters and nowhere else, so that a
/// run means the same alone and among others.
pub fn ignores_state(inventory: &Inventory, run: &UpdateRun) -> bool {
    if run.spec.is_unknown_state() {
        return false;
    }
    if inventory.hub.run_states.is_some() && depends_on_schema(run) {
        // The schema may be newer than the agent. One that honours the state starts no cluster without it.
        let is_asked = run.spec.wants() == RunState::Stop && !old_controller(run);
        let since = run.last_write().filter(|_| !is_asked);
        let limit = if run.in_flight().next().is_some() {
            STUCK_AFTER
        } else {
            STILL_MOVES
        };
        let is_moving = since.is_some_and(|it| inventory.now.duration_since(it) < limit);
        return is_moving || inventory.hub.ignores_state() || goes_on_stopped(run);
    }
    let moves = run.condition(reasons::PROGRESSING).is_some();
    (old_controller(run) && run.spec.wants() != RunState::Run)
        || goes_on_stopped(run)
        || (moves && matches!(run.spec.wants(), RunState::Other))
        || (moves && run.spec.state.is_none())
}
