//! Which runs a command can do something with: those that it offers where none is named.

use crate::change::states::{RequestedState, StateStep, step};
use crate::diagnose;
use crate::rollout::Rollout;

/// The runs that a command can do something with.
#[derive(Debug)]
pub struct RunFilter {
    pub is: fn(&Rollout<'_>) -> bool,
    /// What tells them from others, behind "update run".
    pub that: &'static str,
}

pub const EVERY: RunFilter = RunFilter {
    is: |_| true,
    that: "",
};

pub const ACTIVE: RunFilter = RunFilter {
    is: |rollout| rollout.is_live(),
    that: " that are unfinished",
};

pub const WAITING: RunFilter = RunFilter {
    is: |rollout| rollout.is_live() && rollout.open_approvals().next().is_some(),
    that: " that wait for an approval",
};

pub const STARTABLE: RunFilter = RunFilter {
    is: |rollout| can(rollout, RequestedState::Start),
    that: " that can be started",
};

pub const STOPPABLE: RunFilter = RunFilter {
    is: |rollout| can(rollout, RequestedState::Stop),
    that: " that can be stopped",
};

pub const RESUMABLE: RunFilter = RunFilter {
    is: |rollout| can(rollout, RequestedState::Resume),
    that: " that can be resumed",
};

pub const RETRYABLE: RunFilter = RunFilter {
    is: |rollout| diagnose::verdict(rollout).is_in_trouble(),
    that: " that failed or are stuck",
};

fn can(rollout: &Rollout<'_>, wish: RequestedState) -> bool {
    matches!(step(rollout, wish), StateStep::Write(_))
}
