//! How much a hub may send, and how long it may take.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use crate::hub::error::{HubError, seconds};

/// How many bytes an answer may have that is read as a whole: the largest is the list of all APIs.
pub(in crate::hub) const ANSWER: usize = 16 << 20;
/// How many bytes of a refusal are read.
pub(in crate::hub) const REFUSAL: usize = 64 << 10;
/// How many bytes one object may have: etcd takes 1.5 MiB, and the API server 3.
pub(in crate::hub) const OBJECT: usize = 4 << 20;
pub(in crate::hub) const PAGES: usize = 5000;
/// How many bytes a command may read in all.
const COMMAND: u64 = 1 << 30;
/// What an object weighs in memory beside its text, at least.
const OVERHEAD: u64 = 2 << 10;

#[derive(Debug, Clone)]
pub(in crate::hub) struct ReadAllowance(Arc<AtomicU64>);

impl Default for ReadAllowance {
    fn default() -> Self {
        Self::of(COMMAND)
    }
}

impl ReadAllowance {
    pub(in crate::hub) fn of(bytes: u64) -> Self {
        Self(Arc::new(AtomicU64::new(bytes)))
    }

    /// Takes an answer into account.
    pub(in crate::hub) fn answer(&self, bytes: usize) -> Result<(), HubError> {
        self.take(u64::try_from(bytes).unwrap_or(u64::MAX))
    }

    /// Takes into account that an object is kept.
    pub(in crate::hub) fn object(&self) -> Result<(), HubError> {
        self.take(OVERHEAD)
    }

    fn take(&self, bytes: u64) -> Result<(), HubError> {
        let taken = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(bytes)
            });
        match taken {
            Ok(_) => Ok(()),
            Err(_) => Err(HubError::TooMuch(format!(
                "the API server sent more than {}, the limit of one command",
                size(COMMAND)
            ))),
        }
    }
}

pub(in crate::hub) fn too_large(path: &str, most: usize) -> HubError {
    let path = path.split('?').next().unwrap_or(path);
    let most = size(u64::try_from(most).unwrap_or(u64::MAX));
    HubError::TooLarge(format!("the answer at {path} is larger than {most}"))
}

/// A number of bytes, as the limits are given.
fn size(bytes: u64) -> String {
    match bytes {
        _ if bytes >= 1 << 30 => format!("{} GiB", bytes >> 30),
        _ if bytes >= 1 << 20 => format!("{} MiB", bytes >> 20),
        _ => format!("{} KiB", bytes >> 10),
    }
}

/// That one object is larger than an API server can hold.
pub(in crate::hub) fn too_large_an_object() -> HubError {
    let most = size(u64::try_from(OBJECT).unwrap_or(u64::MAX));
    HubError::TooMuch(format!("an object is larger than {most}"))
}

/// Far enough away to mean never.
const NEVER: Duration = Duration::from_hours(100 * 365 * 24);

/// The moment after a time, however long that is.
pub(in crate::hub) fn after(time: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(time.min(NEVER)).unwrap_or(now)
}

#[derive(Debug, Clone, Copy)]
pub struct TimeLimit {
    at: Instant,
    limit: Duration,
}

impl TimeLimit {
    pub fn after(limit: Duration) -> Self {
        Self {
            at: after(limit),
            limit,
        }
    }

    pub fn left(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }
}

/// Until when an answer is waited for, and whose limit that is.
#[derive(Debug, Clone, Copy)]
pub(in crate::hub) struct Deadline {
    pub at: Instant,
    request: Duration,
    command: Option<Duration>,
}

impl Deadline {
    /// The end of a request that begins now, or of the command where that comes first.
    pub(in crate::hub) fn new(request: Option<Duration>, command: Option<TimeLimit>) -> Self {
        let limit = request.unwrap_or(NEVER);
        let own = Self {
            at: after(limit),
            request: limit,
            command: None,
        };
        own.ended_by(command)
    }

    /// The same, or the end of the command where that comes first.
    fn ended_by(self, command: Option<TimeLimit>) -> Self {
        match command {
            Some(end) if end.at < self.at => Self {
                at: end.at,
                command: Some(end.limit),
                ..self
            },
            _ => self,
        }
    }

    /// The same, after something else has taken some time that is not the request's; the command's
    /// end stays.
    pub(in crate::hub) fn later(self, took: Duration, command: Option<TimeLimit>) -> Self {
        let at = match self.command {
            Some(_) => self.at,
            None => self.at.checked_add(took).unwrap_or(self.at),
        };
        Self { at, ..self }.ended_by(command)
    }

    /// What is said when it has passed; `last` is what the tries before said: it tells more than
    /// that the time is up.
    pub(in crate::hub) fn passed(&self, last: Option<HubError>) -> HubError {
        match (self.command, last) {
            (Some(limit), _) => HubError::late(limit),
            (None, Some(last)) => last,
            (None, None) => HubError::TimedOut(seconds(self.request)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Deadline, HubError, ReadAllowance, TimeLimit, after, too_large};
    use std::time::Duration;

    #[test]
    fn a_budget_is_spent_once_and_by_all() {
        let budget = ReadAllowance::of(10_000);
        let other = budget.clone();
        assert_eq!(budget.answer(5000), Ok(()));
        assert_eq!(other.object(), Ok(()));
        assert!(matches!(budget.answer(5000), Err(HubError::TooMuch(_))));
        // What does not fit is not taken.
        assert_eq!(budget.answer(2952), Ok(()));
        assert!(other.answer(1).is_err());
        assert!(ReadAllowance::of(u64::MAX).answer(usize::MAX).is_ok());
    }

    #[test]
    fn the_first_limit_ends_it() {
        let (short, long) = (Duration::from_secs(1), Duration::from_mins(1));
        for (request, command, words) in [
            (Some(short), None, "no answer within 1s"),
            (Some(short), Some(long), "no answer within 1s"),
            (Some(long), Some(short), "no answer within --timeout (1s)"),
            (None, Some(short), "no answer within --timeout (1s)"),
        ] {
            let deadline = Deadline::new(request, command.map(TimeLimit::after));
            assert_eq!(deadline.passed(None).to_string(), words);
        }
        let busy = HubError::Broken("busy".to_owned());
        let request = Deadline::new(Some(short), None);
        assert_eq!(request.passed(Some(busy.clone())), busy);
        let command = Deadline::new(None, Some(TimeLimit::after(short)));
        assert!(matches!(command.passed(Some(busy)), HubError::OutOfTime(_)));
    }

    #[test]
    fn no_time_is_too_long() {
        for time in [Duration::ZERO, Duration::from_hours(1), Duration::MAX] {
            assert!(after(time) >= after(Duration::ZERO) || time.is_zero());
            let _ = Deadline::new(Some(time), Some(TimeLimit::after(time))).passed(None);
        }
    }

    #[test]
    fn the_limit_is_named() {
        assert_eq!(
            too_large("/apis/a?limit=3", 32 << 20).to_string(),
            "the answer at /apis/a is larger than 32 MiB"
        );
    }
}
