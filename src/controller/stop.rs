//! Lets what is under way end and begins nothing. Mirrors updaterun/stop.go, which came with 0.2.

use super::execution::ClusterResult;
use super::failure::{LookHalt, UNEXPECTED, aborted, aggregate};
use super::pace::{LOOK_EVERY, Requeue};
use super::reconcile::{Reconciler, RunBindings};
use super::state::{is_false, is_true};
use crate::kubefleet::{ConditionStatus, Conditions, reasons};

impl Reconciler {
    /// Source: updaterun/stop.go:stop.
    pub(super) fn stop(
        &mut self,
        stage: usize,
        bindings: &RunBindings,
    ) -> Result<(bool, Requeue), LookHalt> {
        let message = "The update run is the process of stopping, waiting for all the \
                       updating/deleting clusters to finish updating before completing the stop \
                       process";
        let status = ConditionStatus::Unknown;
        self.mark_run(reasons::PROGRESSING, status, reasons::RUN_STOPPING, message);
        self.mark_stage_updating_stopping(stage);
        let stopped = if stage < self.state.run.status.stages.len() {
            self.stop_updating_stage(stage, bindings)
        } else {
            self.stop_delete_stage(bindings)
        };
        let ended = stopped.map(|stopped| (stopped, Requeue::After(LOOK_EVERY)));
        self.fail_stage_of(stage, ended)
    }

    /// Source: updaterun/stop.go:stopUpdatingStage.
    fn stop_updating_stage(&mut self, at: usize, bindings: &RunBindings) -> Result<bool, LookHalt> {
        let generation = self.generation();
        let stage = self.stage_name(at);
        let total = self.stage(at).map_or(0, |stage| stage.clusters.len());
        let names = self.clusters_of(&bindings.updated);
        let (mut updating, mut stuck, mut errors) = (false, Vec::new(), Vec::new());
        for nth in 0..total {
            let Some(cluster) = self.cluster(at, nth).cloned() else {
                break;
            };
            let conditions = &cluster.conditions;
            if !is_true(conditions, reasons::STARTED, generation)
                || is_true(conditions, reasons::SUCCEEDED, generation)
                || is_false(conditions, reasons::SUCCEEDED, generation)
            {
                continue;
            }
            let place = names.iter().position(|name| *name == cluster.name);
            let Some(binding) = place.and_then(|place| bindings.updated.get(place)) else {
                let text = format!(
                    "{UNEXPECTED}the binding for cluster `{}` in stage `{stage}` is not found in \
                     the toBeUpdatedBindings map during stopping",
                    cluster.name
                );
                errors.push(aborted("FS303", &text));
                continue;
            };
            match self.check_cluster_update_result(*binding, (at, nth)) {
                ClusterResult::Done => continue,
                ClusterResult::Erred(halt) => errors.push(halt),
                ClusterResult::Updating => {}
            }
            updating = true;
            let started = conditions.since(reasons::STARTED);
            self.wait_for_cluster(&cluster.name, started);
            if self.is_stuck(&cluster) {
                stuck.push(cluster.name.clone());
            }
        }
        self.aggregate_update_run_status(at, &stuck);
        if let Some(halt) = aggregate(errors) {
            return Err(halt);
        }
        if !updating {
            self.mark_stage_updating_stopped(at);
        }
        Ok(!updating)
    }

    /// Source: updaterun/stop.go:stopDeleteStage.
    fn stop_delete_stage(&mut self, bindings: &RunBindings) -> Result<bool, LookHalt> {
        let generation = self.generation();
        let at = self.state.run.status.stages.len();
        if self.is_before_delete_tasks(at) {
            self.mark_stage_updating_stopped(at);
            return Ok(true);
        }
        let mut gone = self.leaving_clusters();
        for binding in &bindings.deleted {
            self.not_yet_deleted(*binding, &mut gone, "stopping")?;
        }
        for place in gone {
            self.mark_removed(at, place);
        }
        self.wait_for_removals(bindings);
        let mut clusters = self.stage(at).into_iter().flat_map(|stage| &stage.clusters);
        let leaving = clusters.any(|cluster| {
            is_true(&cluster.conditions, reasons::STARTED, generation)
                && !is_true(&cluster.conditions, reasons::SUCCEEDED, generation)
        });
        if !leaving {
            self.mark_stage_updating_stopped(at);
        }
        Ok(bindings.deleted.is_empty())
    }

    fn mark_stage_updating_stopping(&mut self, at: usize) {
        let message = "Waiting for all the updating clusters to finish updating before completing \
                       the stop process";
        let (status, reason) = (ConditionStatus::Unknown, "StageUpdatingStopping");
        self.mark_stage(at, (reasons::PROGRESSING, status, reason, message));
    }

    fn mark_stage_updating_stopped(&mut self, at: usize) {
        let message = "All the updating clusters have finished updating, the stage is now \
                       stopped, waiting to be resumed";
        let (status, reason) = (ConditionStatus::False, reasons::STAGE_STOPPED);
        self.mark_stage(at, (reasons::PROGRESSING, status, reason, message));
    }
}
