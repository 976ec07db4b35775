//! What fails in a cluster before a run, and stays as it is there.

use crate::words::{by_number, enumerate};

/// An object that fails in a cluster, and stays as it is there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StillFailing {
    /// The object, in words.
    pub(super) object: String,
    /// Whether nothing else that comes with the content helps.
    pub(super) is_certain: bool,
}

impl StillFailing {
    /// That clusters fail for it, as a clause.
    pub(super) fn describe(&self, clusters: &[&String]) -> String {
        let fail = by_number(clusters.len(), "fails", "fail");
        let (names, object) = (enumerate(clusters), &self.object);
        let stalls = if self.is_certain { "will" } else { "may" };
        format!(
            "{names} {fail} for {object}, which stays as it is there: the run {stalls} stall again"
        )
    }
}
