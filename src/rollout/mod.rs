//! What a run's status means: phase, gates, timers, slots, and the snapshot of each cluster.

mod progress;

pub use progress::{
    ClusterProgress, ClusterState, Progress, StageProgress, StageState, TaskProgress, TaskState,
    TaskTime,
};
