//! What time it is on the hub. Everything that it tells has its own times: ages, and how long
//! something has lasted, are measured with the clock that wrote them.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http::HeaderMap;
use http::header::{AGE, DATE};
use jiff::{SignedDuration, Timestamp};

/// A date in an answer has whole seconds, and so has our clock.
const SECOND: SignedDuration = SignedDuration::from_secs(1);

/// What the hub's answers have said of its clock so far.
#[derive(Clone, Default)]
pub(in crate::hub) struct HubClock(Arc<Mutex<Option<ClockBounds>>>);

/// Between which moments the hub's clock was, and when that was.
#[derive(Debug, Clone, Copy)]
struct ClockBounds {
    least: Timestamp,
    most: Timestamp,
    at: Instant,
}

impl ClockBounds {
    /// Between which moments it is later.
    fn later(self, at: Instant) -> (Timestamp, Timestamp) {
        let passed = at.saturating_duration_since(self.at);
        (plus(self.least, passed), plus(self.most, passed))
    }
}

fn plus(moment: Timestamp, time: Duration) -> Timestamp {
    let time = SignedDuration::try_from(time).unwrap_or(SignedDuration::MAX);
    moment.checked_add(time).unwrap_or(Timestamp::MAX)
}

impl HubClock {
    /// Takes the date of an answer to what was asked at this moment. An answer that was kept on the
    /// way has an old one.
    pub(in crate::hub) fn see(&self, headers: &HeaderMap, asked: Instant) {
        let date = headers.get(DATE).filter(|_| !headers.contains_key(AGE));
        let date = date.and_then(|date| jiff::fmt::rfc2822::parse(date.to_str().ok()?).ok());
        if let Some(date) = date {
            self.learn(date.timestamp(), asked, Instant::now());
        }
    }

    fn learn(&self, date: Timestamp, asked: Instant, now: Instant) {
        let took = now.saturating_duration_since(asked);
        let (least, most) = (date, plus(plus(date, Duration::from_secs(1)), took));
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = seen.map(|seen| seen.later(now));
        // Where an answer contradicts the ones before, the clock was set.
        let (least, most) = match known {
            Some((from, to)) if from <= most && least <= to => (least.max(from), most.min(to)),
            _ => (least, most),
        };
        *seen = Some(ClockBounds {
            least,
            most,
            at: now,
        });
    }

    fn is_known(&self) -> bool {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.is_some()
    }

    /// What it says where ours says this: the same where the hub's answers do not contradict it.
    fn says(&self, ours: Timestamp, now: Instant) -> Timestamp {
        let seen = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((least, most)) = seen.map(|seen| seen.later(now)) else {
            return ours;
        };
        let next = ours.checked_add(SECOND).unwrap_or(ours);
        let moment = if next < least {
            least
        } else if ours > most {
            most
        } else {
            return ours;
        };
        Timestamp::from_second(moment.as_second()).unwrap_or(moment)
    }
}

/// The clock that a command goes by: the hub's, as far as its answers tell it, else ours.
#[derive(Clone)]
pub struct CommandClock {
    ours: fn() -> Timestamp,
    hub: HubClock,
}

impl fmt::Debug for CommandClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CommandClock({})", self.now())
    }
}

impl CommandClock {
    pub(in crate::hub) const fn new(ours: fn() -> Timestamp, hub: HubClock) -> Self {
        Self { ours, hub }
    }

    pub fn ours(ours: fn() -> Timestamp) -> Self {
        Self::new(ours, HubClock::default())
    }

    pub fn now(&self) -> Timestamp {
        self.hub.says((self.ours)(), Instant::now())
    }

    /// Whether the hub has told its time.
    pub fn is_the_hubs(&self) -> bool {
        self.hub.is_known()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use http::HeaderMap;
    use http::header::{AGE, DATE, HeaderValue};
    use jiff::Timestamp;

    use super::HubClock;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn ours_is_corrected_only_where_the_hub_contradicts_it() {
        let (asked, clock) = (Instant::now(), HubClock::default());
        let came = asked + Duration::from_millis(200);
        let noon = at("2026-11-24T12:00:00Z");
        assert_eq!(clock.says(noon, came), noon);
        clock.learn(noon, asked, came);
        for (ours, wanted) in [
            ("2026-11-24T12:00:00Z", "2026-11-24T12:00:00Z"),
            ("2026-11-24T11:59:59Z", "2026-11-24T11:59:59Z"),
            ("2026-11-24T12:00:01Z", "2026-11-24T12:00:01Z"),
            ("2026-11-24T12:10:00Z", "2026-11-24T12:00:01Z"),
            ("2026-11-24T11:50:00Z", "2026-11-24T12:00:00Z"),
            ("1969-12-31T23:59:00Z", "2026-11-24T12:00:00Z"),
        ] {
            assert_eq!(clock.says(at(ours), came), at(wanted), "{ours}");
        }
        let later = came + Duration::from_mins(5);
        let ours = at("2026-11-24T11:55:00Z");
        assert_eq!(clock.says(ours, later), at("2026-11-24T12:05:00Z"));
        // The hub's clock was set.
        clock.learn(at("2026-11-24T13:00:00Z"), later, later);
        assert_eq!(clock.says(ours, later), at("2026-11-24T13:00:00Z"));
    }

    #[test]
    fn what_was_kept_on_the_way_or_is_no_date_tells_no_time() {
        let mut headers = HeaderMap::new();
        let clock = HubClock::default();
        for date in [
            "",
            "noon",
            "Tue, 99 Nov 2026 12:00:00 GMT",
            "Tue, 24 Nov 99999 12:00:00 GMT",
        ] {
            headers.insert(DATE, HeaderValue::from_str(date).unwrap());
            clock.see(&headers, Instant::now());
            assert!(!clock.is_known(), "{date}");
        }
        headers.insert(
            DATE,
            HeaderValue::from_static("Tue, 24 Nov 2026 12:00:00 GMT"),
        );
        headers.insert(AGE, HeaderValue::from_static("600"));
        clock.see(&headers, Instant::now());
        assert!(!clock.is_known());
        headers.remove(AGE);
        clock.see(&headers, Instant::now());
        assert!(clock.is_known());
    }
}
