//! Which of several runs on a placement its verdict is about.

use std::cmp::Reverse;

use jiff::Timestamp;

use crate::kubefleet::run::UpdateRun;
use crate::kubefleet::{Conditions, reasons};

/// Whether a run is over: it succeeded, failed, or could not be initialized.
pub fn is_finished(run: &UpdateRun) -> bool {
    let conditions = &run.status.conditions;
    conditions.is_true(reasons::SUCCEEDED)
        || conditions.is_false(reasons::SUCCEEDED)
        || conditions.is_false(reasons::INITIALIZED)
}

/// Whether a run has ever been under way: it has started a stage, or is over.
pub fn has_started(run: &UpdateRun) -> bool {
    is_finished(run)
        || run
            .status
            .conditions
            .condition(reasons::PROGRESSING)
            .is_some()
}

/// Whether a run is under way: it has started, is not over, and is not being deleted.
pub fn is_under_way(run: &UpdateRun) -> bool {
    has_started(run) && !is_finished(run) && !run.meta.is_deleting()
}

/// The run that a placement's verdict is about: its newest unfinished run that started, else its
/// newest unfinished run, else its newest run. Ties are broken by name, so that the order of the
/// objects does not matter.
pub fn run_for_placement<'r>(runs: impl Iterator<Item = &'r UpdateRun>) -> Option<&'r UpdateRun> {
    runs.max_by_key(|run| {
        let unfinished = !is_finished(run);
        let started = has_started(run);
        (unfinished && started, unfinished, age_key(run))
    })
}

/// Sorts runs by age: later is greater.
pub fn age_key(run: &UpdateRun) -> (Option<Timestamp>, Reverse<&str>) {
    (run.meta.created, Reverse(run.meta.name.as_str()))
}
