//! What is wrong with the inputs of a run. The controller stops at the first fault, which is all that
//! it writes; a preview names every one.

use std::fmt;
use std::sync::Arc;

use crate::kubefleet::Kind;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::messages::TaskProblem;
use crate::kubefleet::overrides::OverrideSnapshot;

/// What the controller refuses. Stages are named by their places in the strategy.
#[derive(Debug, Clone)]
pub enum InputFault {
    PlacementMissing,
    NotExternal,
    PolicyMissing,
    SeveralPolicies(usize),
    PolicyWithoutIndex,
    PolicyWithoutCount,
    NotScheduled,
    /// Bindings that the scheduler has not rewritten yet.
    OutdatedBindings(Vec<Arc<Binding>>),
    NoCluster,
    ClusterCount {
        selected: i64,
        wanted: i64,
    },
    StrategyMissing,
    Task {
        stage: usize,
        before: bool,
        problem: TaskProblem,
    },
    Selector {
        stage: usize,
        problem: String,
    },
    /// Clusters in more than one stage.
    TwoStages,
    /// Clusters that a stage cannot sort.
    Sorting {
        stage: usize,
        clusters: Vec<String>,
    },
    NoStage(Vec<String>),
    IndexInvalid,
    SnapshotMissing,
    /// A snapshot below all that exist.
    SnapshotPruned,
    /// No snapshot exists yet, in versions that wait for one.
    SnapshotAwaited,
    /// A part of the latest snapshot that the controller tries to create, and that exists.
    PartExists,
    SnapshotIncomplete,
    /// Parts of a namespaced placement's snapshot, which are not looked for in its namespace.
    PartsNotFound,
    Override {
        snapshot: Arc<OverrideSnapshot>,
        problem: String,
        clusters: Vec<String>,
    },
    /// A run fails for it once it is initialized.
    MaxConcurrency {
        stage: usize,
    },
}

impl InputFault {
    /// The finding that explains it.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::PlacementMissing => "FS101",
            Self::NotExternal => "FS102",
            Self::PolicyMissing => "FS103",
            Self::SeveralPolicies(_) | Self::PolicyWithoutIndex | Self::PolicyWithoutCount => {
                "FS104"
            }
            Self::NotScheduled => "FS105",
            Self::NoCluster => "FS106",
            Self::ClusterCount { .. } => "FS107",
            Self::StrategyMissing => "FS108",
            Self::Task { .. } => "FS109",
            Self::Selector { .. } => "FS110",
            Self::TwoStages => "FS111",
            Self::Sorting { .. } => "FS112",
            Self::NoStage(_) => "FS113",
            Self::IndexInvalid => "FS114",
            Self::SnapshotMissing => "FS115",
            Self::SnapshotPruned => "FS116",
            Self::SnapshotIncomplete | Self::PartsNotFound => "FS117",
            Self::Override { .. } => "FS118",
            Self::OutdatedBindings(_) | Self::SnapshotAwaited | Self::PartExists => "FS121",
            Self::MaxConcurrency { .. } => "FS208",
        }
    }

    /// Whether what a run names is at fault, whatever else is.
    pub const fn is_own(&self) -> bool {
        matches!(
            self,
            Self::StrategyMissing
                | Self::IndexInvalid
                | Self::SnapshotMissing
                | Self::SnapshotPruned
        )
    }

    /// Whether the controller tries again.
    pub const fn is_retried(&self) -> bool {
        matches!(
            self,
            Self::OutdatedBindings(_) | Self::SnapshotAwaited | Self::PartExists
        )
    }
}

/// What was not read, and decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingInput {
    pub kind: Kind,
    pub why: String,
    /// The clusters that it is about; empty where it is about all.
    pub clusters: Vec<String>,
}

impl fmt::Display for MissingInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.why)
    }
}

/// What a check of the inputs found.
#[derive(Debug, Clone)]
pub enum InputFinding {
    /// A fault, and the controller's words for it.
    Fault(InputFault, String),
    Missing(MissingInput),
}
