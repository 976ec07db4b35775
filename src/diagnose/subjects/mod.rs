//! What is known of a case, which rules are about: its context and outlook, failing clusters, objects in
//! member clusters, gates, and what comes of a step.

pub(in crate::diagnose) mod affected;
pub mod back;
pub(in crate::diagnose) mod changes_ahead;
pub mod context;
pub mod failing_cluster;
pub(in crate::diagnose) mod gaps;
pub mod gate;
pub(in crate::diagnose) mod leftover;
pub(in crate::diagnose) mod member_findings;
pub(in crate::diagnose) mod members;
pub(in crate::diagnose) mod membership;
pub(in crate::diagnose) mod objects;
pub mod outlook;
pub(in crate::diagnose) mod overrides;
pub(in crate::diagnose) mod ownership;
pub(in crate::diagnose) mod preemption;
pub(in crate::diagnose) mod rendered;
pub(in crate::diagnose) mod resting;
pub(in crate::diagnose) mod rule;
pub(in crate::diagnose) mod run_failure;
pub(in crate::diagnose) mod same_again;
pub(in crate::diagnose) mod sent;
pub(in crate::diagnose) mod size;
pub(in crate::diagnose) mod state;
pub(in crate::diagnose) mod texts;
pub mod tried;
pub(in crate::diagnose) mod unsent;
pub(in crate::diagnose) mod verdict;
