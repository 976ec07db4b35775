//! The gates of stages in documents.

use serde_json::Value;

/// The gates of a plan's stage on one side, or the tasks of a run's.
pub fn side(stage: &Value, name: &str) -> Value {
    let Some(gates) = stage["gates"].as_array() else {
        return stage[name].clone();
    };
    gates
        .iter()
        .filter(|gate| gate["when"] == name)
        .cloned()
        .collect()
}
