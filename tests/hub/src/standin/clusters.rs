//! How far the update of one cluster is, judged from its binding.

use serde_json::Value;

use super::conditions::{self, Condition, Conditions};
use super::halt::Halt;
use super::inputs;
use super::object::Object;
use super::status::Run;

/// The conditions of a binding that a failure shows in.
const OUTCOMES: [&str; 4] = ["Overridden", "WorkSynchronized", "Applied", "Available"];

/// Reasons of a false condition that still mean "not yet".
const NOT_YET: [&str; 4] = [
    "OverriddenPending",
    "WorkNotSynchronizedYet",
    "ApplyPending",
    "ResourceNotAvailableYet",
];

/// Whether a binding has exactly the content that the run gives to its cluster.
pub(crate) fn in_sync(run: &Run, binding: &Value, snapshot: &str) -> bool {
    let strategy = binding.pointer("/spec/applyStrategy").is_some_and(|own| {
        let own = serde_json::json!({"spec": {"strategy": {"applyStrategy": own}}});
        Some(inputs::apply_strategy(&own)) == run.status.applied_strategy
    });
    // A run of the stand-in never picks overrides.
    let plain = binding.items("/spec/resourceOverrideSnapshots").is_empty()
        && binding
            .items("/spec/clusterResourceOverrideSnapshots")
            .is_empty();
    strategy && plain && binding.text("/spec/resourceSnapshotName") == snapshot
}

/// Whether the cluster has the content and it is available. Fails as long as something is wrong
/// there; the controller cannot tell whether that will pass, so it looks again.
pub(crate) fn updated(run: &Run, binding: &Value, stage: &str) -> Result<bool, Halt> {
    let conditions = conditions::of_status(binding);
    let generation = binding.generation();
    if conditions.is_true("Available", generation) || conditions.is_true("DiffReported", generation)
    {
        return Ok(true);
    }
    if failed(&conditions, generation) || conditions.is_false("DiffReported", generation) {
        return Err(Halt::Retry(format!(
            "the cluster updating encountered an error at stage `{stage}`, updateRun := `{}`",
            run.name
        )));
    }
    Ok(false)
}

fn failed(conditions: &[Condition], generation: i64) -> bool {
    OUTCOMES.iter().any(|kind| {
        conditions.find(kind).is_some_and(|condition| {
            condition.status == "False"
                && condition.observed_generation == generation
                && !NOT_YET.contains(&condition.reason.as_str())
        })
    })
}

/// Whether the binding says that this rollout of it has started.
pub(crate) fn rollout_started(binding: &Value) -> bool {
    conditions::of_status(binding).is_true("RolloutStarted", binding.generation())
}
