//! What the controller is expected to do, as documents have it.

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use super::reconcile::ControllerStep;
use crate::kubefleet::run::{RunStatus, StageStatus};
use crate::kubefleet::{Condition, ConditionStatus};

/// What the update run controller is expected to do next.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Expected")]
pub struct ExpectedWrite {
    /// The time by which it has written the conditions, if nothing changes; absent if it writes
    /// nothing.
    pub by: Option<Timestamp>,
    /// What it does.
    pub step: ControllerStep,
    /// The conditions that its next write to the run adds or changes; empty if it writes nothing
    /// before something else happens.
    pub conditions: Vec<ExpectedCondition>,
    /// What it waits for; absent if it waits for nothing.
    pub waits_for: Option<String>,
    /// The code of the finding that explains why the run fails; absent if it does not.
    pub fails: Option<String>,
}

/// A condition that is expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExpectedCondition {
    /// Whose: `run`, `stage/NAME`, `stage/NAME/before`, `stage/NAME/after`,
    /// `stage/NAME/cluster/CLUSTER`, `deletion` or `deletion/cluster/CLUSTER`.
    pub on: String,
    /// The type of the stage task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The type of the condition.
    #[serde(rename = "type")]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// The reason.
    pub reason: String,
    #[serde(skip)]
    pub observed_generation: Option<i64>,
    #[serde(skip)]
    pub message: String,
}

impl ExpectedCondition {
    fn of((on, task): (String, Option<String>), condition: &Condition) -> Self {
        Self {
            on,
            task,
            kind: condition.kind.clone(),
            status: condition.status.as_str().to_owned(),
            reason: condition.reason.clone(),
            observed_generation: condition.observed_generation,
            message: condition.message.clone(),
        }
    }
}

type ConditionKey = (String, Option<String>, String);

/// The conditions that a write adds or changes, in the order in which they stand. What changes no
/// more than a text or a time is no change.
pub fn changes(before: &RunStatus, after: &RunStatus) -> Vec<ExpectedCondition> {
    // Stages may have the same name: they follow each other.
    let mut known: BTreeMap<ConditionKey, VecDeque<&Condition>> = BTreeMap::new();
    for ((on, task), condition) in conditions_of(before) {
        let key = (on, task, condition.kind.clone());
        known.entry(key).or_default().push_back(condition);
    }
    let mut changed = Vec::new();
    for (place, condition) in conditions_of(after) {
        let key = (place.0.clone(), place.1.clone(), condition.kind.clone());
        let before = known.get_mut(&key).and_then(VecDeque::pop_front);
        if before.is_none_or(|before| differs(before, condition)) {
            changed.push(ExpectedCondition::of(place, condition));
        }
    }
    changed
}

fn differs(known: &Condition, condition: &Condition) -> bool {
    let essence = |it: &Condition| -> (ConditionStatus, i64) {
        (it.status, it.observed_generation.unwrap_or(0))
    };
    essence(known) != essence(condition) || known.reason != condition.reason
}

/// All conditions of a run's status, with where they stand.
fn conditions_of(status: &RunStatus) -> Vec<((String, Option<String>), &Condition)> {
    let mut all = Vec::new();
    let own = status.conditions.iter();
    all.extend(own.map(|condition| (("run".to_owned(), None), condition)));
    for stage in &status.stages {
        of_stage(&format!("stage/{}", stage.name), stage, &mut all);
    }
    if let Some(stage) = status.deletion_stage.as_deref() {
        of_stage("deletion", stage, &mut all);
    }
    all
}

fn of_stage<'s>(
    on: &str,
    stage: &'s StageStatus,
    all: &mut Vec<((String, Option<String>), &'s Condition)>,
) {
    let own = stage.conditions.iter();
    all.extend(own.map(|condition| ((on.to_owned(), None), condition)));
    for (when, tasks) in [("before", &stage.before), ("after", &stage.after)] {
        for task in tasks {
            let place = (format!("{on}/{when}"), Some(task.kind.clone()));
            all.extend(task.conditions.iter().map(|it| (place.clone(), it)));
        }
    }
    for cluster in &stage.clusters {
        let place = (format!("{on}/cluster/{}", cluster.name), None);
        all.extend(cluster.conditions.iter().map(|it| (place.clone(), it)));
    }
}
