//! What stops every Work of some clusters.

use crate::kubefleet::ObjectRef;
use crate::words::enumerate;

/// Why a cluster gets nothing new.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultCause {
    /// An operation cannot be applied.
    Operation(FailingOperation),
    /// The selector of a rule is not valid.
    Rule {
        /// The override snapshot.
        over: ObjectRef,
        rule: usize,
        problem: String,
    },
    /// An override cannot be used at all: a run that takes it fails.
    Override {
        /// The override snapshot.
        over: ObjectRef,
        problem: String,
    },
    /// An override snapshot that was recorded does not exist.
    Gone(ObjectRef),
    /// An envelope cannot be opened.
    Envelope(String),
}

/// An operation of an override that cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FailingOperation {
    /// The override snapshot.
    pub over: ObjectRef,
    pub rule: usize,
    pub operation: usize,
    /// `add`, `remove`, or `replace`.
    pub verb: String,
    pub path: String,
    /// Why, as a clause.
    pub why: String,
}

impl FailingOperation {
    /// Which it is, and why: `rule 1, operation 2 (replace /spec/x): …`.
    pub fn describe(&self) -> String {
        format!(
            "rule {}, operation {} ({} {}): {}",
            self.rule, self.operation, self.verb, self.path, self.why
        )
    }

    /// Where its path is in the override snapshot.
    pub fn field(&self) -> String {
        format!(
            "spec.overrideSpec.policy.overrideRules[{}].jsonPatchOverrides[{}].path",
            self.rule.saturating_sub(1),
            self.operation.saturating_sub(1)
        )
    }
}

/// Something that stops every Work of some clusters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderFault {
    /// Why.
    pub cause: FaultCause,
    /// The objects, in the reader's short form.
    pub objects: Vec<String>,
    pub clusters: Vec<String>,
}

impl RenderFault {
    /// What is wrong, in one sentence without the clusters.
    pub fn describe(&self) -> String {
        let objects = enumerate(&self.objects);
        match &self.cause {
            FaultCause::Operation(failing) => format!(
                "{} cannot be applied to {objects}: {}",
                failing.over,
                failing.describe()
            ),
            FaultCause::Rule {
                over,
                rule,
                problem,
            } => format!("{over} cannot be applied to {objects}: rule {rule} {problem}"),
            FaultCause::Override { over, problem } => format!("{over} {problem}"),
            FaultCause::Gone(over) => format!("{over} no longer exists"),
            FaultCause::Envelope(why) => format!("{objects} cannot be opened: {why}"),
        }
    }
}
