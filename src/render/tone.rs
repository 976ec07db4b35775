//! What a color says of a state, beside the word.

use crate::report::Verdict;
use crate::rollout::{ClusterState, StageState};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ColorTone {
    /// Nothing is asked of anyone.
    Quiet,
    /// It went well.
    Good,
    /// It goes on.
    Moving,
    /// Someone is waited for.
    Waiting,
    /// Something is wrong.
    Bad,
}

impl ColorTone {
    pub const fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Succeeded => Self::Good,
            _ if verdict.is_in_trouble() => Self::Bad,
            _ if verdict.waits_for_person() || matches!(verdict, Verdict::Unknown) => Self::Waiting,
            _ => Self::Moving,
        }
    }

    pub const fn of_stage(state: StageState) -> Self {
        match state {
            StageState::NotReached | StageState::Skipped => Self::Quiet,
            StageState::Done => Self::Good,
            StageState::Updating | StageState::Stopping => Self::Moving,
            StageState::WaitingBefore | StageState::WaitingAfter | StageState::Stopped => {
                Self::Waiting
            }
            StageState::Failed
            | StageState::AbortedBefore
            | StageState::AbortedUpdating
            | StageState::AbortedAfter
            | StageState::AbortedStopped => Self::Bad,
        }
    }

    pub const fn of_cluster(state: ClusterState) -> Self {
        match state {
            ClusterState::NotReached => Self::Quiet,
            ClusterState::Updating => Self::Moving,
            ClusterState::Done => Self::Good,
            ClusterState::Stuck | ClusterState::Left | ClusterState::Failed => Self::Bad,
        }
    }
}
