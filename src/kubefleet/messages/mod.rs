//! What KubeFleet's controllers write in condition messages, read structurally.
//!
//! Every parser accepts any text, at any version's wording, and never fails: a text that no
//! wording covers comes back as such (`Unrecognized`, `Other`, `None`). White space is folded
//! first, because the same text is often read back from wrapped YAML.

mod api_error;
mod binding;
mod cause;
mod failure;
mod manifest;
mod manifest_problem;
mod pattern;
mod progress;
mod schedule;
mod wordings;

#[cfg(test)]
mod tests;

pub use binding::{
    BindingProblem, EnvelopeProblem, OverrideKind, OverrideTarget, RolloutStarted, WorkProblem,
    WorkState, parse_binding_problem, parse_rollout_started, parse_work_problem,
};
pub use cause::{Cause, ObjectKey, SelectorProblem, TaskProblem};
pub use failure::{essence, parse_failure};
pub use manifest::parse_manifest_problem;
pub use manifest_problem::{ManifestProblem, OwnerRef};
pub use progress::{StuckClusters, WaitingStage, parse_stuck, parse_waiting};
pub use schedule::{FilterReason, ScheduleProblem, parse_decision};
