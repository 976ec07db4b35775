//! Puts a [`Rollout`] together from an inventory.

use jiff::Timestamp;

use super::approvals::gate_facts;
use super::cluster::{ClusterTurn, ClusterView};
use super::sent::sent_before_change;
use super::{
    ClusterProgress, ClusterState, Gate, Phase, Rollout, StageProgress, StageState, StageView,
    TaskState, TaskTime, ignores_state, is_resumed, phase,
};
use crate::inventory::{Inventory, Sight};
use crate::kubefleet::binding::Binding;
use crate::kubefleet::run::{ClusterStatus, StageStatus, TaskStatus, UpdateRun};
use crate::kubefleet::strategy::{Stage, Task};
use crate::kubefleet::{Conditions, names, reasons};

impl<'i> Rollout<'i> {
    /// Understands the run of an inventory; `None` when there is none.
    pub fn new(inventory: &'i Inventory) -> Option<Self> {
        let run = inventory.run.present()?;
        Some(Self::of(inventory, run))
    }

    /// Understands one of the runs on the inventory's placement.
    pub fn of(inventory: &'i Inventory, run: &'i UpdateRun) -> Self {
        let state_ignored = ignores_state(inventory, run);
        let phase = phase(run, state_ignored);
        let specs = run
            .status
            .strategy
            .as_deref()
            .map_or(&[][..], |strategy| &strategy.stages);
        let current = (phase == Phase::Executing && is_taken_up(run))
            .then(|| run.status.stages.iter().position(|stage| !stage.is_done()))
            .flatten();
        let stages = run.status.stages.iter().enumerate().map(|(at, status)| {
            let current = current == Some(at);
            stage(inventory, run, (status, specs.get(at)), false, current)
        });
        let mut stages: Vec<_> = stages.collect();
        if let Some(deletion) = run.status.deletion_stage.as_deref() {
            stages.push(stage(inventory, run, (deletion, None), true, false));
        }
        let mut rollout = Self {
            inventory,
            phase,
            run,
            stages,
            now: inventory.now,
            state_ignored,
            sees_bindings: inventory.bindings.is_complete(),
        };
        rollout.release_recovered();
        rollout
    }

    /// A cluster whose binding says that it is done is stuck no more, nor one to be left whose binding is gone.
    fn release_recovered(&mut self) {
        let is_done = |stage: &StageView<'_>, cluster: &ClusterView<'_>| {
            if stage.deletes {
                cluster.binding.is_none() && self.sees_bindings
            } else {
                self.has_recovered(cluster)
            }
        };
        let all = self.stages.iter();
        let all = all.flat_map(|stage| stage.clusters.iter().map(move |it| (stage, it)));
        let recovered =
            all.map(|(stage, it)| it.state == ClusterState::Stuck && is_done(stage, it));
        let recovered: Vec<_> = recovered.collect();
        let stages = self.stages.iter_mut();
        let clusters = stages.flat_map(|stage| &mut stage.clusters).zip(recovered);
        for (cluster, _) in clusters.filter(|(_, recovered)| *recovered) {
            cluster.state = ClusterState::Updating;
        }
    }

    /// Its stages; the deletion stage comes last, if it has clusters or gates.
    pub fn progress(&self) -> Vec<StageProgress> {
        let stages = self.stages.iter();
        stages
            .filter(|stage| !stage.deletes || !stage.clusters.is_empty() || !stage.gates.is_empty())
            .map(|stage| StageProgress {
                name: stage.status.name.clone(),
                deletes: stage.deletes,
                state: stage.state,
                concurrency: stage.concurrency,
                done: stage.done(),
                total: stage.clusters.len(),
                clusters: stage
                    .clusters
                    .iter()
                    .map(|it| cluster_progress(self, it))
                    .collect(),
                gates: stage
                    .gates
                    .iter()
                    .map(|gate| gate_facts(self, gate))
                    .collect(),
                started: stage.status.started,
                ended: stage.status.ended,
                ends: None,
            })
            .collect()
    }
}

/// Whether the controller works on the run's clusters: it says so, or that some do not finish.
fn is_taken_up(run: &UpdateRun) -> bool {
    run.condition(reasons::PROGRESSING)
        .is_some_and(|progressing| {
            progressing.is_true() || progressing.reason == reasons::RUN_STUCK
        })
}

fn stage<'i>(
    inventory: &'i Inventory,
    run: &'i UpdateRun,
    (status, spec): (&'i StageStatus, Option<&'i Stage>),
    deletes: bool,
    current: bool,
) -> StageView<'i> {
    let mut gates = Vec::new();
    let strategy = run.status.strategy.as_deref();
    // The tasks of the deletion stage are noted as those after it, and come before it.
    let (before, after) = if deletes {
        let specs = strategy.map(|strategy| &strategy.before_deletion);
        ((&status.after, specs), (&status.before, None))
    } else {
        (
            (&status.before, spec.map(|spec| &spec.before)),
            (&status.after, spec.map(|spec| &spec.after)),
        )
    };
    for (time, (tasks, specs)) in [(TaskTime::Before, before), (TaskTime::After, after)] {
        for (at, task) in tasks.iter().enumerate() {
            let spec = specs.and_then(|specs| specs.get(at));
            let gate = gate(inventory, (run, status), time, task, spec);
            gates.push(Gate {
                of_removal: deletes,
                ..gate
            });
        }
    }
    let concurrency = if deletes {
        status.clusters.len().max(1)
    } else {
        spec.and_then(|spec| spec.concurrency(status.clusters.len()))
            .unwrap_or(1)
    };
    let open = gates
        .iter()
        .filter(|gate| gate.time == TaskTime::Before)
        .all(|gate| gate.state == TaskState::Done)
        && spec.is_none_or(|spec| spec.before.len() <= status.before.len());
    let reached = (current && open).then(|| reached(run, status));
    let clusters = status.clusters.iter().enumerate().map(|(at, cluster)| {
        let turn = reached.and_then(|reached| turn(status, at, concurrency, reached));
        ClusterView::new(inventory, run, status, cluster, turn)
    });
    let clusters: Vec<_> = clusters.collect();
    let over = run.status.conditions.is_false(reasons::SUCCEEDED);
    let state = match stage_state(run, status, &gates) {
        // The run ended here; a check that fails leaves the stage's own condition as it was.
        state if over => state.aborted(),
        // The stage notes that it is updated together with the first start that is noted.
        StageState::NotReached | StageState::WaitingAfter
            if clusters.iter().any(|cluster| cluster.unnoted) =>
        {
            StageState::Updating
        }
        state => state,
    };
    StageView {
        status,
        spec,
        deletes,
        state,
        concurrency,
        gates,
        clusters,
    }
}

/// Since when the run is at a stage: the last of what had to come before. `None` when nothing of
/// it has a time.
fn reached(run: &UpdateRun, stage: &StageStatus) -> Option<Timestamp> {
    let progressing = run
        .condition(reasons::PROGRESSING)
        .filter(|progressing| progressing.is_true())
        .and_then(|progressing| progressing.since);
    let before = run.status.stages.iter();
    let before = before
        .take_while(|other| other.name != stage.name)
        .filter_map(|other| other.ended);
    let approved = |task: &TaskStatus| task.conditions.since(reasons::APPROVAL_REQUEST_APPROVED);
    let approved = stage.before.iter().filter_map(approved);
    before
        .chain(approved)
        .chain(progressing)
        .chain(stage.started)
        .max()
}

/// The turn of a stage's cluster: the clusters before it that are not done leave it a slot, which
/// became free when enough of them were.
/// Source: updaterun/execution.go:executeUpdatingStage.
fn turn(
    stage: &StageStatus,
    at: usize,
    slots: usize,
    reached: Option<Timestamp>,
) -> Option<ClusterTurn> {
    let earlier = stage.clusters.get(..at)?;
    let mut ended: Vec<_> = earlier
        .iter()
        .filter(|cluster| cluster.is_done())
        .map(|cluster| cluster.conditions.since(reasons::SUCCEEDED))
        .collect();
    if earlier.len().saturating_sub(ended.len()) >= slots {
        return None;
    }
    ended.sort_unstable();
    let freed = at
        .checked_sub(slots)
        .and_then(|nth| ended.get(nth).copied().flatten());
    Some(ClusterTurn {
        since: reached.max(freed),
    })
}

fn stage_state(run: &UpdateRun, status: &StageStatus, gates: &[Gate<'_>]) -> StageState {
    if let Some(succeeded) = status.conditions.condition(reasons::SUCCEEDED) {
        if succeeded.is_true() {
            return if succeeded.reason == reasons::STAGE_SKIPPED {
                StageState::Skipped
            } else {
                StageState::Done
            };
        }
        if succeeded.is_false() {
            return StageState::Failed;
        }
    }
    let Some(progressing) = status.conditions.condition(reasons::PROGRESSING) else {
        return StageState::NotReached;
    };
    match progressing.reason.as_str() {
        reasons::STAGE_WAITING => {
            let before = gates
                .iter()
                .any(|gate| gate.time == TaskTime::Before && gate.state == TaskState::Open);
            // A gate that was passed leaves the condition as it was until a cluster is started.
            if before {
                StageState::WaitingBefore
            } else if is_past_clusters(status) {
                StageState::WaitingAfter
            } else {
                StageState::Updating
            }
        }
        // A resume changes the run's condition, and that of the stage once a cluster is started.
        // Source: updaterun/execution.go:markStageUpdatingProgressStarted.
        "StageUpdatingStopping" | reasons::STAGE_STOPPED if is_resumed(run) => StageState::Updating,
        "StageUpdatingStopping" => StageState::Stopping,
        reasons::STAGE_STOPPED => StageState::Stopped,
        "StageUpdatingFailed" => StageState::Failed,
        "StageUpdatingSucceeded" => StageState::Done,
        reasons::STAGE_SKIPPED => StageState::Skipped,
        _ => StageState::Updating,
    }
}

fn gate<'i>(
    inventory: &Inventory,
    (run, stage): (&UpdateRun, &'i StageStatus),
    time: TaskTime,
    task: &'i TaskStatus,
    spec: Option<&'i Task>,
) -> Gate<'i> {
    let is = |kind| task.conditions.is_true(kind);
    // The wait runs from the moment at which the stage began to wait.
    // Source: updaterun/execution.go:checkAfterStageTasksStatus.
    let progressing = stage.conditions.condition(reasons::PROGRESSING);
    let since = |reason| progressing.filter(|it| it.reason == reason)?.since;
    let waiting_since = since(reasons::STAGE_WAITING)
        .filter(|_| time == TaskTime::Before || is_past_clusters(stage));
    // After a stop the wait is counted from that again, elapsed or not.
    let elapsed = task.conditions.since(reasons::WAIT_TIME_ELAPSED);
    let restarts = !stage.is_done() && progressing.is_some_and(|it| it.since > elapsed);
    let state = if task.is_approval() {
        match (
            is(reasons::APPROVAL_REQUEST_APPROVED),
            is(reasons::APPROVAL_REQUEST_CREATED),
        ) {
            (true, _) => TaskState::Done,
            // A newer agent skips a stage whose approval an older one asked for.
            (false, true) if !stage.is_done() => TaskState::Open,
            (false, _) => TaskState::NotReached,
        }
    } else if is(reasons::WAIT_TIME_ELAPSED) && !restarts {
        TaskState::Done
    } else if waiting_since.is_some() {
        TaskState::Open
    } else {
        TaskState::NotReached
    };
    // A resume goes from one reason to another of the same status, and keeps the time.
    // Source: updaterun/stop.go:markStageUpdatingStopped.
    let stopped_since = since(reasons::STAGE_STOPPED)
        .filter(|_| time == TaskTime::After && task.is_timed_wait())
        .filter(|_| state == TaskState::NotReached && is_past_clusters(stage));
    let request = task
        .is_approval()
        .then(|| inventory.approval(&task.approval_request));
    let present = request.as_ref().and_then(Sight::present);
    Gate {
        stage: &stage.name,
        time,
        task,
        state,
        foreign: present.is_some_and(|request| !request.is_for(&run.meta.name, &stage.name)),
        request,
        wait_text: spec.map(|spec| spec.wait.as_str()),
        waiting_since: waiting_since.filter(|_| task.is_timed_wait()),
        stopped_since,
        of_removal: false,
    }
}

/// Whether the stage's clusters are done: a stage that waits before them has the same reason as one
/// that waits after them.
fn is_past_clusters(stage: &StageStatus) -> bool {
    let approved = |task: &TaskStatus| task.conditions.is_true(reasons::APPROVAL_REQUEST_APPROVED);
    stage.before.iter().all(approved) && stage.clusters.iter().all(ClusterStatus::is_done)
}

impl StageView<'_> {
    /// The name to show: KubeFleet's own for the deletion stage is a label.
    pub fn name(&self) -> &str {
        if self.status.name == names::DELETE_STAGE {
            "deletion"
        } else {
            &self.status.name
        }
    }

    /// How many of its clusters are done.
    pub fn done(&self) -> usize {
        let clusters = self.clusters.iter();
        clusters
            .filter(|cluster| cluster.state == ClusterState::Done)
            .count()
    }
}

/// The facts of a cluster. Of what another run wrote no more is said than its binding has: that run may not
/// have been read.
fn cluster_progress(rollout: &Rollout<'_>, cluster: &ClusterView<'_>) -> ClusterProgress {
    let name = |binding: &Binding| {
        let sent = sent_before_change(rollout.inventory, binding);
        let own = sent.filter(|run| run.meta.name == rollout.run.meta.name);
        let sent = own.map(|run| run.status.snapshot_index.as_str());
        sent.or_else(|| binding.snapshot_index()).map(str::to_owned)
    };
    ClusterProgress {
        name: cluster.name.to_owned(),
        state: cluster.state,
        snapshot: cluster.binding.and_then(name),
        started: cluster.started,
        ended: cluster.ended,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rollout::life::tests::{inventory, placement, run};

    #[test]
    fn a_resume_ends_the_stop_of_a_stage_whose_condition_is_left_as_it_was() {
        use StageState::{Stopped, Stopping, Updating};
        for (of_run, of_stage, wanted) in [
            ("UpdateRunStopping", "StageUpdatingStopping", Stopping),
            ("UpdateRunStopped", "StageUpdatingStopped", Stopped),
            ("UpdateRunProgressing", "StageUpdatingStopping", Updating),
            ("UpdateRunStuck", "StageUpdatingStopping", Updating),
            ("UpdateRunProgressing", "StageUpdatingStopped", Updating),
        ] {
            let mut web = run("web", "0", [Some(8_000), Some(8_001), Some(8_002), None]);
            web["status"]["conditions"][1]["reason"] = json!(of_run);
            web["status"]["stagesStatus"][0]["conditions"] =
                json!([{"type": "Progressing", "status": "Unknown", "reason": of_stage}]);
            let inventory = inventory(&[placement(), web]);
            let rollout = Rollout::of(&inventory, inventory.run_on("web").unwrap());
            assert_eq!(rollout.stages[0].state, wanted, "{of_run} {of_stage}");
        }
    }
}
