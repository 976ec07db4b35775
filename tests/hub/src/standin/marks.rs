//! What the controller writes into the status of a run, its stages, clusters and tasks.

use jiff::Timestamp;

use super::conditions::{self, Condition, Conditions, Says, stamp};
use super::status::{Run, StageStatus};

const PROGRESSING: &str = "Progressing";
const SUCCEEDED: &str = "Succeeded";

fn run(run: &mut Run, kind: &str, says: Says<'_>, now: Timestamp) {
    conditions::set(
        &mut run.status.conditions,
        Condition::new(kind, says, run.generation),
        now,
    );
}

pub(crate) fn run_progressing(target: &mut Run, now: Timestamp) {
    let says = (
        "True",
        "UpdateRunProgressing",
        "The update run is making progress",
    );
    run(target, PROGRESSING, says, now);
}

/// The same, except for a run that waits or is stuck: its condition would only flicker.
pub(crate) fn run_progressing_unless_held(target: &mut Run, now: Timestamp) {
    let held = target
        .status
        .conditions
        .find(PROGRESSING)
        .is_some_and(|own| {
            own.status == "False"
                && matches!(own.reason.as_str(), "UpdateRunWaiting" | "UpdateRunStuck")
        });
    if !held {
        run_progressing(target, now);
    }
}

/// `when` is `before` or `after`.
pub(crate) fn run_waiting(target: &mut Run, when: &str, stage: &str, now: Timestamp) {
    let message =
        format!("The updateRun is waiting for {when}-stage tasks in stage {stage} to complete");
    run(
        target,
        PROGRESSING,
        ("False", "UpdateRunWaiting", &message),
        now,
    );
}

pub(crate) fn run_stuck(target: &mut Run, clusters: &[String], stage: &str, now: Timestamp) {
    let shown = if clusters.len() > 3 {
        format!("{}...", clusters[..3].join(", "))
    } else {
        clusters.join(", ")
    };
    let message = format!(
        "The updateRun is stuck waiting for {shown} cluster(s) in stage {stage} to finish \
         updating, please check placement status for potential errors"
    );
    run(
        target,
        PROGRESSING,
        ("False", "UpdateRunStuck", &message),
        now,
    );
}

pub(crate) fn run_stopping(target: &mut Run, now: Timestamp) {
    let says = (
        "Unknown",
        "UpdateRunStopping",
        "The update run is the process of stopping, waiting for all the updating/deleting \
         clusters to finish updating before completing the stop process",
    );
    run(target, PROGRESSING, says, now);
}

pub(crate) fn run_stopped(target: &mut Run, now: Timestamp) {
    let says = (
        "False",
        "UpdateRunStopped",
        "The update run has been stopped",
    );
    run(target, PROGRESSING, says, now);
}

pub(crate) fn run_succeeded(target: &mut Run, now: Timestamp) {
    let reason = "UpdateRunSucceeded";
    run(
        target,
        PROGRESSING,
        ("False", reason, "All stages are completed"),
        now,
    );
    let message = "All stages are completed successfully";
    run(target, SUCCEEDED, ("True", reason, message), now);
}

pub(crate) fn run_failed(target: &mut Run, message: &str, now: Timestamp) {
    let reason = "UpdateRunFailed";
    let aborted = "The stages are aborted due to a non-recoverable error";
    run(target, PROGRESSING, ("False", reason, aborted), now);
    run(target, SUCCEEDED, ("False", reason, message), now);
}

/// Marks one stage of a run whose generation is `generation`.
pub(crate) struct Stage<'s> {
    status: &'s mut StageStatus,
    generation: i64,
    now: Timestamp,
}

impl<'s> Stage<'s> {
    pub(crate) fn new(status: &'s mut StageStatus, generation: i64, now: Timestamp) -> Self {
        Self {
            status,
            generation,
            now,
        }
    }

    fn set(&mut self, kind: &str, says: Says<'_>) {
        conditions::set(
            &mut self.status.conditions,
            Condition::new(kind, says, self.generation),
            self.now,
        );
    }

    fn start(&mut self) {
        let now = stamp(self.now);
        self.status.start_time.get_or_insert(now);
    }

    fn end(&mut self) {
        let now = stamp(self.now);
        self.status.end_time.get_or_insert(now);
    }

    pub(crate) fn started(&mut self) {
        self.start();
        let message = "Clusters in the stage started updating";
        self.set(PROGRESSING, ("True", "StageUpdatingStarted", message));
    }

    pub(crate) fn waiting(&mut self, message: &str) {
        self.set(PROGRESSING, ("False", "StageUpdatingWaiting", message));
    }

    pub(crate) fn succeeded(&mut self) {
        self.end();
        let reason = "StageUpdatingSucceeded";
        let message = "All clusters in the stage are updated and after-stage tasks are completed";
        self.set(PROGRESSING, ("False", reason, message));
        self.set(
            SUCCEEDED,
            ("True", reason, "Stage update completed successfully"),
        );
    }

    pub(crate) fn skipped(&mut self) {
        self.start();
        self.end();
        let reason = "StageUpdatingSkippedNoClusters";
        let message = "Stage skipped because it has no clusters";
        self.set(PROGRESSING, ("False", reason, message));
        self.set(SUCCEEDED, ("True", reason, message));
    }

    pub(crate) fn failed(&mut self, message: &str) {
        self.end();
        let reason = "StageUpdatingFailed";
        let aborted = "Stage update aborted due to a non-recoverable error";
        self.set(PROGRESSING, ("False", reason, aborted));
        self.set(SUCCEEDED, ("False", reason, message));
    }

    pub(crate) fn stopping(&mut self) {
        let message = "Waiting for all the updating clusters to finish updating before \
                       completing the stop process";
        self.set(PROGRESSING, ("Unknown", "StageUpdatingStopping", message));
    }

    pub(crate) fn stopped(&mut self) {
        let message = "All the updating clusters have finished updating, the stage is now \
                       stopped, waiting to be resumed";
        self.set(PROGRESSING, ("False", "StageUpdatingStopped", message));
    }
}

/// Marks one cluster or task of a run whose generation is `generation`.
pub(crate) struct Small<'s> {
    pub(crate) conditions: &'s mut Vec<Condition>,
    generation: i64,
    now: Timestamp,
}

impl<'s> Small<'s> {
    pub(crate) fn new(conditions: &'s mut Vec<Condition>, generation: i64, now: Timestamp) -> Self {
        Self {
            conditions,
            generation,
            now,
        }
    }

    fn set(&mut self, kind: &str, says: Says<'_>) {
        let condition = Condition::new(kind, says, self.generation);
        conditions::set(self.conditions, condition, self.now);
    }

    pub(crate) fn started(&mut self) {
        let says = ("True", "ClusterUpdatingStarted", "Cluster update started");
        self.set("Started", says);
    }

    pub(crate) fn succeeded(&mut self) {
        let message = "Cluster update completed successfully";
        self.set(SUCCEEDED, ("True", "ClusterUpdatingSucceeded", message));
    }

    pub(crate) fn failed(&mut self, message: &str) {
        self.set(SUCCEEDED, ("False", "ClusterUpdatingFailed", message));
    }

    pub(crate) fn request_created(&mut self) {
        let reason = "StageTaskApprovalRequestCreated";
        let message = "ApprovalRequest object is created";
        self.set("ApprovalRequestCreated", ("True", reason, message));
    }

    pub(crate) fn request_approved(&mut self) {
        let reason = "StageTaskApprovalRequestApproved";
        let message = "ApprovalRequest object is approved";
        self.set("ApprovalRequestApproved", ("True", reason, message));
    }

    pub(crate) fn wait_elapsed(&mut self) {
        let says = ("True", "AfterStageTaskWaitTimeElapsed", "Wait time elapsed");
        self.set("WaitTimeElapsed", says);
    }
}
