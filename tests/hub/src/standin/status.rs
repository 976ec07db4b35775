//! The status of an update run, and what of its spec the controller reads.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::conditions::Condition;
use super::kinds::Scope;
use super::object::Object;

/// What an update run asks for.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Spec {
    pub(crate) placement: String,
    pub(crate) strategy: String,
    pub(crate) snapshot: String,
    pub(crate) state: String,
}

/// An update run of either scope.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Run {
    pub(crate) scope: Scope,
    pub(crate) name: String,
    pub(crate) generation: i64,
    pub(crate) spec: Spec,
    pub(crate) status: RunStatus,
}

impl Run {
    pub(crate) fn read(object: &Value) -> Self {
        Self {
            scope: Scope::of(object.namespace()),
            name: object.name().to_owned(),
            generation: object.generation(),
            spec: Spec {
                placement: object.text("/spec/placementName").to_owned(),
                strategy: object.text("/spec/stagedRolloutStrategyName").to_owned(),
                snapshot: object.text("/spec/resourceSnapshotIndex").to_owned(),
                state: object.text("/spec/state").to_owned(),
            },
            status: object
                .get("status")
                .and_then(|status| RunStatus::deserialize(status).ok())
                .unwrap_or_default(),
        }
    }
}

/// `status` of an update run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct RunStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) applied_strategy: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) conditions: Vec<Condition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) deletion_stage_status: Option<StageStatus>,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) policy_observed_cluster_count: i64,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) policy_snapshot_index_used: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) resource_snapshot_index_used: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) staged_update_strategy_snapshot: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) stages_status: Vec<StageStatus>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the signature that serde asks for
fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// The status of one stage, the deletion stage included.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StageStatus {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) after_stage_task_status: Vec<TaskStatus>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) before_stage_task_status: Vec<TaskStatus>,
    pub(crate) clusters: Vec<ClusterStatus>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) conditions: Vec<Condition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) end_time: Option<String>,
    pub(crate) stage_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) start_time: Option<String>,
}

/// The status of one cluster in a stage.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ClusterStatus {
    pub(crate) cluster_name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) conditions: Vec<Condition>,
}

/// The status of a task before or after a stage.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct TaskStatus {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) approval_request_name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) conditions: Vec<Condition>,
    #[serde(rename = "type")]
    pub(crate) kind: String,
}

impl RunStatus {
    /// The stages of the strategy that the run recorded.
    pub(crate) fn recorded_stages(&self) -> &[Value] {
        self.staged_update_strategy_snapshot
            .as_ref()
            .map_or(&[], |strategy| strategy.items("/stages"))
    }

    /// Marks every condition as being about this generation, which the controller does at the
    /// beginning of each look: what it says next holds for the spec that it has just read.
    pub(crate) fn observe(&mut self, generation: i64) {
        let mark = |list: &mut Vec<Condition>| {
            for condition in list {
                condition.observed_generation = generation;
            }
        };
        mark(&mut self.conditions);
        for stage in self
            .stages_status
            .iter_mut()
            .chain(self.deletion_stage_status.as_mut())
        {
            mark(&mut stage.conditions);
            for task in stage
                .before_stage_task_status
                .iter_mut()
                .chain(&mut stage.after_stage_task_status)
            {
                mark(&mut task.conditions);
            }
            for cluster in &mut stage.clusters {
                mark(&mut cluster.conditions);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_status_survives_reading_and_writing() {
        let status = json!({
            "conditions": [{
                "type": "Initialized", "status": "True", "reason": "R", "message": "m",
                "observedGeneration": 1, "lastTransitionTime": "2026-11-21T05:03:44Z",
            }],
            "deletionStageStatus": {"clusters": [], "stageName": "kubernetes-fleet.io/deleteStage"},
            "policyObservedClusterCount": 3,
            "policySnapshotIndexUsed": "0",
            "resourceSnapshotIndexUsed": "0",
            "stagedUpdateStrategySnapshot": {"stages": [{"name": "staging"}]},
            "stagesStatus": [{
                "afterStageTaskStatus": [{"type": "TimedWait"}],
                "clusters": [{"clusterName": "member-1"}],
                "stageName": "staging",
            }],
        });
        let read: RunStatus = serde_json::from_value(status.clone()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), status);
    }

    #[test]
    fn observing_reaches_every_condition() {
        let condition = Condition::new("C", ("True", "R", ""), 1);
        let mut status = RunStatus {
            conditions: vec![condition.clone()],
            stages_status: vec![StageStatus {
                conditions: vec![condition.clone()],
                after_stage_task_status: vec![TaskStatus {
                    conditions: vec![condition.clone()],
                    ..TaskStatus::default()
                }],
                clusters: vec![ClusterStatus {
                    conditions: vec![condition],
                    ..ClusterStatus::default()
                }],
                ..StageStatus::default()
            }],
            ..RunStatus::default()
        };
        status.observe(7);
        let text = serde_json::to_string(&status).unwrap();
        assert_eq!(text.matches("\"observedGeneration\":7").count(), 4);
    }
}
