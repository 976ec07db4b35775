//! Puts a [`Rollout`] together from an inventory.

use jiff::Timestamp;

use super::cluster::ClusterView;
use super::progress::{
    ClusterProgress, ClusterState, Progress, StageProgress, StageState, TaskProgress, TaskState,
    TaskTime,
};
use super::{Gate, Rollout, StageView, ignores_state, phase};
use crate::inventory::Inventory;
use crate::kubefleet::run::{StageStatus, TaskStatus, UpdateRun};
use crate::kubefleet::strategy::{Stage, Task};
use crate::kubefleet::{Conditions, duration, names, reasons};

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
        let mut stages: Vec<_> = run
            .status
            .stages
            .iter()
            .enumerate()
            .map(|(at, status)| stage(inventory, run, status, specs.get(at), false))
            .collect();
        if let Some(deletion) = run.status.deletion_stage.as_deref() {
            stages.push(stage(inventory, run, deletion, None, true));
        }
        Self {
            phase,
            run,
            stages,
            now: inventory.now,
            state_ignored,
        }
    }

    /// How far the run has come.
    pub fn progress(&self) -> Progress {
        let stages: Vec<_> = self
            .stages
            .iter()
            .filter(|stage| !stage.deletes || !stage.clusters.is_empty())
            .map(StageView::progress)
            .collect();
        let clusters = || stages.iter().flat_map(|stage| &stage.clusters);
        let index = &self.run.status.snapshot_index;
        Progress {
            placement: self.run.spec.placement.clone(),
            strategy: self.run.spec.strategy.clone(),
            snapshot: (!index.is_empty()).then(|| index.clone()),
            done: clusters()
                .filter(|cluster| cluster.state == ClusterState::Done)
                .count(),
            total: clusters().count(),
            stages,
        }
    }
}

fn stage<'i>(
    inventory: &'i Inventory,
    run: &'i UpdateRun,
    status: &'i StageStatus,
    spec: Option<&'i Stage>,
    deletes: bool,
) -> StageView<'i> {
    let mut gates = Vec::new();
    for (time, tasks, specs) in [
        (
            TaskTime::Before,
            &status.before,
            spec.map(|spec| &spec.before),
        ),
        (TaskTime::After, &status.after, spec.map(|spec| &spec.after)),
    ] {
        for (at, task) in tasks.iter().enumerate() {
            let spec = specs.and_then(|specs| specs.get(at));
            gates.push(gate(inventory, status, time, task, spec));
        }
    }
    let concurrency = if deletes {
        status.clusters.len().max(1)
    } else {
        spec.and_then(|spec| spec.concurrency(status.clusters.len()))
            .unwrap_or(1)
    };
    let clusters = status
        .clusters
        .iter()
        .map(|cluster| ClusterView::new(inventory, run, status, cluster))
        .collect();
    let over = run.status.conditions.is_false(reasons::SUCCEEDED);
    let state = match stage_state(status, &gates) {
        // The run ended here; a check that fails leaves the stage's own condition as it was.
        state if over && !state.is_settled() => StageState::Failed,
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

fn stage_state(status: &StageStatus, gates: &[Gate<'_>]) -> StageState {
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
        return StageState::Pending;
    };
    match progressing.reason.as_str() {
        reasons::STAGE_WAITING => {
            let before = gates
                .iter()
                .any(|gate| gate.time == TaskTime::Before && gate.state == TaskState::Open);
            if before {
                StageState::WaitingBefore
            } else {
                StageState::WaitingAfter
            }
        }
        "StageUpdatingStopping" => StageState::Stopping,
        "StageUpdatingStopped" => StageState::Stopped,
        "StageUpdatingFailed" => StageState::Failed,
        "StageUpdatingSucceeded" => StageState::Done,
        reasons::STAGE_SKIPPED => StageState::Skipped,
        _ => StageState::Updating,
    }
}

fn gate<'i>(
    inventory: &Inventory,
    stage: &'i StageStatus,
    time: TaskTime,
    task: &'i TaskStatus,
    spec: Option<&Task>,
) -> Gate<'i> {
    let is = |kind| task.conditions.is_true(kind);
    // The wait runs from the moment at which the stage began to wait.
    // Source: updaterun/execution.go:checkAfterStageTasksStatus.
    let waiting_since = stage
        .conditions
        .condition(reasons::PROGRESSING)
        .filter(|progressing| progressing.reason == reasons::STAGE_WAITING)
        .filter(|_| time == TaskTime::Before || is_past_before_tasks(stage))
        .and_then(|progressing| progressing.since);
    let state = if task.is_approval() {
        match (
            is(reasons::APPROVAL_REQUEST_APPROVED),
            is(reasons::APPROVAL_REQUEST_CREATED),
        ) {
            (true, _) => TaskState::Done,
            (false, true) => TaskState::Open,
            (false, false) => TaskState::Pending,
        }
    } else if is(reasons::WAIT_TIME_ELAPSED) {
        TaskState::Done
    } else if waiting_since.is_some() {
        TaskState::Open
    } else {
        TaskState::Pending
    };
    Gate {
        stage: &stage.name,
        time,
        task,
        state,
        request: task
            .is_approval()
            .then(|| inventory.approval(&task.approval_request)),
        wait: spec.and_then(|spec| duration::parse(&spec.wait)),
        waiting_since: waiting_since.filter(|_| task.is_timed_wait()),
    }
}

/// Whether the tasks before the clusters are done: a stage that waits for one of them has the same
/// reason as one that waits for those after its clusters.
fn is_past_before_tasks(stage: &StageStatus) -> bool {
    stage
        .before
        .iter()
        .all(|task| task.conditions.is_true(reasons::APPROVAL_REQUEST_APPROVED))
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

    fn progress(&self) -> StageProgress {
        StageProgress {
            name: self.status.name.clone(),
            deletes: self.deletes,
            state: self.state,
            max_concurrency: self.concurrency,
            clusters: self.clusters.iter().map(cluster_progress).collect(),
            tasks: self.gates.iter().map(task_progress).collect(),
            started: self.status.started,
            ended: self.status.ended,
        }
    }
}

fn cluster_progress(cluster: &ClusterView<'_>) -> ClusterProgress {
    ClusterProgress {
        name: cluster.name.to_owned(),
        state: cluster.state,
        snapshot: cluster
            .binding
            .and_then(|binding| binding.snapshot_index())
            .map(str::to_owned),
        started: cluster.started,
        ended: cluster.ended,
    }
}

fn task_progress(gate: &Gate<'_>) -> TaskProgress {
    TaskProgress {
        when: gate.time,
        kind: gate.task.kind.clone(),
        state: gate.state,
        approval_request: gate
            .task
            .is_approval()
            .then(|| gate.task.approval_request.clone()),
        until: gate
            .until()
            .filter(|_: &Timestamp| gate.state == TaskState::Open),
    }
}
