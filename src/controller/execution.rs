//! Carries a run out: stages, tasks, the delete stage. Mirrors updaterun/execution.go.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::failure::{LookHalt, UNEXPECTED, USER, aborted, aggregate};
use super::inputs::InputFault;
use super::pace::{LOOK_EVERY, Requeue, STAGE_EVERY};
use super::reconcile::{Reconciler, RunBindings};
use super::state::{WrittenCondition, is_false, is_true, known, set_condition};
use super::wait::AwaitedEvent;
use crate::kubefleet::approval::{ApprovalRequest, ApprovalSpec};
use crate::kubefleet::binding::Binding;
use crate::kubefleet::meta::ObjectMeta;
use crate::kubefleet::run::{ClusterStatus, StageStatus, TaskStatus};
use crate::kubefleet::{Condition, ConditionStatus, Conditions, duration, names, reasons};
use crate::rollout::AgentVersion;
use crate::rollout::{TaskTime, stuck_after};

/// The conditions of a binding that are its terminal failures while `False`.
/// Source: utils/binding/binding.go:HasBindingFailed.
const FAILURES: [&str; 4] = [
    reasons::OVERRIDDEN,
    reasons::WORK_SYNCHRONIZED,
    reasons::APPLIED,
    reasons::AVAILABLE,
];

/// The reasons with which they are not, after 0.3.
/// Source: utils/binding/binding.go:nonTerminalBindingFailureReasons.
const TRANSIENT: [&str; 4] = [
    "OverriddenPending",
    "WorkNotSynchronizedYet",
    "ApplyPending",
    "ResourceNotAvailableYet",
];

/// What a look at one cluster found.
pub(super) enum ClusterResult {
    Done,
    Updating,
    Erred(LookHalt),
}

impl Reconciler {
    /// Goes on with a stage, or with the delete stage after the last one.
    /// Source: updaterun/execution.go:execute.
    pub(super) fn execute(
        &mut self,
        stage: usize,
        bindings: &RunBindings,
    ) -> Result<(bool, Requeue), LookHalt> {
        self.mark_update_run_progressing_if_not_waiting_or_stuck();
        let ended = if stage < self.state.run.status.stages.len() {
            self.execute_stage(stage, bindings)
                .map(|requeue| (false, requeue))
        } else {
            self.enter_delete_stage(stage, bindings)
        };
        self.fail_stage_of(stage, ended)
    }

    /// The part of `execute` that is about the delete stage. Its tasks come before it, where there are
    /// any, and are not looked at again. Source: KubeFleet's change 813, of which no version is released.
    fn enter_delete_stage(
        &mut self,
        at: usize,
        bindings: &RunBindings,
    ) -> Result<(bool, Requeue), LookHalt> {
        if self.is_before_delete_tasks(at) {
            if let Some(requeue) = self.check_after_stage_tasks_status(at)? {
                let name = self.stage_name(at);
                let message = "Waiting for delete stage tasks to complete";
                self.mark_stage_updating_waiting(at, message);
                self.mark_update_run_waiting("after-stage", &name);
                return Ok((false, requeue));
            }
            self.mark_update_run_progressing();
        }
        let finished = self.execute_delete_stage(bindings)?;
        Ok((finished, Requeue::After(LOOK_EVERY)))
    }

    /// Whether the delete stage has tasks, and has not begun: nothing is removed yet.
    pub(super) fn is_before_delete_tasks(&self, at: usize) -> bool {
        let waits = |stage: &StageStatus| stage.started.is_none() && !stage.after.is_empty();
        self.stage(at).is_some_and(waits)
    }

    /// The part of `execute` that is about a stage.
    fn execute_stage(&mut self, at: usize, bindings: &RunBindings) -> Result<Requeue, LookHalt> {
        let at_once = Requeue::Backoff;
        let is_empty = self
            .stage(at)
            .is_some_and(|stage| stage.clusters.is_empty());
        if is_empty && self.state.version >= AgentVersion::Next {
            self.mark_stage_updating_skipped(at);
            return Ok(at_once);
        }
        // 0.1 computes the concurrency before it knows the stage.
        if self.state.version == AgentVersion::V01
            && let Err(LookHalt::Aborted(failure)) = self.calculate_max_concurrency_value(at)
        {
            return Err(LookHalt::Retried(failure.message));
        }
        if !self.check_tasks_before_stage(at)? {
            let name = self.stage_name(at);
            let message = "Not all before-stage tasks are completed, waiting for approval";
            self.mark_stage_updating_waiting(at, message);
            self.mark_update_run_waiting("before-stage", &name);
            return Ok(Requeue::After(STAGE_EVERY));
        }
        let slots = self.calculate_max_concurrency_value(at)?;
        self.execute_updating_stage(at, bindings, slots)
    }

    /// Marks the stage as failed where the run is given up.
    /// Source: updaterun/stop.go:checkIfErrorStagedUpdateAborted.
    pub(super) fn fail_stage_of<T>(
        &mut self,
        at: usize,
        ended: Result<T, LookHalt>,
    ) -> Result<T, LookHalt> {
        if let Err(LookHalt::Aborted(failure)) = &ended {
            let message = failure.message.clone();
            let reason = "StageUpdatingFailed";
            let aborted = "Stage update aborted due to a non-recoverable error";
            self.end_stage(at);
            let no = ConditionStatus::False;
            self.mark_stage(at, (reasons::PROGRESSING, no, reason, aborted));
            self.mark_stage(at, (reasons::SUCCEEDED, no, reason, &message));
        }
        ended
    }

    /// Source: updaterun/execution.go:checkBeforeStageTasksStatus.
    fn check_tasks_before_stage(&mut self, at: usize) -> Result<bool, LookHalt> {
        let strategy = self.state.run.status.strategy.as_deref();
        let task = strategy.and_then(|it| it.stages.get(at)?.before.first());
        match task.map(|task| task.kind.as_str()) {
            None => Ok(true),
            Some("Approval") => self.handle_stage_approval_task(at, TaskTime::Before, 0),
            Some(kind) => {
                let text = format!(
                    "{UNEXPECTED}found unsupported task type in before stage tasks: {kind}"
                );
                Err(aborted("FS109", &text))
            }
        }
    }

    /// Source: updaterun/execution.go:executeUpdatingStage.
    fn execute_updating_stage(
        &mut self,
        at: usize,
        bindings: &RunBindings,
        slots: usize,
    ) -> Result<Requeue, LookHalt> {
        let by_cluster = self.binding_by_cluster(bindings);
        let total = self.stage(at).map_or(0, |stage| stage.clusters.len());
        let (mut finished, mut updating) = (0_usize, 0_usize);
        let (mut stuck, mut errors) = (Vec::new(), Vec::new());
        for nth in 0..total {
            if updating >= slots {
                break;
            }
            let Some(cluster) = self.cluster(at, nth).cloned() else {
                break;
            };
            if is_true(&cluster.conditions, reasons::SUCCEEDED, self.generation()) {
                finished = finished.saturating_add(1);
                continue;
            }
            updating = updating.saturating_add(1);
            let started = is_true(&cluster.conditions, reasons::STARTED, self.generation());
            match self.update_cluster((at, nth), &cluster, &by_cluster, finished) {
                Err(halt @ LookHalt::Unknown(_)) => return Err(halt),
                Err(halt) => errors.push(halt),
                // A cluster that has just been started counts as one that is updating.
                Ok(ClusterResult::Done) if started => {
                    finished = finished.saturating_add(1);
                    updating = updating.saturating_sub(1);
                }
                Ok(ClusterResult::Done) => {}
                Ok(found) => {
                    if let ClusterResult::Erred(halt) = found {
                        errors.push(halt);
                    }
                    if started && self.is_stuck(&cluster) {
                        stuck.push(cluster.name.clone());
                    }
                }
            }
        }
        self.aggregate_update_run_status(at, &stuck);
        if let Some(halt) = aggregate(errors) {
            return Err(halt);
        }
        if finished == total {
            return self.handle_stage_completion(at);
        }
        Ok(Requeue::After(LOOK_EVERY))
    }

    /// What `executeUpdatingStage` does about a cluster whose turn it is.
    fn update_cluster(
        &mut self,
        (at, nth): (usize, usize),
        cluster: &ClusterStatus,
        by_cluster: &BTreeMap<String, usize>,
        finished: usize,
    ) -> Result<ClusterResult, LookHalt> {
        let generation = self.generation();
        let stage = self.stage_name(at);
        let name = &cluster.name;
        if is_false(&cluster.conditions, reasons::SUCCEEDED, generation) {
            let text = format!("the cluster `{name}` in the stage {stage} has failed");
            return Err(aborted("FS301", &text));
        }
        if self.state.run.status.snapshot_index.is_empty() {
            let what = "which resource snapshot the run rolls out";
            return Err(LookHalt::Unknown(what.to_owned()));
        }
        let binding = by_cluster.get(name).copied();
        let Some(binding) = binding else {
            let text = format!(
                "{UNEXPECTED}the binding for cluster `{name}` in stage `{stage}` is not found in \
                 the toBeUpdatedBindings map"
            );
            return Err(aborted("FS303", &text));
        };
        if !is_true(&cluster.conditions, reasons::STARTED, generation) {
            let found = self.start_cluster(binding, (at, nth), cluster)?;
            if let ClusterResult::Erred(halt) = found {
                return Err(halt);
            }
            self.mark_cluster_updating_started(at, nth);
            // 0.1 notes the stage's start with its first clusters only.
            if self.state.version > AgentVersion::V01 || finished == 0 {
                self.mark_stage_updating_progress_started(at);
            }
            self.wait_for_cluster(name, Some(self.state.now));
            return Ok(found);
        }
        if !self.holds(binding, cluster) {
            let message = self.preempted(binding, &stage, name);
            let status = ConditionStatus::False;
            let reason = "ClusterUpdatingFailed";
            self.mark_cluster((at, nth), (reasons::SUCCEEDED, status, reason, &message));
            return Err(aborted("FS301", &message));
        }
        let found = self.check_cluster_update_result(binding, (at, nth));
        if !matches!(found, ClusterResult::Done) {
            let started = cluster.conditions.since(reasons::STARTED);
            self.wait_for_cluster(name, started);
        }
        Ok(found)
    }

    /// Writes the binding of a cluster that was not started, or finds it written already.
    fn start_cluster(
        &mut self,
        binding: usize,
        place: (usize, usize),
        cluster: &ClusterStatus,
    ) -> Result<ClusterResult, LookHalt> {
        let in_sync = self.is_binding_synced_with_cluster_status(binding, cluster);
        let snapshot = self.resource_snapshot_name();
        let strategy = self.state.run.status.apply_strategy.clone();
        let (run, index) = (
            &self.state.run.meta.name,
            &self.state.run.spec.snapshot_index,
        );
        let message = format!(
            "Detected the new changes on the resources and started the rollout process, \
             resourceSnapshotIndex: {index}, updateRun: {run}"
        );
        let now = self.state.now;
        let Some(binding) = self.state.bindings.items.get_mut(binding) else {
            return Ok(ClusterResult::Updating);
        };
        let is_bound = binding.spec.state == "Bound";
        let rolled_out = binding.current(reasons::ROLLOUT_STARTED);
        if in_sync && is_bound && rolled_out.is_some_and(Condition::is_true) {
            let fresh = rolled_out.is_some_and(|it| it.message == message && is_fresh(it, now));
            if fresh {
                return Ok(ClusterResult::Updating);
            }
            let binding = Arc::clone(binding);
            return Ok(self.judge(&binding, place));
        }
        if in_sync && is_bound && is_overtaken(binding) && !self.state.retried {
            let text = "the work generator wrote the binding in between";
            return Err(LookHalt::Retried(text.to_owned()));
        }
        let binding = Arc::make_mut(binding);
        if !in_sync || !is_bound {
            "Bound".clone_into(&mut binding.spec.state);
            binding.spec.snapshot = snapshot;
            binding.spec.overrides.clone_from(&cluster.overrides);
            binding
                .spec
                .cluster_overrides
                .clone_from(&cluster.cluster_overrides);
            binding.spec.apply_strategy = strategy;
            let generation = binding.meta.generation.unwrap_or(0);
            binding.meta.generation = Some(generation.saturating_add(1));
        }
        let written = (
            reasons::ROLLOUT_STARTED,
            ConditionStatus::True,
            reasons::ROLLOUT_STARTED,
            message.as_str(),
        );
        binding
            .status
            .conditions
            .retain(|it| it.kind != reasons::ROLLOUT_STARTED);
        let generation = binding.meta.generation;
        set_condition(&mut binding.status.conditions, written, generation, now);
        Ok(ClusterResult::Updating)
    }

    /// Whether the binding of a cluster in flight still is what the run wrote.
    fn holds(&self, at: usize, cluster: &ClusterStatus) -> bool {
        let Some(binding) = self.state.bindings.items.get(at) else {
            return false;
        };
        self.is_binding_synced_with_cluster_status(at, cluster)
            && binding.is_released()
            && binding.spec.state == "Bound"
    }

    fn preempted(&self, binding: usize, stage: &str, cluster: &str) -> String {
        let binding = self.state.bindings.items.get(binding);
        let key = binding.map_or("", |binding| binding.meta.name.as_str());
        let key = match self.state.scope.namespace() {
            "" => key.to_owned(),
            namespace => format!("{namespace}/{key}"),
        };
        let placement = match self.state.version {
            AgentVersion::V01 => "clusterResourcePlacement",
            _ => "placement",
        };
        format!(
            "{USER}the binding of the updating cluster `{cluster}` in the stage `{stage}` is not \
             up-to-date with the desired status, please check the status of binding `{key}` and \
             see if there is a concurrent updateRun referencing the same {placement} and updating \
             the same cluster"
        )
    }

    /// Whether nothing has to be written into a binding.
    /// Source: updaterun/execution.go:isBindingSyncedWithClusterStatus.
    fn is_binding_synced_with_cluster_status(&self, at: usize, cluster: &ClusterStatus) -> bool {
        let Some(binding) = self.state.bindings.items.get(at) else {
            return false;
        };
        let spec = &binding.spec;
        spec.snapshot == self.resource_snapshot_name()
            && spec.overrides == cluster.overrides
            && spec.cluster_overrides == cluster.cluster_overrides
            && spec.apply_strategy == self.state.run.status.apply_strategy
    }

    fn resource_snapshot_name(&self) -> String {
        let run = &self.state.run;
        let index: i64 = run.status.snapshot_index.parse().unwrap_or(0);
        names::master_snapshot(&run.spec.placement, &index.to_string())
    }

    /// Source: updaterun/execution.go:checkClusterUpdateResult.
    pub(super) fn check_cluster_update_result(
        &mut self,
        at: usize,
        place: (usize, usize),
    ) -> ClusterResult {
        match self.state.bindings.items.get(at).map(Arc::clone) {
            Some(binding) => self.judge(&binding, place),
            None => ClusterResult::Updating,
        }
    }

    fn judge(&mut self, binding: &Binding, place: (usize, usize)) -> ClusterResult {
        if binding.fulfilled().is_some() {
            let message = "Cluster update completed successfully";
            let (status, reason) = (ConditionStatus::True, "ClusterUpdatingSucceeded");
            self.mark_cluster(place, (reasons::SUCCEEDED, status, reason, message));
            return ClusterResult::Done;
        }
        let differs = binding.current(reasons::DIFF_REPORTED);
        let differs = differs.is_some_and(Condition::is_false);
        if differs || has_binding_failed(binding, self.state.version) {
            return ClusterResult::Erred(LookHalt::Retried(format!(
                "the cluster updating encountered an error at stage `{}`, updateRun := `{}`",
                self.stage_name(place.0),
                self.state.run.meta.name
            )));
        }
        ClusterResult::Updating
    }

    pub(super) fn is_stuck(&self, cluster: &ClusterStatus) -> bool {
        let since = cluster.conditions.since(reasons::STARTED);
        since.is_some_and(|since| {
            self.state.now.duration_since(since) > stuck_after(&self.state.run)
        })
    }

    pub(super) fn wait_for_cluster(&mut self, name: &str, since: Option<Timestamp>) {
        self.waits.push(AwaitedEvent::Cluster {
            cluster: name.to_owned(),
            stuck: since.and_then(|since| since.checked_add(stuck_after(&self.state.run)).ok()),
        });
    }

    /// The clusters are done: only the tasks after them are left.
    /// Source: updaterun/execution.go:handleStageCompletion.
    fn handle_stage_completion(&mut self, at: usize) -> Result<Requeue, LookHalt> {
        let name = self.stage_name(at);
        self.mark_update_run_waiting("after-stage", &name);
        let message =
            "All clusters in the stage are updated, waiting for after-stage tasks to complete";
        self.mark_stage_updating_waiting(at, message);
        if let Some(requeue) = self.check_after_stage_tasks_status(at)? {
            return Ok(requeue);
        }
        self.mark_update_run_progressing();
        self.mark_stage_updating_succeeded(at);
        Ok(Requeue::Backoff)
    }

    /// When to look again where tasks are outstanding; `None` when all are done.
    /// Source: updaterun/execution.go:checkAfterStageTasksStatus.
    fn check_after_stage_tasks_status(&mut self, at: usize) -> Result<Option<Requeue>, LookHalt> {
        let strategy = self.state.run.status.strategy.as_deref();
        let tasks = strategy.map_or_else(Vec::new, |strategy| match strategy.stages.get(at) {
            Some(stage) => stage.after.clone(),
            None => strategy.before_deletion.clone(),
        });
        let (mut passed, mut requeue) = (true, Requeue::After(STAGE_EVERY));
        for (nth, task) in tasks.iter().enumerate() {
            if task.is_approval() {
                passed &= self.handle_stage_approval_task(at, TaskTime::After, nth)?;
            } else if task.is_timed_wait() {
                let Some(until) = self.wait_ends(at, &task.wait) else {
                    return Err(LookHalt::Unknown("since when the stage waits".to_owned()));
                };
                if until > self.state.now {
                    passed = false;
                    requeue = Requeue::After(until.duration_since(self.state.now));
                    self.waits.push(AwaitedEvent::Timer { until });
                } else {
                    self.mark_after_stage_wait_time_elapsed(at, nth);
                }
            }
        }
        Ok((!passed).then_some(requeue))
    }

    /// When a timed wait ends: it counts from the stage's last transition.
    fn wait_ends(&self, at: usize, wait: &str) -> Option<Timestamp> {
        let progressing = self.stage(at)?.conditions.condition(reasons::PROGRESSING)?;
        progressing.since?.checked_add(duration::parse(wait)?).ok()
    }

    /// Asks for an approval, or takes it; whether it is there.
    /// Source: updaterun/execution.go:handleStageApprovalTask.
    fn handle_stage_approval_task(
        &mut self,
        at: usize,
        time: TaskTime,
        nth: usize,
    ) -> Result<bool, LookHalt> {
        let generation = self.generation();
        let Some(task) = self.task(at, time, nth).map(|task| task.clone()) else {
            return Err(LookHalt::Unknown(
                "the stage has no record of its task".to_owned(),
            ));
        };
        let approved = reasons::APPROVAL_REQUEST_APPROVED;
        if is_true(&task.conditions, approved, generation) {
            return Ok(true);
        }
        let created = "ApprovalRequest object is created";
        let reason = "StageTaskApprovalRequestCreated";
        let kind = reasons::APPROVAL_REQUEST_CREATED;
        self.mark_task((at, time, nth), kind, reason, created);
        let name = task.approval_request.clone();
        let (run, stage) = (self.state.run.meta.name.clone(), self.stage_name(at));
        let now = self.state.now;
        let mut requests = self.state.approvals.items.iter_mut();
        let Some(request) = requests.find(|it| it.meta.name == name) else {
            return self.create_approval_request(at, name);
        };
        if request.spec.run != run || request.spec.stage != stage {
            let namespace = &request.meta.namespace;
            let text = format!(
                "{UNEXPECTED}the approval request task `{namespace}/{name}` is targeting update \
                 run `{namespace}/{}` and stage `{}`, want target update run `{namespace}/{run} \
                 and stage `{stage}`",
                request.spec.run, request.spec.stage
            );
            return Err(aborted("FS209", &text));
        }
        if !request.is_accepted() && !request.counts() {
            let generation = request.meta.generation.unwrap_or(1);
            self.waits.push(AwaitedEvent::Approval {
                request: name,
                generation,
            });
            return Ok(false);
        }
        if !request.is_accepted() {
            let request = Arc::make_mut(request);
            let written = (
                reasons::APPROVAL_ACCEPTED,
                ConditionStatus::True,
                "ApprovalRequestApprovalAccepted",
                "The approval request has been approved and cannot be reverted",
            );
            let generation = request.meta.generation;
            set_condition(&mut request.status.conditions, written, generation, now);
        }
        let reason = "StageTaskApprovalRequestApproved";
        let message = "ApprovalRequest object is approved";
        self.mark_task((at, time, nth), approved, reason, message);
        Ok(true)
    }

    /// Source: updaterun/execution.go:buildApprovalRequestObject.
    fn create_approval_request(&mut self, at: usize, name: String) -> Result<bool, LookHalt> {
        known(&self.state.approvals)
            .map_err(|why| LookHalt::Unknown(format!("approval requests: {why}")))?;
        let request = ApprovalRequest {
            meta: ObjectMeta {
                name: name.clone(),
                namespace: self.state.scope.namespace().to_owned(),
                generation: Some(1),
                created: Some(self.state.now),
                ..ObjectMeta::default()
            },
            spec: ApprovalSpec {
                run: self.state.run.meta.name.clone(),
                stage: self.stage_name(at),
            },
            ..ApprovalRequest::default()
        };
        self.state.approvals.items.push(Arc::new(request));
        self.waits.push(AwaitedEvent::Approval {
            request: name,
            generation: 1,
        });
        Ok(false)
    }

    /// Takes the placement from the clusters of the delete stage; whether all are gone.
    /// Source: updaterun/execution.go:executeDeleteStage.
    fn execute_delete_stage(&mut self, bindings: &RunBindings) -> Result<bool, LookHalt> {
        let at = self.state.run.status.stages.len();
        self.mark_stage_updating_progress_started(at);
        let mut gone = self.leaving_clusters();
        for binding in &bindings.deleted {
            if let Some(place) = self.not_yet_deleted(*binding, &mut gone, "execution")? {
                let now = self.state.now;
                if let Some(binding) = self.state.bindings.items.get_mut(*binding) {
                    Arc::make_mut(binding).meta.deleted.get_or_insert(now);
                }
                self.mark_cluster_updating_started(at, place);
            }
        }
        for place in gone {
            self.mark_removed(at, place);
        }
        self.wait_for_removals(bindings);
        if bindings.deleted.is_empty() {
            self.mark_stage_updating_succeeded(at);
        }
        Ok(bindings.deleted.is_empty())
    }

    /// The clusters of the delete stage by their places.
    pub(super) fn leaving_clusters(&self) -> BTreeSet<usize> {
        let stage = self.state.run.status.deletion_stage.as_deref();
        (0..stage.map_or(0, |stage| stage.clusters.len())).collect()
    }

    /// The place of a binding's cluster in the delete stage, unless its deletion has begun. It is
    /// taken from those whose binding is gone.
    pub(super) fn not_yet_deleted(
        &self,
        binding: usize,
        gone: &mut BTreeSet<usize>,
        during: &str,
    ) -> Result<Option<usize>, LookHalt> {
        let generation = self.generation();
        let stage = self.state.run.status.deletion_stage.as_deref();
        let clusters = stage.map_or(&[][..], |stage| &stage.clusters);
        let unexpected = |text: &str| Err(aborted("FS304", &format!("{UNEXPECTED}{text}")));
        let Some(binding) = self.state.bindings.items.get(binding) else {
            return Ok(None);
        };
        let name = &binding.spec.cluster;
        let mut places = clusters.iter().enumerate();
        let found = places.find(|(place, it)| it.name == *name && gone.contains(place));
        let Some((place, cluster)) = found else {
            return unexpected(&format!(
                "the to be deleted cluster `{name}` is not in the deleting stage during {during}"
            ));
        };
        gone.remove(&place);
        if is_true(&cluster.conditions, reasons::SUCCEEDED, generation) {
            return unexpected(&format!(
                "the deleted cluster `{name}` in the deleting stage still has a binding"
            ));
        }
        if !is_true(&cluster.conditions, reasons::STARTED, generation) {
            return Ok(Some(place));
        }
        if !binding.meta.is_deleting() {
            return unexpected(&format!(
                "the cluster `{name}` in the deleting stage is marked as deleting but its \
                 corresponding binding is not deleting"
            ));
        }
        Ok(None)
    }

    /// A binding is gone: so is the placement from its cluster.
    pub(super) fn mark_removed(&mut self, at: usize, place: usize) {
        let generation = self.generation();
        let started = self
            .cluster(at, place)
            .is_some_and(|it| is_true(&it.conditions, reasons::STARTED, generation));
        if !started {
            self.mark_cluster_updating_started(at, place);
        }
        let message = "Cluster update completed successfully";
        let (status, reason) = (ConditionStatus::True, "ClusterUpdatingSucceeded");
        self.mark_cluster((at, place), (reasons::SUCCEEDED, status, reason, message));
    }

    pub(super) fn wait_for_removals(&mut self, bindings: &RunBindings) {
        let clusters = self.clusters_of(&bindings.deleted);
        let removals = clusters
            .into_iter()
            .map(|cluster| AwaitedEvent::Removal { cluster });
        self.waits.extend(removals);
    }

    /// Source: updaterun/execution.go:calculateMaxConcurrencyValue.
    pub(super) fn calculate_max_concurrency_value(&self, at: usize) -> Result<usize, LookHalt> {
        let status = &self.state.run.status;
        let clusters = status
            .stages
            .get(at)
            .map_or(0, |stage| stage.clusters.len());
        let stage = status.strategy.as_deref().and_then(|it| it.stages.get(at));
        let Some(stage) = stage else {
            return Err(LookHalt::Unknown(
                "the run has no record of the stage".to_owned(),
            ));
        };
        stage.concurrency(clusters).ok_or_else(|| {
            let value = &stage.max_concurrency;
            let text = format!(
                "invalid value for IntOrString: invalid type: string is not a percentage: {value}"
            );
            aborted("FS208", &text)
        })
    }

    /// Finds the stages of which the same fails once the run is initialized.
    pub(super) fn check_concurrency(&mut self) {
        for stage in 0..self.state.run.status.stages.len() {
            if let Err(LookHalt::Aborted(failure)) = self.calculate_max_concurrency_value(stage) {
                self.refuse(InputFault::MaxConcurrency { stage }, failure.message);
            }
        }
    }

    /// Source: updaterun/execution.go:aggregateUpdateRunStatus.
    pub(super) fn aggregate_update_run_status(&mut self, at: usize, stuck: &[String]) {
        if stuck.is_empty() {
            let runs = self.state.run.spec.state.as_deref() == Some("Run");
            if runs || self.state.version == AgentVersion::V01 {
                self.mark_update_run_progressing();
            }
            return;
        }
        let stage = self.stage_name(at);
        let message = if self.state.version == AgentVersion::V01 {
            format!(
                "The updateRun is stuck waiting for cluster(s) {} in stage {stage} to finish \
                 updating, please check placement status for potential errors",
                stuck.join(", ")
            )
        } else {
            let shown: Vec<_> = stuck.iter().take(3).map(String::as_str).collect();
            let more = if stuck.len() > shown.len() { "..." } else { "" };
            format!(
                "The updateRun is stuck waiting for {}{more} cluster(s) in stage {stage} to finish \
                 updating, please check placement status for potential errors",
                shown.join(", ")
            )
        };
        let status = ConditionStatus::False;
        self.mark_run(reasons::PROGRESSING, status, reasons::RUN_STUCK, &message);
    }

    fn binding_by_cluster(&self, bindings: &RunBindings) -> BTreeMap<String, usize> {
        let clusters = self.clusters_of(&bindings.updated);
        let clusters = clusters.into_iter();
        clusters.zip(bindings.updated.iter().copied()).collect()
    }
}

/// How long a look takes from its first write to its last.
const ONE_LOOK: SignedDuration = SignedDuration::from_secs(3);

/// Whether a look has written it that is still under way: it has not noted the start yet.
fn is_fresh(started: &Condition, now: Timestamp) -> bool {
    started
        .since
        .is_some_and(|since| now.duration_since(since) <= ONE_LOOK)
}

/// Whether the work generator was faster: it has put its finalizer on a binding that was written
/// for the first time, and the controller's write of `RolloutStarted` met a conflict. The look ends
/// with an error, and the next one starts the cluster.
fn is_overtaken(binding: &Binding) -> bool {
    let finalizers = &binding.meta.finalizers;
    finalizers.iter().any(|it| it == names::WORK_FINALIZER)
        && binding.condition(reasons::ROLLOUT_STARTED).is_none()
}

/// Source: utils/binding/binding.go:HasBindingFailed.
fn has_binding_failed(binding: &Binding, version: AgentVersion) -> bool {
    FAILURES.iter().any(|kind| {
        binding
            .current(kind)
            .is_some_and(|it| it.is_false() && !is_transient(it, version))
    })
}

/// Whether a condition that is False may pass. The work generator writes `NotAllWorkAreAvailable` where a
/// workload is not available yet, which is none of these. Seen on a hub.
pub(super) fn is_transient(condition: &Condition, version: AgentVersion) -> bool {
    version >= AgentVersion::Next && TRANSIENT.contains(&condition.reason.as_str())
}

/// The marks. Source: updaterun/execution.go:mark….
impl Reconciler {
    /// A stage by its place; the delete stage comes after the last one.
    pub(super) fn stage(&self, at: usize) -> Option<&StageStatus> {
        let status = &self.state.run.status;
        match status.stages.get(at) {
            Some(stage) => Some(stage),
            None => status.deletion_stage.as_deref(),
        }
    }

    fn stage_mut(&mut self, at: usize) -> Option<&mut StageStatus> {
        let status = &mut self.state.run.status;
        match status.stages.get_mut(at) {
            Some(stage) => Some(stage),
            None => status.deletion_stage.as_deref_mut(),
        }
    }

    pub(super) fn stage_name(&self, at: usize) -> String {
        self.stage(at)
            .map_or_else(String::new, |stage| stage.name.clone())
    }

    pub(super) fn cluster(&self, at: usize, nth: usize) -> Option<&ClusterStatus> {
        self.stage(at)?.clusters.get(nth)
    }

    fn task(&mut self, at: usize, time: TaskTime, nth: usize) -> Option<&mut TaskStatus> {
        let stage = self.stage_mut(at)?;
        match time {
            TaskTime::Before => stage.before.get_mut(nth),
            TaskTime::After => stage.after.get_mut(nth),
        }
    }

    pub(super) fn mark_stage(&mut self, at: usize, written: WrittenCondition<'_>) {
        let (generation, now) = (self.generation(), self.state.now);
        if let Some(stage) = self.stage_mut(at) {
            set_condition(&mut stage.conditions, written, generation, now);
        }
    }

    fn mark_cluster(&mut self, (at, nth): (usize, usize), written: WrittenCondition<'_>) {
        let (generation, now) = (self.generation(), self.state.now);
        let stage = self.stage_mut(at);
        if let Some(cluster) = stage.and_then(|stage| stage.clusters.get_mut(nth)) {
            set_condition(&mut cluster.conditions, written, generation, now);
        }
    }

    fn mark_task(
        &mut self,
        (at, time, nth): (usize, TaskTime, usize),
        kind: &str,
        reason: &str,
        message: &str,
    ) {
        let (generation, now) = (self.generation(), self.state.now);
        let written = (kind, ConditionStatus::True, reason, message);
        if let Some(task) = self.task(at, time, nth) {
            set_condition(&mut task.conditions, written, generation, now);
        }
    }

    fn mark_update_run_progressing(&mut self) {
        let (reason, message) = ("UpdateRunProgressing", "The update run is making progress");
        self.mark_run(reasons::PROGRESSING, ConditionStatus::True, reason, message);
    }

    fn mark_update_run_progressing_if_not_waiting_or_stuck(&mut self) {
        let generation = self.generation();
        let conditions = &self.state.run.status.conditions;
        let rests = is_false(conditions, reasons::PROGRESSING, generation)
            && conditions
                .condition(reasons::PROGRESSING)
                .is_some_and(|it| {
                    it.reason == reasons::RUN_WAITING || it.reason == reasons::RUN_STUCK
                });
        if !rests {
            self.mark_update_run_progressing();
        }
    }

    fn mark_update_run_waiting(&mut self, when: &str, stage: &str) {
        let message =
            format!("The updateRun is waiting for {when} tasks in stage {stage} to complete");
        let status = ConditionStatus::False;
        self.mark_run(reasons::PROGRESSING, status, reasons::RUN_WAITING, &message);
    }

    fn mark_stage_updating_progress_started(&mut self, at: usize) {
        let now = self.state.now;
        if let Some(stage) = self.stage_mut(at) {
            stage.started.get_or_insert(now);
        }
        let message = "Clusters in the stage started updating";
        let (yes, reason) = (ConditionStatus::True, "StageUpdatingStarted");
        self.mark_stage(at, (reasons::PROGRESSING, yes, reason, message));
    }

    fn mark_stage_updating_waiting(&mut self, at: usize, message: &str) {
        let (status, reason) = (ConditionStatus::False, reasons::STAGE_WAITING);
        self.mark_stage(at, (reasons::PROGRESSING, status, reason, message));
    }

    fn end_stage(&mut self, at: usize) {
        let now = self.state.now;
        if let Some(stage) = self.stage_mut(at) {
            stage.ended.get_or_insert(now);
        }
    }

    fn mark_stage_updating_succeeded(&mut self, at: usize) {
        self.end_stage(at);
        let reason = "StageUpdatingSucceeded";
        let done = "All clusters in the stage are updated and after-stage tasks are completed";
        let well = "Stage update completed successfully";
        let (yes, no) = (ConditionStatus::True, ConditionStatus::False);
        self.mark_stage(at, (reasons::PROGRESSING, no, reason, done));
        self.mark_stage(at, (reasons::SUCCEEDED, yes, reason, well));
    }

    fn mark_stage_updating_skipped(&mut self, at: usize) {
        let now = self.state.now;
        if let Some(stage) = self.stage_mut(at) {
            stage.started.get_or_insert(now);
        }
        self.end_stage(at);
        let reason = reasons::STAGE_SKIPPED;
        let message = "Stage skipped because it has no clusters";
        let (yes, no) = (ConditionStatus::True, ConditionStatus::False);
        self.mark_stage(at, (reasons::PROGRESSING, no, reason, message));
        self.mark_stage(at, (reasons::SUCCEEDED, yes, reason, message));
    }

    fn mark_cluster_updating_started(&mut self, at: usize, nth: usize) {
        let (reason, message) = ("ClusterUpdatingStarted", "Cluster update started");
        let status = ConditionStatus::True;
        self.mark_cluster((at, nth), (reasons::STARTED, status, reason, message));
    }

    fn mark_after_stage_wait_time_elapsed(&mut self, at: usize, nth: usize) {
        let (reason, message) = ("AfterStageTaskWaitTimeElapsed", "Wait time elapsed");
        let kind = reasons::WAIT_TIME_ELAPSED;
        self.mark_task((at, TaskTime::After, nth), kind, reason, message);
    }
}
