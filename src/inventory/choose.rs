//! Which of several runs on a placement its verdict is about.

use std::cmp::Reverse;

use jiff::Timestamp;

use crate::kubefleet::run::{RunState, UpdateRun};
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
    is_finished(run) || run.condition(reasons::PROGRESSING).is_some()
}

/// Whether a run is under way: it has started, is not over, and is not being deleted.
pub fn is_under_way(run: &UpdateRun) -> bool {
    has_started(run) && !is_finished(run) && !run.meta.is_deleting()
}

/// The run that a placement's verdict is about: its newest unfinished run that started, else its
/// newest unfinished run, else its newest run. Of two that were created in the same second, one was stopped for the
/// other; further ties are broken by name, so that the order of the objects does not matter.
pub fn run_for_placement<'r>(runs: impl Iterator<Item = &'r UpdateRun>) -> Option<&'r UpdateRun> {
    runs.max_by_key(|run| {
        let unfinished = !is_finished(run);
        let started = has_started(run);
        let goes_on = run.spec.wants() != RunState::Stop;
        let (created, name) = age_key(run);
        (unfinished && started, unfinished, created, goes_on, name)
    })
}

/// Sorts runs by age: later is greater.
pub fn age_key(run: &UpdateRun) -> (Option<Timestamp>, Reverse<&str>) {
    (run.meta.created, Reverse(run.meta.name.as_str()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kubefleet::object::Object;

    #[test]
    fn of_two_of_one_second_the_one_that_was_stopped_makes_way() {
        let run = |name: &str, state: &str, second: u32| {
            Object::of(&json!({
                "apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "ClusterStagedUpdateRun",
                "metadata": {"name": name, "creationTimestamp": format!("2026-03-02T09:00:{second:02}Z")},
                "spec": {"placementName": "web", "state": state},
            }))
        };
        let chosen = |runs: &[Object]| {
            let runs = runs.iter().filter_map(|it| it.get::<UpdateRun>());
            run_for_placement(runs.map(AsRef::as_ref)).map(|it| it.meta.name.clone())
        };
        let rollback = run("web-rollback", "Run", 1);
        let stopped = |second| run("web-2", "Stop", second);
        let wanted = Some("web-rollback".to_owned());
        assert_eq!(chosen(&[rollback.clone(), stopped(1)]), wanted);
        assert_eq!(chosen(&[stopped(1), rollback.clone()]), wanted);
        assert_eq!(chosen(&[rollback, stopped(2)]), Some("web-2".to_owned()));
    }
}
