//! Which version of the controller a run has, as far as its objects tell.

use super::ignores_state;
use crate::inventory::Inventory;
use crate::kubefleet::run::{StageStatus, UpdateRun};
use crate::kubefleet::{Conditions, names, reasons};

/// The versions that do different things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentVersion {
    /// 0.1: no `spec.state`, no stop; conditions keep the generation at which they were written.
    V01,
    /// 0.2: without an index a run takes the latest snapshot, and waits for one.
    V02,
    /// 0.3: without an index a run makes a snapshot.
    V03,
    /// After 0.3: stages without clusters are skipped, and a binding fails only for good.
    Next,
}

impl AgentVersion {
    /// What the hub serves, the form of the run, and what the same agent wrote on the placement tell
    /// the version. Where nothing does, it is the newest.
    pub fn of(inventory: &Inventory, run: &UpdateRun) -> Self {
        Self::or_guess(inventory, run).0
    }

    /// The same of the newest run, or of the hub where there is none; `None` where nothing tells.
    pub fn of_hub(inventory: &Inventory) -> Option<Self> {
        let newest = inventory.runs.iter().max_by_key(|run| run.meta.created);
        let (version, is_guess) = match newest {
            Some(run) => Self::or_guess(inventory, run),
            None => Self::or_guess_by(inventory, is_next(inventory, None)),
        };
        (!is_guess).then_some(version)
    }

    /// The same, and whether nothing tells that it skips stages without clusters.
    pub fn or_guess(inventory: &Inventory, run: &UpdateRun) -> (Self, bool) {
        let stateless = run.spec.state.is_none() && inventory.hub.run_states.is_none();
        if stateless || ignores_state(inventory, run) {
            return (Self::V01, false);
        }
        Self::or_guess_by(inventory, is_next(inventory, Some(run)))
    }

    fn or_guess_by(inventory: &Inventory, is_next: Option<bool>) -> (Self, bool) {
        match is_next {
            Some(true) => (Self::Next, false),
            Some(false) => (older(inventory), false),
            None => match older(inventory) {
                Self::V02 => (Self::V02, false),
                _ => (Self::Next, true),
            },
        }
    }
}

/// Whether the agent is newer than 0.3: it skips stages, and it spells a message of placements without the mistake
/// that older ones have. The placement tells of the present, and runs of their own time.
fn is_next(inventory: &Inventory, run: Option<&UpdateRun>) -> Option<bool> {
    let placement = inventory.placement.present();
    let written = placement.and_then(|it| it.condition(reasons::WORK_SYNCHRONIZED));
    let written = written.map_or("", |condition| condition.message.as_str());
    if written.starts_with("Work(s) are successfully") {
        return Some(true);
    }
    if written.starts_with("Works(s) are succcesfully") {
        return Some(false);
    }
    let runs = || run.into_iter().chain(inventory.runs.iter());
    let stages = || runs().flat_map(|run| &run.status.stages);
    if stages().any(is_skipped) {
        return Some(true);
    }
    let is_older = stages().any(has_idle_tasks)
        || placement.is_some()
            && stages().any(|stage| stage.clusters.is_empty() && stage.is_done());
    is_older.then_some(false)
}

fn is_skipped(stage: &StageStatus) -> bool {
    let succeeded = stage.conditions.condition(reasons::SUCCEEDED);
    succeeded.is_some_and(|succeeded| succeeded.reason == reasons::STAGE_SKIPPED)
}

/// Whether the tasks of a stage without clusters were carried out, or are waited for.
fn has_idle_tasks(stage: &StageStatus) -> bool {
    let progressing = stage.conditions.condition(reasons::PROGRESSING);
    let waits = progressing.is_some_and(|it| it.reason == reasons::STAGE_WAITING);
    let carried_out = stage.tasks().any(|task| !task.conditions.is_empty());
    stage.clusters.is_empty() && (waits || carried_out)
}

/// Since 0.3 every member cluster has a label with its own name. Where none was read, nothing tells.
/// Source: membercluster/v1beta1/membercluster_controller.go:ensureMemberNameLabel.
fn older(inventory: &Inventory) -> AgentVersion {
    let mut members = inventory.members.iter().peekable();
    let is_told = members.peek().is_some();
    if is_told && members.all(|member| member.meta.label(names::MEMBER_NAME).is_none()) {
        AgentVersion::V02
    } else {
        AgentVersion::V03
    }
}
