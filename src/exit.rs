//! Exit codes: the same in every format, documented in `docs/reference/exit-codes.md`.

use crate::plan::PlanOutcome;
use crate::report::Verdict;

/// How a command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Exit {
    /// Done; no one needs to act.
    Done = 0,
    /// The operation failed.
    Error = 1,
    /// The command line was wrong.
    Usage = 2,
    /// The rollout failed, and a new run is needed.
    Failed = 3,
    /// The rollout waits for an approval.
    Approval = 4,
    /// The rollout is stuck.
    Stuck = 5,
    /// The object does not exist.
    NotFound = 6,
    /// Forbidden, or the evidence is incomplete.
    Incomplete = 7,
    /// The rollout is stopped or was not started.
    Idle = 8,
    /// A time limit was reached.
    TimeLimit = 9,
    Interrupted = 130,
}

impl Exit {
    /// Every code, for the reference.
    pub const ALL: [Self; 11] = [
        Self::Done,
        Self::Error,
        Self::Usage,
        Self::Failed,
        Self::Approval,
        Self::Stuck,
        Self::NotFound,
        Self::Incomplete,
        Self::Idle,
        Self::TimeLimit,
        Self::Interrupted,
    ];

    /// The number that the process returns.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// What the code means.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Done => {
                "success; the rollout succeeded, or is progressing, and nobody needs to act"
            }
            Self::Error => "the command failed, or a request took longer than --request-timeout",
            Self::Usage => "the command line is invalid",
            Self::Failed => "the rollout failed or could not be initialized, or --fail-on was met",
            Self::Approval => "the rollout waits for an approval",
            Self::Stuck => "the rollout is stuck, and has been for as long as --patience allows",
            Self::TimeLimit => "--timeout was reached",
            Self::NotFound => "the object does not exist",
            Self::Incomplete => {
                "forbidden, the evidence is incomplete, or one of several hubs was not reached"
            }
            Self::Idle => "the rollout is stopped, or was not started",
            Self::Interrupted => "interrupted",
        }
    }

    /// The worst of several.
    pub fn worst(exits: impl Iterator<Item = Self>) -> Self {
        exits
            .max_by_key(|exit| exit.gravity())
            .unwrap_or(Self::Done)
    }

    /// The place in the order of "worst": of several reports, the first of these counts.
    pub const fn gravity(self) -> u8 {
        match self {
            Self::Failed => 7,
            Self::Stuck => 6,
            Self::TimeLimit => 5,
            Self::Incomplete => 4,
            Self::Approval => 3,
            Self::Idle => 2,
            Self::Done => 0,
            _ => 1,
        }
    }
}

impl From<Verdict> for Exit {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Succeeded
            | Verdict::Progressing
            | Verdict::WaitingForTimer
            | Verdict::Stopping
            | Verdict::Initializing
            | Verdict::Deleting => Self::Done,
            Verdict::WaitingForApproval => Self::Approval,
            Verdict::Stuck => Self::Stuck,
            Verdict::Stopped | Verdict::NotStarted => Self::Idle,
            Verdict::InitializationFailed | Verdict::Failed => Self::Failed,
            Verdict::Unknown => Self::Incomplete,
        }
    }
}

impl From<PlanOutcome> for Exit {
    fn from(outcome: PlanOutcome) -> Self {
        match outcome {
            PlanOutcome::Ready => Self::Done,
            PlanOutcome::Refused => Self::Failed,
            PlanOutcome::Unknown => Self::Incomplete,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;
    use crate::report::Verdict;

    #[test]
    fn codes_are_the_documented_ones() {
        let codes: Vec<_> = Exit::ALL.iter().map(|exit| exit.code()).collect();
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 130]);
    }

    #[test]
    fn every_verdict_has_its_code() {
        for (verdict, code) in [
            (Verdict::Succeeded, 0),
            (Verdict::Progressing, 0),
            (Verdict::WaitingForTimer, 0),
            (Verdict::WaitingForApproval, 4),
            (Verdict::Stuck, 5),
            (Verdict::Stopping, 0),
            (Verdict::Stopped, 8),
            (Verdict::NotStarted, 8),
            (Verdict::Initializing, 0),
            (Verdict::InitializationFailed, 3),
            (Verdict::Failed, 3),
            (Verdict::Deleting, 0),
            (Verdict::Unknown, 7),
        ] {
            assert_eq!(Exit::from(verdict).code(), code, "{verdict:?}");
        }
    }

    #[test]
    fn the_worst_of_several_counts() {
        let mut exits = [
            Exit::Done,
            Exit::Idle,
            Exit::Approval,
            Exit::Incomplete,
            Exit::TimeLimit,
            Exit::Stuck,
            Exit::Failed,
        ];
        exits.sort_by_key(|exit| std::cmp::Reverse(exit.gravity()));
        assert_eq!(exits.map(Exit::code), [3, 5, 9, 7, 4, 8, 0]);
    }
}
