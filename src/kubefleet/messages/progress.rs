//! The texts of a run's Progressing condition that carry arguments.

use super::pattern::{capture, names, normalise};

/// Clusters that have not become available within the stuck threshold.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StuckClusters {
    /// The names the controller shows: the first three.
    pub clusters: Vec<String>,
    /// The stage the clusters belong to.
    pub stage: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WaitingStage {
    /// The tasks before the stage, not those after it.
    pub before: bool,
    /// The stage that waits.
    pub stage: String,
}

/// One line per wording: HEAD to v0.2, v0.1.2, v0.1 and v0.0.1. The newest comes first: a cluster
/// may be called `cluster`.
const STUCK: [&str; 3] = [
    "{}is stuck waiting for {} cluster(s) in stage {} to finish",
    "{}is stuck waiting for cluster(s) {} in stage {} to finish",
    "{}is stuck waiting for cluster {} in stage {} to finish",
];

/// Reads the message of Progressing=False/UpdateRunStuck.
///
/// Source: updaterun/execution.go:markUpdateRunStuck, generateStuckClustersString.
pub fn parse_stuck(text: &str) -> Option<StuckClusters> {
    let text = normalise(text);
    STUCK.iter().find_map(|template| {
        let found = capture(template, &text)?;
        let shown = found.get(1).trim();
        // The controller may have left further names out.
        let clusters = names(shown.strip_suffix("...").unwrap_or(shown));
        let stage = found.word(2);
        (!clusters.is_empty() && !stage.is_empty()).then_some(StuckClusters { clusters, stage })
    })
}

/// Reads the message of Progressing=False/UpdateRunWaiting.
///
/// Source: updaterun/execution.go:markUpdateRunWaiting, condition/reason.go:UpdateRunWaitingMessageFmt.
pub fn parse_waiting(text: &str) -> Option<WaitingStage> {
    let text = normalise(text);
    let found = capture(
        "{}is waiting for {}-stage tasks in stage {} to complete",
        &text,
    )?;
    let before = match found.word(1).to_ascii_lowercase().as_str() {
        "before" => true,
        "after" => false,
        _ => return None,
    };
    let stage = found.word(2);
    (!stage.is_empty()).then_some(WaitingStage { before, stage })
}
