//! One request, and its answer: time limits, retries, sizes, and what an answer means.

pub(in crate::hub) mod answer;
pub(in crate::hub) mod bounds;
pub(in crate::hub) mod clock;
pub(in crate::hub) mod connection;
pub(in crate::hub) mod traffic;
