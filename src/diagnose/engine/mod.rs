//! What makes a report of findings: causes, the order of steps, what is safe to advise, and the summary.

pub(in crate::diagnose) mod causes;
pub(in crate::diagnose) mod direction;
pub(in crate::diagnose) mod refusal;
pub(in crate::diagnose) mod safety;
pub(in crate::diagnose) mod summary;
pub(in crate::diagnose) mod way_back;
