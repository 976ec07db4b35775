//! Whether a run can go on, and with which stage. Mirrors updaterun/validation.go.

use std::collections::BTreeSet;

use super::failure::{LookHalt, UNEXPECTED, USER, aborted};
use super::reconcile::{Reconciler, RunBindings};
use super::state::{is_false, is_true, known};
use crate::kubefleet::run::StageStatus;
use crate::kubefleet::{Conditions, reasons};
use crate::rollout::AgentVersion;

/// What the check of the stages found so far, by their places.
#[derive(Default)]
struct FoundStages {
    updating: Option<usize>,
    finished: Option<usize>,
}

impl FoundStages {
    /// The place after the last finished stage.
    fn next(&self) -> usize {
        self.finished
            .map_or(0, |finished| finished.saturating_add(1))
    }

    /// `lastFinishedStageIndex`, as messages have it.
    fn last(&self) -> String {
        self.finished.map_or("-1".to_owned(), |at| at.to_string())
    }
}

impl Reconciler {
    /// The stage that is updated next (the number of stages means the delete stage, `None` that all
    /// are done) and the bindings. Source: updaterun/validation.go:validate.
    pub(super) fn validate(&mut self) -> Result<(Option<usize>, RunBindings), LookHalt> {
        let placement = self.validate_placement();
        let placement = self.passed(placement)?;
        let latest = placement.apply_strategy();
        // A run without a record of it was not written by the controller.
        let recorded = self.state.run.status.apply_strategy.as_deref();
        if recorded.is_some_and(|recorded| recorded.with_defaults() != latest) {
            let text = format!(
                "{USER}the applyStrategy in the updateRun is outdated, latest: {latest:?}, \
                 recorded: {recorded:?}"
            );
            return Err(aborted("FS201", &text));
        }
        let policy = self.determine_policy_snapshot();
        let policy = self.passed(policy)?;
        let status = &self.state.run.status;
        if status.policy_index != policy.index {
            let text = format!(
                "the policy snapshot index used in the updateRun is outdated, latest: {}, \
                 recorded: {}",
                policy.index, status.policy_index
            );
            return Err(aborted("FS202", &text));
        }
        if policy.clusters != -1 && status.policy_cluster_count.unwrap_or(0) != policy.clusters {
            let text = format!(
                "the cluster count initialized in the updateRun is outdated, latest: {}, \
                 recorded: {}",
                policy.clusters,
                status.policy_cluster_count.unwrap_or(0)
            );
            return Err(aborted("FS203", &text));
        }
        let (bindings, _) = self.collect_scheduled_clusters(Some(&policy));
        self.halt_at_first()?;
        let stage = self.validate_stages_status(&bindings)?;
        Ok((stage, bindings))
    }

    /// The same without a look at anything but the run and its bindings.
    pub(super) fn trust(&self) -> Result<(Option<usize>, RunBindings), LookHalt> {
        let status = &self.state.run.status;
        let mut found = FoundStages::default();
        for (at, stage) in status.stages.iter().enumerate() {
            self.validate_cluster_updating_status(at, &mut found, stage, usize::MAX)?;
        }
        if self.state.run.in_flight().next().is_some() {
            let unknown = |why| LookHalt::Unknown(format!("bindings: {why}"));
            known(&self.state.bindings).map_err(unknown)?;
        }
        let own = |stages: &[StageStatus]| {
            let clusters = stages.iter().flat_map(|stage| &stage.clusters);
            let clusters: BTreeSet<_> = clusters.map(|it| it.name.as_str()).collect();
            let bindings = self.state.bindings.items.iter().enumerate();
            bindings
                .filter(|(_, it)| clusters.contains(it.spec.cluster.as_str()))
                .map(|(at, _)| at)
                .collect()
        };
        let bindings = RunBindings {
            updated: own(&status.stages),
            deleted: status
                .deletion_stage
                .as_deref()
                .map_or_else(Vec::new, |stage| own(std::slice::from_ref(stage))),
        };
        let stage = self.validate_delete_stage_status(&found, &bindings)?;
        Ok((stage, bindings))
    }

    /// Source: updaterun/validation.go:validateStagesStatus.
    fn validate_stages_status(
        &mut self,
        bindings: &RunBindings,
    ) -> Result<Option<usize>, LookHalt> {
        let Some(strategy) = self.state.run.status.strategy.clone() else {
            let text = format!("{UNEXPECTED}the updateRun has nil updateStrategySnapshot");
            return Err(aborted("FS207", &text));
        };
        let new = self.compute_run_stage_status(&strategy, bindings);
        self.halt_at_first()?;
        // Stages that are none are not stored.
        if self.state.run.status.stages.is_empty() {
            let text = format!("{UNEXPECTED}the updateRun has nil stagesStatus");
            return Err(aborted("FS207", &text));
        }
        let found = self.validate_update_stages_status(&new)?;
        self.validate_delete_stage_status(&found, bindings)
    }

    /// Source: updaterun/validation.go:validateUpdateStagesStatus.
    fn validate_update_stages_status(&self, new: &[StageStatus]) -> Result<FoundStages, LookHalt> {
        let existing = &self.state.run.status.stages;
        if existing.len() != new.len() {
            let text = format!(
                "the number of stages in the updateRun has changed, new: {}, existing: {}",
                new.len(),
                existing.len()
            );
            return Err(aborted("FS207", &text));
        }
        let mut found = FoundStages::default();
        for (at, (existing, new)) in existing.iter().zip(new).enumerate() {
            same_clusters(at, existing, new)?;
            let slots = match self.state.version {
                AgentVersion::V01 => usize::MAX,
                _ => self.calculate_max_concurrency_value(at)?,
            };
            self.validate_cluster_updating_status(at, &mut found, existing, slots)?;
        }
        Ok(found)
    }

    /// Source: updaterun/validation.go:validateClusterUpdatingStatus. 0.1 does not count slots.
    fn validate_cluster_updating_status(
        &self,
        at: usize,
        found: &mut FoundStages,
        stage: &StageStatus,
        slots: usize,
    ) -> Result<(), LookHalt> {
        let generation = self.generation();
        let unexpected = |text: String| aborted("FS207", &format!("{UNEXPECTED}{text}"));
        let name = &stage.name;
        if is_true(&stage.conditions, reasons::SUCCEEDED, generation) {
            if let Some(updating) = found.updating {
                return Err(unexpected(format!(
                    "the finished stage `{at}` is after the updating stage `{updating}`"
                )));
            }
            let undone = |conditions: &[_]| !is_true(conditions, reasons::SUCCEEDED, generation);
            let mut clusters = stage.clusters.iter();
            if let Some(cluster) = clusters.find(|cluster| undone(&cluster.conditions)) {
                return Err(unexpected(format!(
                    "cluster `{}` in the finished stage `{name}` has not succeeded",
                    cluster.name
                )));
            }
            if at != found.next() {
                return Err(unexpected(format!(
                    "the finished stage `{name}` is not right after the last finished stage with \
                     index `{}`",
                    found.last()
                )));
            }
            found.finished = Some(at);
        } else if is_false(&stage.conditions, reasons::SUCCEEDED, generation) {
            let failed = stage.conditions.condition(reasons::SUCCEEDED);
            let message = failed.map_or("", |failed| failed.message.as_str());
            let text = format!("the stage `{name}` has failed, err: {message}");
            return Err(aborted("FS207", &text));
        } else if stage.conditions.condition(reasons::PROGRESSING).is_some() {
            if let Some(updating) = found.updating {
                return Err(unexpected(format!(
                    "the stage `{name}` is updating, but there is already a stage with index \
                     `{updating}` updating"
                )));
            }
            if at != found.next() {
                return Err(unexpected(format!(
                    "the updating stage `{name}` is not right after the last finished stage with \
                     index `{}`",
                    found.last()
                )));
            }
            found.updating = Some(at);
            let updating = stage.clusters.iter().filter(|cluster| {
                is_true(&cluster.conditions, reasons::STARTED, generation)
                    && !is_true(&cluster.conditions, reasons::SUCCEEDED, generation)
            });
            let updating = updating.count();
            if updating > slots {
                return Err(unexpected(format!(
                    "the number of updating clusters `{updating}` in the updating stage `{name}` \
                     exceeds maxConcurrency `{slots}`"
                )));
            }
        }
        Ok(())
    }

    /// Source: updaterun/validation.go:validateDeleteStageStatus.
    fn validate_delete_stage_status(
        &self,
        found: &FoundStages,
        bindings: &RunBindings,
    ) -> Result<Option<usize>, LookHalt> {
        let generation = self.generation();
        let status = &self.state.run.status;
        let unexpected = |code, text: &str| aborted(code, &format!("{UNEXPECTED}{text}"));
        let Some(stage) = status.deletion_stage.as_deref() else {
            return Err(unexpected(
                "FS207",
                "the updateRun has nil deletionStageStatus",
            ));
        };
        let leaving: BTreeSet<_> = stage.clusters.iter().map(|it| it.name.as_str()).collect();
        for cluster in self.clusters_of(&bindings.deleted) {
            if !leaving.contains(cluster.as_str()) {
                let text =
                    format!("the cluster `{cluster}` to be deleted is not in the delete stage");
                return Err(unexpected("FS205", &text));
            }
        }
        let total = status.stages.len();
        let succeeded = is_true(&stage.conditions, reasons::SUCCEEDED, generation);
        let failed = is_false(&stage.conditions, reasons::SUCCEEDED, generation);
        if found.updating.is_some() || found.next() < total {
            if succeeded || failed || is_true(&stage.conditions, reasons::PROGRESSING, generation) {
                let updating = found.updating.map_or("-1".to_owned(), |at| at.to_string());
                let text = format!(
                    "the delete stage is active, but there are still stages updating, \
                     updatingStageIndex: {updating}, lastFinishedStageIndex: {}",
                    found.last()
                );
                return Err(unexpected("FS304", &text));
            }
            return Ok(Some(found.updating.unwrap_or_else(|| found.next())));
        }
        if succeeded {
            return Ok(None);
        }
        if failed {
            let failed = stage.conditions.condition(reasons::SUCCEEDED);
            let message = failed.map_or("", |failed| failed.message.as_str());
            let text = format!("the delete stage has failed, err: {message}");
            return Err(aborted("FS304", &text));
        }
        Ok(Some(total))
    }

    pub(super) fn clusters_of(&self, bindings: &[usize]) -> Vec<String> {
        let bindings = bindings.iter();
        bindings
            .filter_map(|at| self.state.bindings.items.get(*at))
            .map(|binding| binding.spec.cluster.clone())
            .collect()
    }
}

fn same_clusters(at: usize, existing: &StageStatus, new: &StageStatus) -> Result<(), LookHalt> {
    let changed = |text: String| Err(aborted("FS204", &text));
    if existing.name != new.name {
        return changed(format!(
            "index `{at}` stage name in the updateRun has changed, new: {}, existing: {}",
            new.name, existing.name
        ));
    }
    if existing.clusters.len() != new.clusters.len() {
        return changed(format!(
            "the number of clusters in index `{at}` stage has changed, new: {}, existing: {}",
            new.clusters.len(),
            existing.clusters.len()
        ));
    }
    let mut pairs = existing.clusters.iter().zip(&new.clusters).enumerate();
    match pairs.find(|(_, (existing, new))| existing.name != new.name) {
        Some((nth, (existing, new))) => changed(format!(
            "the `{nth}` cluster in the `{at}` stage has changed, new: {}, existing: {}",
            new.name, existing.name
        )),
        None => Ok(()),
    }
}
