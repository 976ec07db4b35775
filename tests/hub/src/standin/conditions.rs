//! Conditions, set the way the API machinery sets them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::object::Object;

/// One condition of a status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Condition {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) status: String,
    #[serde(default)]
    pub(crate) reason: String,
    #[serde(default)]
    pub(crate) message: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) observed_generation: i64,
    #[serde(default)]
    pub(crate) last_transition_time: String,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the signature that serde asks for
fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// What a condition says: status, reason, message.
pub(crate) type Says<'a> = (&'a str, &'a str, &'a str);

impl Condition {
    pub(crate) fn new(kind: &str, (status, reason, message): Says<'_>, generation: i64) -> Self {
        Self {
            kind: kind.to_owned(),
            status: status.to_owned(),
            reason: reason.to_owned(),
            message: message.to_owned(),
            observed_generation: generation,
            last_transition_time: String::new(),
        }
    }

    pub(crate) fn since(&self) -> Option<Timestamp> {
        self.last_transition_time.parse().ok()
    }

    fn says_the_same(&self, other: &Self) -> bool {
        Self {
            last_transition_time: other.last_transition_time.clone(),
            ..self.clone()
        } == *other
    }
}

/// A list with at most one condition of each type.
pub(crate) trait Conditions {
    fn find(&self, kind: &str) -> Option<&Condition>;
    fn is(&self, kind: &str, status: &str, generation: i64) -> bool {
        self.find(kind).is_some_and(|condition| {
            condition.status == status && condition.observed_generation == generation
        })
    }
    fn is_true(&self, kind: &str, generation: i64) -> bool {
        self.is(kind, "True", generation)
    }
    fn is_false(&self, kind: &str, generation: i64) -> bool {
        self.is(kind, "False", generation)
    }
}

impl Conditions for [Condition] {
    fn find(&self, kind: &str) -> Option<&Condition> {
        self.iter().find(|condition| condition.kind == kind)
    }
}

/// Adds or changes a condition. The time of the last transition changes with the status only.
pub(crate) fn set(list: &mut Vec<Condition>, mut condition: Condition, now: Timestamp) {
    let stamp = stamp(now);
    if let Some(own) = list.iter_mut().find(|own| own.kind == condition.kind) {
        condition.last_transition_time = if own.status == condition.status {
            own.last_transition_time.clone()
        } else {
            stamp
        };
        *own = condition;
    } else {
        condition.last_transition_time = stamp;
        list.push(condition);
    }
}

/// Whether two lists say the same, whenever they began to.
pub(crate) fn say_the_same(one: &[Condition], other: &[Condition]) -> bool {
    one.len() == other.len()
        && one
            .iter()
            .zip(other)
            .all(|(one, other)| one.says_the_same(other))
}

/// The conditions at a JSON pointer of an object; what is none is left out.
pub(crate) fn of(object: &Value, pointer: &str) -> Vec<Condition> {
    object
        .items(pointer)
        .iter()
        .filter_map(|item| Condition::deserialize(item).ok())
        .collect()
}

/// The conditions of an object's status.
pub(crate) fn of_status(object: &Value) -> Vec<Condition> {
    of(object, "/status/conditions")
}

/// Notes on a request that its approval is accepted.
pub(crate) fn accept(request: &mut Value, now: Timestamp) {
    let mut list = of_status(request);
    let says = (
        "True",
        "ApprovalRequestApprovalAccepted",
        "The approval request has been approved and cannot be reverted",
    );
    let accepted = Condition::new("ApprovalAccepted", says, request.generation());
    set(&mut list, accepted, now);
    request.put(&["status", "conditions"], json!(list));
}

/// A point in time as the API server stores it: whole seconds.
pub(crate) fn stamp(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn the_time_changes_with_the_status_only() {
        let mut list = Vec::new();
        set(
            &mut list,
            Condition::new("P", ("False", "Waiting", "w"), 1),
            at(0),
        );
        set(
            &mut list,
            Condition::new("P", ("False", "Stuck", "s"), 2),
            at(10),
        );
        assert_eq!(list[0].last_transition_time, "1970-01-01T00:00:00Z");
        assert_eq!(list[0].reason, "Stuck");
        assert!(list.is_false("P", 2));
        assert!(!list.is_false("P", 1));
        set(
            &mut list,
            Condition::new("P", ("True", "Moving", "m"), 2),
            at(20),
        );
        assert_eq!(list[0].last_transition_time, "1970-01-01T00:00:20Z");
        assert_eq!(list.len(), 1);
    }

    #[test]
    fn a_generation_of_zero_is_not_written() {
        let condition = Condition::new("A", ("True", "R", "m"), 0);
        let written = serde_json::to_value(&condition).unwrap();
        assert!(written.get("observedGeneration").is_none());
    }
}
