//! What is known of an update run: every document has it under the same names.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use super::{Subject, Verdict};
use crate::inventory::choose;
use crate::kubefleet::{Conditions, reasons};
use crate::rollout::timeline::Timeline;
use crate::rollout::{Rollout, StageProgress, StageState};

/// An update run.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunFacts {
    #[serde(flatten)]
    pub object: Subject,
    /// The placement that it rolls out.
    pub placement: String,
    /// Its strategy.
    pub strategy: String,
    /// Its state.
    pub verdict: Verdict,
    /// Whether it is unfinished.
    pub active: bool,
    /// The value of `spec.state`; absent if the run has no such field.
    pub requested_state: Option<String>,
    /// Whether its stages are computed.
    pub initialized: bool,
    /// Whether it has begun its first stage.
    pub begun: bool,
    /// Whether its conditions cover its current spec: the controller has processed the last change.
    pub observed: bool,
    /// Whether nothing is applied: clusters are done when their differences are reported.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub only_compares: bool,
    /// The index of the snapshot that it rolls out; absent until it is initialized.
    pub snapshot: Option<String>,
    /// The index in its spec; absent if it requests the current content.
    pub requested_snapshot: Option<String>,
    /// When it was created.
    pub created: Option<Timestamp>,
    /// When it started its first cluster.
    pub started: Option<Timestamp>,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// Clusters done, over all stages.
    pub done: usize,
    /// Clusters in all stages.
    pub total: usize,
    /// The current stage.
    pub stage: Option<String>,
    /// The state of the current stage.
    pub stage_state: Option<StageState>,
    /// Its stages in order, the deletion stage last, if it has clusters; absent in lists of runs,
    /// and until they are computed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageProgress>,
}

fn filled(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| text.to_owned())
}

impl RunFacts {
    /// What is known of a run without its stages.
    pub fn listed(rollout: &Rollout<'_>, verdict: Verdict) -> Self {
        let run = rollout.run;
        let current = rollout.current_stage();
        let (done, total) = rollout.done_of();
        Self {
            object: Subject::from(run.object()),
            placement: run.spec.placement.clone(),
            strategy: run.spec.strategy.clone(),
            verdict,
            active: !choose::is_finished(run),
            requested_state: run.spec.state.clone(),
            initialized: run.status.conditions.is_true(reasons::INITIALIZED),
            begun: rollout.has_begun(),
            observed: rollout.is_current(),
            only_compares: rollout.only_compares(),
            snapshot: filled(&run.status.snapshot_index),
            requested_snapshot: filled(&run.spec.snapshot_index),
            created: run.meta.created,
            started: rollout.started(),
            ended: rollout.ended(),
            done,
            total,
            stage: current.map(|stage| stage.name().to_owned()),
            stage_state: current.map(|stage| stage.state),
            stages: Vec::new(),
        }
    }

    pub fn new(rollout: &Rollout<'_>, verdict: Verdict) -> Self {
        Self {
            stages: rollout.progress(),
            ..Self::listed(rollout, verdict)
        }
    }

    /// The run in time; `None` where too little is known.
    pub fn timeline(&self, now: Option<Timestamp>) -> Option<Timeline<'_>> {
        Timeline::new(&self.stages, self.ended, now?)
    }

    /// Whether it is the same run, as far as its name tells.
    pub fn is_same(&self, other: &Self) -> bool {
        self.object == other.object && self.created == other.created
    }
}
